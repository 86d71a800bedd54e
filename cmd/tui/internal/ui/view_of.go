package ui

import (
	"maps"
	"slices"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment"
)

// Lab is the running experiment as the dashboard sees it. The engine never waits
// for the screen, nor the screen for the engine: both methods return at once.
type Lab interface {
	// Snapshot returns the newest picture of the session; never nil.
	Snapshot() *experiment.Snapshot
	// Do hands over a command; false if the queue is full.
	Do(experiment.Command) bool
}

// sight is what the panes get to see on a tick.
type sight struct {
	snap  *experiment.Snapshot
	now   *experiment.Snapshot // the newest, whatever moment is shown; nil: snap is
	cfg   *experiment.Config   // the snapshot's, with the changes that are still on their way
	speed float64              // asked for; 0 is as fast as it can
	slow  bool                 // time to redraw what moves all the time: charts and averages
	back  bool                 // somebody looks back: it is not the present
	spare bool                 // the terminal can take a picture that changed all over
}

// present is the newest snapshot: what only sums over the whole run can tell is
// known of no other moment.
func (v sight) present() *experiment.Snapshot {
	if v.now == nil {
		return v.snap
	}
	return v.now
}

// lane is the encoder under the keys; an empty one before the first frame.
func (v sight) lane() *experiment.Lane {
	if len(v.snap.Lanes) == 0 {
		return &experiment.Lane{}
	}
	return &v.snap.Lanes[0]
}

// beside are the shadows.
func (v sight) beside() []experiment.Lane { return v.snap.Lanes[min(len(v.snap.Lanes), 1):] }

// running reports whether virtual time goes on.
func (v sight) running() bool { return v.snap.State == experiment.Running }

// ofFiles reports whether what is sent are whole files.
func ofFiles(s *frame.Schema) bool { return s != nil && s.Delivery == frame.Every }

// sameSettings reports whether two configurations of a session agree in
// everything that a change can alter.
func sameSettings(a, b *experiment.Config) bool {
	return a.Encoder.Name == b.Encoder.Name && maps.Equal(a.Encoder.Params, b.Encoder.Params) &&
		a.Profile == b.Profile && a.Down == b.Down && a.Up == b.Up && a.Receiver.Playout == b.Receiver.Playout &&
		a.Receiver.Interpolation == b.Receiver.Interpolation && a.Sender.Every == b.Sender.Every &&
		slices.EqualFunc(a.Shadows, b.Shadows, experiment.EncoderConfig.Equal)
}

// between returns the samples whose periods lie within (from, to].
func between(samples []experiment.Sample, from, to time.Duration) []experiment.Sample {
	i, j := 0, len(samples)
	for i < j && samples[i].T-experiment.SamplePeriod < from {
		i++
	}
	for j > i && samples[j-1].T > to {
		j--
	}
	return samples[i:j]
}

// enoughChanged is how many items of a frame must have changed for bits per
// changed item to mean something: below it is a packet's header divided by next
// to nothing.
const enoughChanged = 5

// perSecond scales a count in a sample to a rate.
const perSecond = float64(time.Second / experiment.SamplePeriod)

// recentSpan is how long "now" is: as long as experiment.Recent looks back.
const recentSpan = 2 * time.Second
