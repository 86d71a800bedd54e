package sweepview

import (
	"fmt"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/ui"
	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// Small implements ui.Screen: the text for terminals that are too small for the map.
func (m *model) Small() (text string, alone bool) { return "The sweep continues.", false }

// Header implements ui.Screen: title, progress, the axes that the map does not show, and the last notice of the sweep.
func (m *model) Header(w int) ui.Header {
	title := func(int) []look.Span {
		return []look.Span{look.Title.Span("Sweep "), look.Plain.Span(m.sweep.Title)}
	}
	below := [][]look.Span{m.progressLine(min(w/5, 40))}
	if len(m.axisOrder) > 2 {
		below = append(below, m.axesLine())
	}
	if n := len(m.state.Notices); n > 0 {
		below = append(below, []look.Span{look.Warn.Span(look.Shorten(m.state.Notices[n-1], w-2))})
	}
	return ui.Header{Title: title, Badge: m.badge(), Below: below}
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
	} else if s.Ended == "" && s.Runs < s.Planned {
		text += ", running for " + units.Coarse(m.sweep.Clock()-m.started)
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

// axesLine returns the values of the axes that the map does not show.
func (m *model) axesLine() (pieces []look.Span) {
	before := "at "
	for _, axis := range m.axisOrder[:len(m.axisOrder)-2] {
		a := m.axes[axis]
		pieces = append(pieces, look.Dim.Span(before), look.Plain.Span(config.KeyInWords(a.Key)+" "), look.Value.Span(a.Values[m.cursor[axis]]),
			look.Dim.Span(fmt.Sprintf(" (%d of %d)", m.cursor[axis]+1, len(a.Values))))
		before = ", "
	}
	return append(pieces, look.Key.Span(" [ ]"))
}

// timeLeft estimates the remaining time from the rate of runs since the screen started, "" if unknown. s.First
// is the number of runs that were complete before the sweep was resumed.
func (m *model) timeLeft() string {
	s, elapsed := m.state, m.sweep.Clock()-m.started
	if s.Ended != "" || s.Runs <= s.First || s.Runs == s.Planned || elapsed < time.Second {
		return ""
	}
	return units.Coarse(time.Duration(float64(elapsed) * float64(s.Planned-s.Runs) / float64(s.Runs-s.First)))
}

// Help implements ui.Screen: it describes what the screen shows.
func (m *model) Help() []ui.HelpRow {
	savedText := "not saved, because --out is not set; they are printed when you quit"
	if m.sweep.Dir != "" {
		savedText = "saved in " + m.sweep.Dir + "; to continue an ended sweep run tui sweep --resume " + m.sweep.Dir
	}
	rows := []ui.HelpRow{{Name: look.Title.Span("What the screen shows")},
		{Name: look.Value.Span("cell"), Text: "a point: its mean over the completed seeds, half of its 95 % confidence interval, and its ratio to the " +
			"reference point; lighter colours, or denser shades, are larger values; ~ marks missing seeds, - no results"},
		{Name: look.Value.Span("±"), Text: figures.ApproximateNote + " " + figures.RangeNote},
		{Name: look.Value.Span("ratio"), Text: "paired by seed, at first to the first point of the grid; an arrow marks a ratio whose interval excludes 1, " +
			"with a ? if one of twice the width would not"},
		{Name: look.Value.Span("results"), Text: savedText}}
	for _, notice := range m.state.Notices {
		rows = append(rows, ui.HelpRow{Name: look.Warn.Span("notice"), Text: notice})
	}
	return rows
}
