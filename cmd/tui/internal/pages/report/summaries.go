package report

import (
	"path/filepath"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/report"
	"wirelab/internal/units"
)

// summary is what the list shows of a report in addition to its name.
type summary struct {
	report                    report.SavedReport // as it was when read, to detect that the file was rewritten
	data, encoder, link, kbps string
}

// newSummary returns the summary of report s, which was read as d.
func newSummary(s report.SavedReport, d *run) summary {
	if d.readError != "" {
		return summary{report: s, data: "cannot be read"}
	}
	kind, arg, ok := strings.Cut(d.settings["data.source"], ":")
	if ok {
		kind = filepath.Base(arg)
	}
	link := d.settings["profile"]
	if link == "" {
		link = d.settings["down.loss"] + " " + d.settings["down.latency"]
	}
	return summary{s, kind, d.settings["encoder.name"], link, units.Fixed(d.totals.PayloadKbps, 0)}
}

// shortReportName returns the name of a report without the year and the encoder, which has a column of
// its own: day, time, "auto" if a signal saved the report, and the number among reports of one second.
// Names of another form are returned unchanged.
func shortReportName(name, encoder string) string {
	const stamp = len("2006-01-02-150405")
	if len(name) <= stamp || name[4] != '-' || name[10] != '-' {
		return name
	}
	time, rest := name[11:stamp], name[stamp+1:]
	rest, auto := strings.CutPrefix(rest, report.Automatic)
	number, ok := strings.CutPrefix(rest, encoder)
	if !ok {
		return name
	}
	out := name[5:10] + " " + time[:2] + ":" + time[2:4] + ":" + time[4:]
	if auto {
		out += " auto"
	}
	return out + strings.ReplaceAll(number, "-", " ")
}

// drawHeadings draws the headings of the list at row y.
func drawHeadings(c *look.Canvas, y int) {
	name, data, encoder, link := listColumns(c.W)
	if encoder == 0 {
		return
	}
	c.Text(name, y, look.Dim, "saved")
	if data > 0 {
		c.Text(data, y, look.Dim, "data")
	}
	c.Text(encoder, y, look.Dim, "encoder")
	c.Text(link, y, look.Dim, "link")
	c.Right(c.W-2, y, look.Dim, "kbps")
}

// listColumns returns the left edges of the columns in a pane of w columns; 0 means that a column is
// omitted.
func listColumns(w int) (name, data, encoder, link int) {
	switch {
	case w >= 92:
		return 4, 25, 44, 66
	case w >= 56:
		return 4, 0, 26, w - 20
	}
	return 4, 0, 0, 0
}
