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

// Kind describes the cube world as a kind of data, for dataset.Open.
var Kind = source.Kind{Name: "world", Spec: "world", Source: "Glenn Fiedler, Networked Physics, 2014-15", Arg: source.MayHaveArgument,
	Summary: "the live cube world: 900 cubes and a player, simulated without end; world:katamari plays the script katamari",
	Open: func(_ context.Context, script string, opt source.Options) (source.Source, error) {
		return source.AsSource(openScript(script, opt))
	}}

// openScript starts the world with a script. If script is empty, the options name it.
func openScript(script string, opt source.Options) (*liveSource, error) {
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

// liveSource is the cube world as a source: one frame for every step, without end. The pilot of its
// script holds the keys until Hold is called. It implements source.Source, Looping, Tracked and
// dataset.Steered.
type liveSource struct {
	schema *frame.Schema
	sim    *sim
	pilot  *pilot
	start  frame.Frame // the initial state
	tick   uint32      // tick of the next frame

	manual      bool  // the keys are those of Hold, not the pilot's
	held        Input // keys set by Hold
	lastKeys    Input // keys held in the last step
	resetNext   bool  // the next frame is the first of a new world
	atLoopPoint bool  // the last frame was the first of a new world
}

// open starts the world with the named script; "" means "random".
func open(script string, seed uint64) (*liveSource, error) {
	if script == "" {
		script = "random"
	}
	sc, err := findScript(script)
	if err != nil {
		return nil, err
	}
	s := &liveSource{schema: frame.Cubes(cubes), sim: newSim(), pilot: newPilot(sc, seed), tick: firstTick}
	s.sim.snapshot(&s.start)
	return s, nil
}

// Schema describes the snapshots: 901 cubes.
func (s *liveSource) Schema() *frame.Schema { return s.schema }

// Player returns the player's cube, for tests of displays. After Reset it is another Body.
func (s *liveSource) Player() *physics.Body { return s.sim.Player() }

// Initial fills f with the grid at rest and the player above it.
func (s *liveSource) Initial(f *frame.Frame) { f.CopyFrom(&s.start) }

// Next simulates one step and fills f with the snapshot. It never fails. When the pilot has pushed most
// cubes away, after a minute or two, a new world begins.
func (s *liveSource) Next(f *frame.Frame) error {
	if !s.manual && s.pilot.wantsReset(s.sim) {
		s.resetNext = true
	}
	s.atLoopPoint, s.resetNext = s.resetNext, false
	if s.atLoopPoint {
		s.sim = newSim()
		s.pilot.stepsLeft = 0 // end the current act
	}
	in := s.held
	if !s.manual {
		in = s.pilot.chooseKeys(s.sim)
	}
	s.lastKeys = in
	s.sim.Step(in)
	if s.atLoopPoint {
		for i := range cubes {
			s.sim.changed.Add(i) // all rows changed: the frame before was of another world
		}
	}
	s.sim.snapshot(f)
	f.Tick = s.tick
	s.tick++
	return nil
}

// Hold sets the keys that are held from the next frame on, and ends the pilot's play. See
// dataset.Steered.
func (s *liveSource) Hold(in Input) { s.manual, s.held = true, in }

// Autopilot lets the pilot choose the keys if on is true; otherwise it releases all keys. See
// dataset.Steered.
func (s *liveSource) Autopilot(on bool) { s.manual, s.held = !on, Input{} }

// Keys returns the keys held in the newest frame. See dataset.Steered.
func (s *liveSource) Keys() Input { return s.lastKeys }

// Reset starts a new world with the next frame. It does not change which keys are held. See
// dataset.Steered.
func (s *liveSource) Reset() { s.resetNext = true }

// AtLoopPoint reports whether the frame that Next filled last is the first of a new world.
func (s *liveSource) AtLoopPoint() bool { return s.atLoopPoint }

// Changed returns the rows in which the frame that Next filled last may differ from the one
// before it.
func (s *liveSource) Changed() frame.Rows { return s.sim.changed }
