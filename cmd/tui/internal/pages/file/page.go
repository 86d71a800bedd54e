package file

import (
	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/room"
)

// New returns the page: on a large screen transfer and blocks on the left, controls and rounds on the
// right. cat lists what the controls can set.
func New(cat *controls.Catalog) *room.Page {
	controls := &controls.Pane{Cat: cat}
	transfer := &transfer{}
	p := &room.Page{Name: "File"}
	s := p.Add(transfer, &blocks{}, newRounds(), controls)
	p.Bottom = controls.Line(p)
	transferRows := func() int { return 2 + transfer.rows() } // with the frame
	p.LayOut = func(w, h int) []room.Place {
		rightW := room.RightColumn(w)
		leftW := w - rightW
		transferH := min(transferRows(), h/3)
		roundsH := max(h/4, 6)
		return []room.Place{
			s[0].Place(0, 0, leftW, transferH),
			s[1].Place(0, transferH, leftW, h-transferH),
			s[3].Place(leftW, 0, rightW, h-roundsH),
			s[2].Place(leftW, h-roundsH, rightW, roundsH),
		}
	}
	return p
}
