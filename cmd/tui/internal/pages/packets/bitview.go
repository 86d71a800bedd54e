package packets

import (
	"fmt"

	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/live"
)

func (p *bitPane) Absent() bool { return !p.on }

// layOutPanes places the bits above the row under the cursor, and the details on the right if there is room.
// s contains the panes of the page in the order in which New adds them.
func (p *bitPane) layOutPanes(s []*room.Slot, w, h int) []room.Place {
	rowHeight := min(max(h/3, 7), 14)
	left := w
	if w >= bitsWidthWide+minExplanation {
		left = max(bitsWidthWide, w-72)
	}
	places := []room.Place{s[paneBits].Place(0, 0, left, h-rowHeight), s[paneRow].Place(0, h-rowHeight, left, rowHeight)}
	if p.missing { // no row to show
		places = []room.Place{s[paneBits].Place(0, 0, left, h)}
	}
	if left < w {
		places = append(places, s[paneDetails].Place(left, 0, w-left, h))
	}
	return places
}

// Move moves the cursor: by items, by bytes if dx is large, and by rows.
func (p *bitPane) Move(dx, dy int) room.Request {
	const byteStep = 4 // the steps of the keys [ and ]
	switch {
	case dx >= byteStep:
		p.moveByte(1)
	case dx <= -byteStep:
		p.moveByte(-1)
	case dx != 0:
		p.moveItem(dx)
	case dy >= room.ListEnd || dy <= -room.ListEnd:
		p.moveItem(dy)
	case dy != 0:
		for range max(dy, -dy) {
			p.moveRow(dy / max(dy, -dy))
		}
	}
	return room.Request{}
}

// ListsRows implements room.Lister.
func (p *bitPane) ListsRows() {}

func (p *bitPane) Arrows() [][2]string {
	return [][2]string{{"enter", "base"}, {"esc", "back"}, {"←→", "field"}, {"↑↓", "row"}}
}

// toggleBits shows the bits of the selected packet, of the newest one if none is selected, or the list again.
func (p *packets) toggleBits() room.Request {
	p.bits.on = !p.bits.on
	p.back = nil
	if p.bits.on && !p.hasSelection {
		p.moveCursor(-1)
	}
	return p.openSelected()
}

// traceSelected adds the request for the bits of the selected packet to a command.
func (p *packets) traceSelected(c *live.Command) {
	if p.bits.on {
		seq := p.selected.Seq
		p.bits.selectPacket(seq)
		c.Trace = &seq
	}
}

// FindRow implements room.RowFinder: it shows the bits of a row in the selected packet.
func (p *packets) FindRow(row int) (room.Request, error) {
	b, rows := p.bits, 0
	if b.schema != nil {
		rows = b.schema.Rows
	}
	if row < 0 || row >= rows {
		return room.Request{}, fmt.Errorf("row %d does not exist; the data have %d rows, from 0", row, rows)
	}
	if !b.on {
		r := p.toggleBits()
		b.wantRow = row
		return r, nil
	}
	if !b.findRow(row) {
		return room.Request{}, fmt.Errorf("packet %d has no bits of %s %d: it equals the baseline",
			b.seq, b.schema.Item, row)
	}
	return room.Request{}, nil
}

// bitBindings returns the keys of the view of bits.
func (p *packets) bitBindings() []room.Binding {
	off := func() bool { return !p.bits.on }
	packet := func(step int) room.Request {
		p.moveCursor(-step)
		return p.openSelected()
	}
	return []room.Binding{
		room.Pair("J", "K", "next, previous packet, also in its bits", packet).InFooter("packet").Unless(off),
		room.Bind("#", "the packet bit by bit; /find 417: that row", p.toggleBits),
	}
}
