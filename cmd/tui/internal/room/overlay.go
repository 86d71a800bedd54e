package room

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/look"
)

// Overlay is a box over the page. It receives all keys while it is open.
type Overlay interface {
	// Size returns the size of the box for a page of w x h, and whether the box is beside the page instead of over its
	// middle.
	Size(w, h int) (boxW, boxH int, beside bool)
	Draw(c *look.Canvas, th *look.Theme)
	// Key handles a key. The request may close the box.
	Key(msg tea.KeyMsg) Request
}

// ClosesBox reports whether a key closes a box without choices. All others have no effect, so that a wrong key does not
// reach the page.
func ClosesBox(msg tea.KeyMsg) bool {
	return slices.Contains([]string{"esc", "enter", "q", "x", "?", "f1"}, msg.String())
}

// PageStep is the number of rows by which the page keys move. ListEnd is the step to either end of a list: it is
// larger than any list, and adding it to an index does not overflow a 32-bit int.
const (
	PageStep = 10
	ListEnd  = 1 << 20
)

// ListStep returns the number of rows by which a key moves the cursor of a list with a text input: positive is
// down, 0 means that the key does not move it.
func ListStep(msg tea.KeyMsg) int {
	switch msg.Type {
	case tea.KeyUp, tea.KeyCtrlP, tea.KeyCtrlK:
		return -1
	case tea.KeyDown, tea.KeyCtrlN, tea.KeyCtrlJ:
		return 1
	case tea.KeyPgUp, tea.KeyCtrlB:
		return -PageStep
	case tea.KeyPgDown, tea.KeyCtrlF:
		return PageStep
	case tea.KeyHome:
		return -ListEnd
	case tea.KeyEnd:
		return ListEnd
	}
	return 0
}

// ReadStep is ListStep for lists without text input, in which the letters of vi and less also move.
func ReadStep(msg tea.KeyMsg) int {
	switch msg.String() {
	case "k":
		return -1
	case "j":
		return 1
	case "ctrl+u":
		return -PageStep
	case "ctrl+d", " ":
		return PageStep
	case "g":
		return -ListEnd
	case "G":
		return ListEnd
	}
	return ListStep(msg)
}
