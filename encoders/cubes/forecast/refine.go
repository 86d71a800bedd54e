package forecast

import "wirelab/dataset/frame"

// Once the truth is known, a run can be made again from speeds that would have
// come nearer to it. What these speeds have become by the end is a better answer
// to the question how the cubes move then, and the next forecast begins with
// that. It is the shooting method for boundary value problems, all cubes at once.

// hindsightGain is the share of a miss that is laid to the speed at the start.
// All of it would overshoot: some misses have other causes.
const refineGain = 0.6

// heavyRun is how many corrections of a contact make a run a heavy one: three
// times as many as usual.
const maxRefineWork = 96 * 1024

// hindsight is what a run began with, and the best so far of what came of it.
type refinement struct {
	path   Path
	moves  []Awake
	index  []int32 // per cube: where in moves it is, plus one
	best   []Result
	merged []Result
}

func (h *refinement) init(rows int) { h.index = make([]int32, rows) }

func (h *refinement) add(cube int, b Body) {
	h.moves = append(h.moves, Awake{Cube: int32(cube), Body: b})
	h.index[cube] = int32(len(h.moves))
}

// Refine repeats the last run the given number of times, each from speeds that
// were corrected by what the run before it missed, and returns for each cube the
// run that came nearest to now, the true snapshot at the end: these, and not the
// results of Run, are what to remember of now, once they are corrected. The baseline that
// was given to Run must not have changed since. The results are valid until the
// next call.
//
// One round costs another Run; the rounds end early in a frame that was heavy, so
// that it need not be paid for twice.
func (s *Simulator) Refine(now *frame.Frame, rounds int) []Result {
	h := &s.refinement
	h.best = append(h.best[:0], s.results...)
	for range rounds {
		if s.scene.Spent() > maxRefineWork {
			break
		}
		s.correctSpeeds(now)
		s.simulate()
		s.keepNearest(now)
	}
	return h.best
}

// aim corrects the speeds at the start of the cubes that moved.
func (s *Simulator) correctSpeeds(now *frame.Frame) {
	h := &s.refinement
	for i := 1; i < s.rows; i++ {
		row := now.Table[i*frame.CubeFields : (i+1)*frame.CubeFields]
		if sameCube(row, s.row(i)) {
			continue
		}
		if h.index[i] == 0 {
			h.add(i, Body{Still: RestSeconds})
		}
		r := s.resting(i)
		if k := s.at[i]; k > 0 {
			r = s.results[k-1]
		}
		r.Body = h.moves[h.index[i]-1].Body
		h.moves[h.index[i]-1].Body = r.correctRow(row, h.path.Ticks, refineGain)
	}
}

// rest is the forecast that nothing happens to a cube.
func (s *Simulator) resting(i int) Result {
	row := s.row(i)
	return Result{Cube: int32(i), Pos: PositionOf(row), Rot: RotationOf(row), Body: Body{Still: RestSeconds}}
}

// keepBetter merges the last run into the best ones. Both lists are in order.
func (s *Simulator) keepNearest(now *frame.Frame) {
	h := &s.refinement
	old, merged := h.best, h.merged[:0]
	for k := range s.results {
		r := &s.results[k]
		for len(old) > 0 && old[0].Cube < r.Cube {
			merged, old = append(merged, old[0]), old[1:]
		}
		row := now.Table[int(r.Cube)*frame.CubeFields:][:frame.CubeFields]
		before := s.resting(int(r.Cube))
		if len(old) > 0 && old[0].Cube == r.Cube {
			before, old = old[0], old[1:]
		}
		if r.miss(row) <= before.miss(row) {
			before = *r
		}
		merged = append(merged, before)
	}
	h.best, h.merged = append(merged, old...), h.best
}

// miss weighs how far a result is from the truth: squared steps of position and
// of orientation.
func (r *Result) miss(row []int32) float64 {
	p := PositionOf(row).Sub(r.Pos)
	q, a := RotationOf(row), r.Rot
	// The product is the cosine of half the angle between them.
	dot := float64(q.X*a.X) + float64(q.Y*a.Y) + float64(q.Z*a.Z) + float64(q.W*a.W)
	return p.Dot(p) + float64(4*turnSteps*turnSteps*max(1-float64(dot*dot), 0))
}

// turnSteps is how many steps of the smallest three a turn of one radian makes.
const turnSteps = smallScale / 2

// sameCube reports whether two rows have a cube at the same place in the same
// orientation.
func sameCube(a, b []int32) bool {
	return [frame.CubeInteracting]int32(a) == [frame.CubeInteracting]int32(b)
}
