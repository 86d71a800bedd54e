package room

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/live"
)

// SamePacketState reports whether two records are of the same packet with the same outcome.
func SamePacketState(a, b *packetlog.Record) bool {
	return a.Seq == b.Seq && a.Copy == b.Copy && a.Outcome == b.Outcome
}

// Lab is the dashboard's interface to the running experiment. Both methods return without blocking, so
// that engine and screen do not wait for each other.
type Lab interface {
	// Snapshot returns the newest snapshot of the session; never nil.
	Snapshot() *engine.Snapshot
	// Do sends a command; it returns false if the queue is full.
	Do(live.Command) bool
}

// View is the state that the panes show.
type View struct {
	Snap         *engine.Snapshot // the snapshot at the time cursor
	Now          *engine.Snapshot // the newest snapshot; nil if Snap is complete
	Present      *engine.Snapshot // the newest snapshot, while the time cursor is in the past
	Cfg          *config.Config   // the configuration of Snap with the requested changes
	Speed        float64          // requested speed of virtual time; 0 means unlimited
	RedrawDue    bool             // redraw panes that change all the time now, such as charts and means: twice per second, or if the page was opened
	Past         bool             // the time cursor is in the past
	Crosshair    time.Duration    // the instant under the crosshair of the charts; 0 means none
	CanRedrawAll bool             // the budget of output to the terminal allows a redraw of the whole page now
}

// Cut reports whether the time cursor is in the past, and Snap has only the samples up to there.
func (v View) Cut() bool { return v.Past && v.Now != nil }

// Newest returns the newest snapshot, or Snap if that is the run repeated up to the time cursor. Figures that are sums
// over the whole run exist only there.
func (v View) Newest() *engine.Snapshot {
	if v.Now == nil {
		return v.Snap
	}
	return v.Now
}

// ActiveLane returns the lane of the active encoder, or an empty lane before the first frame.
func (v View) ActiveLane() *engine.Lane {
	if len(v.Snap.Lanes) == 0 {
		return &engine.Lane{}
	}
	return &v.Snap.Lanes[0]
}

func (v View) Shadows() []engine.Lane { return v.Snap.Lanes[min(len(v.Snap.Lanes), 1):] }

// Running reports whether virtual time advances.
func (v View) Running() bool { return v.Snap.State == engine.Running }

// NoShadows returns why a session can have no shadows; "" if it can.
func NoShadows(snap *engine.Snapshot) string {
	switch {
	case snap.Crowd != nil || snap.Client > 0:
		return "a crowd has one encoder and no shadows; tui sweep compares encoders of crowds"
	case snap.To != "":
		return "no shadows over a network: its losses cannot be repeated for another encoder"
	}
	return ""
}

// SendsFiles reports whether the session sends files.
func SendsFiles(s *frame.Schema) bool { return s != nil && s.Delivery == frame.Reliable }

// MinChanged is the minimum number of changed items per frame for bits per changed item to be
// meaningful. With fewer changes the figure consists mainly of the packet's header.
const MinChanged = 5

// PerSecond is the number of samples per second; it scales a count in a sample to a rate.
const PerSecond = float64(time.Second / meters.SamplePeriod)

// RecentSpan is the period of current figures, the same as that of meters.Recent.
const RecentSpan = 2 * time.Second

// MeanText describes, in the titles of charts, that each point of a line is the mean of the RecentSpan that ends there.
const MeanText = "2 s mean"
