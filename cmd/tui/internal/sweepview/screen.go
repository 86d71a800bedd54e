package sweepview

import (
	"fmt"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/internal/words"
)

// The smallest screen that shows anything.
const minWidth, minHeight = 60, 20

// View implements tea.Model.
func (m *Model) View() string {
	c := look.NewCanvas(m.w, m.h)
	switch {
	case m.w < minWidth || m.h < minHeight:
		text := fmt.Sprintf("The sweep needs a terminal of %d x %d or more; this one is %d x %d. It goes on; q ends it.",
			minWidth, minHeight, m.w, m.h)
		for i, line := range look.Wrap(text, max(m.w-2, 1)) {
			c.Text(1, i, look.Plain, line)
		}
	case m.help:
		m.drawHelp(c)
	default:
		m.drawHeader(c)
		body := look.NewCanvas(m.w, m.h-6)
		m.drawBody(body)
		c.Paste(0, 4, body)
		m.drawFooter(c)
	}
	return strings.Join(c.Lines(m.theme), "\n")
}

// drawBody lays map and point side by side, or one above the other.
func (m *Model) drawBody(c *look.Canvas) {
	paste := func(x, y, w, h int, draw func(*look.Canvas)) {
		part := look.NewCanvas(w, h)
		draw(part)
		c.Paste(x, y, part)
	}
	if c.W >= 120 {
		left := c.W * 11 / 20
		paste(1, 0, left-3, c.H, m.drawMap)
		list := min(len(m.shownFigures())+4, c.H/2)
		paste(left, 0, c.W-left-1, list, m.drawPoint)
		paste(left, list+1, c.W-left-1, c.H-list-1, m.drawCharts)
		return
	}
	top := max(min(m.mapRows()+2, c.H/2), 4)
	paste(1, 0, c.W-2, top, m.drawMap)
	half := 40
	paste(1, top+1, half-3, c.H-top-1, m.drawPoint)
	paste(half, top+1, c.W-half-1, c.H-top-1, m.drawCharts)
}

// drawHeader says how far the sweep is.
func (m *Model) drawHeader(c *look.Canvas) {
	s := m.state
	badge, ink := " "+m.theme.Play+" RUNNING ", look.Live
	switch {
	case s.Ended != "":
		badge, ink = " "+m.theme.Stop+" "+strings.ToUpper(s.Ended)+" ", look.Ended
	case s.Verify > 0:
		badge = " " + m.theme.Play + " REPEATING "
	}
	x := c.Text(1, 0, ink, badge)
	c.Spans(x+1, 0, c.W-x-2, look.Title.Span("Sweep "), look.Plain.Span(m.opt.Title))
	bar := min(c.W/5, 40)
	full := 0
	if s.Planned > 0 {
		full = bar * s.Runs / s.Planned
	}
	c.Fill(1, 1, full, look.Gauge, m.theme.GaugeOn)
	c.Fill(1+full, 1, bar-full, look.Faint, m.theme.GaugeOff)
	text := fmt.Sprintf("%d of %d runs", s.Runs, s.Planned)
	if left := m.left(); left != "" {
		text += ", " + left + " left"
	}
	if m.opt.Queue && s.Ended == "" {
		text += ", " + words.Count(s.Workers, "worker") + " alive"
	}
	if s.Verify > 0 {
		text += fmt.Sprintf(", %d of %d repeated", s.Verified, s.Verify)
	}
	if n := len(m.means); n > 1 {
		text += fmt.Sprintf(", %d of %d points whole", s.Points, n)
	}
	c.Text(bar+2, 1, look.Plain, text)
	pieces := []look.Span{look.Dim.Span("figure "), look.Value.Span(m.watch.Names[m.figure]), look.Dim.Span(" "), look.Key.Span("f")}
	if n := len(m.order); n > 2 {
		for i, axis := range m.order[:n-2] {
			if i == 0 {
				pieces = append(pieces, look.Dim.Span("   where "))
			} else {
				pieces = append(pieces, look.Dim.Span(", "))
			}
			a := m.axes[axis]
			pieces = append(pieces, look.Plain.Span(a.Key+" = "), look.Value.Span(a.Values[m.at[axis]]),
				look.Dim.Span(fmt.Sprintf(" (%d of %d)", m.at[axis]+1, len(a.Values))))
		}
		pieces = append(pieces, look.Key.Span(" [ ]"))
	}
	c.Spans(1, 2, c.W-2, pieces...)
}

// left says when the sweep will be done, going by the runs since it began here.
func (m *Model) left() string {
	s, elapsed := m.state, m.opt.Clock()-m.began
	if s.Ended != "" || s.Runs <= s.First || s.Runs == s.Planned || elapsed < time.Second {
		return ""
	}
	d := time.Duration(float64(elapsed) * float64(s.Planned-s.Runs) / float64(s.Runs-s.First))
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 90*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// drawFooter shows what was said, and the keys.
func (m *Model) drawFooter(c *look.Canvas) {
	if n := len(m.state.Said); n > 0 {
		c.Text(1, c.H-2, look.Warn, m.state.Said[n-1])
	}
	leave := " ends it "
	if m.state.Ended != "" {
		leave = " leaves "
	}
	pieces := []look.Span{look.Key.Span("arrows"), look.Dim.Span(" point  "), look.Key.Span("f F"), look.Dim.Span(" figure  ")}
	if len(m.order) > 1 {
		pieces = append(pieces, look.Key.Span("x"), look.Dim.Span(" turn  "))
	}
	if len(m.order) > 2 {
		pieces = append(pieces, look.Key.Span("[ ]"), look.Dim.Span(" further  "))
	}
	c.Spans(1, c.H-1, c.W-2, append(pieces, look.Key.Span("?"), look.Dim.Span(" help  "), look.Key.Span("q"), look.Dim.Span(leave))...)
}

// drawHelp says what is to be seen, and the keys.
func (m *Model) drawHelp(c *look.Canvas) {
	kept := "Results are not kept: there is no --out. What was measured is printed when you leave."
	if m.opt.Kept != "" {
		kept = "Results are kept in " + m.opt.Kept + ": tui sweep --resume " + m.opt.Kept + " goes on where this one is ended."
	}
	x := c.Text(1, 0, look.Title, "Sweep: help")
	c.Text(x+2, 0, look.Dim, "any key closes it")
	y := 2
	for _, row := range [][2]string{
		{"arrows", "go to a point; home, end, page up and down go to the edges"},
		{"f  F", "the next figure, the one before"},
		{"[  ]", "step through the values of axes that the map does not show"},
		{"x", "turn: another axis becomes the columns"},
		{"q", "leave: the sweep ends here, without a question"},
	} {
		c.Text(3, y, look.Key, row[0])
		c.Text(12, y, look.Plain, row[1])
		y++
	}
	y++
	for _, text := range []string{
		"Each cell of the map is a point: its mean over the seeds that are there. The more of a shade, the larger it is among all points. " +
			"A ~ stands where seeds are missing yet, a - where none is there.",
		"Behind " + m.theme.PlusMinus + " stands half of the 95 % interval over the seeds (Student's); of first is the ratio to the " +
			"first point of the grid, paired by seed. " +
			"In the charts along an axis a bar spans the interval of each mean.",
		kept,
		strings.Join(m.state.Said, "; "),
	} {
		for _, line := range look.Wrap(text, c.W-4) {
			c.Text(2, y, look.Plain, line)
			y++
		}
		y++
	}
}
