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

// ListStep is how far a key moves in a list, 0 if it is none that moves.
func ListStep(msg tea.KeyMsg) int {
	const screenful = 10
	switch msg.Type {
	case tea.KeyUp:
		return -1
	case tea.KeyDown:
		return 1
	case tea.KeyPgUp:
		return -screenful
	case tea.KeyPgDown:
		return screenful
	}
	return 0
}
