package forecast

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
)

// Once the true snapshot is known, the run is repeated with corrected speeds. The
// speeds at its end are better estimates, and the next forecast starts with them. It
// is the shooting method for boundary value problems, for all cubes at once.

// refineGain is the share of a residual that is attributed to the speed at the start.
// Some residuals have other causes, so 1 would overshoot.
const refineGain = 0.6

// reviewConverged replaces Rigid.Converged in repeated runs, whose results are corrected anyway: with 1e-3 forecasts are
// as good as with 2e-4; this makes packets 0.3 % larger than 2e-3 would, and kinetic 6 % faster.
const reviewConverged = 3e-3

// maxRefineWork is the number of contact corrections, three times the usual one, above
// which a run is not repeated, for each thousand cubes.
const maxRefineWork = 96 * 1024

// refinement is the start of a run and the best results so far.
type refinement struct {
	path   Path
	moves  []Awake
	index  []int32 // per cube: where in moves it is, plus one
	best   []Result
	merged []Result
	first  lastRun // in the best mode, while others are tried
	judged Mode    // what Mode returns
}

func (h *refinement) init(rows int) { h.index = make([]int32, rows) }

// begin forgets the last run.
func (h *refinement) begin(path *Path) {
	for i := range h.moves {
		h.index[h.moves[i].Cube] = 0
	}
	h.path, h.moves = *path, h.moves[:0]
}

func (h *refinement) add(cube int, b Body) {
	h.moves = append(h.moves, Awake{Cube: int32(cube), Body: b})
	h.index[cube] = int32(len(h.moves))
}

// Refine repeats the last run up to rounds times, each with speeds corrected by the
// residuals of the run before, and returns for each cube the result nearest to now, the
// true snapshot, of which moved are the cubes in another pose than at the baseline. They are
// better than the results of Run for the memo of now. The
// baseline given to Run must not have changed. The results are valid until the next
// call.
//
// Each round costs as much as Run. A run of more than maxRefineWork is not repeated.
func (s *Simulator) Refine(now *frame.Frame, moved frame.Rows, rounds int) []Result {
	h := &s.refinement
	h.best = append(h.best[:0], s.results...)
	rounds -= s.tryModes(now, moved, rounds)
	s.scene.SolveTo(reviewConverged)
	for range rounds {
		if s.scene.Spent() > maxRefineWork*physics.Thousands(s.rows) {
			break
		}
		s.settle(now)
		s.correctSpeeds(now, moved)
		s.simulate()
		s.keepNearest(now)
	}
	return h.best
}

// correctSpeeds corrects the speeds at the start of all cubes that moved.
func (s *Simulator) correctSpeeds(now *frame.Frame, moved frame.Rows) {
	h := &s.refinement
	for i := range moved.All() {
		if i == 0 || s.settled.Has(i) {
			continue // 0 is the player
		}
		row := now.Table[i*frame.CubeFields : (i+1)*frame.CubeFields]
		if h.index[i] == 0 {
			h.add(i, Body{Still: restSeconds})
		}
		r := s.resultOf(i)
		r.Body = h.moves[h.index[i]-1].Body
		h.moves[h.index[i]-1].Body = r.correctRow(row, h.path.Ticks, refineGain)
	}
}

// resultOf returns the result of cube i in the last run.
func (s *Simulator) resultOf(i int) Result {
	if k := s.at[i]; k > 0 {
		return s.results[k-1]
	}
	return s.resting(i)
}

// resting returns the result of a cube that does not move.
func (s *Simulator) resting(i int) Result {
	row := s.row(i)
	return Result{Cube: int32(i), Pos: PositionOf(row), Rot: RotationOf(row), Body: Body{Still: restSeconds}}
}

// keepNearest merges the last run into the best results. Both lists are sorted.
func (s *Simulator) keepNearest(now *frame.Frame) {
	h := &s.refinement
	old, merged := h.best, h.merged[:0]
	for k := range s.results {
		r := &s.results[k]
		for len(old) > 0 && old[0].Cube < r.Cube {
			merged, old = append(merged, old[0]), old[1:]
		}
		row := now.Table[int(r.Cube)*frame.CubeFields:][:frame.CubeFields]
		var before Result
		if len(old) > 0 && old[0].Cube == r.Cube {
			before, old = old[0], old[1:]
		} else {
			before = s.resting(int(r.Cube))
		}
		if r.miss(row) <= before.miss(row) {
			before = *r
		}
		merged = append(merged, before)
	}
	h.best, h.merged = append(merged, old...), h.best
}

// miss returns the squared error of a result, in steps of position and orientation.
func (r *Result) miss(row []int32) float64 {
	p := PositionOf(row).Sub(r.Pos)
	q, a := RotationOf(row), r.Rot
	// The product is the cosine of half the angle between them.
	dot := float64(q.X*a.X) + float64(q.Y*a.Y) + float64(q.Z*a.Z) + float64(q.W*a.W)
	return p.Dot(p) + float64(4*turnSteps*turnSteps*max(1-float64(dot*dot), 0))
}

// turnSteps is how many steps of the smallest three correspond to a turn of one radian.
const turnSteps = smallScale / 2

// A snapshot does not show whether the player pushes or pulls, but the next one does: a
// run in the wrong mode leaves the cubes around the player far from where they are. Then
// rounds of Refine go to other modes.

const (
	judgeReach = 1200 // units from the player's centre, to each side, within which cubes are evidence
	judgeMost  = 300  // units by which one cube counts at most
	judgeLeast = 2    // cubes that are evidence
	suspicious = 90   // units, mean of the cubes that moved; the right mode misses by less in 24 of 25 frames, a wrong one in one of ten
	clearly    = 0.8  // of the sum of misses that another mode must stay below
)

// Mode returns the mode of the last run. After Refine that is the mode that explains the snapshot, or Infer if no
// cubes were near enough to tell.
func (s *Simulator) Mode() Mode { return s.refinement.judged }

// tryModes repeats the last run in other modes, at most most times, if the cubes around the player are far from where it
// had them, and keeps the mode that explains them best. It returns how often it did.
func (s *Simulator) tryModes(now *frame.Frame, moved frame.Rows, most int) (tried int) {
	h := &s.refinement
	used := h.path.Mode
	sum, n := s.missAround(now, moved)
	h.judged = used
	if n < judgeLeast {
		h.judged = Infer
	}
	if n < judgeLeast || sum < float64(suspicious*n) {
		return 0
	}
	s.save(&h.first)
	least := float64(clearly * sum)
	for _, mode := range [...]Mode{none, Push, Pull} {
		if mode == used || tried == most {
			continue
		}
		tried++
		h.path.Mode = mode
		s.simulate()
		if other, _ := s.missAround(now, moved); other < least {
			least, h.judged = other, mode
			s.keepNearest(now)
			s.save(&h.first)
		}
	}
	h.path.Mode = h.judged
	s.restore(&h.first)
	return tried
}

// lastRun is what is known of a run.
type lastRun struct {
	results  []Result
	contacts [][2]int32
}

// save copies the last run to r.
func (s *Simulator) save(r *lastRun) {
	r.results = append(r.results[:0], s.results...)
	r.contacts = append(r.contacts[:0], s.contacts...)
}

// restore makes r the last run again.
func (s *Simulator) restore(r *lastRun) {
	for k := range s.results {
		s.at[s.results[k].Cube] = 0
	}
	s.results = append(s.results[:0], r.results...)
	s.contacts = append(s.contacts[:0], r.contacts...)
	for k := range s.results {
		s.at[s.results[k].Cube] = int32(k + 1)
	}
}

// missAround returns by how far the last run missed the cubes around the player, all in all, and how many
// of them moved, in truth or in the run.
func (s *Simulator) missAround(now *frame.Frame, moved frame.Rows) (sum float64, n int) {
	x, y := s.refinement.path.From[frame.CubeX], s.refinement.path.From[frame.CubeY]
	s.live.Union(moved)
	for i := range s.live.All() {
		row := s.row(i)
		dx, dy := int64(row[frame.CubeX])-int64(x), int64(row[frame.CubeY])-int64(y)
		if i == 0 || uint64(dx+judgeReach) > 2*judgeReach || uint64(dy+judgeReach) > 2*judgeReach {
			continue // 0 is the player
		}
		r := s.resultOf(i)
		sum += min(math.Sqrt(r.miss(now.Table[i*frame.CubeFields:][:frame.CubeFields])), judgeMost)
		n++
	}
	return sum, n
}
