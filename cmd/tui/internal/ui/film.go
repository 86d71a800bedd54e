package ui

import (
	"bytes"
	"io"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"wirelab/cmd/tui/internal/cast"
	"wirelab/cmd/tui/internal/picture"
	"wirelab/cmd/tui/internal/repaint"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment"
	"wirelab/experiment/engine"
)

// A Film is a recording of the dashboard in virtual time: it shows given snapshots, not those of a running lab.
// The same snapshots give the same bytes.
type Film struct {
	dashboard *dashboard
	lab       *filmLab
	recording *cast.Writer
	screen    io.Writer // sends the changes between frames to recording
	previous  []string  // lines of the frame before
	at        time.Duration
}

// filmLab is the lab of a film. It refuses all commands.
type filmLab struct{ snapshot *engine.Snapshot }

// Snapshot implements room.Lab.
func (l *filmLab) Snapshot() *engine.Snapshot { return l.snapshot }

// Do implements room.Lab.
func (l *filmLab) Do(experiment.Command) bool { return false }

// NewFilm returns a film of page number page, from 1, on a terminal of w columns and h rows with 256 colours and
// a dark background, unless opt.Theme says otherwise. It is written to out. first is the first snapshot.
func NewFilm(out io.Writer, first *engine.Snapshot, page, w, h int, opt Options) *Film {
	opt.Renderer = lipgloss.NewRenderer(io.Discard)
	opt.Renderer.SetColorProfile(termenv.ANSI256)
	opt.Renderer.SetHasDarkBackground(true)
	f := &Film{lab: &filmLab{first}, recording: cast.New(out, w, h, "wirelab")}
	f.dashboard = newDashboard(f.lab, opt)
	f.dashboard.openPage(page - 1)
	f.dashboard.Update(tea.WindowSizeMsg{Width: w, Height: h})
	f.recording.Output(0, []byte(ansi.HideCursor+ansi.EraseEntireScreen))
	changes := repaint.New(io.Discard)
	changes.OnSend = func(p []byte) { f.recording.Output(f.at, p) }
	f.screen = changes
	return f
}

// Show appends the frame of a snapshot, whose virtual time is the time of the frame.
func (f *Film) Show(snap *engine.Snapshot) error {
	for ticks := max(1, (snap.Now-f.at)/tickEvery); ticks > 0; ticks-- {
		snap.Speed, snap.Actual = 1, 1
		f.lab.snapshot = snap
		f.dashboard.Update(room.Tick{})
		if work := startWork(f.dashboard.page()); work != nil {
			f.dashboard.Update(work())
		}
	}
	f.at = snap.Now
	return f.sendChanges(strings.Split(f.dashboard.View(), "\n"))
}

// sendChanges sends a frame as Bubble Tea does: lines that have not changed are empty.
func (f *Film) sendChanges(lines []string) error {
	var b bytes.Buffer
	b.WriteString("\x1b[H")
	for y, line := range lines {
		if y > 0 {
			b.WriteString("\r\n")
		}
		if y >= len(f.previous) || f.previous[y] != line {
			b.WriteString(line)
		}
	}
	b.WriteString("\x1b[H")
	f.previous = lines
	_, err := f.screen.Write(b.Bytes())
	return err
}

// Close ends the film, and returns the first error of writing. It writes the last frame as SVG to image, unless that
// is nil.
func (f *Film) Close(image io.Writer) error {
	err := f.recording.Close()
	if image != nil && err == nil {
		d := f.dashboard
		_, err = image.Write(picture.SVG(d.View(), d.w, d.h, d.opt.Renderer.HasDarkBackground()))
	}
	return err
}
