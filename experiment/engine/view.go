package engine

import (
	"slices"
	"time"

	"wirelab/dataset"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
)

// View returns a snapshot of the session, with at most the given number of packets of each
// lane. The runner adds its own state.
func (s *Session) View(packets int) *Snapshot {
	snap := &Snapshot{
		Now: s.Now(), Config: s.config.Clone(), Item: s.schema.Item, Schema: s.schema,
		Marks: slices.Clip(s.marks), Log: s.Log(), Effects: slices.Clip(s.effects), Before: s.prior, Remarks: s.remarks(),
	}
	if s.trial != nil {
		snap.Trying = s.trial.at
	}
	s.viewDisplay(snap)
	differs := s.differences()
	for i, l := range s.lanes {
		snap.Lanes = append(snap.Lanes, l.view(s.Now(), packets))
		snap.Lanes[i].Differs = differs[i]
	}
	return snap
}

// viewDisplay fills in what both ends show, unless the data are files, or no frame was taken.
func (s *Session) viewDisplay(snap *Snapshot) {
	d, sent := s.lanes[0].display, &s.feed.cur.Frame
	switch {
	case s.feed.ticks == 0 || s.delivers:
	case s.cubes:
		snap.World = d.Picture(sent)
		if p := &s.player; p.source != nil {
			snap.World.Live, snap.World.Autopilot, snap.World.Keys = true, !p.manual, p.source.Keys()
		}
	default:
		snap.Both = d.Frames(s.schema, sent, s.Now())
	}
}

// view makes one lane's part of a snapshot.
func (l *lane) view(now time.Duration, packets int) Lane {
	v := Lane{
		Encoder: l.codec(), Params: l.snd.Encoding().Params, Began: l.began, Epoch: l.snd.Epoch(),
		Samples: l.meter.Samples(), Packets: l.log.Last(make([]packetlog.Record, 0, packets), packets),
		Totals: l.totals(now),
		Timing: l.timing(),
		Recent: l.meter.Recent(l.cadence.TickHz), Blocks: l.delivery.Blocks(),
		Err: l.lastErr, Troubles: l.inspector.Incidents(),
	}
	if l.inspector != nil {
		v.Link = l.meter.Link.Stretches()
	}
	return v
}

// Opened returns a packet of the first lane with its Inside. Its Gone is set if the packet is no
// longer kept.
func (s *Session) Opened(id packetlog.ID) *inspector.Opened { return s.lanes[0].inspector.Open(id) }

// ReportKept passes the samples and packets kept of the first lane to an observer, oldest first.
func (s *Session) ReportKept(o Observer) {
	l := s.lanes[0]
	samples := l.meter.Samples()
	for i := range samples {
		o.Sample(&samples[i])
	}
	for n, r := range l.log.Forward() {
		var problem *Problem
		if l.inspector != nil {
			problem = l.problemOf(l.inspector.ProblemAt(n, r))
		}
		o.Packet(r, problem)
	}
}

// problemOf returns a packet with reasons for its outcome or size; nil if p is nil. The result is
// valid until the next call.
func (l *lane) problemOf(p *inspector.Opened) *Problem {
	if p == nil {
		return nil
	}
	l.problem = Problem{p, l.live}
	return &l.problem
}

// Packets returns a copy of the packets kept of the first lane, oldest first.
func (s *Session) Packets() []packetlog.Record {
	log := s.lanes[0].log
	return log.Last(nil, log.Cap())
}

// LaneSamples are the samples kept of a lane, oldest first.
type LaneSamples struct {
	Name    string
	Began   time.Duration // when it joined
	Samples []meters.Sample
}

// SamplesByLane returns the samples of every lane; the active encoder is first.
func (s *Session) SamplesByLane() []LaneSamples {
	var out []LaneSamples
	differs := s.differences()
	for i, l := range s.lanes {
		out = append(out, LaneSamples{joinName(l.codec(), differs[i]), l.began, l.meter.Samples()})
	}
	return out
}

// Progress returns how much of the session is done and how much there is: in seconds, or in
// bytes where a file is delivered.
func (s *Session) Progress() (done, total float64) {
	if s.delivers {
		return s.delivered()
	}
	return s.Now().Seconds(), s.expected().Seconds()
}

// expected returns when the session will end; 0 if that is not known.
func (s *Session) expected() time.Duration {
	if s.end < never {
		return s.end
	}
	if src, ok := s.feed.source.(dataset.Sized); ok {
		return s.cadence.TickTime(uint64(src.Frames()))
	}
	return 0
}

// Planned returns how long the session is to be; 0 if only the data determine it. Call it at the
// beginning: an interrupted session has ended.
func (s *Session) Planned() time.Duration {
	if s.delivers || s.opt.Endless {
		return 0
	}
	return s.expected()
}

// remarks returns what was guessed or left out of the data.
func (s *Session) remarks() []string {
	if src, ok := s.feed.source.(dataset.Remarked); ok {
		return src.Remarks()
	}
	return nil
}
