package lossmodel

import "time"

// Duplicate is what the duplicate stage does: with probability P a datagram is
// followed by Copies copies of it, each of which arrives Delay later than it
// otherwise would. Each copy meets the later stages on its own.
type Duplicate struct {
	P      float64
	Copies int // 1..MaxCopies
	Delay  time.Duration
}

type duplicateStage struct {
	stream stream
	chance chance
	copies int
	delay  time.Duration
}

func (s *duplicateStage) reshape(spec *Spec) bool {
	d := spec.Duplicate
	s.chance, s.copies, s.delay = chanceOf(d.P), d.Copies, d.Delay
	return s.chance > 0
}

// Apply implements Stage. Copies are not copied again.
func (s *duplicateStage) Apply(_ time.Duration, _ int, f *Fate) {
	if f.Copy > 0 || !s.chance.hit(s.stream.next(0)) {
		return
	}
	for range s.copies {
		f.Copies = append(f.Copies, s.delay)
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
	}
}
