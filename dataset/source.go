// Package dataset is where frames come from: recordings, the embedded demo, the live
// cube world, generated calls, texts, files, captures, a user's own tables. A source knows
// nothing of encoders or networks.
package dataset

import (
	"wirelab/dataset/source"
	"wirelab/dataset/world"
)

// What all sources have in common, see package source.
type (
	// Source makes frames.
	Source = source.Source
	// Sized is a source that knows how many frames it has.
	Sized = source.Sized
	// Seamed is a source that loops.
	Seamed = source.Seamed
	// Tracked is a source that knows what changes from frame to frame.
	Tracked = source.Tracked
	// Timed is a source whose frames come at times of their own.
	Timed = source.Timed
	// Priced is a source that knows what the game itself spent on each frame.
	Priced = source.Priced
	// Price is what a game's own coding spent on the state in a frame.
	Price = source.Price
	// Remarked is a source of which a person should know something.
	Remarked = source.Remarked
	// Options refine a specification of data.
	Options = source.Options
	// Kind is one kind of data that Open understands.
	Kind = source.Kind
)

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
