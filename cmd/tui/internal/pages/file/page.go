package file

import (
	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

// page is page 4 of sessions that send files. A large screen shows all panes and the controls, a
// small one a pane at a time.
type page struct {
	room.Panes
	controls *controls.Pane
}

// The panes, as indices of Slots.
const (
	paneTransfer = iota
	paneBlocks
	paneRounds
	paneControls
)

// New returns the page. cat lists what the controls can set.
func New(cat *controls.Catalog) *page {
	p := &page{controls: &controls.Pane{Cat: cat}}
	for _, q := range []room.Pane{&transfer{}, &blocks{}, &rounds{}, p.controls} {
		p.Slots = append(p.Slots, room.NewSlot(q))
	}
	return p
}

func (p *page) Name() string { return "File" }

func (p *page) Arrows() [][2]string {
	return [][2]string{{"↑↓", "select"}, {"←→", "adjust"}}
}

func (p *page) KeyHelp(key string) string {
	return map[string]string{"up": "select a control", "left": "less, more", "[": "much less, much more",
		"enter": "type an exact value, or choose from a list", "tab": "next pane, on a small screen",
		"d": "which link the controls set: both, down, up"}[key]
}

func (p *page) Observe(v room.View) bool { return room.ObserveAll(v, p.Slots...) }

// Lines implements room.Page. A small screen shows one pane, and the selected control in the last
// row.
func (p *page) Lines(th *look.Theme, w, h int) []string {
	p.Resize(w, h)
	if p.Wide() {
		p.Places = p.layOut(w, h)
		// nil: no pane is highlighted in addition to the focused one.
		return room.RenderPlaces(th, p.Places, h, p.controls, nil)
	}
	const tabRows, controlRows = 1, 1
	lines := append(make([]string, 0, h), p.TabRow(th))
	rest := h - tabRows - controlRows
	p.Places = []room.Place{p.Slots[p.Focused].Place(0, tabRows, w, rest)}
	if rows := p.transferRows(); p.Focused == paneTransfer && rest >= rows+4 { // the blocks fit below
		p.Places = []room.Place{p.Slots[p.Focused].Place(0, tabRows, w, rows), p.Slots[paneBlocks].Place(0, tabRows+rows, w, rest-rows)}
	}
	for _, at := range p.Places {
		lines = append(lines, at.Slot.Render(th, w, at.H, at.Slot == p.Slots[p.Focused])...)
	}
	c := look.NewCanvas(w, controlRows)
	p.controls.DrawHelpLine(c, th, p.Focused != paneControls)
	return append(lines, c.Lines(th)...)
}

// transferRows returns the preferred height of the transfer pane.
func (p *page) transferRows() int { return 2 + p.Slots[paneTransfer].Pane.(*transfer).rows() }

// layOut places the panes on a large screen: transfer and blocks on the left, controls and rounds on the
// right. The names of widths end in W, those of heights in H.
func (p *page) layOut(w, h int) []room.Place {
	rightW := room.RightColumn(w)
	leftW := w - rightW
	transferH := min(p.transferRows(), h/3)
	roundsH := max(h/4, 6)
	return []room.Place{
		p.Slots[paneTransfer].Place(0, 0, leftW, transferH),
		p.Slots[paneBlocks].Place(0, transferH, leftW, h-transferH),
		p.Slots[paneControls].Place(leftW, 0, rightW, h-roundsH),
		p.Slots[paneRounds].Place(leftW, h-roundsH, rightW, roundsH),
	}
}

func (p *page) Move(dx, dy int) room.Request { return p.controls.HandleArrow(dx, dy) }

func (p *page) Wheel(x, y, notches int) room.Request {
	if at := room.PlaceAt(p.Places, x, y); at.Slot == p.Slots[paneControls] {
		return p.controls.Wheel(y-at.Y, notches)
	}
	return room.Request{}
}

func (p *page) Enter() room.Request { return p.controls.Enter() }

func (p *page) Release() room.Request {
	p.controls.SelectBothLinks()
	return room.Request{}
}

// Aim selects the next link for the controls.
func (p *page) Aim() room.Request {
	p.controls.NextDirection()
	return room.Request{}
}

// Click selects a control, or the pane whose tab is at (x, y).
func (p *page) Click(x, y int) room.Request {
	const tabRow = 0
	if at := p.FocusAt(x, y, tabRow); at.Slot == p.Slots[paneControls] {
		p.controls.Click(y - at.Y)
	}
	return room.Request{}
}
