package sweepview

import (
	"fmt"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/ui"
	"wirelab/internal/words"
)

func (m *model) Name() string { return "Sweep" }

// Lines implements room.Page: the point and the map, and below them the last remark.
func (m *model) Lines(th *look.Theme, w, h int) []string {
	c, body := look.NewCanvas(w, h), look.NewCanvas(w, h-1)
	m.drawBody(body)
	c.Paste(0, 0, body)
	if n := len(m.state.Notices); n > 0 {
		c.Text(1, h-1, look.Warn, m.state.Notices[n-1])
	}
	return c.Lines(th)
}

// Small returns what there is to know where there is no room for the map.
func (m *model) Small() (text string, alone bool) { return "The sweep goes on.", false }

// drawBody lays map and point side by side, or one above the other.
func (m *model) drawBody(c *look.Canvas) {
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

// Header implements ui.Screen: how far the sweep is, and what the map shows.
func (m *model) Header(w int) ui.Header {
	title := func(int) []look.Span {
		return []look.Span{look.Title.Span("Sweep "), look.Plain.Span(m.sweep.Title)}
	}
	return ui.Header{Title: title, Badge: m.badge(), Below: [][]look.Span{m.progress(min(w/5, 40)), m.shown(), nil}}
}

// badge is the state of the sweep.
func (m *model) badge() look.Span {
	th, s := m.Theme(), m.state
	switch {
	case s.Ended != "":
		return look.Ended.Span(" " + th.Stop + " " + strings.ToUpper(s.Ended) + " ")
	case s.Verify > 0:
		return look.Live.Span(" " + th.Play + " REPEATING ")
	}
	return look.Live.Span(" " + th.Play + " RUNNING ")
}

// progress is how far the sweep is, with a bar of some columns.
func (m *model) progress(bar int) []look.Span {
	s, th := m.state, m.Theme()
	full := 0
	if s.Planned > 0 {
		full = min(bar*s.Runs/s.Planned, bar)
	}
	text := fmt.Sprintf("%d of %d runs", s.Runs, s.Planned)
	if left := m.left(); left != "" {
		text += ", " + left + " left"
	}
	if m.sweep.Queue && s.Ended == "" {
		text += ", " + words.Count(s.Workers, "worker") + " alive"
	}
	if s.Verify > 0 {
		text += fmt.Sprintf(", %d of %d repeated", s.Verified, s.Verify)
	}
	if n := len(m.means); n > 1 {
		text += fmt.Sprintf(", %d of %d points whole", s.Points, n)
	}
	return []look.Span{look.Gauge.Span(strings.Repeat(string(th.GaugeOn), full)),
		look.Faint.Span(strings.Repeat(string(th.GaugeOff), bar-full)), look.Plain.Span(" " + text)}
}

// shown is the figure that the map shows, and where on the axes that it does not.
func (m *model) shown() []look.Span {
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
	return pieces
}

// left says when the sweep will be done, going by the runs since it began here.
func (m *model) left() string {
	s, elapsed := m.state, m.sweep.Clock()-m.began
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

func (m *model) HelpParts() []ui.HelpPart {
	kept := "Results are not kept: there is no --out. What was measured is printed when you leave."
	if m.sweep.Kept != "" {
		kept = "Results are kept in " + m.sweep.Kept + ": tui sweep --resume " + m.sweep.Kept + " goes on where this one is ended."
	}
	part := ui.HelpPart{Title: "What is to be seen", Ink: look.Plain}
	for _, text := range []string{
		"Each cell of the map is a point: its mean over the seeds that are there. The more of a shade, the larger it is among all points. " +
			"A ~ stands where seeds are missing yet, a - where none is there.",
		"Behind " + m.Theme().PlusMinus + " stands half of the 95 % interval over the seeds (Student's); of first is the ratio to the " +
			"first point of the grid, paired by seed. " +
			"In the charts along an axis a bar spans the interval of each mean.",
		kept,
		strings.Join(m.state.Notices, "; "),
	} {
		part.Entries = append(part.Entries, ui.HelpEntry{Head: []look.Span{look.Plain.Span("  ")}, Text: text})
	}
	return []ui.HelpPart{part}
}
