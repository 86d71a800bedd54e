package report

import (
	"path/filepath"
	"strings"

	"wirelab/cmd/tui/internal/look"
)

// head is what the list says of a report beside its name.
type head struct{ data, encoder, link, kbps string }

// headOf takes it from a report that was read.
func headOf(d *run) head {
	if d.trouble != "" {
		return head{data: "cannot be read"}
	}
	kind, arg, ok := strings.Cut(d.settings["data.source"], ":")
	if ok {
		kind = filepath.Base(arg)
	}
	link := d.settings["profile"]
	if link == "" {
		link = d.settings["down.loss"] + " " + d.settings["down.latency"]
	}
	return head{kind, d.settings["encoder.name"], link, look.Fixed(d.totals.PayloadKbps, 0)}
}

// columns says where the columns of the list begin in a pane of w columns; 0 leaves one out.
func columns(w int) (name, data, encoder, link int) {
	switch {
	case w >= 92:
		return 4, 25, 44, 66
	case w >= 56:
		return 4, 0, 24, w - 20
	}
	return 4, 0, 0, 0
}
