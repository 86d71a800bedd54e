package kinetic

import (
	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/cubes/forecast"
)

// forecaster runs the simulation from the baseline with the speeds of the baseline's memo and the
// player's motion, which is coded first. It owns the predictions that a scene refers to.
type forecaster struct {
	sim              *forecast.Simulator // the simulation
	base             frame.Frame         // the baseline
	now              frame.Frame         // the coded frame, for refine
	awake            []forecast.Awake    // cubes that move at the baseline
	listedCubes      frame.Rows          // the cubes of awake; in refine those that moved
	path             forecast.Path       // motion of the player
	predictions      []prediction        // of each cube: scene.forecast refers to it
	predictionStates []predictionState   // of each cube: whether its prediction is valid
	rounds           int                 // maximum number of repeated simulations in refine
}

// newForecaster returns a forecaster for frames of the given number of cubes.
func newForecaster(rows int, config *simulationConfig) *forecaster {
	return &forecaster{
		sim: forecast.New(rows, config.Params), rounds: config.rounds,
		awake: make([]forecast.Awake, 0, rows), listedCubes: frame.NewRows(rows),
		predictions: make([]prediction, rows), predictionStates: make([]predictionState, rows),
	}
}

// simulationConfig is the physics that kinetic simulates.
type simulationConfig struct {
	physics.Params
	rounds int // how often refine repeats the simulation, at most
}

// defaultSimulation returns the physics with which the recordings of the walk-off were made.
func defaultSimulation() *simulationConfig {
	return &simulationConfig{Params: physics.RecorderParams(), rounds: 3}
}

// forecast runs the simulation and sets the predictions of the scene. The player must have been
// coded.
func (o *forecaster) forecast(s *scene) {
	o.base.Table = s.base
	o.path = forecast.Path{From: cube.At(s.base, 0)[:], To: cube.At(s.cur, 0)[:], Ticks: int(s.baselineFrames)}
	if past := s.baseMemo; past != nil { // the player's motion before the baseline and its force are known
		o.path.Mode = past.mode
		if past.baselineFrames > 0 {
			o.path.Before, o.path.BeforeTicks = past.basePlayer[:], int(past.baselineFrames)
		}
	}
	clear(o.predictionStates)
	s.forecast, s.predictionStates = o.predictions, o.predictionStates
	o.listAwake(s)
	results := o.sim.Run(&o.base, o.awake, &o.path)
	s.mode = o.sim.Mode()
	o.copyResults(s, results)
}

// listAwake sets o.awake to the cubes that move at the baseline, with their speeds: those with a
// track in its memo and those that differ between the second reference and the baseline. The second
// reference is used only if it is one tick older than the baseline, or if there is no memo and it is
// at most maxSecondAge ticks older; otherwise the speeds of the memo are more accurate.
func (o *forecaster) listAwake(s *scene) {
	// secondAge is unsigned: an age of 0 fails the last comparison.
	useSecond := s.second != nil && (s.secondAge == 1 || s.baseMemo == nil && s.secondAge-1 < maxSecondAge)
	o.awake = o.awake[:0]
	o.listedCubes.Clear()
	if s.baseMemo != nil {
		for k := range s.baseMemo.tracks {
			o.listedCubes.Add(int(s.baseMemo.tracks[k].cube))
		}
	}
	for i := 1; useSecond && i < s.rows; i++ {
		if !cube.SamePose(cube.At(s.second, i), cube.At(s.base, i)) {
			o.listedCubes.Add(i)
		}
	}
	for i := range o.listedCubes.All() {
		if i == 0 {
			continue // the player
		}
		a := forecast.Awake{Cube: int32(i)}
		if t := s.lastTrack(i); t != nil {
			a.Body = t.body()
		}
		if useSecond && !cube.SamePose(cube.At(s.second, i), cube.At(s.base, i)) {
			a.Body = a.Blend(cube.At(s.second, i)[:], cube.At(s.base, i)[:], int(s.secondAge))
		}
		o.awake = append(o.awake, a)
	}
}

// maxSecondAge is the largest number of frames between a second reference and the baseline for which
// the mean speed between them is better than none.
const maxSecondAge = 12

// refine repeats the simulation with corrected speeds after the whole frame is coded. Its speeds at
// the end, which the memo stores, are more accurate than those of the forecast.
func (o *forecaster) refine(s *scene) {
	o.now.Table = s.cur
	o.listedCubes.Clear()
	for k := range s.motions {
		o.listedCubes.Add(int(s.motions[k].cube))
	}
	results := o.sim.Refine(&o.now, o.listedCubes, o.rounds)
	s.mode = o.sim.Mode()
	o.copyResults(s, results)
}

// copyResults copies the results of a simulation to the predictions and marks their cubes.
func (o *forecaster) copyResults(s *scene, results []forecast.Result) {
	for k := range results {
		r := &results[k]
		o.predictionStates[r.Cube] = simulated
		s.flags[r.Cube] |= isForecast
		o.predictions[r.Cube] = prediction{
			pos: vec{r.Pos.X, r.Pos.Y, r.Pos.Z}, rot: quat{r.Rot.X, r.Rot.Y, r.Rot.Z, r.Rot.W},
			speed: toFloat64(r.Vel), spin: toFloat64(r.Spin), stillSeconds: float64(r.Still),
			contacts: [3]float64{float64(r.Floor), float64(r.Player), float64(r.Cubes)},
			impact:   r.Impact,
		}
	}
}

// body returns the speed and spin of a track in m/s and rad/s, and its still time in seconds at
// 60 Hz.
func (t *track) body() (b forecast.Body) {
	for k := range t.speed {
		b.Vel[k] = float32(t.speed[k]) / speedSteps
		b.Spin[k] = float32(t.spin[k]) / speedSteps
	}
	b.Still = float32(t.stillFrames) / 60
	return b
}

// toFloat64 converts a vector of the simulator.
func toFloat64(v [3]float32) vec { return vec{float64(v[0]), float64(v[1]), float64(v[2])} }
