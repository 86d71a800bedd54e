package world

import (
	"testing"

	"wirelab/dataset/frame"
	"wirelab/internal/testkit"
)

// After Hold the given keys move the player, not the pilot's: with Right it moves right, without
// keys it stays.
func TestHold(t *testing.T) {
	src := start(t, "hover")
	src.Autopilot(false)
	play(t, src, 120, nil)
	from := src.sim.Player().Pos
	src.Hold(Input{Right: true})
	play(t, src, 60, nil)
	if d := src.sim.Player().Pos.Sub(from); d.X < 0.5 {
		t.Errorf("held to the right it moved by %+v", d)
	}
	src.Hold(Input{})
	play(t, src, 240, nil)
	from = src.sim.Player().Pos
	play(t, src, 60, nil)
	if d := src.sim.Player().Pos.Sub(from); d.Length() > 0.01 {
		t.Errorf("with no key held it moved by %+v", d)
	}
	src.Autopilot(true)
	play(t, src, 600, nil)
	if d := src.sim.Player().Pos.Sub(from); d.Length() < 1 {
		t.Errorf("back with the pilot it moved by %+v", d)
	}
}

// After Reset the world repeats the steps of a new world, and AtLoopPoint reports the first frame.
func TestReset(t *testing.T) {
	src := start(t, "idle")
	var first, again []frame.Frame
	play(t, src, 30, func(f *frame.Frame) {
		var c frame.Frame
		c.CopyFrom(f)
		first = append(first, c)
		if src.AtLoopPoint() {
			t.Error("a loop point without a reset")
		}
	})
	src.Hold(Input{Right: true})
	play(t, src, 60, nil)
	src.Reset()
	src.Hold(Input{})
	play(t, src, 30, func(f *frame.Frame) {
		var c frame.Frame
		c.CopyFrom(f)
		again = append(again, c)
		if src.AtLoopPoint() != (len(again) == 1) {
			t.Errorf("frame %d after the reset: loop point %v", len(again), src.AtLoopPoint())
		}
		if want := uint32(firstTick + 90 + len(again) - 1); f.Tick != want {
			t.Errorf("tick %d, expected %d", f.Tick, want)
		}
	})
	for i := range first {
		if !first[i].Equal(&again[i]) {
			t.Fatalf("frame %d after the reset differs from the first time", i)
		}
	}
}

// A pilot resets the world when few cubes are left, so that in every minute cubes move. With keys
// held by the user the world is not reset.
func TestPilotResetsWorld(t *testing.T) {
	minutes := 6
	if !testkit.Thorough() {
		minutes = 3
	}
	src := start(t, "random")
	seams := 0
	for minute := range minutes {
		awake := 0
		play(t, src, 60*60, func(*frame.Frame) {
			awake += awakeCubes(src.sim)
			if src.AtLoopPoint() {
				seams++
			}
		})
		if mean := awake / 3600; mean < 15 {
			t.Errorf("in minute %d only %d cubes are awake on average", minute, mean)
		}
	}
	if seams == 0 || seams > minutes {
		t.Errorf("it began anew %d times in %d minutes", seams, minutes)
	}
	src.Autopilot(false)
	play(t, src, testkit.Choose(4, 1)*60*60, func(*frame.Frame) {
		if src.AtLoopPoint() {
			t.Fatal("a new world without a reset")
		}
	})
}
