package panes

import (
	"slices"
	"strconv"

	"wirelab/cmd/tui/internal/look"
	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// Part is one slot of the account, or several that share a row.
type Part struct {
	Name  string
	Share float64 // 0..1
	Ink   int     // its place among the colours
	Slots int     // how many it stands for
}

// SlotName names a slot; one that several fields share says how many.
func SlotName(k encoders.Slot, s *frame.Schema) string {
	if n := k.Fields(s); n > 1 {
		return Others(n)
	}
	return k.Name(s)
}

// Others names what several slots share.
func Others(n int) string { return strconv.Itoa(n) + " others" }

// PartsOf lists the slots that were charged, in their fixed order, so that a part
// keeps its place and its colour whatever the encoder.
func PartsOf(b *encoders.Budget, s *frame.Schema) []Part {
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

// AtMost keeps the n-1 parts that rank highest, in their order, and sums up the rest in one
// more; all of them if they are no more than n. rank is by slot.
func AtMost(parts []Part, n int, rank func(slot int) float64) []Part {
	if len(parts) <= n {
		return parts
	}
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch ra, rb := rank(parts[a].Ink), rank(parts[b].Ink); {
		case ra > rb:
			return -1
		case ra < rb:
			return 1
		}
		return 0
	})
	keep := order[:max(n-1, 0)]
	slices.Sort(keep)
	var out []Part
	rest := Part{Ink: encoders.MaxSlots - 1}
	for i, part := range parts {
		if _, kept := slices.BinarySearch(keep, i); kept {
			out = append(out, part)
			continue
		}
		rest.Share += part.Share
		rest.Slots += part.Slots
	}
	rest.Name = Others(rest.Slots)
	return append(out, rest)
}

// PartNames are the parts' names in at most n columns, told apart.
func PartNames(parts []Part, n int) []string {
	names := make([]string, len(parts))
	for i := range parts {
		names[i] = parts[i].Name
	}
	return look.Distinct(names, n)
}

// SlotNames are the names of slots in at most n columns, told apart.
func SlotNames(slots []encoders.Slot, s *frame.Schema, n int) []string {
	names := make([]string, len(slots))
	for i, k := range slots {
		names[i] = SlotName(k, s)
	}
	return look.Distinct(names, n)
}

// widest is how wide the widest name is.
func widest(parts []Part) (w int) {
	for i := range parts {
		w = max(w, look.TextWidth(parts[i].Name))
	}
	return w
}
