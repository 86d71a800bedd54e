package kinetic

import (
	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/cubes/forecast"
)

// forecaster runs the simulation from the baseline with the speeds of the baseline's
// memo and the player's motion, which is coded first.
type forecaster struct {
	sim         *forecast.Simulator
	base        frame.Frame
	now         frame.Frame
	awake       []forecast.Awake
	listed      frame.Rows // which awake lists, or which moved
	path        forecast.Path
	predictions []prediction
	motions     []expectation
	rounds      int // of refine
}

func newForecaster(rows int, law *law) *forecaster {
	return &forecaster{sim: forecast.New(rows, law.Rigid), rounds: law.rounds, awake: make([]forecast.Awake, 0, rows), listed: frame.NewRows(rows),
		predictions: make([]prediction, rows), motions: make([]expectation, rows)}
}

// law is the physics that kinetic simulates.
type law struct {
	physics.Rigid
	rounds int // of Refine: repeated simulations with corrected speeds
}

// defaultLaw returns the law of the walk-off's recordings.
func defaultLaw() *law { return &law{Rigid: physics.Recorder(), rounds: 3} }

// forecast predicts every cube, after the player was coded.
func (o *forecaster) forecast(s *scene) {
	o.base.Table = s.base
	o.path = forecast.Path{From: cube.At(s.base, 0)[:], To: cube.At(s.cur, 0)[:], Ticks: int(s.frames)}
	if past := s.past; past != nil {
		o.path.Mode = past.mode
		if past.leadFrames > 0 {
			o.path.Before, o.path.Lead = past.player[:], int(past.leadFrames)
		}
	}
	clear(o.motions)
	s.forecast, s.motions = o.predictions, o.motions
	o.listAwake(s)
	results := o.sim.Run(&o.base, o.awake, &o.path)
	s.mode = o.sim.Mode()
	o.copyResults(s, results)
}

// listAwake lists the cubes that move at the baseline: those with a track in its memo
// and those that differ between the second reference and the baseline. The second
// reference is used if it is one tick older than the baseline, or if there is no memo
// and it is not too old; otherwise the memo knows the speeds better.
func (o *forecaster) listAwake(s *scene) {
	useful := s.second != nil && (s.secondAge == 1 || s.past == nil && s.secondAge-1 < maxSecondAge)
	o.awake = o.awake[:0]
	o.listed.Clear()
	if s.past != nil {
		for k := range s.past.tracks {
			o.listed.Add(int(s.past.tracks[k].cube))
		}
	}
	for i := 1; useful && i < s.rows; i++ {
		if !cube.SamePose(cube.At(s.second, i), cube.At(s.base, i)) {
			o.listed.Add(i)
		}
	}
	for i := range o.listed.All() {
		if i == 0 {
			continue // the player
		}
		a := forecast.Awake{Cube: int32(i)}
		if t := s.last(i); t != nil {
			a.Body = t.body()
		}
		if useful && !cube.SamePose(cube.At(s.second, i), cube.At(s.base, i)) {
			a.Body = a.Blend(cube.At(s.second, i)[:], cube.At(s.base, i)[:], int(s.secondAge))
		}
		o.awake = append(o.awake, a)
	}
}

// maxSecondAge is how many frames before the baseline a second reference may be.
const maxSecondAge = 12

// refine repeats the simulation with corrected speeds after the frame is known, so that
// the memo gets better speeds at its end.
func (o *forecaster) refine(s *scene) {
	o.now.Table = s.cur
	o.listed.Clear()
	for k := range s.done {
		o.listed.Add(int(s.done[k].cube))
	}
	results := o.sim.Refine(&o.now, o.listed, o.rounds)
	s.mode = o.sim.Mode()
	o.copyResults(s, results)
}

// copyResults stores the results of a simulation as predictions.
func (o *forecaster) copyResults(s *scene, results []forecast.Result) {
	for k := range results {
		r := &results[k]
		o.motions[r.Cube] = moves
		s.flags[r.Cube] |= isForecast
		o.predictions[r.Cube] = prediction{
			at: vec{r.Pos.X, r.Pos.Y, r.Pos.Z}, as: quat{r.Rot.X, r.Rot.Y, r.Rot.Z, r.Rot.W},
			speed: wide(r.Vel), spin: wide(r.Spin), still: float64(r.Still),
			touches: [3]float64{float64(r.Floor), float64(r.Player), float64(r.Cubes)},
			impact:  r.Impact,
		}
	}
}

// body returns the motion of a track in the simulation's units.
func (t *track) body() (b forecast.Body) {
	for k := range t.speed {
		b.Vel[k] = float32(t.speed[k]) / speedSteps
		b.Spin[k] = float32(t.spin[k]) / speedSteps
	}
	b.Still = float32(t.still) / 60
	return b
}

func wide(v [3]float32) vec { return vec{float64(v[0]), float64(v[1]), float64(v[2])} }
