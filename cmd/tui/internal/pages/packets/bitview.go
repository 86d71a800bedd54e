package packets

import (
	"fmt"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/encoders"
	"wirelab/experiment/live"
)

// bitView is the second view of page 3: the selected packet bit by bit, the row under the cursor and, if there is room,
// the explanation of the packet.
type bitView struct {
	on       bool // shown instead of the list
	bits     *bitPane
	bitsSlot *room.Slot // of bits
	rowSlot  *room.Slot // of the row pane
}

// newBitView returns a view that is off.
func newBitView() *bitView {
	bits := &bitPane{wantRow: encoders.NoRow}
	return &bitView{bits: bits, bitsSlot: room.NewSlot(bits), rowSlot: room.NewSlot(&rowPane{bits})}
}

// observe passes the lab's state to the panes, and reports whether any has to be redrawn.
func (b *bitView) observe(v room.View) bool {
	if b.bitsSlot.Observe(v) {
		b.rowSlot.Redraw()
	}
	return b.on && !(b.bitsSlot.UpToDate && b.rowSlot.UpToDate)
}

// redraw marks both panes for redrawing.
func (b *bitView) redraw() {
	b.bitsSlot.Redraw()
	b.rowSlot.Redraw()
}

// Widths of the view.
const (
	bitsWidthWide  = 107 // of the bytes, eight in a line, if the explanation is beside them
	minExplanation = 44  // of the explanation
)

// lines renders the view: the bytes above the row, and details on the right if there is room.
func (b *bitView) lines(th *look.Theme, w, h int, details *room.Slot) []string {
	rowHeight := min(max(h/3, 7), 14)
	left := w
	if w >= bitsWidthWide+minExplanation {
		left = max(bitsWidthWide, w-72)
	}
	places := []room.Place{b.bitsSlot.Place(0, 0, left, h-rowHeight), b.rowSlot.Place(0, h-rowHeight, left, rowHeight)}
	if b.bits.missing { // no row to show
		places = []room.Place{b.bitsSlot.Place(0, 0, left, h)}
	}
	if left < w {
		places = append(places, details.Place(left, 0, w-left, h))
	}
	return room.RenderPlaces(th, places, h, b.bits, nil)
}

// move moves the cursor: by items, by bytes if dx is large, and by rows.
func (b *bitView) move(dx, dy int) {
	const byteStep = 4 // the steps of the keys [ and ]
	switch {
	case dx >= byteStep:
		b.bits.moveByte(1)
	case dx <= -byteStep:
		b.bits.moveByte(-1)
	case dx != 0:
		b.bits.moveItem(dx)
	case dy >= room.ListEnd || dy <= -room.ListEnd:
		b.bits.moveItem(dy)
	case dy != 0:
		for range max(dy, -dy) {
			b.bits.moveRow(dy / max(dy, -dy))
		}
	}
	b.bits.search = ""
	b.redraw()
}

// scroll moves the cursor by a page of bytes.
func (b *bitView) scroll(direction int) {
	b.bits.moveByte(direction * max(b.bits.rows/2-1, 1) * max(b.bits.perLine, 1))
	b.redraw()
}

// toggleBits shows the bits of the selected packet, of the newest one if none is selected, or the list again.
func (p *page) toggleBits() room.Request {
	p.bits.on = !p.bits.on
	if p.bits.on && !p.list.hasSelection {
		p.list.moveCursor(-1)
	}
	return p.openSelected()
}

// traceSelected adds the request for the bits of the selected packet to a command.
func (p *page) traceSelected(c *live.Command) {
	if p.bits.on {
		seq := p.list.selected.Seq
		p.bits.bits.selectPacket(seq)
		c.Trace = &seq
	}
}

// FindRow implements room.RowFinder: it shows the bits of a row in the selected packet.
func (p *page) FindRow(row int) (room.Request, error) {
	schema := p.bits.bits.schema
	if schema == nil || row < 0 || row >= schema.Rows {
		rows := 0
		if schema != nil {
			rows = schema.Rows
		}
		return room.Request{}, fmt.Errorf("row %d does not exist; the data have %d rows, from 0", row, rows)
	}
	b := p.bits.bits
	if !p.bits.on {
		r := p.toggleBits()
		b.wantRow = row
		return r, nil
	}
	if !b.findRow(row) {
		return room.Request{}, fmt.Errorf("packet %d has no bits of %s %d: it equals the baseline", b.seq, schema.Item, row)
	}
	p.redraw()
	return room.Request{}, nil
}

// bitBindings returns the keys of the view of bits.
func (p *page) bitBindings() []room.Binding {
	const group = "Packets, page 3"
	off := func() bool { return !p.bits.on }
	packet := func(n int) func() room.Request {
		return func() room.Request {
			p.list.moveCursor(n)
			return p.openSelected()
		}
	}
	return []room.Binding{
		room.Bind(group, []string{"#"}, "#", "the packet bit by bit, with header and ack: arrows by field and row, [ ] by byte, /find 417 to a row",
			p.toggleBits).InFooter("bits").Pin(),
		room.Bind(group, []string{"J"}, "J K", "next packet, previous packet, also in the view of bits", packet(1)).InFooter("packet").Unless(off),
		room.Bind(group, []string{"K"}, "", "", packet(-1)),
	}
}
