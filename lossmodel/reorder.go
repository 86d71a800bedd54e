package lossmodel

import "time"

// Reorder is what the reorder stage does: with probability P a packet is held
// back by Delay, so that later ones overtake it.
type Reorder struct {
	P     float64
	Delay time.Duration
}

type reorderStage struct {
	stream stream
	chance chance
	delay  time.Duration
}

func (s *reorderStage) reshape(spec *Spec) bool {
	s.chance, s.delay = chanceOf(spec.Reorder.P), spec.Reorder.Delay
	return s.chance > 0
}

// Apply implements Stage.
func (s *reorderStage) Apply(_ time.Duration, _ int, f *Fate) {
	if s.chance.hit(s.stream.next(f.Copy)) {
		f.Delay += s.delay
	}
}

func reorderSettings() []setting {
	return []setting{
		newSetting(percentUnit, func(s *Spec) *float64 { return &s.Reorder.P }, KeyInfo{
			Key: "reorder", Stage: "reorder", Ladder: percentLadder,
			Help: "share of packets that are held back by reorder_delay, so that later ones overtake them",
		}),
		newSetting(spanUnit, func(s *Spec) *time.Duration { return &s.Reorder.Delay }, KeyInfo{
			Key: "reorder_delay", Stage: "reorder", Ladder: spanLadder,
			Help: "how long a reordered packet is held back; it is overtaken by those sent meanwhile",
		}),
	}
}
