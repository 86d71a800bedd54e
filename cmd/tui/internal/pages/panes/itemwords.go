package panes

import (
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/units"
)

// NothingSent says why there is nothing to show of what a lane spent.
func NothingSent(l *engine.Lane) string {
	if l == nil || l.Totals.Sent == 0 {
		return "nothing has been sent yet"
	}
	return "nothing was sent lately; " + strconv.FormatInt(l.Totals.Sent, 10) + " packets before"
}

// ChangesWhole reports whether frames of a schema change as a whole: a call is one row, the
// bytes of a message are all news. Per item and per changed item are then one figure.
func ChangesWhole(s *frame.Schema) bool { return s != nil && s.Rows <= 1 }

// PerItem names what bits are divided by: "changed cube", or "byte".
func PerItem(s *frame.Schema, item string) string {
	if ChangesWhole(s) {
		return item
	}
	return "changed " + item
}

// PerShort is the same where there is little room: "changed", or "byte".
func PerShort(s *frame.Schema, item string) string {
	if ChangesWhole(s) {
		return item
	}
	return "changed"
}

// PerHead is what panes.PerItem says, above a column: "chg", or "byte".
func PerHead(per string) string {
	if strings.HasPrefix(per, "changed ") {
		return "chg"
	}
	return per
}

// PerText writes bits per item: of a file it is a small part of a bit.
func PerText(v float64) string { return units.Stepped(v, 3, 1, 1) }

// Enough reports whether enough changed in a sample for bits per changed item to mean
// something.
func Enough(s *meters.Sample) bool {
	return s.Changed > 0 && (s.Changed >= room.EnoughChanged*int64(s.Sent) || s.Changed == s.Items)
}

// enoughRecently reports the same of the last two seconds.
func enoughRecently(r *meters.Recent) bool {
	return r.ChangedPerFrame >= room.EnoughChanged || r.BitsPerChanged == r.BitsPerItem
}
