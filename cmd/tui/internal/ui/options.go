package ui

import (
	"errors"
	"io"

	"github.com/charmbracelet/lipgloss"

	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
	"wirelab/lossmodel"
)

// Options are the options of a screen. The zero value is useful.
type Options struct {
	ASCII      bool   // draw only ASCII characters
	Theme      string // one of look.Themes; "" means the first
	Tour       bool   // start the guided tour
	OfferTour  bool   // show a notice about the guided tour
	ReportsDir string // folder for saved reports; "" means the default of the lab
	Report     string // the report.json that is shown first; "" for none
	Recent     string // file of the paths that were opened before; "" for none
	Point      string // describes the point of a sweep that the session shows; q then returns to the sweep. "" for none
	CrashDir   string // folder for crash logs; "" means the temporary folder of the system

	// Open opens the data, the configuration or the capture of a link at path. It is called in the background. nil means
	// that nothing but reports can be opened.
	Open func(path string) (Opened, error)

	// Picture returns a drawing of the effect of a link on packets, in lines of at most w columns,
	// for the list of profiles. It is called once per link
	// shown and blocks the screen, so it must return within 10 ms. nil means no pictures.
	Picture func(spec lossmodel.Spec, w int) string

	In       io.Reader          // nil means the terminal
	Out      io.Writer          // nil means the terminal
	Renderer *lipgloss.Renderer // nil means a renderer for the colours and the background of the terminal
}

// Opened is the result of Options.Open: a new run, or a change of the present one.
type Opened struct {
	Lab    room.Lab // nil if the run continues
	Change config.Change
}

// Errors that Run returns. A normal quit returns nil.
var (
	// ErrInterrupted reports Ctrl-C, a signal, or the end of the context.
	ErrInterrupted = errors.New("interrupted")
	// errPanic reports a panic in the dashboard; its text names the file with the stack trace.
	errPanic = errors.New("the dashboard crashed")
	// errBroken reports that the session stopped with an error, which is wrapped too.
	errBroken = errors.New("the session failed")
)
