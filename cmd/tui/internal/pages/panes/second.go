package panes

import "wirelab/experiment/engine"

// Second is which of the shadows stands beside the encoder under the keys where there
// is room for one. The pages share it: chosen on one, it is the same on the others.
type Second struct{ of lane }

// lane tells a shadow from all others while it runs, whatever others join or leave.
type lane struct {
	encoder string
	params  any // the shadow's own: one pointer for as long as it runs
	began   int64
}

func laneOf(l *engine.Lane) lane { return lane{l.Encoder, l.Params, int64(l.Began)} }

// At returns the number of its lane; the first shadow's if it has left or none was
// chosen, 0 if there is no shadow.
func (s *Second) At(lanes []engine.Lane) int {
	for i := 1; i < len(lanes); i++ {
		if laneOf(&lanes[i]) == s.of {
			return i
		}
	}
	return max(min(len(lanes)-1, 1), 0)
}

// Choose puts the lane of a number there; not the one under the keys.
func (s *Second) Choose(lanes []engine.Lane, i int) {
	if i > 0 && i < len(lanes) {
		s.of = laneOf(&lanes[i])
	}
}

// Next goes on by so many shadows, round and round.
func (s *Second) Next(lanes []engine.Lane, step int) {
	if n := len(lanes) - 1; n > 0 {
		s.Choose(lanes, 1+((s.At(lanes)-1+step)%n+n)%n)
	}
}
