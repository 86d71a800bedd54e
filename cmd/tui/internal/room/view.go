package room

import (
	"maps"
	"slices"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment"
)

// SameRecord reports whether two records tell the same of one packet.
func SameRecord(a, b *experiment.PacketRecord) bool {
	return a.Seq == b.Seq && a.Copy == b.Copy && a.Outcome == b.Outcome
}

// Lab is the running experiment as the dashboard sees it. The engine never waits
// for the screen, nor the screen for the engine: both methods return at once.
type Lab interface {
	// Snapshot returns the newest picture of the session; never nil.
	Snapshot() *experiment.Snapshot
	// Do hands over a command; false if the queue is full.
	Do(experiment.Command) bool
}

// View is what the panes get to see on a tick.
type View struct {
	Snap  *experiment.Snapshot
	Now   *experiment.Snapshot // the newest, whichever moment is shown; nil: snap is
	Cfg   *experiment.Config   // the snapshot's, with the changes that are still on their way
	Speed float64              // asked for; 0 is as fast as it can
	Slow  bool                 // time to redraw what moves all the time: charts and averages
	Back  bool                 // somebody looks back: it is not the present
	Spare bool                 // the terminal can take a picture that changed all over
}

// Present is the newest snapshot: sums over the whole run are
// known of no other moment.
func (v View) Present() *experiment.Snapshot {
	if v.Now == nil {
		return v.Snap
	}
	return v.Now
}

// Lane is the encoder under the keys; an empty one before the first frame.
func (v View) Lane() *experiment.Lane {
	if len(v.Snap.Lanes) == 0 {
		return &experiment.Lane{}
	}
	return &v.Snap.Lanes[0]
}

// Beside are the shadows.
func (v View) Beside() []experiment.Lane { return v.Snap.Lanes[min(len(v.Snap.Lanes), 1):] }

// Running reports whether virtual time goes on.
func (v View) Running() bool { return v.Snap.State == experiment.Running }

// OfFiles reports whether what is sent are whole files.
func OfFiles(s *frame.Schema) bool { return s != nil && s.Delivery == frame.Every }

// SameSettings reports whether two configurations of a session agree in
// everything that a change can alter.
func SameSettings(a, b *experiment.Config) bool {
	return a.Encoder.Name == b.Encoder.Name && maps.Equal(a.Encoder.Params, b.Encoder.Params) &&
		a.Profile == b.Profile && a.Down == b.Down && a.Up == b.Up && a.Receiver.Playout == b.Receiver.Playout &&
		a.Receiver.Interpolation == b.Receiver.Interpolation && a.Sender.Every == b.Sender.Every &&
		slices.EqualFunc(a.Shadows, b.Shadows, experiment.EncoderConfig.Equal)
}

// Between returns the samples whose periods lie within (from, to].
func Between(samples []experiment.Sample, from, to time.Duration) []experiment.Sample {
	i, j := 0, len(samples)
	for i < j && samples[i].T-experiment.SamplePeriod < from {
		i++
	}
	for j > i && samples[j-1].T > to {
		j--
	}
	return samples[i:j]
}

// EnoughChanged is how many items of a frame must have changed for bits per
// changed item to mean something: below it is a packet's header divided by next
// to nothing.
const EnoughChanged = 5

// PerSecond scales a count in a sample to a rate.
const PerSecond = float64(time.Second / experiment.SamplePeriod)

// RecentSpan is how long "now" is: as long as experiment.Recent looks back.
const RecentSpan = 2 * time.Second
