package forecast

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
)

// When the true snapshot at the end of a run is known, the run is repeated with corrected speeds. The speeds
// at its end are then better estimates, and the next forecast starts with them. This is the shooting method
// for boundary value problems, for all cubes at once.

// refineGain is the factor of a correction of the speeds at the start. Some errors have other causes, so
// a factor of 1 would overshoot.
const refineGain = 0.6

// refineConverged replaces physics.Params.Converged in repeated runs: the contact solver stops when no speed changes
// by more, in m/s. Repeated runs may be less exact, because their results are corrected anyway. With
// 1e-3 forecasts are as good as with 2e-4. 3e-3 makes packets 0.3 % larger than 2e-3, and kinetic 6 % faster.
const refineConverged = 3e-3

// maxRefineWork is the number of contact corrections per thousand cubes above which a run is not repeated. It
// is three times the usual number. 96 is the number for each cube, and 1024 about a thousand cubes.
const maxRefineWork = 96 * 1024

// refinement is the input of a run and the best results so far.
type refinement struct {
	path      Path     // motion of the player
	bodies    []Awake  // cubes that move at the baseline, with their speeds
	bodyIndex []int32  // of each cube: 1 + its index in bodies; 0 if it rests
	best      []Result // of each cube the result nearest to the true snapshot, sorted by cube
	merged    []Result // memory of mergeBest for the next best
	bestRun   savedRun // of tryModes: the run in the best mode so far
	foundMode Mode     // the player's mode, as far as the runs have shown it: see Simulator.Mode
}

// init allocates memory for frames of the given number of cubes.
func (h *refinement) init(rows int) { h.bodyIndex = make([]int32, rows) }

// reset prepares for a new run along path, with all cubes at rest.
func (h *refinement) reset(path *Path) {
	for i := range h.bodies {
		h.bodyIndex[h.bodies[i].Cube] = 0
	}
	h.path, h.bodies = *path, h.bodies[:0]
}

// addBody adds a moving cube, which must not be in bodies.
func (h *refinement) addBody(cube int, b Body) {
	h.bodies = append(h.bodies, Awake{Cube: int32(cube), Body: b})
	h.bodyIndex[cube] = int32(len(h.bodies))
}

// Refine repeats the last run up to rounds times, each time with speeds corrected by the errors of the run
// before. It returns for each cube the result nearest to the true snapshot, now; their speeds are more
// accurate than those of Run. moved are the cubes whose pose in now differs from the baseline. The baseline
// given to Run must not have changed. The results are valid until the next call.
//
// A round costs at most as much as Run. Runs of more than maxRefineWork are not repeated.
func (s *Simulator) Refine(now *frame.Frame, moved frame.Rows, rounds int) []Result {
	h := &s.refinement
	h.best = append(h.best[:0], s.results...)
	rounds -= s.tryModes(now, moved, rounds)
	s.scene.SetConverged(refineConverged)
	for range rounds {
		if s.scene.WorkDone() > maxRefineWork*physics.WorkFactor(s.rows) {
			break
		}
		s.findSettled(now)
		s.correctSpeeds(now, moved)
		s.simulate()
		s.mergeBest(now)
	}
	return h.best
}

// correctSpeeds corrects the speeds at the baseline of all cubes that moved, except settled ones.
func (s *Simulator) correctSpeeds(now *frame.Frame, moved frame.Rows) {
	h := &s.refinement
	for i := range moved.All() {
		if i == 0 || s.settled.Has(i) {
			continue // the player, or a cube whose speed is right
		}
		row := now.Table[i*frame.CubeFields : (i+1)*frame.CubeFields]
		if h.bodyIndex[i] == 0 { // it was not listed in awake, but moved
			h.addBody(i, Body{Still: restSeconds})
		}
		r := s.lastResult(i) // its Body is replaced by the motion at the start, which correctRow corrects
		r.Body = h.bodies[h.bodyIndex[i]-1].Body
		h.bodies[h.bodyIndex[i]-1].Body = r.correctRow(row, h.path.Ticks, refineGain)
	}
}

// lastResult returns the result of cube i in the last run. A cube without one rests.
func (s *Simulator) lastResult(i int) Result {
	if k := s.resultIndex[i]; k > 0 {
		return s.results[k-1]
	}
	return s.restingResult(i)
}

// restingResult returns the result of a cube that stays at its pose in the baseline.
func (s *Simulator) restingResult(i int) Result {
	row := s.row(i)
	return Result{Cube: int32(i), Pos: Position(row), Rot: Orientation(row), Body: Body{Still: restSeconds}}
}

// mergeBest merges the results of the last run into the best results and keeps, for each cube, the one with the
// smaller error. Both lists are sorted by cube.
func (s *Simulator) mergeBest(now *frame.Frame) {
	h := &s.refinement
	old, merged := h.best, h.merged[:0]
	for k := range s.results {
		r := &s.results[k]
		for len(old) > 0 && old[0].Cube < r.Cube {
			merged, old = append(merged, old[0]), old[1:]
		}
		row := now.Table[int(r.Cube)*frame.CubeFields:][:frame.CubeFields]
		var candidate Result // the best result so far of this cube, then the better one
		if len(old) > 0 && old[0].Cube == r.Cube {
			candidate, old = old[0], old[1:]
		} else {
			candidate = s.restingResult(int(r.Cube))
		}
		if r.squaredError(row) <= candidate.squaredError(row) {
			candidate = *r
		}
		merged = append(merged, candidate)
	}
	h.best, h.merged = append(merged, old...), h.best
}

// squaredError returns the squared error of a result, in steps of position and orientation; row is the cube in
// the true snapshot.
func (r *Result) squaredError(row []int32) float64 {
	p := Position(row).Sub(r.Pos)
	q, a := Orientation(row), r.Rot
	// The scalar product is the cosine of half the angle between the two orientations.
	dot := float64(q.X*a.X) + float64(q.Y*a.Y) + float64(q.Z*a.Z) + float64(q.W*a.W)
	// 1-dot*dot is the squared sine, about the squared half angle.
	return p.Dot(p) + float64(4*turnSteps*turnSteps*max(1-float64(dot*dot), 0))
}

// turnSteps is the number of steps of the smallest three that a rotation by one radian moves a component.
const turnSteps = smallScale / 2

// A snapshot does not show whether the player pushes or pulls, but the next one does: after a run in the wrong
// mode the cubes around the player are far from their true positions. Some rounds of Refine then try the
// other modes.
const (
	modeRadius   = 1200 // cubes within this distance of the player along x and y count, in units
	maxModeError = 300  // bound of the error of one cube, in units of 1/512 m
	minModeCubes = 2    // with fewer cubes that moved the mode stays unknown
	// suspiciousError is the mean error, in units, from which on other modes are tried. In the right mode it is
	// smaller in 24 of 25 frames, in a wrong mode in one of ten.
	suspiciousError = 90
	// clearImprovement is the ratio to the first mode's error below which another mode replaces it.
	clearImprovement = 0.8
)

// Mode returns the mode of the last run. After Refine it is the mode with the smallest error around the player,
// or Infer if too few cubes near the player moved to find out.
func (s *Simulator) Mode() Mode { return s.refinement.foundMode }

// tryModes repeats the last run in up to maxTries other modes if the error around the player is suspicious.
// Further runs use the best mode, and the simulator is left in the state after the run in that mode. tryModes
// returns the number of runs that it made.
func (s *Simulator) tryModes(now *frame.Frame, moved frame.Rows, maxTries int) (tried int) {
	h := &s.refinement
	firstMode := h.path.Mode
	firstError, n := s.errorNearPlayer(now, moved)
	h.foundMode = firstMode
	if n < minModeCubes {
		h.foundMode = Infer
	}
	if n < minModeCubes || firstError < float64(suspiciousError*n) { // the mode is unknown, or right
		return 0
	}
	s.saveRun(&h.bestRun)
	errorBound := float64(clearImprovement * firstError) // a mode is better if its error is below
	for _, mode := range [...]Mode{noForce, Push, Pull} {
		if mode == firstMode || tried == maxTries {
			continue
		}
		tried++
		h.path.Mode = mode
		s.simulate()
		if modeError, _ := s.errorNearPlayer(now, moved); modeError < errorBound {
			errorBound, h.foundMode = modeError, mode
			s.mergeBest(now)
			s.saveRun(&h.bestRun)
		}
	}
	h.path.Mode = h.foundMode
	s.restoreRun(&h.bestRun)
	return tried
}

// savedRun is the outcome of a run.
type savedRun struct {
	results  []Result   // of each cube that may have moved
	contacts [][2]int32 // pairs of cubes that touched
}

// saveRun copies the last run to r.
func (s *Simulator) saveRun(r *savedRun) {
	r.results = append(r.results[:0], s.results...)
	r.contacts = append(r.contacts[:0], s.contacts...)
}

// restoreRun makes r the last run.
func (s *Simulator) restoreRun(r *savedRun) {
	for k := range s.results {
		s.resultIndex[s.results[k].Cube] = 0
	}
	s.results = append(s.results[:0], r.results...)
	s.contacts = append(s.contacts[:0], r.contacts...)
	for k := range s.results {
		s.resultIndex[s.results[k].Cube] = int32(k + 1)
	}
}

// errorNearPlayer returns the sum of the errors of cubes near the player in the last run, in units, and the number
// n of these cubes. It counts the cubes that moved in the run, and those in moved, which moved in the true snapshot,
// now.
func (s *Simulator) errorNearPlayer(now *frame.Frame, moved frame.Rows) (sum float64, n int) {
	x, y := s.refinement.path.From[frame.CubeX], s.refinement.path.From[frame.CubeY]
	s.moving.Union(moved)
	for i := range s.moving.All() {
		row := s.row(i)
		dx, dy := int64(row[frame.CubeX])-int64(x), int64(row[frame.CubeY])-int64(y)
		if i == 0 || uint64(dx+modeRadius) > 2*modeRadius || uint64(dy+modeRadius) > 2*modeRadius {
			continue // the player, or farther away than modeRadius in x or y
		}
		r := s.lastResult(i)
		sum += min(math.Sqrt(r.squaredError(now.Table[i*frame.CubeFields:][:frame.CubeFields])), maxModeError)
		n++
	}
	return sum, n
}
