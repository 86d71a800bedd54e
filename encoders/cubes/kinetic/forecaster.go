package kinetic

import (
	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/cubes/forecast"
)

// oracle says where the cubes will be: it runs the simulation from the baseline,
// at the speeds that the baseline's memo has, with the player on the way that
// this frame tells of.
type forecaster struct {
	sim         *forecast.Simulator
	base        frame.Frame
	now         frame.Frame
	awake       []forecast.Awake
	path        forecast.Path
	predictions []prediction
	rounds      int // of review
}

func newForecaster(rows int, law *law) *forecaster {
	return &forecaster{sim: forecast.New(rows, law.Rigid), rounds: law.rounds, awake: make([]forecast.Awake, 0, rows), predictions: make([]prediction, rows)}
}

// law is what kinetic simulates.
type law struct {
	physics.Rigid
	rounds int // in which the speeds at the baseline are corrected in hindsight
}

// recorder is the law of the walk-off's recordings.
func defaultLaw() *law { return &law{Rigid: physics.Recorder(), rounds: 2} }

// forecast returns the outlook of every cube. The player is known.
func (o *forecaster) forecast(s *scene) []prediction {
	o.base.Table = s.base
	o.path = forecast.Path{From: cube.At(s.base, 0)[:], To: cube.At(s.cur, 0)[:], Ticks: int(s.frames)}
	if s.past != nil && s.past.leadFrames > 0 {
		o.path.Before, o.path.Lead = s.past.player[:], int(s.past.leadFrames)
	}
	for i := range s.rows {
		q := cube.At(s.base, i)
		o.predictions[i] = prediction{at: position(q), as: orientation(q)}
	}
	o.listAwake(s)
	o.copyResults(o.sim.Run(&o.base, o.awake, &o.path))
	return o.predictions
}

// wake lists the cubes that move at the baseline: those that did so in the step
// before and, if a second snapshot is of use, those that it shows elsewhere. Of use
// it is a tick before the baseline: older ones say less of the speed there than the
// memo does. If there is no memo, any that is not too old is better than nothing.
func (o *forecaster) listAwake(s *scene) {
	useful := s.second != nil && (s.secondAge == 1 || s.past == nil && s.secondAge-1 < maxSecondAge)
	o.awake = o.awake[:0]
	for i := 1; i < s.rows; i++ {
		t, shown := s.last(i), useful && !cube.SamePose(cube.At(s.second, i), cube.At(s.base, i))
		if t == nil && !shown {
			continue
		}
		a := forecast.Awake{Cube: int32(i)}
		if t != nil {
			a.Body = t.body()
		}
		if shown {
			a.Body = a.Blend(cube.At(s.second, i)[:], cube.At(s.base, i)[:], int(s.secondAge))
		}
		o.awake = append(o.awake, a)
	}
}

// oldest is how many frames before the baseline a second snapshot may be.
const maxSecondAge = 12

// review forecasts again what is known by now, from speeds that would have come
// nearer to it: the speeds at the end are then nearer to the truth, too. Only
// the memo has a use for that.
func (o *forecaster) refine(s *scene) {
	o.now.Table = s.cur
	o.copyResults(o.sim.Refine(&o.now, o.rounds))
}

// note takes over what came of a simulation.
func (o *forecaster) copyResults(results []forecast.Result) {
	for k := range results {
		r := &results[k]
		o.predictions[r.Cube] = prediction{
			at: vec{r.Pos.X, r.Pos.Y, r.Pos.Z}, as: quat{r.Rot.X, r.Rot.Y, r.Rot.Z, r.Rot.W},
			speed: wide(r.Vel), spin: wide(r.Spin), still: float64(r.Still),
			touches: [3]float64{float64(r.Floor), float64(r.Player), float64(r.Cubes)}, moves: true,
		}
	}
}

// body returns how the cube moves, as the simulation wants it.
func (t *track) body() (b forecast.Body) {
	for k := range t.speed {
		b.Vel[k] = float32(t.speed[k]) / speedSteps
		b.Spin[k] = float32(t.spin[k]) / speedSteps
	}
	b.Still = float32(t.still) / 60
	return b
}

func wide(v [3]float32) vec { return vec{float64(v[0]), float64(v[1]), float64(v[2])} }
