// Package forecast predicts where the cubes of a snapshot will be some ticks later,
// by doing what the recorder did: it simulates them.
//
// An encoder that knows the baseline and how fast each cube moved then (which no
// snapshot says; see Refine) runs the same few steps of physics as its decoder,
// and sends only by how much the truth differs. The floor, the neighbours, the
// player who ploughs through them: all of that is in the forecast, and costs no
// bits. For the physics see physics.Scene; this package turns snapshots into
// scenes and results into units.
//
// Every result is the same on every machine, to the bit.
package forecast

import (
	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
)

// The cubes of the walk-off, in metres, and its clock.
const (
	CubeHalf    = 0.2
	PlayerHalf  = 0.75
	tickSeconds = 1.0 / 60
)

// maxSteps is how many steps one run makes at most. A run over more ticks than
// that makes longer steps, up to maxStep; what is farther ahead than maxSteps
// steps of that is not simulated.
const (
	// maxSteps bounds the steps of a run. A run over more ticks takes longer steps, up to
	// maxStep; time beyond that is not simulated.
	maxSteps = 12
	maxStep  = 2 * tickSeconds
)

// restSeconds is how long a cube is still before it sleeps.
const restSeconds = 0.1

// Body is the motion of a cube, which a snapshot does not hold.
type Body struct {
	Vel, Spin [3]float32 // metres per second; radians per second
	Still     float32    // seconds for which it has hardly moved
}

// Awake is a cube that moves at the baseline.
type Awake struct {
	Cube int32
	Body
}

// Result is a cube at the end of a run.
type Result struct {
	Cube   int32
	Pos    vec // units of the snapshot
	Rot    quat
	Body       // at the end, before it is corrected
	Floor  int // contact points with the floor, over all steps
	Cubes  int // with other cubes
	Player int // with the player
	physics.Impact
}

// Simulator runs forecasts. It owns its memory and must not be used by two
// goroutines at a time.
type Simulator struct {
	rows       int
	law        physics.Rigid
	scene      *physics.Scene
	table      []int32
	pose       func(i int) physics.Quat
	results    []Result
	at         []int32    // per cube: where in results it is, plus one
	live       frame.Rows // of the last run: who may have moved; missAround adds who did
	refinement refinement
	clusters
}

// New returns a simulator for snapshots of a number of cubes; see physics.Recorder for law.
func New(rows int, law physics.Rigid) *Simulator {
	s := &Simulator{rows: rows, law: law, scene: physics.NewScene(rows), at: make([]int32, rows), live: frame.NewRows(rows)}
	s.refinement.init(rows)
	s.clusters.init(rows)
	s.pose = func(i int) physics.Quat { return RotationOf(s.row(i)) }
	return s
}

func (s *Simulator) row(i int) []int32 {
	return s.table[i*frame.CubeFields : (i+1)*frame.CubeFields]
}

// Run simulates from base to the end of path. awake lists the cubes that move at the
// baseline, without the player, which follows path; all others rest until something
// touches them.
//
// The result lists every cube that may have moved, in ascending order and without the
// player. It is valid until the next run. Cubes that are not listed rest.
func (s *Simulator) Run(base *frame.Frame, awake []Awake, path *Path) []Result {
	s.table = base.Table
	s.settled.Clear()
	s.refinement.begin(path)
	s.refinement.path.inferMode(s.table)
	s.refinement.judged = s.refinement.path.Mode
	for i := range awake {
		a := &awake[i]
		if c := int(a.Cube); c > 0 && c < s.rows && s.refinement.index[c] == 0 {
			s.refinement.add(c, a.Body.clamped())
		}
	}
	s.lay()
	s.simulate()
	return s.results
}

// simulate runs the simulation from the state in refinement.
func (s *Simulator) simulate() {
	s.place()
	s.contacts = s.contacts[:0]
	p := &s.refinement.path
	steps, dt := p.steps()
	for k := range steps {
		p.movePlayer(s.scene, k, steps, dt)
		p.applyForces(s.scene)
		s.scene.Step(dt)
		s.noteContacts()
	}
	s.collect()
}

// lay puts the cubes of a snapshot that rest into the physics scene.
func (s *Simulator) lay() {
	s.scene.Reset(s.law, s.pose)
	for i := 1; i < s.rows; i++ {
		if s.refinement.index[i] == 0 {
			s.scene.Lay(i, CubeHalf, PositionOf(s.row(i)).Scale(metre))
		}
	}
}

// place puts the cubes that move into the scene, which holds nothing else but what rests.
func (s *Simulator) place() {
	s.scene.Rewind()
	for i := range s.refinement.moves {
		a := &s.refinement.moves[i]
		if s.settled.Has(int(a.Cube)) {
			continue
		}
		row := s.row(int(a.Cube))
		s.scene.Place(int(a.Cube), CubeHalf, PositionOf(row).Scale(metre), RotationOf(row),
			wide(a.Vel), wide(a.Spin), float64(a.Still))
	}
	if s.rows > 0 {
		p := &s.refinement.path
		s.scene.Hold(0, PlayerHalf, PositionOf(p.From).Scale(metre), RotationOf(p.From))
	}
}

// collect turns the awake bodies into results.
func (s *Simulator) collect() {
	for k := range s.results {
		s.at[s.results[k].Cube] = 0
	}
	s.results = s.results[:0]
	s.live.Clear()
	for _, i := range s.scene.Live() {
		s.live.Add(int(i))
	}
	for i := range s.live.All() {
		if i == 0 {
			continue // the player
		}
		b, t := s.scene.Body(i), s.scene.Touch(i)
		s.results = append(s.results, Result{
			Cube: int32(i), Pos: b.Pos.Scale(frame.UnitsPerMetre), Rot: b.Rot,
			Body:  Body{Vel: narrow(b.Vel), Spin: narrow(b.Spin), Still: float32(s.scene.Still(i))},
			Floor: int(t.Floor), Cubes: int(t.Cubes), Player: int(t.Held),
			Impact: s.scene.Impact(i),
		})
		s.at[i] = int32(len(s.results))
	}
}

// Bounds of speeds; larger ones are clamped.
const (
	maxSpeed = 32 // metres per second
	maxSpin  = 16 // radians per second
)

// correctRow is correct for the pose of a row.
func (r *Result) correctRow(row []int32, ticks int, gain float64) Body {
	return r.correct(PositionOf(row), RotationOf(row), ticks, gain)
}

// correct returns the corrected motion of a cube, given its true pose after a run of so
// many ticks. Most of an error in position comes from an error in the speed at the start
// and lasts, so the speed is corrected by gain times the error divided by the time.
func (r *Result) correct(pos vec, rot quat, ticks int, gain float64) Body {
	rate := gain / float64(float64(max(ticks, 1))*tickSeconds)
	b, e, turn := r.Body, pos.Sub(r.Pos), Log(Mul(rot, Conj(r.Rot)))
	v := wide(b.Vel).AddScaled(e, float64(rate*metre*errorShare(e.Dot(e))))
	w := wide(b.Spin).AddScaled(turn, float64(rate*errorShare(float64(turn.Dot(turn)*(turnSteps*turnSteps)))))
	b.Vel, b.Spin = narrow(v.Limit(maxSpeed)), narrow(w.Limit(maxSpin))
	return b.clamped()
}

// errorShare returns the share of an error that is attributed to speed, given the
// squared error in steps of the snapshot. Small errors may be rounding.
func errorShare(square float64) float64 {
	const least, half = 0.3, 1.5 * 1.5 // half: the error at which half of the rest is attributed
	return least + float64((1-least)*square)/(square+half)
}

// clamped returns b with all values within bounds.
func (b Body) clamped() Body {
	for k := range 3 {
		b.Vel[k] = clamp(b.Vel[k], maxSpeed)
		b.Spin[k] = clamp(b.Spin[k], maxSpin)
	}
	if !(b.Still >= 0) {
		b.Still = 0
	}
	b.Still = min(b.Still, 1)
	return b
}

// clamp returns x clamped to -most..most, 0 for NaN.
func clamp(x, most float32) float32 {
	if x != x {
		return 0
	}
	return max(-most, min(x, most))
}

func wide(a [3]float32) vec { return vec{X: float64(a[0]), Y: float64(a[1]), Z: float64(a[2])} }

func narrow(a vec) [3]float32 { return [3]float32{float32(a.X), float32(a.Y), float32(a.Z)} }

// Blend improves the motion b at snapshot base by the mean speed since an earlier
// snapshot, taken the given number of ticks before. The mean is measured but quantised,
// so b follows it only as far as the two differ by more than quantisation explains. Over
// several ticks the mean is outdated; it then serves only where nothing else is known
// and b is zero.
func (b Body) Blend(before, base []int32, ticks int) Body {
	if ticks < 1 {
		return b
	}
	rate := 1 / float64(float64(ticks)*tickSeconds)
	v := PositionOf(base).Sub(PositionOf(before)).Scale(float64(rate * metre * stepDamping))
	w := Log(Mul(RotationOf(base), Conj(RotationOf(before)))).Scale(float64(rate * stepDamping))
	b.Vel = narrow(blendToward(wide(b.Vel), v, float64(rate*measureError*metre)))
	b.Spin = narrow(blendToward(wide(b.Spin), w, float64(rate*measureError/turnSteps)))
	return b.clamped()
}

const (
	stepDamping  = 0.99 // of a speed in one step
	measureError = 2.0  // difference, in steps, at which measurement and estimate weigh the same
)

// blendToward moves an estimate towards a measurement, the more the more they differ.
// They weigh the same at a difference of even.
func blendToward(estimate, measured vec, even float64) vec {
	d := measured.Sub(estimate)
	l := d.Dot(d)
	return estimate.AddScaled(d, l/(l+float64(even*even)))
}
