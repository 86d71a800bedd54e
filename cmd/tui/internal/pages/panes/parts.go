package panes

import (
	"cmp"
	"slices"
	"strconv"

	"wirelab/cmd/tui/internal/look"
	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// Part is one slot of the bit budget, or several slots that share a row.
type Part struct {
	Name     string
	Share    float64 // 0..1
	Slot     int     // the slot, which selects the colour; the last slot for a sum of several
	NumSlots int     // number of fields or slots that the part contains
}

// SlotName returns the name of a slot; for a slot that several fields share, their number, such as
// "3 others".
func SlotName(k encoders.Slot, s *frame.Schema) string {
	if n := k.Fields(s); n > 1 {
		return OthersName(n)
	}
	return k.Name(s)
}

// OthersName names a part that contains n slots.
func OthersName(n int) string { return strconv.Itoa(n) + " others" }

// BudgetParts returns a part for each slot that was charged, nil if none was. The parts are in the
// order of the slots, so that position and colour of a part do not depend on the encoder.
func BudgetParts(b *encoders.Budget, s *frame.Schema) []Part {
	total := b.Total()
	if total <= 0 {
		return nil
	}
	var out []Part
	for k := range encoders.Slot(encoders.MaxSlots) {
		if u := b.Units[k]; u > 0 {
			out = append(out, Part{SlotName(k, s), float64(u) / float64(total), int(k), k.Fields(s)})
		}
	}
	return out
}

// LimitParts returns parts if there are at most limit. Otherwise it returns the limit-1 parts with the
// highest rank(slot), in the order of parts, and one part for the sum of the rest.
func LimitParts(parts []Part, limit int, rank func(slot int) float64) []Part {
	if len(parts) <= limit {
		return parts
	}
	order := make([]int, len(parts)) // indices of parts, highest rank first
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(parts[b].Slot), rank(parts[a].Slot)) })
	keep := order[:max(limit-1, 0)]
	slices.Sort(keep)
	var out []Part
	rest := Part{Slot: encoders.MaxSlots - 1} // the slot that fields of large schemas share
	for i, part := range parts {
		if _, found := slices.BinarySearch(keep, i); found {
			out = append(out, part)
			continue
		}
		rest.Share += part.Share
		rest.NumSlots += part.NumSlots
	}
	rest.Name = OthersName(rest.NumSlots)
	return append(out, rest)
}

// PartNames returns distinct names of the parts, shortened to at most n columns each.
func PartNames(parts []Part, n int) []string {
	names := make([]string, len(parts))
	for i := range parts {
		names[i] = parts[i].Name
	}
	return look.ShortenDistinct(names, n)
}

// SlotNames returns distinct names of slots, shortened to at most n columns each.
func SlotNames(slots []encoders.Slot, s *frame.Schema, n int) []string {
	names := make([]string, len(slots))
	for i, k := range slots {
		names[i] = SlotName(k, s)
	}
	return look.ShortenDistinct(names, n)
}

// maxNameWidth returns the width of the widest name, in columns.
func maxNameWidth(parts []Part) (w int) {
	for i := range parts {
		w = max(w, look.TextWidth(parts[i].Name))
	}
	return w
}
