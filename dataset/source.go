// Package dataset is where frames come from: walk-off recordings, the embedded
// demo, the live cube world, a player's calls. A source knows nothing of encoders or networks.
package dataset

import (
	"wirelab/dataset/frame"
	"wirelab/dataset/world"
)

// Source makes frames, Schema().TickHz of them a second of virtual time.
type Source interface {
	// Schema describes the frames; it never changes.
	Schema() *frame.Schema
	// Initial fills f with the state that both ends are configured with:
	// frame 0 of a walk-off recording, the grid of the world.
	Initial(f *frame.Frame)
	// Next fills the caller's frame with the next one; io.EOF ends. For a
	// walk-off recording the first is frame 6, since frames 0..5 repeat the
	// initial state.
	Next(f *frame.Frame) error
}

// Seamed is a source that loops. Seam reports whether the frame that Next filled
// last is the first after a jump back to the beginning: a visible reset.
type Seamed interface {
	Seam() bool
}

// Sized is a source that knows how many frames Next will fill before io.EOF or
// before it loops; 0 while it does not know yet (a compressed recording, before
// it was read to its end once).
type Sized interface {
	Frames() int
}

// Steered is a source that somebody may play: the live world. What is asked for
// takes effect in the next frame, so the same calls between the same frames give
// the same frames.
type Steered interface {
	// Hold takes the keys from the script and holds these, and no others, until
	// it is called again.
	Hold(keys world.Input)
	// Autopilot gives the keys back to the script, or takes them away and lets go
	// of all.
	Autopilot(on bool)
	// Keys returns what was held in the frame made last, whoever held it.
	Keys() world.Input
	// Reset begins anew; Seam then reports the first frame.
	Reset()
}
