package ui

import (
	"errors"
	"io"

	"github.com/charmbracelet/lipgloss"

	"wirelab/lossmodel"
)

// Options are what the dashboard is started with. The zero value is a good one.
type Options struct {
	ASCII      bool
	Theme      string // one of Themes; "" is the first
	Charts     string // how charts are drawn: one of look.ChartStyles; "" is the first
	Tour       bool   // begin with the guided tour
	ReportsDir string // where save puts reports; "" leaves it to the lab
	CrashDir   string // where the account of a crash goes; "" is the system's temporary folder

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
	// errPanic: the dashboard had a bug; the message says where the details are.
	errPanic = errors.New("the dashboard crashed")
	// errBroken: the session stopped with an error, which is wrapped too.
	errBroken = errors.New("the session broke")
)
