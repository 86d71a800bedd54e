package report

import (
	"path/filepath"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/report"
	"wirelab/internal/units"
)

// head is what the list says of a report beside its name.
type head struct {
	of                        report.SavedReport // as it was when it was read
	data, encoder, link, kbps string
}

// headOf takes it from a report that was read.
func headOf(s report.SavedReport, d *run) head {
	if d.trouble != "" {
		return head{of: s, data: "cannot be read"}
	}
	kind, arg, ok := strings.Cut(d.settings["data.source"], ":")
	if ok {
		kind = filepath.Base(arg)
	}
	link := d.settings["profile"]
	if link == "" {
		link = d.settings["down.loss"] + " " + d.settings["down.latency"]
	}
	return head{s, kind, d.settings["encoder.name"], link, units.Fixed(d.totals.PayloadKbps, 0)}
}

// when is the name of a report without what another column says, so that the seconds and
// what tells it from its neighbours come before the edge: day, time, whether a signal
// saved it, and which of several of one second it is.
func when(name, encoder string) string {
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

// headRow names the columns of a list of w columns.
func headRow(c *look.Canvas, y int) {
	name, data, encoder, link := columns(c.W)
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

// columns says where the columns of the list begin in a pane of w columns; 0 leaves one out.
func columns(w int) (name, data, encoder, link int) {
	switch {
	case w >= 92:
		return 4, 25, 44, 66
	case w >= 56:
		return 4, 0, 26, w - 20
	}
	return 4, 0, 0, 0
}
