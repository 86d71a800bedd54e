package world

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
)

// firstTick is the number of the first frame that Next fills: as in recordings,
// frames 0..5 are the initial state.
const firstTick = 6

// Kind is this data for dataset.Open.
var Kind = source.Kind{Name: "world", Spec: "world", Source: "Glenn Fiedler, Networked Physics, 2014-15", Arg: source.MayHaveArgument,
	Summary: "the live cube world: 900 cubes and a player, simulated, never ends; world:katamari plays that script",
	Open: func(script string, opt source.Options) (source.Source, error) {
		return source.Of(openScript(script, opt))
	}}

// openScript starts the live world under a script, which the specification may
// name, or the options.
func openScript(script string, opt source.Options) (*Source, error) {
	if opt.Cubes != 0 && opt.Cubes != Cubes {
		return nil, fmt.Errorf("%w: the world has %d cubes, not %d", source.ErrSpec, Cubes, opt.Cubes)
	}
	if script == "" {
		script = opt.Script
	}
	src, err := Open(script, opt.Seed)
	if err != nil {
		return nil, fmt.Errorf("data %q: %w: %w", "world:"+script, source.ErrSpec, err)
	}
	return src, nil
}

// Source plays the world, for ever, and makes a frame of every step. Its script's
// pilot has the keys until somebody takes them: see Hold. It implements
// dataset.Source, dataset.Seamed, dataset.Tracked and dataset.Steered.
type Source struct {
	schema *frame.Schema
	sim    *Sim
	pilot  *pilot
	start  frame.Frame
	tick   uint32

	manual bool  // the keys are held, and not the pilot's
	held   Input // while manual
	last   Input // held in the last step
	reset  bool  // the next frame is the first of a new world
	seam   bool  // the last one was
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

// Sim returns the world that is being played, to look at. Reset replaces it.
func (s *Source) Sim() *Sim { return s.sim }

// Initial fills f with the grid at rest and the player above it.
func (s *Source) Initial(f *frame.Frame) { f.CopyFrom(&s.start) }

// Next simulates one step and fills f with the outcome. It never fails. A pilot
// that has blown most cubes away begins anew, after a minute or two.
func (s *Source) Next(f *frame.Frame) error {
	if !s.manual && s.pilot.wantsReset(s.sim) {
		s.reset = true
	}
	s.seam, s.reset = s.reset, false
	if s.seam {
		s.sim = NewSim()
		s.pilot.left = 0 // whatever it was about
	}
	in := s.held
	if !s.manual {
		in = s.pilot.keys(s.sim)
	}
	s.last = in
	s.sim.Step(in)
	if s.seam {
		for i := range Cubes {
			s.sim.changed.Add(i) // the frame before is of another world
		}
	}
	s.sim.Snapshot(f)
	f.Tick = s.tick
	s.tick++
	return nil
}

// Hold takes the keys from the pilot and holds these, and no others, from the
// next frame on until Hold or Autopilot is called again.
func (s *Source) Hold(in Input) { s.manual, s.held = true, in }

// Autopilot gives the keys back to the script's pilot, or takes them from it and
// lets go of all.
func (s *Source) Autopilot(on bool) { s.manual, s.held = !on, Input{} }

// Keys returns what was held in the last step, by whoever has the keys.
func (s *Source) Keys() Input { return s.last }

// Reset begins the world anew with the next frame, in which all cubes are back
// in the grid: a seam. Who has the keys keeps them.
func (s *Source) Reset() { s.reset = true }

// Seam reports whether the frame that Next filled last is the first of a world
// begun anew, by Reset or by the pilot.
func (s *Source) Seam() bool { return s.seam }

// Changed returns the rows in which the frame that Next filled last may differ from the one
// before it.
func (s *Source) Changed() frame.Rows { return s.sim.changed }
