package packets

import (
	"cmp"
	"fmt"
	"strconv"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/packetfilter"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/live"
)

// packets is the list of packets with its keys.
type packets struct {
	list
	bits *bitPane
	back []packetlog.ID // whose baseline was opened, to which esc goes back
}

// The panes, in the order of the tab key.
const (
	paneList = iota
	paneBits
	paneRow
	paneDetails
)

// Widths of the view of bits.
const (
	bitsWidthWide  = 107 // of the bytes, eight in a line, if the explanation is beside them
	minExplanation = 44  // of the explanation
)

// New returns the page: the list of packets and the details of one or, with the key #, the selected
// packet bit by bit, the row under the cursor and, if there is room, the details.
func New() *room.Page {
	p := &room.Page{Name: "Packets", Top: room.NewSlot(&panes.SummaryLine{}), TopIfWide: true}
	all := list{find: packetfilter.Trouble(), run: run{present: &engine.Lane{}}, dirty: true}
	list := &packets{list: all, bits: &bitPane{wantRow: encoders.NoRow}}
	list.setColumns()
	s := p.Add(list, list.bits, &rowPane{bits: list.bits}, &details{page: list})
	p.LayOut = func(w, h int) []room.Place {
		const minDetailsWidth = 52 // for the sentence about a packet; a narrower pane is below the list instead
		left := min(max(w*52/100, listWidth), listWidth+12)
		if list.bits.on || w-left < minDetailsWidth {
			return p.Small(w, h)
		}
		return []room.Place{s[paneList].Place(0, 0, left, h), s[paneDetails].Place(left, 0, w-left, h)}
	}
	p.Small = func(w, h int) []room.Place {
		if list.bits.on {
			return list.bits.layOutPanes(s, w, h)
		}
		upper := max(h*4/10, 5)
		return []room.Place{s[paneList].Place(0, 0, w, upper), s[paneDetails].Place(0, upper, w, h-upper)}
	}
	return p
}

// Absent implements room.Absent: the bits of a packet are shown in place of the list.
func (p *packets) Absent() bool { return p.bits.on }

// Move selects another packet: up and down by rows, left and right by matches of /search, which is trouble at first.
func (p *packets) Move(dx, dy int) room.Request {
	if dx != 0 {
		return p.moveToMatch(dx)
	}
	p.moveCursor(dy)
	return p.openSelected()
}

// moveToMatch selects the next match of /search (direction > 0) or the previous one, in the whole run.
func (p *packets) moveToMatch(direction int) room.Request {
	if p.list.moveToMatch(direction) {
		return p.openSelected()
	}
	where := "before"
	if direction > 0 {
		where = "after"
	}
	text := "no packet " + where + " this one matches " + p.find.String()
	if first := p.run.first(); direction < 0 && first > 0 {
		text += "; packets before " + strconv.FormatUint(p.oldestSeq(), 10) + " are not searched, /goto lists them"
	}
	return room.Refusal(text + "; /search changes what n and N go to")
}

// openSelected requests the details of the selected packet from the lab, which repeats the run for an old packet. For
// one of the newest it returns from the past.
func (p *packets) openSelected() room.Request {
	if !p.hasSelection {
		return room.Request{}
	}
	id := p.selected
	c := &live.Command{Open: &id, Return: p.isKnown && p.run.isAtPresent(p.number)}
	p.traceSelected(c)
	return room.Request{Command: c}
}

// Enter shows the bits of the selected packet or, in the view of bits, its baseline.
func (p *packets) Enter() room.Request {
	if !p.bits.on {
		return p.toggleBits()
	}
	r := p.selectedRecord()
	switch {
	case r == nil:
		return room.Refusal("the baseline of this packet is not known")
	case r.Baseline == 0:
		return room.Refusal("the baseline of this packet is the initial state, which is not a packet")
	}
	p.back = append(p.back, p.selected)
	p.selectPacket(packetlog.ID{Seq: r.Seq - uint64(r.Baseline)})
	return p.openSelected()
}

// Release goes back to the packet whose baseline is shown, or leaves the view of bits. In the list it clears selection and
// filter, and ends the measurement of row costs that the filter needs.
func (p *packets) Release() room.Request {
	if last := len(p.back) - 1; p.bits.on && last >= 0 {
		p.selectPacket(p.back[last])
		p.back = p.back[:last]
		return p.openSelected()
	}
	if p.bits.on {
		p.bits.on = false
		return room.Request{}
	}
	request := p.setFilter(packetfilter.Filter{})
	p.list.release()
	return request
}

// setFilter changes the filter. If it does not select the selected packet, the next one that it selects is selected. It
// requests which rows packets carry from the lab if the filter needs them, and ends that request if only the filter before
// needed them.
func (p *packets) setFilter(f packetfilter.Filter) room.Request {
	needed, needs := p.filter.NeedsRows(), f.NeedsRows()
	p.filter = f
	p.listRows()
	r := room.Request{Redraw: true}
	if row, isListed := p.selectedRow(); p.hasSelection && !isListed {
		p.hasSelection = false
		if n := p.length(); n > 0 {
			p.selectPacket(p.record(min(row, n-1)).ID())
			r = p.openSelected()
		}
	}
	if needs || needed {
		r.Command = cmp.Or(r.Command, &live.Command{})
		r.Command.Carried = &needs
	}
	return r
}

// Click selects the packet at (x, y), or sorts by the column whose title is there.
func (p *packets) Click(x, y int) room.Request {
	if p.click(x, y) {
		return p.openSelected()
	}
	return room.Request{Redraw: true}
}

// ShowPacket implements room.PacketLister: it selects a packet and removes the filter.
func (p *packets) ShowPacket(id packetlog.ID) room.Request {
	unfiltered := p.setFilter(packetfilter.Filter{})
	p.selectPacket(id)
	r := p.openSelected()
	if unfiltered.Command != nil {
		r.Command.Carried = unfiltered.Command.Carried
	}
	return r
}

func (p *packets) ListPackets(o room.PacketOrder) (room.Request, error) {
	switch {
	case o.Filter != nil:
		return p.setFilter(*o.Filter), nil
	case o.Find != nil:
		p.find = *o.Find
		p.hasSelection = false // the first match from the end of the list that is visible
		if p.isSorted() {
			return p.moveToMatch(1), nil
		}
		return p.moveToMatch(-1), nil
	case o.Sort != nil:
		p.sort = *o.Sort
		p.listRows()
	case o.Number != nil:
		if newest, ok := p.newestSeq(); !ok || *o.Number > newest {
			return room.Request{}, fmt.Errorf("packet %d is not sent yet; the newest is %d", *o.Number, newest)
		}
		return p.ShowPacket(packetlog.ID{Seq: *o.Number}), nil
	case o.Sent != nil:
		for n := p.run.first(); n < p.run.end(); n++ {
			if r := p.run.at(n); r.Sent >= *o.Sent {
				return p.ShowPacket(r.ID()), nil
			}
		}
		return room.Request{}, fmt.Errorf("no packet is sent at %s or later yet", look.FormatTime(*o.Sent))
	case o.Export != "":
		return p.export(o.Export)
	}
	return room.Request{Redraw: true}, nil
}

// Arrows implements room.Hinter. The arrows to the left and right go to trouble or, with a search, matches.
func (p *packets) Arrows() [][2]string {
	target := "trouble"
	if p.find.String() != packetfilter.Trouble().String() {
		target = "match"
	}
	return [][2]string{{"↑↓", "packet"}, {"enter", "bits"}, {"←→", target}}
}

func (p *packets) KeyHelp(key string) string {
	if p.bits.on {
		return map[string]string{"up": "the row above or below that changed", "left": "previous or next field of the packet",
			"enter": "the baseline of the packet", "esc": "back to the packet before, or the list",
			"[": "previous or next byte", "g": "first, last field"}[key]
	}
	return map[string]string{"up": "previous or next packet, of the whole run", "left": "previous or next packet in trouble, as N n",
		"enter": "the packet bit by bit; again: its baseline", "w": "write the list to a file, CSV or pcapng",
		"esc": "back; clear filter, order and selection"}[key]
}

// WriteFile implements room.Writer.
func (p *packets) WriteFile() room.Request { return room.Request{Edit: "export packets.csv"} }

func (p *packets) Bindings() []room.Binding {
	match := func(step int) room.Request { return p.moveToMatch(-step) }
	next := func() room.Request { return p.setFilter(p.nextFilter()) }
	return append(p.bitBindings(), []room.Binding{
		room.Bind("f", "next filter: all, trouble, each outcome", next).InFooter("filter").Pin().
			Unless(func() bool { return p.bits.on }).NotifyIdle("f filters the list of packets; esc shows it"),
		room.Pair("n", "N", "next, previous trouble or match of /search", match),
	}...)
}
