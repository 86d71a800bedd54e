package room

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
)

// SameRecord reports whether two records tell the same of one packet.
func SameRecord(a, b *packetlog.Record) bool {
	return a.Seq == b.Seq && a.Copy == b.Copy && a.Outcome == b.Outcome
}

// Lab is the running experiment as the dashboard sees it. The engine never waits
// for the screen, nor the screen for the engine: both methods return at once.
type Lab interface {
	// Snapshot returns the newest picture of the session; never nil.
	Snapshot() *engine.Snapshot
	// Do hands over a command; false if the queue is full.
	Do(experiment.Command) bool
}

// View is what the panes get to see on a tick.
type View struct {
	Snap  *engine.Snapshot
	Now   *engine.Snapshot // the newest, whichever moment is shown; nil: snap is
	Cfg   *config.Config   // the snapshot's, with the changes that are still on their way
	Speed float64          // asked for; 0 is as fast as it can
	Slow  bool             // time to redraw what moves all the time: charts and averages
	Back  bool             // somebody looks back: it is not the present
	Spare bool             // the terminal can take a picture that changed all over
}

// Present is the newest snapshot: sums over the whole run are
// known of no other moment.
func (v View) Present() *engine.Snapshot {
	if v.Now == nil {
		return v.Snap
	}
	return v.Now
}

// Lane is the encoder under the keys; an empty one before the first frame.
func (v View) Lane() *engine.Lane {
	if len(v.Snap.Lanes) == 0 {
		return &engine.Lane{}
	}
	return &v.Snap.Lanes[0]
}

// Shadows returns the lanes of the shadows.
func (v View) Shadows() []engine.Lane { return v.Snap.Lanes[min(len(v.Snap.Lanes), 1):] }

// Running reports whether virtual time goes on.
func (v View) Running() bool { return v.Snap.State == engine.Running }

// OfFiles reports whether what is sent are whole files.
func OfFiles(s *frame.Schema) bool { return s != nil && s.Delivery == frame.Every }

// EnoughChanged is how many items of a frame must have changed for bits per
// changed item to mean something: below it is a packet's header divided by next
// to nothing.
const EnoughChanged = 5

// PerSecond scales a count in a sample to a rate.
const PerSecond = float64(time.Second / meters.SamplePeriod)

// RecentSpan is how long "now" is: as long as meters.Recent looks back.
const RecentSpan = 2 * time.Second
