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
	data, encoder, link, kbps string             // cells of the list; if the report cannot be read, data is a remark and encoder is ""
}

// newSummary returns the summary of report s, whose content is r. Data from a file are named by the file;
// a link without a profile is described by loss and latency of the downlink.
func newSummary(s report.SavedReport, r *run) summary {
	if r.readError != "" {
		return summary{report: s, data: "cannot be read"}
	}
	data, path, isFile := strings.Cut(r.settings["data.source"], ":") // the source is a name, or a kind and a path such as file:PATH
	if isFile {
		data = filepath.Base(path)
	}
	link := r.settings["profile"]
	if link == "" {
		link = r.settings["down.loss"] + " " + r.settings["down.latency"]
	}
	return summary{s, data, r.settings["encoder.name"], link, units.Fixed(r.totals.PayloadKbps, 0)}
}

// shortReportName returns the name of a report without the year and the encoder, which has a column of
// its own: day, time, "auto" if a signal saved the report, and the number among reports of one second.
// Names of another form are returned unchanged.
func shortReportName(name, encoder string) string {
	const stamp = len("2006-01-02-150405")
	if len(name) <= stamp || name[4] != '-' || name[10] != '-' {
		return name
	}
	time, rest := name[11:stamp], name[stamp+1:] // "150405", and what follows the time
	rest, isAutomatic := strings.CutPrefix(rest, report.Automatic)
	number, ok := strings.CutPrefix(rest, encoder)
	if !ok {
		return name
	}
	out := name[5:10] + " " + time[:2] + ":" + time[2:4] + ":" + time[4:]
	if isAutomatic {
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
	c.TextRight(c.W-2, y, look.Dim, "kbps")
}

// listColumns returns the left edges of the columns of the list in a pane that is w columns wide; 0 means
// that a column is omitted, because the pane is too narrow.
func listColumns(w int) (name, data, encoder, link int) {
	switch {
	case w >= 92:
		return 4, 25, 44, 66
	case w >= 56:
		return 4, 0, 26, w - 20
	}
	return 4, 0, 0, 0
}
