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
	Source   = source.Source
	Sized    = source.Sized
	Seamed   = source.Seamed
	Tracked  = source.Tracked
	Timed    = source.Timed
	Priced   = source.Priced
	Price    = source.Price
	Remarked = source.Remarked
	Options  = source.Options
	Kind     = source.Kind
)

// Steered is a source that users may play: the live world. Calls take effect in the next frame, so
// the same calls between the same frames give the same frames.
type Steered interface {
	// Hold holds these keys, and no others, in place of the script until it is called again.
	Hold(keys world.Input)
	// Autopilot(true) lets the script hold the keys again; Autopilot(false) releases all.
	Autopilot(on bool)
	// Keys returns the keys held in the last frame.
	Keys() world.Input
	// Reset starts a new world; Seam then reports its first frame.
	Reset()
}
