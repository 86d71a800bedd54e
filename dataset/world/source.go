package world

import (
	"context"
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
	"wirelab/dataset/source"
)

// firstTick is the number of the first frame that Next fills: as in recordings,
// frames 0..5 are the initial state.
const firstTick = 6

// Kind is this data for dataset.Open.
var Kind = source.Kind{Name: "world", Spec: "world", Source: "Glenn Fiedler, Networked Physics, 2014-15", Arg: source.MayHaveArgument,
	Summary: "the live cube world: 900 cubes and a player, simulated, never ends; world:katamari plays that script",
	Open: func(_ context.Context, script string, opt source.Options) (source.Source, error) {
		return source.Of(openScript(script, opt))
	}}

// openScript starts the live world under a script, which the specification may
// name, or the options.
func openScript(script string, opt source.Options) (*live, error) {
	if opt.Cubes != 0 && opt.Cubes != cubes {
		return nil, fmt.Errorf("%w: the world has %d cubes, not %d", source.ErrSpec, cubes, opt.Cubes)
	}
	if script == "" {
		script = opt.Script
	}
	src, err := open(script, opt.Seed)
	if err != nil {
		return nil, source.BadSpec("world:"+script, err)
	}
	return src, nil
}

// live plays the world without end, and makes a frame of every step. The pilot of its
// script holds the keys until Hold is called. It implements source.Source, Seamed, Tracked
// and dataset.Steered.
type live struct {
	schema *frame.Schema
	sim    *sim
	pilot  *pilot
	start  frame.Frame
	tick   uint32

	manual bool  // the keys are held, and not the pilot's
	held   Input // while manual
	last   Input // held in the last step
	reset  bool  // the next frame is the first of a new world
	seam   bool  // the last one was
}

// open starts the world under the named script; "" means "random".
func open(script string, seed uint64) (*live, error) {
	if script == "" {
		script = "random"
	}
	sc, err := findScript(script)
	if err != nil {
		return nil, err
	}
	s := &live{schema: frame.Cubes(cubes), sim: newSim(), pilot: newPilot(sc, seed), tick: firstTick}
	s.sim.snapshot(&s.start)
	return s, nil
}

// Schema describes the snapshots: 901 cubes.
func (s *live) Schema() *frame.Schema { return s.schema }

// Player returns the player's cube, for tests of what is displayed. Reset replaces it.
func (s *live) Player() *physics.Body { return s.sim.Player() }

// Initial fills f with the grid at rest and the player above it.
func (s *live) Initial(f *frame.Frame) { f.CopyFrom(&s.start) }

// Next simulates one step and fills f with the outcome. It never fails. A pilot
// that has blown most cubes away starts a new world, after a minute or two.
func (s *live) Next(f *frame.Frame) error {
	if !s.manual && s.pilot.wantsReset(s.sim) {
		s.reset = true
	}
	s.seam, s.reset = s.reset, false
	if s.seam {
		s.sim = newSim()
		s.pilot.left = 0 // its act ends
	}
	in := s.held
	if !s.manual {
		in = s.pilot.keys(s.sim)
	}
	s.last = in
	s.sim.Step(in)
	if s.seam {
		for i := range cubes {
			s.sim.changed.Add(i) // the frame before is of another world
		}
	}
	s.sim.snapshot(f)
	f.Tick = s.tick
	s.tick++
	return nil
}

// Hold implements dataset.Steered.
func (s *live) Hold(in Input) { s.manual, s.held = true, in }

// Autopilot implements dataset.Steered.
func (s *live) Autopilot(on bool) { s.manual, s.held = !on, Input{} }

// Keys implements dataset.Steered.
func (s *live) Keys() Input { return s.last }

// Reset implements dataset.Steered. Keys that are held remain held.
func (s *live) Reset() { s.reset = true }

// Seam reports whether the frame that Next filled last is the first of a new world, after Reset or
// by the pilot.
func (s *live) Seam() bool { return s.seam }

// Changed returns the rows in which the frame that Next filled last may differ from the one
// before it.
func (s *live) Changed() frame.Rows { return s.sim.changed }
