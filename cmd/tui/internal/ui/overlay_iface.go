package ui

import tea "github.com/charmbracelet/bubbletea"

// overlay is a box that lies over the page and has all keys while it is there.
type overlay interface {
	// size returns what it would like to have within a screen of w x h, and whether
	// it stands at the right instead of in the middle.
	size(w, h int) (ow, oh int, right bool)
	draw(c *canvas, th *theme)
	// key handles a key.
	key(msg tea.KeyMsg) request
}

// overlayMargin is how many columns of the screen a box leaves free.
const overlayMargin = 4

// listStep is how far a key moves in a list, 0 if it is none that moves.
func listStep(msg tea.KeyMsg) int {
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
