package world

import "wirelab/dataset/frame"

const stepsPerSecond = 60

// firstTick is the number of the first frame that Next fills: as in recordings,
// frames 0..5 are the initial state.
const firstTick = 6

// Source plays the world under a script, for ever, and makes a frame of every
// step. It implements dataset.Source.
type Source struct {
	schema *frame.Schema
	sim    *Sim
	pilot  *pilot
	start  frame.Frame
	tick   uint32
}

// Open starts the world under the named script; "" means "random".
func Open(script string, seed uint64) (*Source, error) {
	if script == "" {
		script = "random"
	}
	sc, err := findScript(script)
	if err != nil {
		return nil, err
	}
	s := &Source{schema: frame.Cubes(Cubes), sim: NewSim(), pilot: newPilot(sc, seed), tick: firstTick}
	s.sim.Snapshot(&s.start)
	return s, nil
}

// Schema describes the snapshots: 901 cubes.
func (s *Source) Schema() *frame.Schema { return s.schema }

// Sim returns the world that is being played, to look at.
func (s *Source) Sim() *Sim { return s.sim }

// Initial fills f with the grid at rest and the player above it.
func (s *Source) Initial(f *frame.Frame) { f.CopyFrom(&s.start) }

// Next simulates one step and fills f with the outcome. It never fails.
func (s *Source) Next(f *frame.Frame) error {
	s.sim.Step(s.pilot.keys(s.sim))
	s.sim.Snapshot(f)
	f.Tick = s.tick
	s.tick++
	return nil
}
