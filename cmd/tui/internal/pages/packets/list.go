package packets

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/units"
)

// list lists packets, the newest at the bottom. While none is chosen it
// follows; a chosen one stays where it is for as long as it is remembered.
type list struct {
	all      []packetlog.Record // as shown
	rateHz   int
	filter   room.Filter
	chosen   packetlog.ID
	choosing bool
	renewed  bool // what is chosen or listed has changed
	first    int  // row of the list in the first line of the picture
	rows     int  // lines of the last picture
	trust    panes.LinkStatusLine
}

func (p *list) Name() string { return "Packets" }

func (p *list) Observe(v room.View) bool {
	lane := v.Lane()
	p.trust.Observe(v) // shown with the next picture
	n := len(lane.Packets)
	same := n == len(p.all) && (n == 0 || room.SameRecord(&lane.Packets[n-1], &p.all[n-1]) && &lane.Packets[0] == &p.all[0])
	if !p.renewed && (same || p.all != nil && v.Running() && !(v.Slow && v.Spare)) {
		return false
	}
	p.renewed = false
	p.all, p.rateHz = lane.Packets, v.Cfg.Sender.RateHz
	return true
}

// shown are the indices of the packets that the filter takes.
func (p *list) shown() []int {
	out := make([]int, 0, len(p.all))
	for i := range p.all {
		if p.filter.Takes(&p.all[i]) {
			out = append(out, i)
		}
	}
	return out
}

// place is where the chosen packet stands among those shown: if it is not among
// them, where it would stand.
func (p *list) place(shown []int) int {
	for i, at := range shown {
		r := &p.all[at]
		if r.Seq > p.chosen.Seq && r.Copy == 0 || r.ID() == p.chosen {
			return i
		}
	}
	return len(shown) - 1
}

// step moves the cursor by n packets; it begins at the newest.
func (p *list) step(n int) {
	shown := p.shown()
	if len(shown) == 0 || n == 0 {
		return
	}
	at := len(shown) + min(n, -1)
	if p.choosing {
		at = p.place(shown) + n
	}
	at = min(max(at, 0), len(shown)-1)
	r := &p.all[shown[at]]
	p.show(r.ID())
}

// seekTrouble moves the cursor to the next packet that was of no use.
func (p *list) seekTrouble(way int) {
	if len(p.all) == 0 {
		return
	}
	at := len(p.all)
	if p.choosing {
		if i := p.index(p.chosen); i >= 0 {
			at = i
		}
	} else if way > 0 {
		return // nothing is newer than the newest
	}
	step := 1
	if way < 0 {
		step = -1
	}
	for i := at + step; i >= 0 && i < len(p.all); i += step {
		if r := &p.all[i]; room.Troubled(r) && (p.filter == room.FilterAll || p.filter.Takes(r)) {
			p.show(r.ID())
			return
		}
	}
}

// show puts the cursor on a packet.
func (p *list) show(id packetlog.ID) { p.chosen, p.choosing, p.renewed = id, true, true }

func (p *list) release() { p.choosing, p.renewed, p.filter = false, true, room.FilterAll }

// record is a packet of the list; nil if it is not in it.
func (p *list) record(id packetlog.ID) *packetlog.Record {
	if i := p.index(id); i >= 0 {
		return &p.all[i]
	}
	return nil
}

// index is where a packet stands in the list; -1 if it is not in it.
func (p *list) index(id packetlog.ID) int {
	for i := range p.all {
		if p.all[i].ID() == id {
			return i
		}
	}
	return -1
}

// nextFilter goes on to the next filter that takes anything.
func (p *list) nextFilter() {
	p.renewed = true
	for range room.NumFilters {
		p.filter = (p.filter + 1) % room.NumFilters
		if p.filter == room.FilterAll || len(p.shown()) > 0 {
			return
		}
	}
}

// at is the packet in a line of the picture.
func (p *list) at(y int) (packetlog.ID, bool) {
	shown := p.shown()
	i := p.first + y - 2
	if y < 2 || y-2 >= p.rows || i < 0 || i >= len(shown) {
		return packetlog.ID{}, false
	}
	r := &p.all[shown[i]]
	return r.ID(), true
}

// listWidth is how wide the list is with all its columns.
const listWidth = 82

// listColumn is one column of the list: where it ends, what it is called.
type listColumn struct {
	end  int
	word string
	of   func(r *packetlog.Record) (string, look.Ink)
}

// outcomeLeast is the least room for how a packet ended, with a blank at either side:
// that is what the list is for.
const outcomeLeast = 16

// fitting are the columns that a list of w has room for beside the outcome: those
// worth least go first, and the others move up. The second value is where the
// outcome begins.
func (p *list) fitting(w int) ([]listColumn, int) {
	list := p.columns()
	for _, word := range []string{"ms old", "chg", "sent", "baseline"} {
		if list[len(list)-1].end+2+outcomeLeast <= w {
			break
		}
		i := slices.IndexFunc(list, func(c listColumn) bool { return c.word == word })
		gone := list[i].end - list[i-1].end
		list = slices.Delete(list, i, i+1)
		for k := i; k < len(list); k++ {
			list[k].end -= gone
		}
	}
	return list, list[len(list)-1].end + 2
}

func (p *list) columns() []listColumn {
	plain := func(s string) (string, look.Ink) { return s, look.Plain }
	return []listColumn{
		{11, "packet", func(r *packetlog.Record) (string, look.Ink) {
			s := strconv.FormatUint(r.Seq, 10)
			if r.Copy > 0 {
				s += "+" + strconv.Itoa(r.Copy)
			}
			return s, look.Value
		}},
		{20, "baseline", func(r *packetlog.Record) (string, look.Ink) {
			if r.Baseline == 0 {
				return "initial", look.Dim
			}
			return plain("-" + strconv.Itoa(r.Baseline))
		}},
		{27, "ms old", func(r *packetlog.Record) (string, look.Ink) {
			if r.Baseline == 0 || p.rateHz <= 0 {
				return "", look.Dim
			}
			return plain(strconv.Itoa(r.Baseline * 1000 / p.rateHz))
		}},
		{34, "bytes", func(r *packetlog.Record) (string, look.Ink) { return strconv.Itoa(r.Payload), look.Payload }},
		{41, "chg", func(r *packetlog.Record) (string, look.Ink) { return plain(strconv.Itoa(r.Changed)) }},
		{52, "sent", func(r *packetlog.Record) (string, look.Ink) { return stamp(r.Sent), look.Dim }},
		{62, "took ms", func(r *packetlog.Record) (string, look.Ink) {
			switch {
			case r.Outcome == packetlog.Lost, r.Outcome == packetlog.Unknown, r.Outcome == packetlog.InFlight && r.Due == 0:
				return "-", look.Dim // a network does not tell beforehand
			case r.Outcome == packetlog.InFlight:
				return "due " + units.Fixed(float64(r.Due-r.Sent)/1e6, 0), look.Dim
			}
			return plain(units.Fixed(float64(r.Arrived-r.Sent)/1e6, 1))
		}},
	}
}

func (p *list) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	shown := p.shown()
	c.Frame(th, focused, "Packets", p.legend(th, len(shown), look.HeadRoom(c.W, "Packets"))...)
	p.trust.Draw(c)
	columns, outcome := p.fitting(c.W)
	for _, col := range columns {
		c.Right(col.end, 1, look.Dim, col.word)
	}
	c.Clip(outcome, 1, c.W-2-outcome, look.Dim, "outcome")
	p.rows = max(c.H-3, 0)
	p.first = max(len(shown)-p.rows, 0)
	if p.choosing { // in the middle, so that one sees what came before and after
		p.first = min(max(p.place(shown)-p.rows/2, 0), p.first)
	}
	for y := range min(p.rows, len(shown)-p.first) {
		p.row(c, th, 2+y, &p.all[shown[p.first+y]], columns, outcome)
	}
	if len(shown) == 0 {
		c.Clip(2, 2, c.W-4, look.Dim, "none of the "+strconv.Itoa(len(p.all))+" remembered; f lists others")
	}
}

func (p *list) legend(th *look.Theme, n, room int) []look.Span {
	out := []look.Span{look.Dim.Span("filter "), look.Key.Span(p.filter.String())}
	counted := append(out[:2:2], look.Dim.Span(fmt.Sprintf("  %d of %d", n, len(p.all))))
	if p.choosing {
		return look.Fit(room, append(counted[:3:3], look.Dim.Span("  esc follows the newest")), counted, out, nil)
	}
	return look.Fit(room, append(counted[:3:3], look.Dim.Span("  follows the newest")), counted, out, nil)
}

func (p *list) row(c *look.Canvas, th *look.Theme, y int, r *packetlog.Record, columns []listColumn, outcome int) {
	here := p.choosing && r.ID() == p.chosen
	if here {
		c.Text(1, y, look.Chosen, th.Chosen)
	}
	for _, col := range columns {
		s, k := col.of(r)
		if here && k == look.Dim {
			k = look.Plain
		}
		c.Right(col.end, y, k, s)
	}
	k := look.OutcomeInk(r.Outcome)
	x := c.Text(outcome, y, k, string(th.Outcome[min(r.Outcome, packetlog.NumOutcomes-1)])+" ")
	word := look.OutcomeWord(r.Outcome)
	if r.Outcome == packetlog.Lost {
		word += ": " + r.Cause.String()
	}
	if r.Outcome == packetlog.Decoded && !here {
		k = look.Dim
	}
	c.Clip(x, y, c.W-1-x, k, word)
}

// stamp writes virtual time to the millisecond.
func stamp(t time.Duration) string {
	t = max(t, 0)
	return fmt.Sprintf("%02d:%02d.%03d", t/time.Minute%1000, t/time.Second%60, t/time.Millisecond%1000)
}
