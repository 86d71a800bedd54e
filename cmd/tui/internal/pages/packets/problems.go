package packets

import (
	"strconv"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/report"
	"wirelab/internal/units"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"

	tea "github.com/charmbracelet/bubbletea"
)

// problemBox explains the latest problems, such as failed or unusually large packets: the newest of
// each kind. It does not change while it is open.
type problemBox struct {
	list   []inspector.Incident
	cfg    *config.Config
	now    time.Duration // virtual time when the box was opened
	cursor int           // index of the selected problem
	width  int           // width of the box, set by Size
}

// NewProblems returns a box with the newest problem of each kind; nil if there is none.
func NewProblems(snap *engine.Snapshot, cfg *config.Config) *problemBox {
	list := problems(snap)
	if len(list) == 0 {
		return nil
	}
	return &problemBox{list: list, cfg: cfg, now: snap.Now}
}

// Key implements room.Overlay: arrows move the cursor, enter opens the packet, and any other key closes the
// box. A frame that the encoder refused has no packet.
func (b *problemBox) Key(msg tea.KeyMsg) room.Request {
	step := room.ReadStep(msg)
	switch {
	case step != 0:
		b.cursor = min(max(b.cursor+step, 0), len(b.list)-1)
		return room.Request{}
	case msg.Type == tea.KeyEnter && b.list[b.cursor].Reason != inspector.BecauseRefusedFrame:
		return room.Request{Closes: true, Packet: &b.list[b.cursor].Opened.ID}
	}
	return room.Request{Closes: true}
}

// Bindings returns the keys of the box, for the footer and the help.
func (b *problemBox) Bindings() []room.Binding {
	return []room.Binding{room.OverlayKey("↑↓", "select", "select a problem"), room.OverlayKey("enter", "open", "open the packet on page 3"),
		room.OverlayKey("esc", "close", "close the box")}
}

// Size implements room.Overlay: the box is in the middle, and as high as all problems need. It stores the
// width in b.width, because lines depends on it.
func (b *problemBox) Size(w, h int) (boxW, boxH int, atRight bool) {
	b.width = min(w, 112)
	rows := 2 // the border
	for i := range b.list {
		rows += len(b.lines(i)) + 1 // with the heading
	}
	return b.width, min(max(rows, 3), h), false
}

// lines returns the explanation of problem i, wrapped.
func (b *problemBox) lines(i int) []string {
	return look.Wrap(report.Explain(&b.list[i].Opened, b.list[i].Reason, b.cfg), b.width-6)
}

func (b *problemBox) Draw(c *look.Canvas, th *look.Theme) {
	c.Frame(th, look.Focused, "Problems", look.Fit(look.TitleSpace(c.W, "Problems"), []look.Span{look.Dim.Span("newest of each kind")}, nil)...)
	y := 1
	for i := b.firstVisible(c.H - 2); i < len(b.list) && y < c.H-1; i++ {
		y = b.drawProblem(c, th, y, i)
	}
}

// firstVisible returns the first problem to draw in maxRows rows, so that the selected one is visible: as
// many problems before it as fit.
func (b *problemBox) firstVisible(maxRows int) int {
	first := b.cursor
	for rows := len(b.lines(b.cursor)) + 1; first > 0; first-- {
		rows += len(b.lines(first-1)) + 1
		if rows > maxRows+1 {
			break
		}
	}
	return first
}

// drawProblem draws problem i from row y and returns the row below it.
func (b *problemBox) drawProblem(c *look.Canvas, th *look.Theme, y, i int) int {
	problem := &b.list[i]
	marker := " "
	if i == b.cursor {
		marker = th.Chosen
	}
	c.Text(1, y, look.Chosen, marker)
	heading := []look.Span{headingStyle(problem).Span(problem.Reason.String()),
		look.Dim.Span(", " + formatAgo(b.now-problem.T) + ", " + formatCount(problem.N))}
	c.Spans(3, y, c.W-5, heading...)
	y++
	for _, line := range b.lines(i) {
		if y < c.H-1 {
			c.Clip(3, y, c.W-5, look.Plain, line)
			y++
		}
	}
	return y
}

// headingStyle returns the style of a problem's heading: that of the packet's outcome, as on other pages, or
// a warning for large packets and refused frames, which are no outcomes.
func headingStyle(problem *inspector.Incident) look.Style {
	if problem.Reason.Large() || problem.Reason == inspector.BecauseRefusedFrame {
		return look.Warn
	}
	return look.OutcomeStyle(problem.Opened.Record.Outcome)
}

// formatAgo writes how long ago something happened.
func formatAgo(d time.Duration) string {
	if d < time.Second {
		return "just now"
	}
	return units.Fixed(d.Seconds(), 0) + " s ago"
}

// formatCount writes how often something happened.
func formatCount(n int64) string {
	if n == 1 {
		return "once"
	}
	return strconv.FormatInt(n, 10) + " times"
}
