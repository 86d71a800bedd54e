package kinetic

import (
	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
	"wirelab/encoders/cubes/forecast"
)

// oracle says where the cubes will be: it runs the simulation from the baseline,
// at the speeds that the baseline's memo has, with the player on the way that
// this frame tells of.
type oracle struct {
	sim   *forecast.Simulator
	base  frame.Frame
	awake []forecast.Awake
	path  forecast.Path
	ahead []outlook
}

func newOracle(rows int, law physics.Rigid) *oracle {
	return &oracle{sim: forecast.New(rows, law), awake: make([]forecast.Awake, 0, maxTracks), ahead: make([]outlook, rows)}
}

// forecast returns the outlook of every cube. The player is known.
func (o *oracle) forecast(s *scene) []outlook {
	o.base.Table = s.base
	o.path = forecast.Path{From: row(s.base, 0)[:], To: row(s.cur, 0)[:], Ticks: int(s.frames)}
	o.awake = o.awake[:0]
	for i := range s.rows {
		q := row(s.base, i)
		o.ahead[i] = outlook{at: position(q), as: orientation(q)}
		if t := s.last(i); t != nil && i > 0 {
			o.awake = append(o.awake, forecast.Awake{Cube: int32(i), Body: t.body()})
		}
	}
	if s.past != nil && s.past.lead > 0 {
		o.path.Before, o.path.Lead = s.past.player[:], int(s.past.lead)
	}
	results := o.sim.Run(&o.base, o.awake, &o.path)
	for k := range results {
		r := &results[k]
		o.ahead[r.Cube] = outlook{
			at: vec{r.Pos.X, r.Pos.Y, r.Pos.Z}, as: quat{r.Rot.X, r.Rot.Y, r.Rot.Z, r.Rot.W},
			speed: wide(r.Vel), spin: wide(r.Spin), still: float64(r.Still),
			touches: [3]float64{float64(r.Floor), float64(r.Player), float64(r.Cubes)}, stirs: true,
		}
	}
	return o.ahead
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
