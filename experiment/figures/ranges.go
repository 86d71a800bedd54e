package figures

import (
	"fmt"
	"maps"
	"slices"
)

// maxFigure is larger than any figure of a run: no count, size or duration in the unit of its key reaches it.
const maxFigure = 1e15

// FindImpossible returns the dotted key and the value, for messages, of the first figure of t, in the
// order of the keys, that no run can have. The figure is "sent" if the outcomes of the packets, and the
// packets in flight, do not add up to the packets sent and their copies. ok is false if all figures are
// possible.
func FindImpossible(t *Totals) (key, value string, ok bool) {
	list := Flatten(*t)
	for _, key := range slices.Sorted(maps.Keys(list)) {
		if !inRange(key, list[key]) {
			return key, fmt.Sprintf("%g", list[key]), true
		}
	}
	sent, outcomes := t.Sent+t.Duplicated, t.Ended()+t.InFlight
	return "sent", fmt.Sprintf("%d, with %d outcomes of %d packets and copies,", t.Sent, outcomes, sent), outcomes != sent
}

// inRange reports whether a run can have the value v of the figure with the given dotted key. No figure is
// negative, infinite or NaN, and no share exceeds 1.
func inRange(key string, v float64) bool {
	if row := Find(key); row.Unit == "%" {
		return v >= 0 && v <= 1+1e-9 // a sum of shares can exceed 1 by a rounding error
	}
	return v >= 0 && v <= maxFigure
}
