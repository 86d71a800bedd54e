package labtest

import (
	"io"

	"wirelab/experiment/engine"
	"wirelab/experiment/live"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// NewDamaged returns a lab whose link damages packets in the last half second.
func NewDamaged() *Lab {
	return &Lab{Snap: Run(steady+"[[at]]\nt = \"89.5s\"\ndown.corrupt = \"30%\"\n", runLength)}
}

// Lab is a lab that records commands and executes none. Its snapshot is that of a real session, and stays the same
// unless a test replaces it.
type Lab struct {
	Snap *engine.Snapshot
	Got  []live.Command // received commands
	Full bool           // whether Do refuses commands, as with a full queue
}

func (l *Lab) Snapshot() *engine.Snapshot { return l.Snap }

func (l *Lab) Do(c live.Command) bool {
	if l.Full {
		return false
	}
	l.Got = append(l.Got, c)
	return true
}

// NewLab returns a lab 90 s after the start of its session.
func NewLab() *Lab { return &Lab{Snap: Snapshot(runLength)} }

// PlainRenderer returns a renderer without colours.
func PlainRenderer() *lipgloss.Renderer {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.Ascii)
	r.SetHasDarkBackground(true)
	return r
}

// ColourRenderer returns a renderer for a terminal with all colours and a dark background.
func ColourRenderer() *lipgloss.Renderer {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.TrueColor)
	r.SetHasDarkBackground(true)
	return r
}
