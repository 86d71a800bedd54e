package ui

import (
	"strings"
	"time"

	"wirelab/experiment"
)

// dragTime is how close together changes of one thing count as one.
const dragTime = time.Second

// distinct returns the marks worth showing: of a control that was dragged, which
// makes a change with every rung, only where it came to rest.
func distinct(marks []experiment.Mark) []experiment.Mark {
	out := make([]experiment.Mark, 0, len(marks))
	for _, m := range marks {
		if n := len(out); n > 0 && m.Kind == experiment.MarkChange && out[n-1].Kind == m.Kind &&
			m.T-out[n-1].T < dragTime && subject(m.Label) == subject(out[n-1].Label) {
			out[n-1] = m
			continue
		}
		out = append(out, m)
	}
	return out
}

// subject is what a label is about: all of it but the value at its end.
func subject(label string) string {
	if i := strings.LastIndexByte(label, ' '); i >= 0 {
		return label[:i]
	}
	return label
}

// sameMarks reports whether two snapshots of one session have the same marks.
func sameMarks(a, b []experiment.Mark) bool {
	n := len(a)
	return n == len(b) && (n == 0 || a[n-1] == b[n-1])
}

// markInk is the colour of a mark: what a person did stands out.
func markInk(k experiment.MarkKind) ink {
	if k == experiment.MarkSeam {
		return inkDim
	}
	return inkMark
}

// markSign is what stands before a mark of a kind.
func markSign(th *theme, k experiment.MarkKind) rune {
	switch {
	case k == experiment.MarkSeam:
		return th.seam
	case k == experiment.MarkNote:
		return th.note
	}
	return th.change
}
