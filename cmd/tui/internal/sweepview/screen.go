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

// Lines implements room.Page: the map and the selected point, and below them the last notice.
func (m *model) Lines(th *look.Theme, w, h int) []string {
	c, body := look.NewCanvas(w, h), look.NewCanvas(w, h-1)
	m.drawBody(body)
	c.Paste(0, 0, body)
	if n := len(m.state.Notices); n > 0 {
		c.Text(1, h-1, look.Warn, m.state.Notices[n-1])
	}
	return c.Lines(th)
}

// Small implements ui.Screen: the text for terminals that are too small for the map.
func (m *model) Small() (text string, alone bool) { return "The sweep continues.", false }

// drawBody draws map and point side by side or, on narrow screens, one below the other.
func (m *model) drawBody(c *look.Canvas) {
	paste := func(x, y, w, h int, draw func(*look.Canvas)) {
		part := look.NewCanvas(w, h)
		draw(part)
		c.Paste(x, y, part)
	}
	const wideScreen = 120
	if c.W >= wideScreen { // the map on the left; point and charts on the right
		rightX := c.W * 11 / 20
		paste(1, 0, rightX-3, c.H, m.drawMap)
		pointRows := min(len(m.shownFigures())+4, c.H/2)
		paste(rightX, 0, c.W-rightX-1, pointRows, m.drawPoint)
		paste(rightX, pointRows+1, c.W-rightX-1, c.H-pointRows-1, m.drawCharts)
		return
	}
	mapRows := max(min(m.mapRows()+2, c.H/2), 4) // with the headings
	paste(1, 0, c.W-2, mapRows, m.drawMap)
	const chartsX = 40
	paste(1, mapRows+1, chartsX-3, c.H-mapRows-1, m.drawPoint)
	paste(chartsX, mapRows+1, c.W-chartsX-1, c.H-mapRows-1, m.drawCharts)
}

// Header implements ui.Screen: title, progress, and the figure that the map shows.
func (m *model) Header(w int) ui.Header {
	title := func(int) []look.Span {
		return []look.Span{look.Title.Span("Sweep "), look.Plain.Span(m.sweep.Title)}
	}
	return ui.Header{Title: title, Badge: m.badge(), Below: [][]look.Span{m.progressLine(min(w/5, 40)), m.figureLine(), nil}}
}

// badge returns the state of the sweep.
func (m *model) badge() look.Span {
	th, s := m.Theme(), m.state
	switch {
	case s.Ended != "":
		return look.Ended.Span(" " + th.Stop + " " + strings.ToUpper(s.Ended) + " ")
	case s.ToVerify > 0:
		return look.Live.Span(" " + th.Play + " VERIFYING ")
	}
	return look.Live.Span(" " + th.Play + " RUNNING ")
}

// progressLine returns the progress of the sweep: a bar of barWidth columns, completed runs, and what else is
// known about the sweep.
func (m *model) progressLine(barWidth int) []look.Span {
	s, th := m.state, m.Theme()
	filled := 0 // columns of the bar
	if s.Planned > 0 {
		filled = min(barWidth*s.Runs/s.Planned, barWidth)
	}
	text := fmt.Sprintf("%d of %d runs", s.Runs, s.Planned)
	if left := m.timeLeft(); left != "" {
		text += ", " + left + " left"
	}
	if m.sweep.Queue && s.Ended == "" {
		text += ", " + words.Count(s.Workers, "worker")
	}
	if s.ToVerify > 0 {
		text += fmt.Sprintf(", %d of %d verified", s.Verified, s.ToVerify)
	}
	if n := len(m.means); n > 1 {
		text += fmt.Sprintf(", %d/%d points complete", s.Points, n)
	}
	return []look.Span{look.Gauge.Span(strings.Repeat(string(th.GaugeOn), filled)),
		look.Faint.Span(strings.Repeat(string(th.GaugeOff), barWidth-filled)), look.Plain.Span(" " + text)}
}

// figureLine returns the figure that the map shows, and the values of the axes that it does not show.
func (m *model) figureLine() []look.Span {
	pieces := []look.Span{look.Dim.Span("figure "), look.Value.Span(m.watch.Names[m.figure]), look.Dim.Span(" "), look.Key.Span("f")}
	if n := len(m.axisOrder); n > 2 {
		for i, axis := range m.axisOrder[:n-2] {
			if i == 0 {
				pieces = append(pieces, look.Dim.Span("   at "))
			} else {
				pieces = append(pieces, look.Dim.Span(", "))
			}
			a := m.axes[axis]
			pieces = append(pieces, look.Plain.Span(a.Key+" = "), look.Value.Span(a.Values[m.cursor[axis]]),
				look.Dim.Span(fmt.Sprintf(" (%d of %d)", m.cursor[axis]+1, len(a.Values))))
		}
		pieces = append(pieces, look.Key.Span(" [ ]"))
	}
	return pieces
}

// timeLeft estimates the remaining time from the rate of runs since the screen started, "" if unknown. s.First
// is the number of runs that were complete before the sweep was resumed.
func (m *model) timeLeft() string {
	s, elapsed := m.state, m.sweep.Clock()-m.started
	if s.Ended != "" || s.Runs <= s.First || s.Runs == s.Planned || elapsed < time.Second {
		return ""
	}
	left := time.Duration(float64(elapsed) * float64(s.Planned-s.Runs) / float64(s.Runs-s.First))
	switch {
	case left < 90*time.Second:
		return fmt.Sprintf("%.0f s", left.Seconds())
	case left < 90*time.Minute:
		return fmt.Sprintf("%.0f min", left.Minutes())
	}
	return fmt.Sprintf("%.1f h", left.Hours())
}

// HelpParts implements ui.Screen.
func (m *model) HelpParts() []ui.HelpPart {
	savedText := "Results are not saved, because --out is not set. They are printed when you quit."
	if m.sweep.Dir != "" {
		savedText = "Results are saved in " + m.sweep.Dir + ". To continue an ended sweep run tui sweep --resume " + m.sweep.Dir + "."
	}
	part := ui.HelpPart{Title: "What the screen shows", Style: look.Plain}
	for _, text := range []string{
		"Each cell of the map is a point with its mean over the completed seeds. A denser shade is a larger value. " +
			"~ marks points with missing seeds, - points without results.",
		"The number after " + m.Theme().PlusMinus + " is half of the 95 % confidence interval over the seeds. A ? marks an approximate interval: fewer than 30 seeds, or a percentile, an extreme or a rare event. \"vs first\" is the ratio to the " +
			"first point of the grid, paired by seed. " +
			"In the charts along an axis, bars are the intervals of the means.",
		savedText,
		strings.Join(m.state.Notices, "; "),
	} {
		part.Entries = append(part.Entries, ui.HelpEntry{Head: []look.Span{look.Plain.Span("  ")}, Text: text})
	}
	return []ui.HelpPart{part}
}
