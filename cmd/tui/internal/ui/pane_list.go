package ui

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"wirelab/experiment/engine"
)

// listPane lists packets, the newest at the bottom. While none is chosen it
// follows; a chosen one stays where it is for as long as it is remembered.
type listPane struct {
	all      []engine.PacketRecord // as shown
	rateHz   int
	filter   filter
	chosen   engine.PacketID
	choosing bool
	renewed  bool // what is chosen or listed has changed
	first    int  // row of the list in the first line of the picture
	rows     int  // lines of the last picture
}

func (p *listPane) name() string { return "Packets" }

func (p *listPane) observe(v sight) bool {
	lane := v.lane()
	n := len(lane.Packets)
	same := n == len(p.all) && (n == 0 || sameRecord(&lane.Packets[n-1], &p.all[n-1]) && &lane.Packets[0] == &p.all[0])
	if !p.renewed && (same || p.all != nil && v.running() && !(v.slow && v.spare)) {
		return false
	}
	p.renewed = false
	p.all, p.rateHz = lane.Packets, v.cfg.Sender.RateHz
	return true
}

// shown are the indices of the packets that the filter takes.
func (p *listPane) shown() []int {
	out := make([]int, 0, len(p.all))
	for i := range p.all {
		if p.filter.takes(&p.all[i]) {
			out = append(out, i)
		}
	}
	return out
}

// place is where the chosen packet stands among those shown: if it is not among
// them, where it would stand.
func (p *listPane) place(shown []int) int {
	for i, at := range shown {
		r := &p.all[at]
		if r.Seq > p.chosen.Seq && r.Copy == 0 || r.Seq == p.chosen.Seq && r.Copy == p.chosen.Copy {
			return i
		}
	}
	return len(shown) - 1
}

// step moves the cursor by n packets; it begins at the newest.
func (p *listPane) step(n int) {
	shown := p.shown()
	if len(shown) == 0 || n == 0 {
		return
	}
	at := len(shown) - 1
	if p.choosing {
		at = min(max(p.place(shown)+n, 0), len(shown)-1)
	}
	r := &p.all[shown[at]]
	p.show(engine.PacketID{Seq: r.Seq, Copy: r.Copy})
}

// seekTrouble moves the cursor to the next packet that was of no use.
func (p *listPane) seekTrouble(way int) {
	if len(p.all) == 0 {
		return
	}
	at := len(p.all)
	if p.choosing {
		for i := range p.all {
			if p.all[i].Seq == p.chosen.Seq && p.all[i].Copy == p.chosen.Copy {
				at = i
			}
		}
	} else if way > 0 {
		return // nothing is newer than the newest
	}
	step := 1
	if way < 0 {
		step = -1
	}
	for i := at + step; i >= 0 && i < len(p.all); i += step {
		if r := &p.all[i]; troubled(r) && (p.filter == filterAll || p.filter.takes(r)) {
			p.show(engine.PacketID{Seq: r.Seq, Copy: r.Copy})
			return
		}
	}
}

// show puts the cursor on a packet.
func (p *listPane) show(id engine.PacketID) { p.chosen, p.choosing, p.renewed = id, true, true }

func (p *listPane) release() { p.choosing, p.renewed, p.filter = false, true, filterAll }

// record is a packet of the list; nil if it is not in it.
func (p *listPane) record(id engine.PacketID) *engine.PacketRecord {
	for i := range p.all {
		if p.all[i].Seq == id.Seq && p.all[i].Copy == id.Copy {
			return &p.all[i]
		}
	}
	return nil
}

// nextFilter goes on to the next filter that takes anything.
func (p *listPane) nextFilter() {
	p.renewed = true
	for range numFilters {
		p.filter = (p.filter + 1) % numFilters
		if p.filter == filterAll || len(p.shown()) > 0 {
			return
		}
	}
}

// at is the packet in a line of the picture.
func (p *listPane) at(y int) (engine.PacketID, bool) {
	shown := p.shown()
	i := p.first + y - 2
	if y < 2 || y-2 >= p.rows || i < 0 || i >= len(shown) {
		return engine.PacketID{}, false
	}
	r := &p.all[shown[i]]
	return engine.PacketID{Seq: r.Seq, Copy: r.Copy}, true
}

// listWidth is how wide the list is with all its columns.
const listWidth = 82

// column is one column of the list: where it ends, what it is called.
type listColumn struct {
	end  int
	word string
	of   func(r *engine.PacketRecord) (string, ink)
}

// outcomeLeast is the least room for how a packet ended, with a blank at either side:
// that is what the list is for.
const outcomeLeast = 16

// fitting are the columns that a list of w has room for beside the outcome: those
// worth least go first, and the others move up. The second value is where the
// outcome begins.
func (p *listPane) fitting(w int) ([]listColumn, int) {
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

func (p *listPane) columns() []listColumn {
	plain := func(s string) (string, ink) { return s, inkPlain }
	return []listColumn{
		{11, "packet", func(r *engine.PacketRecord) (string, ink) {
			s := strconv.FormatUint(r.Seq, 10)
			if r.Copy > 0 {
				s += "+" + strconv.Itoa(r.Copy)
			}
			return s, inkValue
		}},
		{20, "baseline", func(r *engine.PacketRecord) (string, ink) {
			if r.Baseline == 0 {
				return "initial", inkDim
			}
			return plain("-" + strconv.Itoa(r.Baseline))
		}},
		{27, "ms old", func(r *engine.PacketRecord) (string, ink) {
			if r.Baseline == 0 || p.rateHz <= 0 {
				return "", inkDim
			}
			return plain(strconv.Itoa(r.Baseline * 1000 / p.rateHz))
		}},
		{34, "bytes", func(r *engine.PacketRecord) (string, ink) { return strconv.Itoa(r.Payload), inkPayload }},
		{41, "chg", func(r *engine.PacketRecord) (string, ink) { return plain(strconv.Itoa(r.Changed)) }},
		{52, "sent", func(r *engine.PacketRecord) (string, ink) { return stamp(r.Sent), inkDim }},
		{62, "took ms", func(r *engine.PacketRecord) (string, ink) {
			switch {
			case r.Outcome == engine.Lost:
				return "-", inkDim
			case r.Outcome == engine.InFlight:
				return "due " + fixed(float64(r.Due-r.Sent)/1e6, 0), inkDim
			}
			return plain(fixed(float64(r.Arrived-r.Sent)/1e6, 1))
		}},
	}
}

func (p *listPane) draw(c *canvas, th *theme, focused bool) {
	shown := p.shown()
	c.frame(th, focused, "Packets", p.legend(th, len(shown), headRoom(c.w, "Packets"))...)
	columns, outcome := p.fitting(c.w)
	for _, col := range columns {
		c.right(col.end, 1, inkDim, col.word)
	}
	c.clip(outcome, 1, c.w-2-outcome, inkDim, "outcome")
	p.rows = max(c.h-3, 0)
	p.first = max(len(shown)-p.rows, 0)
	if p.choosing { // in the middle, so that one sees what came before and after
		p.first = min(max(p.place(shown)-p.rows/2, 0), p.first)
	}
	for y := range min(p.rows, len(shown)-p.first) {
		p.row(c, th, 2+y, &p.all[shown[p.first+y]], columns, outcome)
	}
	if len(shown) == 0 {
		c.clip(2, 2, c.w-4, inkDim, "none of the "+strconv.Itoa(len(p.all))+" remembered; f lists others")
	}
}

func (p *listPane) legend(th *theme, n, room int) []span {
	out := []span{{inkDim, "filter "}, {inkKey, p.filter.String()}}
	counted := append(out[:2:2], span{inkDim, fmt.Sprintf("  %d of %d", n, len(p.all))})
	if p.choosing {
		return fit(room, append(counted[:3:3], span{inkDim, "  esc follows the newest"}), counted, out, nil)
	}
	return fit(room, append(counted[:3:3], span{inkDim, "  follows the newest"}), counted, out, nil)
}

func (p *listPane) row(c *canvas, th *theme, y int, r *engine.PacketRecord, columns []listColumn, outcome int) {
	here := p.choosing && r.Seq == p.chosen.Seq && r.Copy == p.chosen.Copy
	if here {
		c.text(1, y, inkChosen, th.chosen)
	}
	for _, col := range columns {
		s, k := col.of(r)
		if here && k == inkDim {
			k = inkPlain
		}
		c.right(col.end, y, k, s)
	}
	k := outcomeInk(r.Outcome)
	x := c.text(outcome, y, k, string(th.outcome[min(r.Outcome, engine.NumOutcomes-1)])+" ")
	word := outcomeWord(r.Outcome)
	if r.Outcome == engine.Lost {
		word += ": " + r.Cause.String()
	}
	if r.Outcome == engine.Decoded && !here {
		k = inkDim
	}
	c.clip(x, y, c.w-1-x, k, word)
}

// stamp writes virtual time to the millisecond.
func stamp(t time.Duration) string {
	t = max(t, 0)
	return fmt.Sprintf("%02d:%02d.%03d", t/time.Minute%1000, t/time.Second%60, t/time.Millisecond%1000)
}
