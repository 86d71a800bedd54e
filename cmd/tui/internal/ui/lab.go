package ui

import (
	"errors"
	"io"

	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/lossmodel"

	"github.com/charmbracelet/lipgloss"
)

// Lab is the running experiment as the dashboard sees it. The engine never waits
// for the screen, nor the screen for the engine: both methods return at once.
type Lab interface {
	// Snapshot returns the newest picture of the session; never nil.
	Snapshot() *engine.Snapshot
	// Do hands over a command; false if the queue is full.
	Do(experiment.Command) bool
}

// Options are what the dashboard is started with. The zero value is a good one.
type Options struct {
	ASCII      bool
	Theme      string  // one of Themes; "" is the first
	Tour       bool    // begin with the guided tour
	ReportsDir string  // where save puts reports; "" leaves it to the lab
	CrashDir   string  // where the account of a crash goes; "" is the system's temporary folder
	BudgetKbps float64 // the guide in the bandwidth chart; 0 is 256

	// Picture draws what a link does to packets, in lines of at most w columns, for
	// the list of profiles. It is asked once for each link looked at, and holds
	// the screen up for as long as it takes: 10 ms at most. nil: no pictures.
	Picture func(spec lossmodel.Spec, w int, ascii bool) string

	In       io.Reader          // nil: the terminal
	Out      io.Writer          // nil: the terminal
	Renderer *lipgloss.Renderer // nil: asks the terminal for its colours and its ground
}

// Errors that Run returns. A normal quit returns nil.
var (
	// ErrInterrupted: ctrl-c, a signal, or a context that ended.
	ErrInterrupted = errors.New("interrupted")
	// ErrPanic: the dashboard had a bug; the message says where the details are.
	ErrPanic = errors.New("the dashboard crashed")
	// ErrBroken: the session stopped with an error, which is wrapped too.
	ErrBroken = errors.New("the session broke")
)

// sight is what the panes get to see on a tick.
type sight struct {
	snap  *engine.Snapshot
	now   *engine.Snapshot // the newest, whatever moment is shown; nil: snap is
	cfg   *config.Config   // the snapshot's, with the changes that are still on their way
	speed float64          // asked for; 0 is as fast as it can
	slow  bool             // time to redraw what moves all the time: charts and averages
	back  bool             // somebody looks back: it is not the present
	spare bool             // the terminal can take a picture that changed all over
}

// present is the newest snapshot: what only sums over the whole run can tell is
// known of no other moment.
func (v sight) present() *engine.Snapshot {
	if v.now == nil {
		return v.snap
	}
	return v.now
}

// lane is the encoder under the keys; an empty one before the first frame.
func (v sight) lane() *engine.Lane {
	if len(v.snap.Lanes) == 0 {
		return &engine.Lane{}
	}
	return &v.snap.Lanes[0]
}

// beside are the shadows.
func (v sight) beside() []engine.Lane { return v.snap.Lanes[min(len(v.snap.Lanes), 1):] }

// running reports whether virtual time goes on.
func (v sight) running() bool { return v.snap.State == engine.Running }
