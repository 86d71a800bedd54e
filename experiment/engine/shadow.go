package engine

import (
	"slices"
	"time"

	"wirelab/experiment/config"
)

// A shadow is a further encoder on the same frames and the same fates as the encoder of the
// first lane. It may join and leave while the session runs. A lane that joins copies the state
// of the first lane's links, so that from then on its packets meet the same fates.

// checkShadows returns an error if a shadow of after that c does not have cannot send the data.
func (s *Session) checkShadows(c, after *config.Config) error {
	for i, e := range after.Shadows {
		if e.In(c.Shadows) {
			continue // it runs
		}
		if _, err := newEncoding(config.Indexed("shadow", i), e, after, s.schema); err != nil {
			return err
		}
	}
	return nil
}

// arrangeShadows makes the shadow lanes follow the configuration. Lanes that stay are left
// alone.
func (s *Session) arrangeShadows() error {
	lanes := s.lanes[:1:1]
	for _, e := range s.config.Shadows {
		if l := s.shadowOf(e); l != nil {
			lanes = append(lanes, l)
			continue
		}
		l, err := s.join(e)
		if err != nil {
			return err
		}
		lanes = append(lanes, l)
	}
	s.lanes = lanes
	s.setRunning()
	return nil
}

// shadowOf returns the shadow lane that began with that encoder, if any.
func (s *Session) shadowOf(e config.Encoder) *lane {
	for _, l := range s.lanes[1:] {
		if l.config.Equal(e) {
			return l
		}
	}
	return nil
}

// join makes a shadow lane that begins now.
func (s *Session) join(e config.Encoder) (*lane, error) {
	l, err := newLane(s.config, e, s.stream, s.opt.shadow())
	if err != nil {
		return nil, err
	}
	s.deliverOver(l)
	first := &s.lanes[0].paths
	l.began = s.now
	l.connect(first.downLink.Fork(inheritedTag), first.upLink.Fork(inheritedTag))
	l.snd.StartAt(s.sent, s.now)
	l.rcv.StartAt(s.sent)
	l.display.StartAt(s.now)
	return l, nil
}

// setRunning lists the lanes that get frames: those of the run, and that of the trial.
func (s *Session) setRunning() {
	s.running = slices.Clone(s.lanes)
	if t := s.trial; t != nil && t.own {
		s.running = append(s.running, t.lane)
	} else if t != nil && !slices.Contains(s.lanes, t.lane) {
		s.trial = nil // the shadow has left
	}
}

// inheritedTag tags the datagrams that were in flight when a shadow copied a link. Another lane
// sent them.
const inheritedTag = 1<<64 - 1

// arriveInherited handles the arrival of a packet that another lane sent. The receiver ignores
// it, but the first lane acks it. So this lane sends an ack as well, to keep the random draws of
// both uplinks in step.
func (l *lane) arriveInherited(now time.Duration, damaged bool) {
	if damaged {
		return
	}
	size := l.rcv.AckSize() // without a codec's report
	if l.delivery != nil {
		size = l.delivery.AckSize()
	}
	l.paths.up.Send(now, make([]byte, size), inheritedTag)
}

// shadow returns the options of a shadow lane: no observer, no picture, no inspection, few
// packets.
func (o Options) shadow() *Options {
	o.Observer, o.WithPicture, o.Inspect, o.Network = nil, false, false, nil
	o.KeepPackets = min(o.KeepPackets, ShownPackets)
	return &o
}
