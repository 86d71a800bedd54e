package file

import (
	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

// page is page 4 where the data are files: how the patch is made, and how it
// comes across. On a large screen all at once beside the controls; on a small one a
// pane at a time.
type page struct {
	controls *controls.Pane
	slots    []*room.Slot // in the order of the tab key
	at       int          // index of the one that has the keys
	chosen   bool         // somebody chose it
	w, h     int
	places   []room.Place
}

// The places of panes in slots.
const (
	atTransfer = iota
	atMatrix
	atBlocks
	atRounds
	atFileControls
)

// New returns the page.
func New(cat *controls.Catalog) *page {
	p := &page{controls: &controls.Pane{Cat: cat}}
	for _, q := range []room.Pane{&transfer{}, &matrix{}, &blocks{}, &rounds{}, p.controls} {
		p.slots = append(p.slots, room.NewSlot(q))
	}
	return p
}

func (p *page) Name() string { return "File" }

func (p *page) Arrows() [][2]string {
	return [][2]string{{"↑↓", "select"}, {"←→", "adjust"}}
}

func (p *page) Means(key string) string {
	return map[string]string{"up": "choose a control", "left": "less, more", "[": "much less, much more",
		"enter": "type an exact value, or choose from a list", "tab": "the next pane of a small screen",
		"d": "which link the controls set: both, down, up"}[key]
}

// Observe also chooses the pane that a small screen shows, as long as nobody else
// has: the picture while it is drawn, then the transfer.
func (p *page) Observe(v room.View) bool {
	changed := room.ObserveAll(v, p.slots...)
	if !p.chosen {
		p.at = atTransfer
		if v.Snap.Making != nil {
			p.at = atMatrix
		}
	}
	return changed
}

func (p *page) Lines(th *look.Theme, w, h int) []string {
	p.w, p.h = w, h
	if room.Wide(w, h) {
		p.places = p.arrange(w, h)
		return room.Join(th, p.places, h, p.controls, nil)
	}
	const above, below = 1, 1
	lines := append(make([]string, 0, h), room.TabsOf(th, p.slots, p.at, w))
	rest := h - above - below
	p.places = []room.Place{p.slots[p.at].At(0, above, w, rest)}
	if rows := p.transferRows(); p.at == atTransfer && rest >= rows+4 { // there is room for the blocks below
		p.places = []room.Place{p.slots[p.at].At(0, above, w, rows), p.slots[atBlocks].At(0, above+rows, w, rest-rows)}
	}
	for _, at := range p.places {
		lines = append(lines, at.Slot.Render(th, w, at.H, at.Slot == p.slots[p.at])...)
	}
	c := look.NewCanvas(w, below)
	p.controls.Brief(c, th, 0, p.at != atFileControls)
	return append(lines, c.Lines(th)...)
}

// transferRows is how high the account of the transfer would like to be.
func (p *page) transferRows() int { return 2 + p.slots[atTransfer].Pane.(*transfer).rows() }

// arrange places the panes on a large screen.
func (p *page) arrange(w, h int) []room.Place {
	right := room.RightColumn(w)
	left := w - right
	transfer := min(p.transferRows(), h/3)
	blocks := min(max(h/5, 5), 9)
	rounds := max(h/4, 6)
	return []room.Place{
		p.slots[atTransfer].At(0, 0, left, transfer),
		p.slots[atMatrix].At(0, transfer, left, h-transfer-blocks),
		p.slots[atBlocks].At(0, h-blocks, left, blocks),
		p.slots[atFileControls].At(left, 0, right, h-rounds),
		p.slots[atRounds].At(left, h-rounds, right, rounds),
	}
}

// Focus shows the next pane of a small screen; on a large one all are in sight.
func (p *page) Focus(step int) {
	if room.Wide(p.w, p.h) {
		return
	}
	p.at, p.chosen = (p.at+step+len(p.slots))%len(p.slots), true
}

func (p *page) Move(dx, dy int) room.Request { return p.controls.Turn(dx, dy) }

// Wheel adjusts what is chosen.
func (p *page) Wheel(up int) room.Request { return p.Move(up, 0) }

func (p *page) Enter() room.Request { return p.controls.Enter() }

func (p *page) Release() { p.controls.Release() }

func (p *page) Aim() room.Request {
	p.controls.Aim()
	return room.Request{}
}

// Click selects a control, or the pane whose name is at a place.
func (p *page) Click(x, y int) room.Request {
	if !room.Wide(p.w, p.h) && y == 0 {
		if at, ok := room.TabAt(p.slots, x); ok {
			p.at, p.chosen = at, true
		}
	} else if at := room.PlaceAt(p.places, x, y); at.Slot == p.slots[atFileControls] {
		p.controls.Click(y - at.Y)
	}
	return room.Request{}
}
