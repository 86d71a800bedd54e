package lossmodel

import "time"

// Duplicate is what the duplicate stage does: with probability P a datagram is
// followed by Copies copies of it, each of which arrives Delay later than it
// otherwise would. Each copy meets the later stages on its own. Trace adds the
// copies that came in a capture, as much later than their datagram as there.
type Duplicate struct {
	P      float64
	Copies int // 1..MaxCopies
	Delay  time.Duration
	Trace  File
}

type duplicateStage struct {
	stream stream
	chance chance
	copies int
	delay  time.Duration
	files  *library
	trace  cursor
	traced bool
}

func (s *duplicateStage) reshape(spec *Spec) bool {
	d := spec.Duplicate
	s.chance, s.copies, s.delay = chanceOf(d.P), d.Copies, d.Delay
	if s.traced = d.Trace.Path != ""; s.traced {
		s.trace.set(s.files.get(d.Trace, asLosses).replay, d.Trace.ByTime)
	}
	return s.chance > 0 || s.traced
}

// Apply implements Stage. Copies are not copied again.
func (s *duplicateStage) Apply(now time.Duration, _ int, f *Fate) {
	if f.Copy > 0 {
		return
	}
	if s.chance.hit(s.stream.next(0)) {
		for range s.copies {
			f.Copies = append(f.Copies, s.delay)
		}
	}
	if s.traced {
		copies := s.trace.play(now, 0).copies
		f.Copies = append(f.Copies, copies[:min(len(copies), MaxCopies-len(f.Copies))]...)
	}
}

func duplicateSettings() []setting {
	return []setting{
		newSetting(percentUnit, func(s *Spec) *float64 { return &s.Duplicate.P }, KeyInfo{
			Key: "duplicate", Stage: "duplicate", Ladder: percentLadder,
			Help: "share of datagrams that are sent twice or more; each copy meets the later stages on its own",
		}),
		newSetting(countUnit("copies", 1, MaxCopies), func(s *Spec) *int { return &s.Duplicate.Copies }, KeyInfo{
			Key: "duplicate_copies", Stage: "duplicate", Ladder: []string{"1", "2", "3", "4", "6", "8"},
			Help: "copies made of a datagram that is duplicated",
		}),
		newSetting(spanUnit, func(s *Spec) *time.Duration { return &s.Duplicate.Delay }, KeyInfo{
			Key: "duplicate_delay", Stage: "duplicate", Ladder: spanLadder,
			Help: "how much later than it otherwise would a copy arrives",
		}),
		newSetting(*fileUnit("a capture", true), func(s *Spec) *File { return &s.Duplicate.Trace }, KeyInfo{
			Key: "duplicate_trace", Stage: "duplicate",
			Help: "copies that came in a capture come again",
		}),
	}
}
