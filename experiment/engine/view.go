package engine

import (
	"slices"
	"time"

	"wirelab/dataset"
	"wirelab/encoders"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
)

// View returns a snapshot of the session with the newest packets of each lane, at most maxPackets of
// them. The fields that belong to the runner, such as State and Speed, are left zero.
func (s *Session) View(maxPackets int) *Snapshot {
	snap := &Snapshot{
		Now: s.Now(), Config: s.config.Clone(), Item: s.schema.Item, Schema: s.schema,
		Marks: slices.Clip(s.marks), Log: s.Log(), Effects: slices.Clip(s.effects), PreviousEncoder: s.previousEncoder, Remarks: s.remarks(),
		Precision: s.precision(),
	}
	if s.trial != nil { // otherwise TrialAt stays 0
		snap.TrialAt = s.trial.changedAt
	}
	s.viewDisplay(snap)
	for _, l := range s.lanes {
		snap.Lanes = append(snap.Lanes, l.view(s.Now(), maxPackets))
	}
	return snap
}

// viewDisplay sets snap.World for cubes and snap.Frames for other data. Both stay nil for files, and
// before the first frame.
func (s *Session) viewDisplay(snap *Snapshot) {
	d, sent := s.lanes[0].display, &s.feed.current.Frame
	displayedAt := s.Now() - s.lanes[0].paths.reportDelay.Value()
	switch {
	case s.feed.framesTaken == 0 || s.isFile:
	case s.cubes:
		snap.World = d.Picture(sent, &s.truths, displayedAt)
		if p := &s.player; p.source != nil {
			snap.World.Live, snap.World.Autopilot, snap.World.Keys = true, !p.manual, p.source.Keys()
		}
	default:
		snap.Frames = d.Frames(s.schema, sent, displayedAt)
		if src, ok := s.feed.source.(interface{ RowKeys() []string }); ok {
			snap.Frames.Keys = src.RowKeys()
		}
	}
}

// view returns the lane's part of a snapshot, with the newest packets, at most maxPackets of them.
func (l *lane) view(now time.Duration, maxPackets int) Lane {
	v := Lane{
		Letter: l.letter, Began: l.joinedAt,
		Samples: l.meter.Samples(), History: l.log.History(),
		Packets: l.log.Last(make([]packetlog.Record, 0, maxPackets), maxPackets),
		Totals:  l.totals(now),
		Timing:  l.timing(), Stretches: l.meter.Swaps.Figures(now), Traffic: l.trafficFigures(now), Control: l.controlView(), Budget: l.liveConfig.SendBudget(),
		Recent: l.meter.Recent(l.cadence.TickHz), Blocks: l.delivery.Blocks(),
		Err: l.lastErr, Incidents: l.inspector.Incidents(),
	}
	v.SetName(l.name())
	if l.messenger != nil {
		v.UnderWay = l.messenger.underWay()
	}
	if l.inspector != nil {
		v.Link = l.meter.Link.Stretches()
	}
	return v
}

// HasSent reports whether the first lane has used the sequence number seq.
func (s *Session) HasSent(seq uint64) bool { return s.lanes[0].snd.Seq() > seq }

// TimeOf returns when the frame with sequence number seq is due to be sent; 0 for files, whose packets
// have no rhythm.
func (s *Session) TimeOf(seq uint64) time.Duration {
	if s.isFile {
		return 0
	}
	return s.cadence.SeqTime(seq)
}

// Opened returns the stored details of a packet of the first lane. Opened.Gone is set if the packet
// is no longer stored.
func (s *Session) Opened(id packetlog.ID) *inspector.Opened { return s.lanes[0].inspector.Open(id) }

// ReplayStored passes the stored samples of the first lane to o, then its stored datagrams without a
// packet and its stored packets, each oldest first. So a live session can be reported like one that was
// observed from its start.
func (s *Session) ReplayStored(o Observer) {
	l := s.lanes[0]
	samples := l.meter.Samples()
	for i := range samples {
		o.Sample(&samples[i])
	}
	if l.carrier != nil && l.carrier.extra != nil {
		for _, r := range l.carrier.extra.Forward() {
			o.Packet(r, nil)
		}
	}
	for n, r := range l.log.Forward() {
		var problem *Problem
		if l.inspector != nil {
			problem = l.withConfig(l.inspector.ProblemAt(n, r))
		}
		o.Packet(r, problem)
	}
}

// withConfig returns a Problem with the opened packet and the current configuration, or nil if opened is
// nil, which means that the packet had no problem. The result is l.problem, which the next call overwrites.
func (l *lane) withConfig(opened *inspector.Opened) *Problem {
	if opened == nil {
		return nil
	}
	l.problem = Problem{opened, l.liveConfig}
	return &l.problem
}

// LaneSamples are the stored samples of a lane.
type LaneSamples struct {
	Letter  string          // Lane.Letter
	Name    string          // Lane.Name
	Began   time.Duration   // when the lane joined
	Samples []meters.Sample // oldest first
}

// samplesForReport returns the lane's stored samples.
func (l *lane) samplesForReport() LaneSamples {
	return LaneSamples{l.letter, l.name(), l.joinedAt, l.meter.Samples()}
}

// SamplesByLane returns the stored samples of every lane: the lane of the active encoder is first, and the
// shadows that left are last.
func (s *Session) SamplesByLane() []LaneSamples {
	var out []LaneSamples
	for _, l := range s.lanes {
		out = append(out, l.samplesForReport())
	}
	for i := range s.departed {
		out = append(out, s.departed[i].samples)
	}
	return out
}

// Progress returns how much of the session is done, and its total: in seconds, or in bytes if a file
// is delivered. total is 0 if unknown.
func (s *Session) Progress() (done, total float64) {
	if s.isFile {
		return s.delivered()
	}
	return s.Now().Seconds(), s.expectedEnd().Seconds()
}

// expectedEnd returns when the session will end; 0 if unknown.
func (s *Session) expectedEnd() time.Duration {
	if s.end < never { // the end is set
		return s.end
	}
	if src, ok := s.feed.source.(dataset.Sized); ok {
		return s.cadence.TickTime(uint64(src.Frames()))
	}
	return 0
}

// Planned returns the planned duration of the session; 0 if only the data or the user end it. Call it
// before the session ends, since an interruption changes the end.
func (s *Session) Planned() time.Duration {
	if s.isFile || s.opt.Endless {
		return 0
	}
	return s.expectedEnd()
}

// dataRemarks returns the source's assumptions about the data, and the parts of the data that it leaves
// out.
func (s *Session) dataRemarks() []string {
	if src, ok := s.feed.source.(dataset.Remarked); ok {
		return src.Remarks()
	}
	return nil
}

// precision returns the rounding errors of the values that the source has read; nil if it does not round.
func (s *Session) precision() []dataset.Precision {
	if src, ok := s.feed.source.(dataset.Rounded); ok {
		return src.Precision()
	}
	return nil
}

// expansionRemark describes that the payload of the first lane is larger than the data, which are bytes,
// and why; "" if it is not, or if too little was sent to tell. The payload of a file contains
// retransmissions and does not count.
func (s *Session) expansionRemark() string {
	const minBytes = 10_000
	first := s.lanes[0]
	total := first.meter.Total()
	payload := total.PayloadBits / 8
	if dataBytes := total.Items; s.schema.Item != "byte" || s.isFile || dataBytes < minBytes || payload <= dataBytes {
		return ""
	}
	text := "the payload of " + first.codec() + " is larger than the data"
	isModel := func(p encoders.ParamInfo) bool { return p.Name == "model" }
	if set, _ := s.config.Encoder.Params["model"].(string); set == "" && slices.ContainsFunc(first.snd.Encoding().Codec.ParamInfo(), isModel) {
		text += ": it has no model of such data; tui train --encoder " + first.codec() + " makes one"
	}
	return text
}

// remarks returns what the user should know about the data and about the payload.
func (s *Session) remarks() []string {
	list := s.dataRemarks()
	if text := s.expansionRemark(); text != "" {
		list = append(slices.Clip(list), text)
	}
	return list
}
