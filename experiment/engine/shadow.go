package engine

import (
	"slices"
	"time"

	"wirelab/experiment/config"
)

// A shadow is another encoder on the same frames and losses as the active encoder. It may join and
// leave while the session runs. When it joins, it gets copies of the first lane's links with their
// state, so that from then on its packets are lost and delayed like those of the first lane.

// updateShadows starts and stops shadow lanes as the configuration requires. Other shadow lanes
// continue unchanged. The measurements of shadows that leave are stored in s.departed.
func (s *Session) updateShadows() error {
	lanes := s.lanes[:1:1] // the active encoder's; without capacity, so that append makes a new slice
	for _, e := range s.config.Shadows {
		if l := s.shadowOf(e); l != nil {
			lanes = append(lanes, l)
			continue
		}
		l, err := s.newShadowLane(e)
		if err != nil {
			return err
		}
		s.nameLane(l)
		lanes = append(lanes, l)
	}
	for _, l := range s.lanes {
		if !slices.Contains(lanes, l) {
			s.storeDeparted(l)
		}
	}
	s.lanes = lanes
	s.updateRunning()
	return nil
}

// nameLane gives a lane the next letter.
func (s *Session) nameLane(l *lane) {
	l.letter = laneLetter(s.lanesNamed)
	s.lanesNamed++
}

// departedLane contains what a shadow measured until it left.
type departedLane struct {
	result  shadowResult
	samples LaneSamples
}

// maxDeparted is the maximum number of shadows that left whose measurements are stored. Those of the
// shadows that left first are dropped.
const maxDeparted = 200

// storeDeparted stores the measurements of a shadow that leaves now. Its last sample ends with
// the current period, although the shadow leaves before. A shadow that leaves at the moment at which it
// joined has measured nothing and is not stored.
func (s *Session) storeDeparted(l *lane) {
	if l.joinedAt == s.now {
		return
	}
	x := departedLane{result: s.shadowResult(l, s.now)}
	x.result.ToS = s.now.Seconds()
	l.closeSample(s.nextSample())
	x.samples = l.samplesForReport()
	s.departed = append(s.departed[max(0, len(s.departed)-maxDeparted+1):], x)
}

// shadowResult returns the result of a shadow at until.
func (s *Session) shadowResult(l *lane, until time.Duration) shadowResult {
	return shadowResult{Lane: l.letter, Encoder: l.codec(), Label: l.name(), FromS: l.joinedAt.Seconds(),
		Totals: l.totals(until), Timing: l.timing(), Budget: l.meter.Shares(s.schema), Traffic: l.trafficFigures(until),
		Digest: l.digest.sum()}
}

// shadowOf returns the shadow lane that began with encoder e; nil if none exists.
func (s *Session) shadowOf(e config.Encoder) *lane {
	for _, l := range s.lanes[1:] {
		if l.config.Equal(e) {
			return l
		}
	}
	return nil
}

// newShadowLane returns a new shadow lane for encoder e that begins now. Its links are copies of the
// first lane's, with the datagrams in flight: these occupy the links, but inheritedTag marks them as
// another lane's.
func (s *Session) newShadowLane(e config.Encoder) (*lane, error) {
	l, err := newLane(s.config, e, s.stream, s.opt.shadow())
	if err != nil {
		return nil, err
	}
	l.startMessages(s.now, s.config)
	s.setUpDelivery(l)
	first := &s.lanes[0].paths
	l.joinedAt = s.now
	l.connect(first.downLink.Fork(inheritedTag), first.upLink.Fork(inheritedTag))
	l.traffic = s.lanes[0].traffic
	// The change that adds this lane may also set redundancy; then the first lane has no carrier yet.
	if l.carrier != nil && s.lanes[0].carrier != nil {
		l.carrier.follow(s.lanes[0].carrier)
	}
	l.snd.StartAt(s.framesDue, s.now)
	l.rcv.StartAt(s.framesDue)
	l.display.StartAt(s.now)
	if l.views != nil {
		l.views.Jump(s.feed.framesTaken)
	}
	return l, nil
}

// updateRunning sets s.running to the lanes of the session and the lane of the trial. It ends a trial
// that uses the lane of a shadow that was removed.
func (s *Session) updateRunning() {
	s.running = slices.Clone(s.lanes)
	if t := s.trial; t != nil && t.ownsLane {
		s.running = append(s.running, t.lane)
	} else if t != nil && !slices.Contains(s.lanes, t.lane) {
		s.trial = nil
	}
}

// inheritedTag marks the datagrams of the first lane that were in flight when a shadow copied its
// links. It is the largest uint64, which no flight has as its tag.
const inheritedTag = 1<<64 - 1

// handleInherited handles the arrival of a packet that the first lane sent. This lane's receiver must
// not decode it, but the first lane acks it. So this lane sends an ack of the same size, which keeps
// the random numbers of both uplinks in step.
func (l *lane) handleInherited(now time.Duration, damaged bool) {
	if damaged { // the first lane does not ack a packet whose checksum failed
		return
	}
	size := l.rcv.AckSize(l.control.arrivals) + l.messenger.ackSize()
	if l.messenger != nil && l.messenger.stream != nil {
		size = l.messenger.ackSize()
	}
	if l.delivery != nil {
		size = l.delivery.AckSize()
	}
	l.paths.up.Send(now, make([]byte, size), inheritedTag)
}

// shadow returns the options of a shadow lane: no observer, no inspection, and as few
// packet records as possible.
func (o Options) shadow() *Options {
	o.Observer, o.Inspect, o.KeepSent, o.Network = nil, false, false, nil
	o.KeepPackets, o.KeepHistory = 0, false
	return &o
}
