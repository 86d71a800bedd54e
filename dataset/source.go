// Package dataset opens sources of frames: recordings, the embedded demo, the live cube world,
// generated calls, texts, files, captures, demos of games and a user's own tables. It also writes
// recordings. Sources are independent of encoders and networks.
package dataset

import (
	"wirelab/dataset/source"
	"wirelab/dataset/world"
)

// Types of package source, which describe sources of frames.
type (
	Source    = source.Source
	Sized     = source.Sized
	Looping   = source.Looping
	Tracked   = source.Tracked
	Timed     = source.Timed
	Priced    = source.Priced
	Price     = source.Price
	Remarked  = source.Remarked
	Rounded   = source.Rounded
	Precision = source.Precision
	Options   = source.Options
	Kind      = source.Kind
)

// PrecisionTitles returns the titles of the columns of Precision.Cells.
func PrecisionTitles() []string { return source.PrecisionTitles() }

// Steered is a source that a user can play: the live cube world. Calls take effect in the next frame.
// The same calls between the same frames give the same frames.
type Steered interface {
	// Hold sets the keys that are held from the next frame on, instead of the script's.
	Hold(keys world.Input)
	// Autopilot lets the script hold the keys if on is true; otherwise it releases all keys.
	Autopilot(on bool)
	// Keys returns the keys held in the newest frame.
	Keys() world.Input
	// Reset starts a new world with the next frame, which is a loop point.
	Reset()
}
