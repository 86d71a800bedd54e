package ui

// filePage is page 4 where the data are files: how the patch is made, and how it
// comes across. On a large screen all at once beside the controls; on a small one a
// pane at a time.
type filePage struct {
	base
	controls *controlsPane
	slots    []*slot // in the order of the tab key
	at       int     // index of the one that has the keys
	chosen   bool    // somebody chose it
	w, h     int
	places   []place
}

// The places of panes in slots.
const (
	atTransfer = iota
	atMatrix
	atBlocks
	atRounds
	atFileControls
)

func newFilePage(cat *catalog) *filePage {
	p := &filePage{controls: &controlsPane{cat: cat}}
	for _, q := range []pane{&transferPane{}, &matrixPane{}, &blocksPane{}, &roundsPane{}, p.controls} {
		p.slots = append(p.slots, newSlot(q))
	}
	return p
}

func (p *filePage) name() string { return "File" }

func (p *filePage) arrows() [][2]string {
	return [][2]string{{"↑↓", "select"}, {"←→", "adjust"}}
}

// observe also chooses the pane that a small screen shows, as long as nobody else
// has: the picture while it is drawn, then the transfer.
func (p *filePage) observe(v sight) bool {
	changed := observeAll(v, p.slots...)
	if !p.chosen {
		p.at = atTransfer
		if v.snap.Making != nil {
			p.at = atMatrix
		}
	}
	return changed
}

func (p *filePage) view(th *theme, w, h int) []string {
	p.w, p.h = w, h
	if wide(w, h) {
		p.places = p.arrange(w, h)
		return join(th, p.places, h, p.controls, nil)
	}
	const above, below = 1, 1
	lines := append(make([]string, 0, h), tabsOf(th, p.slots, p.at, w))
	rest := h - above - below
	p.places = []place{p.slots[p.at].at(0, above, w, rest)}
	if rows := p.transferRows(); p.at == atTransfer && rest >= rows+4 { // there is room for the blocks below
		p.places = []place{p.slots[p.at].at(0, above, w, rows), p.slots[atBlocks].at(0, above+rows, w, rest-rows)}
	}
	for _, at := range p.places {
		lines = append(lines, at.slot.render(th, w, at.h, at.slot == p.slots[p.at])...)
	}
	c := newCanvas(w, below)
	p.controls.brief(c, th, 0, p.at != atFileControls)
	return append(lines, c.lines(th)...)
}

// transferRows is how high the account of the transfer would like to be.
func (p *filePage) transferRows() int { return 2 + p.slots[atTransfer].pane.(*transferPane).rows() }

// arrange places the panes on a large screen.
func (p *filePage) arrange(w, h int) []place {
	right := rightColumn(w)
	left := w - right
	transfer := min(p.transferRows(), h/3)
	blocks := min(max(h/5, 5), 9)
	rounds := max(h/4, 6)
	return []place{
		p.slots[atTransfer].at(0, 0, left, transfer),
		p.slots[atMatrix].at(0, transfer, left, h-transfer-blocks),
		p.slots[atBlocks].at(0, h-blocks, left, blocks),
		p.slots[atFileControls].at(left, 0, right, h-rounds),
		p.slots[atRounds].at(left, h-rounds, right, rounds),
	}
}

// focus shows the next pane of a small screen; on a large one all are in sight.
func (p *filePage) focus(step int) {
	if wide(p.w, p.h) {
		return
	}
	p.at, p.chosen = (p.at+step+len(p.slots))%len(p.slots), true
}

func (p *filePage) move(dx, dy int) request { return p.controls.turn(dx, dy) }
func (p *filePage) enter() request          { return p.controls.enter() }
func (p *filePage) release()                { p.controls.release() }

func (p *filePage) aim() request {
	p.controls.aim()
	return request{}
}

// click selects a control, or the pane whose name is at a place.
func (p *filePage) click(x, y int) request {
	if !wide(p.w, p.h) && y == 0 {
		if at, ok := tabAt(p.slots, x); ok {
			p.at, p.chosen = at, true
		}
	} else if at := placeAt(p.places, x, y); at.slot == p.slots[atFileControls] {
		p.controls.click(y - at.y)
	}
	return request{}
}
