package panes

import (
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/units"
)

// NothingSentText explains why the bit budget of a lane of a snapshot is empty. A nil lane has sent nothing.
func NothingSentText(snap *engine.Snapshot, l *engine.Lane) string {
	switch {
	case len(snap.Lanes) == 0 && snap.Past != nil: // the run of a client of a crowd is not repeated yet
		return RepeatingText(snap.Past)
	case l == nil || l.Totals.Sent == 0:
		return "nothing sent yet"
	}
	return "nothing sent in the last 2 s; " + strconv.FormatInt(l.Totals.Sent, 10) + " packets before"
}

// RepeatingText describes how far the run is repeated; nil if the lab has not answered yet.
func RepeatingText(past *engine.Past) string {
	text := "The run is being repeated"
	if past != nil && past.To > 0 {
		text += " up to " + look.FormatTime(past.To)
	}
	if past != nil && past.Reached > 0 {
		text += ": reached " + look.FormatTime(past.Reached)
	}
	if isOfClient := past != nil && past.ID == 0; isOfClient {
		return text + "."
	}
	return text + ". esc ends this."
}

// ChangesAsWhole reports whether all items of a frame change together: a frame of a voice call has
// one row, and all bytes of a message are new. Bits per item and per changed item are equal then.
func ChangesAsWhole(s *frame.Schema) bool { return s != nil && s.Rows <= 1 }

// PerItemUnit returns the unit of "bits per ...": "changed cube", or "byte".
func PerItemUnit(s *frame.Schema, item string) string {
	if ChangesAsWhole(s) {
		return item
	}
	return "changed " + item
}

// PerItemShort shortens a result of PerItemUnit: "changed", or "byte".
func PerItemShort(per string) string {
	if strings.HasPrefix(per, "changed ") {
		return "changed"
	}
	return per
}

// FormatBitsPerItem formats bits per item, with three decimals below 1, because a file may need only
// a small fraction of a bit per byte, and one decimal from 1 on.
func FormatBitsPerItem(v float64) string { return units.Stepped(v, 3, 1, 1) }

// EnoughChanged reports whether enough items changed in a sample for bits per changed item to be
// meaningful: room.MinChanged items per packet on average, or all items. They are not if an encoder sends all items
// whether they changed or not.
func EnoughChanged(s *meters.Sample) bool {
	return s.CostsPerChange() && s.Changed > 0 && (s.Changed >= room.MinChanged*int64(s.Sent) || s.Changed == s.Items)
}
