package lossmodel

import (
	"time"

	"wirelab/internal/setting"
	"wirelab/lossmodel/random"
)

// Reorder is what the reorder stage does: with probability P a packet is held
// back by Delay, so that later ones overtake it. With a Distance of d packets it
// is held back for d and a half of the sender's intervals instead: a packet that
// is sent evenly, and delayed evenly, then arrives just after the d-th later one.
// The interval is the mean over the last eight; Delay serves until there is one.
// A packet's time is final when it is sent, so the stage cannot wait for the
// later ones themselves.
type Reorder struct {
	P        float64
	Delay    time.Duration
	Distance int // 0: by Delay
}

// maxDistance is the greatest distance, in packets.
const maxDistance = 1000

type reorderStage struct {
	stream   random.Stream
	chance   random.Chance
	delay    time.Duration
	distance int
	pace     pace
}

func (s *reorderStage) reshape(spec *Spec) bool {
	r := spec.Reorder
	s.chance, s.delay, s.distance = random.ChanceOf(r.P), r.Delay, r.Distance
	return s.chance > 0
}

// Apply implements Stage.
func (s *reorderStage) Apply(now time.Duration, _ int, f *Fate) {
	if f.Copy == 0 {
		s.pace.note(now)
	}
	if !s.chance.Hit(s.stream.Next(f.Copy)) {
		return
	}
	if interval, ok := s.pace.interval(); ok && s.distance > 0 {
		f.Delay += min(interval*time.Duration(s.distance)+interval/2, setting.MaxDelay)
	} else {
		f.Delay += s.delay
	}
}

// pace knows when the last datagrams were sent.
type pace struct {
	at   [8]time.Duration // of datagram n at n mod 8
	n    uint64           // how many there were
	mean time.Duration    // interval between the last nine, 0 if all came at once
}

func (p *pace) note(now time.Duration) {
	oldest := &p.at[p.n%8]
	switch {
	case p.n >= 8:
		p.mean = (now - *oldest) / 8
	case p.n > 0:
		p.mean = (now - p.at[0]) / time.Duration(p.n)
	}
	*oldest = now
	p.n++
}

func (p *pace) interval() (time.Duration, bool) { return p.mean, p.mean > 0 }

func (s *reorderStage) fork() specStage { c := *s; return &c }

func (*Reorder) row() stageRow {
	return stageRow{
		name:    StageReorder,
		initial: func(s *Spec) { s.Reorder.Delay = 25 * time.Millisecond },
		make:    func(p *stageContext) specStage { return &reorderStage{stream: p.stream(StageReorder)} },
		keys: []keyRow{
			newKey(setting.Percent, func(s *Spec) *float64 { return &s.Reorder.P }, KeyInfo{
				Key: "reorder", Stage: "reorder", Ladder: percentLadder,
				Help: "share of packets that are held back by reorder_delay, so that later ones overtake them",
			}),
			newKey(setting.Span, func(s *Spec) *time.Duration { return &s.Reorder.Delay }, KeyInfo{
				Key: "reorder_delay", Stage: "reorder", Ladder: spanLadder,
				Help: "how long a reordered packet is held back; it is overtaken by those sent meanwhile",
			}),
			newKey(setting.OrOff(setting.Count("packets", 1, maxDistance)), func(s *Spec) *int { return &s.Reorder.Distance }, KeyInfo{
				Key: "reorder_distance", Stage: "reorder", Ladder: []string{"off", "1", "2", "3", "5", "8", "12", "20"},
				Help: "how many packets overtake a reordered one, reckoned by the sender's pace, instead of reorder_delay; off: by time",
			}),
		},
	}
}
