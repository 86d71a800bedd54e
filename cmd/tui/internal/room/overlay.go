package room

import (
	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/look"
)

// Overlay is a box that lies over the page and has all keys while it is there.
type Overlay interface {
	// Size returns what it would like to have within a screen of w x h, and whether
	// it stands at the right instead of in the middle.
	Size(w, h int) (ow, oh int, right bool)
	Draw(c *look.Canvas, th *look.Theme)
	// Key handles a key.
	Key(msg tea.KeyMsg) Request
}

// OverlayMargin is how many columns of the screen a box leaves free.
const OverlayMargin = 4

// Screenful is how far one key leafs, and Far is farther than any list is long; where ints have
// 32 bits it can be added to a place.
const (
	Screenful = 10
	Far       = 1 << 20
)

// ListStep is how far a key moves in a list that is typed into, 0 if it is none that moves.
func ListStep(msg tea.KeyMsg) int {
	switch msg.Type {
	case tea.KeyUp, tea.KeyCtrlP, tea.KeyCtrlK:
		return -1
	case tea.KeyDown, tea.KeyCtrlN, tea.KeyCtrlJ:
		return 1
	case tea.KeyPgUp, tea.KeyCtrlB:
		return -Screenful
	case tea.KeyPgDown, tea.KeyCtrlF:
		return Screenful
	case tea.KeyHome:
		return -Far
	case tea.KeyEnd:
		return Far
	}
	return 0
}

// ReadStep is ListStep where letters are not typed: those of vi and less move too.
func ReadStep(msg tea.KeyMsg) int {
	switch msg.String() {
	case "k":
		return -1
	case "j":
		return 1
	case "ctrl+u":
		return -Screenful
	case "ctrl+d", " ":
		return Screenful
	case "g":
		return -Far
	case "G":
		return Far
	}
	return ListStep(msg)
}
