// Package forecast predicts the cubes of a snapshot some ticks later by a physics simulation.
//
// Encoder and decoder run the same few simulation steps from the baseline and the speeds of its cubes,
// and the packet holds only the residuals. A snapshot does not contain speeds; Refine estimates them
// when the next snapshot is known. Package physics has the simulation (physics.Scene). This package
// converts between snapshots and scenes.
//
// Every result is the same on every machine, to the bit.
package forecast

import (
	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
)

// Half the sides of the cubes of the walk-off in metres, and the time between snapshots.
const (
	CubeHalf    = 0.2
	PlayerHalf  = 0.75
	tickSeconds = 1.0 / 60
)

const (
	// maxSteps bounds the steps of a run. A run over more ticks has longer steps, up to maxStep
	// seconds each; time beyond that, from 24 ticks on, is not simulated.
	maxSteps = 12
	maxStep  = 2 * tickSeconds
)

// restSeconds is the time without motion after which a cube sleeps, as in physics.RecorderParams. A resting cube has
// this time in Body.Still.
const restSeconds = 0.1

// Body is the motion of a cube, which a snapshot does not contain.
type Body struct {
	Vel, Spin [3]float32 // m/s and rad/s
	Still     float32    // seconds for which the cube has hardly moved
}

// Awake is a cube that moves at the baseline.
type Awake struct {
	Cube int32 // number of the cube
	Body
}

// Result is a cube at the end of a run.
type Result struct {
	Cube           int32 // number of the cube
	Pos            vec   // position at the end, in units of the snapshot, 1/512 m
	Rot            quat  // orientation at the end
	Body                 // motion at the end
	Floor          int   // contact points with the floor, summed over all steps
	Cubes          int   // contact points with other cubes, summed over all steps
	Player         int   // contact points with the player, summed over all steps
	physics.Impact       // changes of its speed by contacts, in m/s
}

// Simulator runs forecasts. It owns its memory and must not be used by two
// goroutines at a time.
type Simulator struct {
	rows        int                      // number of cubes
	rigid       physics.Params           // constants of the simulation
	scene       *physics.Scene           // the simulated bodies
	table       []int32                  // the rows of the baseline
	pose        func(i int) physics.Quat // returns the orientation of cube i in table
	results     []Result                 // of the last run, sorted by cube
	resultIndex []int32                  // of each cube: 1 + its index in results; 0 if it has none
	moving      frame.Rows               // cubes that may have moved in the last run; errorNearPlayer adds those that did
	refinement  refinement               // inputs of runs and the best results so far
	clusters
}

// New returns a simulator for snapshots of the given number of cubes. physics.RecorderParams returns the
// constants of the walk-off's recordings.
func New(rows int, rigid physics.Params) *Simulator {
	s := &Simulator{rows: rows, rigid: rigid, scene: physics.NewScene(rows), resultIndex: make([]int32, rows),
		moving: frame.NewRows(rows)}
	s.refinement.init(rows)
	s.clusters.init(rows)
	s.pose = func(i int) physics.Quat { return Orientation(s.row(i)) }
	return s
}

// row returns cube i of the baseline.
func (s *Simulator) row(i int) []int32 {
	return s.table[i*frame.CubeFields : (i+1)*frame.CubeFields]
}

// Run simulates from snapshot base to the end of path. awake lists the cubes that move at the
// baseline; the others rest until something touches them. The player, cube 0, follows path and is not
// in awake.
//
// The result lists every cube that may have moved, in ascending order and without the player; other
// cubes rest. It is valid until the next call of Run or Refine. base must not change until then.
func (s *Simulator) Run(base *frame.Frame, awake []Awake, path *Path) []Result {
	s.table = base.Table
	s.settled.Clear()
	s.refinement.reset(path)
	s.refinement.path.inferMode(s.table)
	s.refinement.foundMode = s.refinement.path.Mode
	for i := range awake {
		a := &awake[i]
		if c := int(a.Cube); c > 0 && c < s.rows && s.refinement.bodyIndex[c] == 0 { // not listed twice
			s.refinement.addBody(c, a.Body.clamped())
		}
	}
	s.placeResting()
	s.simulate()
	return s.results
}

// simulate runs the simulation from the motions in s.refinement, without settled cubes.
func (s *Simulator) simulate() {
	s.placeMoving()
	s.contacts = s.contacts[:0]
	p := &s.refinement.path
	steps, dt := p.steps()
	for k := range steps {
		p.movePlayer(s.scene, k, steps, dt)
		p.applyForces(s.scene)
		s.scene.Step(dt)
		s.recordContacts()
	}
	s.collectResults()
}

// placeResting empties the physics scene and puts the resting cubes of the baseline into it. They stay there for
// all runs until the next call.
func (s *Simulator) placeResting() {
	s.scene.Reset(s.rigid, s.pose)
	for i := 1; i < s.rows; i++ {
		if s.refinement.bodyIndex[i] == 0 {
			s.scene.Lay(i, CubeHalf, Position(s.row(i)).Scale(metre))
		}
	}
}

// placeMoving resets the scene to the resting cubes and adds the moving ones, except those of settled clusters,
// and the player, which is moved by its path and not by forces.
func (s *Simulator) placeMoving() {
	s.scene.Rewind()
	for i := range s.refinement.bodies {
		a := &s.refinement.bodies[i]
		if s.settled.Has(int(a.Cube)) {
			continue
		}
		row := s.row(int(a.Cube))
		s.scene.Place(int(a.Cube), CubeHalf, Position(row).Scale(metre), Orientation(row),
			toVec(a.Vel), toVec(a.Spin), float64(a.Still))
	}
	if s.rows > 0 {
		p := &s.refinement.path
		s.scene.Hold(0, PlayerHalf, Position(p.From).Scale(metre), Orientation(p.From))
	}
}

// collectResults sets s.results, s.resultIndex and s.moving from the awake bodies of the scene.
func (s *Simulator) collectResults() {
	for k := range s.results {
		s.resultIndex[s.results[k].Cube] = 0
	}
	s.results = s.results[:0]
	s.moving.Clear()
	for _, i := range s.scene.Live() {
		s.moving.Add(int(i))
	}
	for i := range s.moving.All() {
		if i == 0 {
			continue // the player
		}
		b, t := s.scene.Body(i), s.scene.Touch(i)
		s.results = append(s.results, Result{
			Cube: int32(i), Pos: b.Pos.Scale(frame.UnitsPerMetre), Rot: b.Rot,
			Body:  Body{Vel: toArray(b.Vel), Spin: toArray(b.Spin), Still: float32(s.scene.Still(i))},
			Floor: int(t.Floor), Cubes: int(t.Cubes), Player: int(t.Held), // the player is the only body that is held
			Impact: s.scene.Impact(i),
		})
		s.resultIndex[i] = int32(len(s.results)) // 1 + the index; 0 means no result
	}
}

// Bounds of speeds. Larger ones are clamped.
const (
	maxSpeed = 32 // m/s
	maxSpin  = 16 // rad/s
)

// correctRow is correct with the true pose in row.
func (r *Result) correctRow(row []int32, ticks int, gain float64) Body {
	return r.correct(Position(row), Orientation(row), ticks, gain)
}

// correct returns the motion r.Body corrected by the error of r, given the true pose (pos in units of
// 1/512 m) after a run of the given number of ticks. Most of an error in position comes from an error in the speed at the
// start, which lasts, so the correction of the speed is gain times the error divided by the time.
func (r *Result) correct(pos vec, rot quat, ticks int, gain float64) Body {
	rate := gain / float64(float64(max(ticks, 1))*tickSeconds)
	corrected, positionError, rotationError := r.Body, pos.Sub(r.Pos), Log(Mul(rot, Conj(r.Rot)))
	v := toVec(corrected.Vel).AddScaled(positionError, float64(rate*metre*speedShare(positionError.Dot(positionError))))
	w := toVec(corrected.Spin).AddScaled(rotationError, float64(rate*speedShare(float64(rotationError.Dot(rotationError)*(turnSteps*turnSteps)))))
	corrected.Vel, corrected.Spin = toArray(v.Limit(maxSpeed)), toArray(w.Limit(maxSpin))
	return corrected.clamped()
}

// speedShare returns the share of an error that is attributed to the speed, given the squared error in
// steps of the snapshot. It is smaller for small errors, which may be rounding: from 0.3 for the
// smallest errors up to 1 for large ones, and halfway between at an error of 1.5 steps.
func speedShare(square float64) float64 {
	const minShare, halfwaySquare = 0.3, 1.5 * 1.5 // halfwaySquare: squared error of 1.5 steps
	return minShare + float64((1-minShare)*square)/(square+halfwaySquare)
}

// clamped returns b with all values within their bounds, and 0 for NaN.
func (b Body) clamped() Body {
	for k := range 3 {
		b.Vel[k] = clamp(b.Vel[k], maxSpeed)
		b.Spin[k] = clamp(b.Spin[k], maxSpin)
	}
	if !(b.Still >= 0) {
		b.Still = 0
	}
	b.Still = min(b.Still, 1) // a second, longer than restSeconds
	return b
}

// clamp returns x clamped to -limit..limit, and 0 for NaN.
func clamp(x, limit float32) float32 {
	if x != x {
		return 0
	}
	return max(-limit, min(x, limit))
}

// toVec converts a vector of Body.
func toVec(a [3]float32) vec { return vec{X: float64(a[0]), Y: float64(a[1]), Z: float64(a[2])} }

// toArray converts a vector to one of Body.
func toArray(a vec) [3]float32 { return [3]float32{float32(a.X), float32(a.Y), float32(a.Z)} }

// Blend returns b, an estimate of the motion of a cube at the baseline, improved by the mean speed
// since an earlier snapshot; before and base are the cube's rows in both, ticks apart. The mean speed is
// measured but quantised, so b moves towards it only as far as the difference exceeds what
// quantisation explains. Over several ticks the mean is outdated; use it then only if b is zero
// because nothing else is known. b is returned unchanged if ticks is less than 1.
func (b Body) Blend(before, base []int32, ticks int) Body {
	if ticks < 1 {
		return b
	}
	rate := 1 / float64(float64(ticks)*tickSeconds)
	meanVel := Position(base).Sub(Position(before)).Scale(float64(rate * metre * stepDamping))
	meanSpin := Log(Mul(Orientation(base), Conj(Orientation(before)))).Scale(float64(rate * stepDamping))
	b.Vel = toArray(blendToward(toVec(b.Vel), meanVel, float64(rate*equalWeightError*metre)))
	b.Spin = toArray(blendToward(toVec(b.Spin), meanSpin, float64(rate*equalWeightError/turnSteps)))
	return b.clamped()
}

const (
	stepDamping      = 0.99 // ratio of a speed after a simulation step to that before it
	equalWeightError = 2.0  // difference in steps at which measurement and estimate have equal weights
)

// blendToward returns a weighted mean of an estimate and a measurement. The weight of the measurement
// grows with their difference and is 1/2 at a difference of equalWeightDistance.
func blendToward(estimate, measured vec, equalWeightDistance float64) vec {
	difference := measured.Sub(estimate)
	squared := difference.Dot(difference)
	return estimate.AddScaled(difference, squared/(squared+float64(equalWeightDistance*equalWeightDistance)))
}
