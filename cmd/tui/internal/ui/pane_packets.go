package ui

import (
	"fmt"
	"slices"
	"strconv"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/lossmodel"
)

// packetsPane shows the last packets as one sign each. The strip is written like
// an oscilloscope's: a packet keeps its place until the beam comes round again,
// so the eye can rest on one, and a redraw changes one line instead of all.
type packetsPane struct {
	packets  []engine.PacketRecord
	newest   uint64
	totals   figures.Totals // as shown: changes twice a second
	decoded  int64          // as last seen
	inFlight int64
	chosen   uint64 // sequence of the packet under the cursor
	choosing bool
	capacity int // packets that the last picture had room for, and a row of it
	width    int
	moved    bool
	ticks    int // since the last redraw
}

func (p *packetsPane) name() string { return "Packets" }

// rest is how many ticks the strip rests between two redraws: three are often
// enough for the eye, and a wider strip costs the terminal more.
func (p *packetsPane) rest() int {
	const usual = 100
	return 3 * max(p.width, usual) / usual
}

func (p *packetsPane) observe(v sight) bool {
	lane := v.lane()
	if v.slow || p.totals.Sent == 0 {
		p.totals = lane.Totals // shown with the next redraw of the strip
	}
	if p.ticks++; len(p.packets) > 0 && !p.moved && v.running() && p.ticks < p.rest() {
		return false
	}
	n := len(lane.Packets)
	same := n == len(p.packets) && (n == 0 || sameRecord(&lane.Packets[n-1], &p.packets[n-1])) &&
		lane.Totals.Decoded == p.decoded && lane.Totals.InFlight == p.inFlight
	if same && !p.moved {
		return false
	}
	p.packets, p.decoded, p.inFlight, p.moved, p.ticks = lane.Packets, lane.Totals.Decoded, lane.Totals.InFlight, false, 0
	p.newest = 0
	for i := range p.packets {
		p.newest = max(p.newest, p.packets[i].Seq)
	}
	return true
}

func sameRecord(a, b *engine.PacketRecord) bool {
	return a.Seq == b.Seq && a.Copy == b.Copy && a.Outcome == b.Outcome
}

// choose moves the cursor by n packets; it begins at the newest.
func (p *packetsPane) choose(n int) {
	if len(p.packets) == 0 {
		return
	}
	if !p.choosing {
		p.choosing, p.chosen = true, p.newest
	}
	oldest := p.oldest()
	at := int64(p.chosen) + int64(n)
	p.chosen = uint64(min(max(at, int64(oldest)), int64(p.newest)))
	p.moved = true
}

// release gives up the cursor.
func (p *packetsPane) release() { p.choosing, p.moved = false, true }

// oldest is the first sequence that the strip still shows.
func (p *packetsPane) oldest() uint64 {
	first := p.packets[0].Seq
	if room := uint64(max(p.capacity-1, 1)); p.newest+1 > room {
		first = max(first, p.newest+1-room)
	}
	return first
}

func (p *packetsPane) draw(c *canvas, th *theme, focused bool) {
	w, rows := max(c.w-4, 0), max(c.h-3, 0)
	if w*rows > mostShown {
		rows = max(mostShown/w, 1)
	}
	p.width, p.capacity = w, w*rows
	c.frame(th, focused, "Packets", p.legend(th, headRoom(c.w, "Packets"))...)
	if p.capacity < 2 || len(p.packets) == 0 {
		return
	}
	p.strip(c, th, w)
	c.spans(2, rows+1, w, p.detail(th, w)...)
	if y := rows + 3; y < c.h-2 {
		p.table(c, th, y)
	}
}

// mostShown bounds the strip: the lab remembers 600 packets.
const mostShown = 600

// ends lists how the packets of the whole run ended, what deserves room first.
func (p *packetsPane) ends() []outcomeCount {
	t := p.totals
	return []outcomeCount{{engine.Decoded, t.Decoded}, {engine.Lost, t.Lost}, {engine.NoBaseline, t.Failures.NoBaseline},
		{engine.Corrupt, t.Failures.Corrupt}, {engine.Tainted, t.Tainted}, {engine.UnknownCodec, t.Failures.UnknownCodec},
		{engine.Stale, t.Stale}, {engine.Duplicate, t.Duplicate}, {engine.Wrong, t.Wrong}}
}

type outcomeCount struct {
	o engine.Outcome
	n int64
}

// table lists the outcomes with their shares, if the pane is tall enough.
func (p *packetsPane) table(c *canvas, th *theme, y int) {
	const word, count, share = 16, 10, 9
	ends, sum := p.ends(), int64(0)
	for _, e := range ends {
		sum += e.n
	}
	for _, e := range ends {
		if y >= c.h-1 {
			return
		}
		part := float64(e.n) / float64(max(sum, 1))
		k := outcomeInk(e.o)
		c.set(2, y, k, th.outcome[e.o])
		c.clip(4, y, word, inkPlain, outcomeWord(e.o))
		c.right(4+word+count, y, inkValue, strconv.FormatInt(e.n, 10))
		c.right(4+word+count+share, y, inkPlain, fixed(100*part, 2)+" %")
		x := 4 + word + count + share + 2
		c.fill(x, y, int(part*float64(max(c.w-2-x, 0))+0.5), k, th.block)
		y++
	}
}

// legend names the signs of the strip: of what occurred, then of what might, as
// far as there is room.
func (p *packetsPane) legend(th *theme, room int) []span {
	names := func(word func(engine.Outcome) string, occurred bool) (out [][]span) {
		for _, e := range p.ends() {
			if (e.n > 0) == occurred {
				out = append(out, []span{{outcomeInk(e.o), "  " + string(th.outcome[e.o])}, {inkDim, " " + word(e.o)}})
			}
		}
		return out
	}
	last := []span{{inkDim, fmt.Sprintf("last %d", max(p.capacity-1, 0))}}
	line := func(word func(engine.Outcome) string) []span {
		return append(last[:1:1], slices.Concat(names(word, true)...)...)
	}
	known := fit(room, line(outcomeWord), line(outcomeShort), uncut(room, append([][]span{last}, names(outcomeShort, true)...)))
	return append(known, uncut(room-spansWidth(known), names(outcomeWord, false))...)
}

// gravity orders outcomes by how much they deserve to be seen where a packet and
// its copies share one place.
func gravity(o engine.Outcome) int {
	order := [engine.NumOutcomes]int{engine.InFlight: 0, engine.Decoded: 1, engine.Duplicate: 2, engine.Stale: 3, engine.Lost: 4,
		engine.NoBaseline: 5, engine.Corrupt: 6, engine.UnknownCodec: 7, engine.Tainted: 8, engine.Wrong: 9}
	if o < engine.NumOutcomes {
		return order[o]
	}
	return 0
}

// strip puts the packet with sequence s at place s modulo the capacity.
func (p *packetsPane) strip(c *canvas, th *theme, w int) {
	size := uint64(p.capacity)
	weight := make([]int, p.capacity)
	oldest := p.oldest()
	for i := range p.packets {
		r := &p.packets[i]
		if r.Seq < oldest {
			continue
		}
		at := int(r.Seq % size)
		if g := gravity(r.Outcome) + 1; g > weight[at] {
			weight[at] = g
			c.set(2+at%w, 1+at/w, outcomeInk(r.Outcome), th.outcome[min(r.Outcome, engine.NumOutcomes-1)])
		}
	}
	beam := int((p.newest + 1) % size)
	c.set(2+beam%w, 1+beam/w, inkDim, th.sweep)
	if p.choosing {
		at := int(p.chosen % size)
		c.set(1+at%w, 1+at/w, inkChosen, '[')
		c.set(3+at%w, 1+at/w, inkChosen, ']')
	}
}

// detail is the line below the strip: the packet under the cursor, or how the
// packets of the whole run ended.
func (p *packetsPane) detail(th *theme, room int) []span {
	if p.choosing {
		for i := range p.packets {
			if r := &p.packets[i]; r.Seq == p.chosen && r.Copy == 0 {
				return describePacket(th, r)
			}
		}
		return []span{{inkDim, fmt.Sprintf("packet %d is gone from memory", p.chosen)}}
	}
	groups := [][]span{{{inkDim, "so far"}}}
	for _, e := range p.ends() {
		if e.n == 0 && e.o != engine.Decoded && e.o != engine.Lost {
			continue
		}
		groups = append(groups, []span{{outcomeInk(e.o), "  " + string(th.outcome[e.o])}, {inkValue, " " + strconv.FormatInt(e.n, 10)},
			{inkDim, " " + outcomeWord(e.o)}})
	}
	return uncut(room, groups)
}

// describePacket tells the life of one packet in a line.
func describePacket(th *theme, r *engine.PacketRecord) []span {
	dot := " " + th.dot + " "
	base := "initial state"
	if r.Baseline > 0 {
		base = fmt.Sprintf("baseline %d back", r.Baseline)
	}
	fate := outcomeWord(r.Outcome)
	switch {
	case r.Outcome == engine.Lost:
		fate = "lost: " + lossmodel.Cause(r.Cause).String()
	case r.Arrived > 0:
		fate += fmt.Sprintf(" after %d ms", (r.Arrived - r.Sent).Milliseconds())
	}
	return []span{
		{inkValue, fmt.Sprintf("#%d", r.Seq)},
		{outcomeInk(r.Outcome), " " + string(th.outcome[min(r.Outcome, engine.NumOutcomes-1)]) + " " + fate},
		{inkDim, dot + "sent "}, {inkPlain, clock(r.Sent)},
		{inkDim, dot}, {inkPlain, fmt.Sprintf("%d", r.Payload)}, {inkDim, fmt.Sprintf(" B (wire %d)", r.Wire)},
		{inkDim, dot}, {inkPlain, fmt.Sprintf("%d", r.Changed)}, {inkDim, " changed" + dot + base + dot + r.Encoder},
	}
}

// stride is how many packets one row of the strip holds.
func (p *packetsPane) stride() int { return max(p.width, 1) }

// point puts the cursor on the packet at a place of the picture.
func (p *packetsPane) point(x, y int) {
	at := x - 2 + (y-1)*p.width
	if len(p.packets) == 0 || x < 2 || x >= 2+p.width || y < 1 || at < 0 || at >= p.capacity {
		return
	}
	size := uint64(p.capacity)
	back := (p.newest%size + size - uint64(at)) % size
	if back > p.newest || p.newest-back < p.oldest() {
		return
	}
	p.choosing, p.chosen, p.moved = true, p.newest-back, true
}
