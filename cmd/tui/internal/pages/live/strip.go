package live

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
	"wirelab/lossmodel"
)

// strip shows the last packets as one sign each. The strip is written like
// an oscilloscope's: a packet keeps its place until the beam comes round again,
// so the eye can rest on one, and a redraw changes one line instead of all.
type strip struct {
	packets  []packetlog.Record
	newest   uint64
	totals   figures.Totals // as shown: changes twice a second
	decoded  int64          // as last seen
	inFlight int64
	chosen   uint64 // sequence of the packet under the cursor
	choosing bool
	capacity int // packets that the last picture had room for, and a row of it
	width    int
	moved    bool
	trust    panes.LinkStatusLine
	ticks    int // since the last redraw
}

func (p *strip) Name() string { return "Packets" }

// rest is how many ticks the strip rests between two redraws: three are often
// enough for the eye, and a wider strip costs the terminal more.
func (p *strip) rest() int {
	const usual = 100
	return 3 * max(p.width, usual) / usual
}

func (p *strip) Observe(v room.View) bool {
	lane := v.Lane()
	p.trust.Observe(v) // shown with the next redraw of the strip
	if v.Slow || p.totals.Sent == 0 {
		p.totals = lane.Totals // shown with the next redraw of the strip
	}
	p.ticks++
	if len(p.packets) > 0 && !p.moved && v.Running() && p.ticks < p.rest() {
		return false
	}
	n := len(lane.Packets)
	same := n == len(p.packets) && (n == 0 || room.SameRecord(&lane.Packets[n-1], &p.packets[n-1])) &&
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

// choose moves the cursor by n packets; it begins at the newest.
func (p *strip) choose(n int) {
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
func (p *strip) release() { p.choosing, p.moved = false, true }

// oldest is the first sequence that the strip still shows.
func (p *strip) oldest() uint64 {
	first := p.packets[0].Seq
	if room := uint64(max(p.capacity-1, 1)); p.newest+1 > room {
		first = max(first, p.newest+1-room)
	}
	return first
}

func (p *strip) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	w, rows := max(c.W-4, 0), max(c.H-3, 0)
	if w*rows > mostShown {
		rows = max(mostShown/w, 1)
	}
	p.width, p.capacity = w, w*rows
	c.Frame(th, focused, "Packets", p.legend(th, look.HeadRoom(c.W, "Packets"))...)
	p.trust.Draw(c)
	if p.capacity < 2 || len(p.packets) == 0 {
		return
	}
	p.strip(c, th, w)
	c.Spans(2, rows+1, w, p.detail(th, w)...)
	if y := rows + 3; y < c.H-2 {
		p.table(c, th, y)
	}
}

// mostShown bounds the strip: the lab remembers 600 packets.
const mostShown = 600

// ends lists how the packets of the whole run ended, what deserves room first.
func (p *strip) ends() []outcomeCount {
	t := p.totals
	list := []outcomeCount{{packetlog.Decoded, t.Decoded}, {packetlog.Lost, t.Lost}, {packetlog.NoBaseline, t.Failures.NoBaseline},
		{packetlog.Corrupt, t.Failures.Corrupt}, {packetlog.Tainted, t.Tainted}, {packetlog.UnknownCodec, t.Failures.UnknownCodec},
		{packetlog.Stale, t.Stale}, {packetlog.Duplicate, t.Duplicate}, {packetlog.Wrong, t.Wrong}}
	if t.Remote != nil { // a link tells every fate
		list = slices.Insert(list, 2, outcomeCount{packetlog.Unknown, t.Unknown})
	}
	return list
}

type outcomeCount struct {
	o packetlog.Outcome
	n int64
}

// look is how an outcome is named. Wrong data are an alarm once there are any; until
// then they are a word like the others.
func (e outcomeCount) look(word func(packetlog.Outcome) string) (look.Ink, string) {
	if e.o == packetlog.Wrong && e.n == 0 {
		return look.Dim, strings.ToLower(word(e.o))
	}
	return look.OutcomeInk(e.o), word(e.o)
}

// table lists the outcomes with their shares, if the pane is tall enough.
func (p *strip) table(c *look.Canvas, th *look.Theme, y int) {
	const word, count, share = 16, 10, 9
	ends, sum := p.ends(), int64(0)
	for _, e := range ends {
		sum += e.n
	}
	for _, e := range ends {
		if y >= c.H-1 {
			return
		}
		part := float64(e.n) / float64(max(sum, 1))
		k, name := e.look(look.OutcomeWord)
		c.Set(2, y, k, th.Outcome[e.o])
		c.Clip(4, y, word, look.Plain, name)
		c.Right(4+word+count, y, look.Value, strconv.FormatInt(e.n, 10))
		c.Right(4+word+count+share, y, look.Plain, units.Fixed(100*part, 2)+" %")
		x := 4 + word + count + share + 2
		c.Fill(x, y, int(part*float64(max(c.W-2-x, 0))+0.5), k, th.Block)
		y++
	}
}

// legend names the signs of the strip: of what occurred, then of what might, as
// far as there is room.
func (p *strip) legend(th *look.Theme, room int) []look.Span {
	names := func(word func(packetlog.Outcome) string, occurred bool) (out [][]look.Span) {
		for _, e := range p.ends() {
			if (e.n > 0) == occurred {
				k, name := e.look(word)
				out = append(out, []look.Span{k.Span("  " + string(th.Outcome[e.o])), look.Dim.Span(" " + name)})
			}
		}
		return out
	}
	last := []look.Span{look.Dim.Span(fmt.Sprintf("last %d", max(p.capacity-1, 0)))}
	line := func(word func(packetlog.Outcome) string) []look.Span {
		return append(last[:1:1], slices.Concat(names(word, true)...)...)
	}
	known := look.Fit(room, line(look.OutcomeWord), line(look.OutcomeShort),
		look.FitGroups(room, append([][]look.Span{last}, names(look.OutcomeShort, true)...)))
	return append(known, look.FitGroups(room-look.SpansWidth(known), names(look.OutcomeWord, false))...)
}

// severity orders outcomes: where a packet and its copies share one place, the
// most severe is shown.
func severity(o packetlog.Outcome) int {
	order := [packetlog.NumOutcomes]int{packetlog.InFlight: 0, packetlog.Decoded: 1, packetlog.Duplicate: 2,
		packetlog.Stale: 3, packetlog.Lost: 4, packetlog.Unknown: 4,
		packetlog.NoBaseline: 5, packetlog.Corrupt: 6, packetlog.UnknownCodec: 7, packetlog.Tainted: 8, packetlog.Wrong: 9}
	if o < packetlog.NumOutcomes {
		return order[o]
	}
	return 0
}

// strip puts the packet with sequence s at place s modulo the capacity.
func (p *strip) strip(c *look.Canvas, th *look.Theme, w int) {
	size := uint64(p.capacity)
	weight := make([]int, p.capacity)
	oldest := p.oldest()
	for i := range p.packets {
		r := &p.packets[i]
		if r.Seq < oldest {
			continue
		}
		at := int(r.Seq % size)
		if g := severity(r.Outcome) + 1; g > weight[at] {
			weight[at] = g
			c.Set(2+at%w, 1+at/w, look.OutcomeInk(r.Outcome), th.Outcome[min(r.Outcome, packetlog.NumOutcomes-1)])
		}
	}
	beam := int((p.newest + 1) % size)
	c.Set(2+beam%w, 1+beam/w, look.Dim, th.Sweep)
	if p.choosing {
		at := int(p.chosen % size)
		c.Set(1+at%w, 1+at/w, look.Chosen, '[')
		c.Set(3+at%w, 1+at/w, look.Chosen, ']')
	}
}

// detail is the line below the strip: the packet under the cursor, or how the
// packets of the whole run ended.
func (p *strip) detail(th *look.Theme, room int) []look.Span {
	if p.choosing {
		for i := range p.packets {
			if r := &p.packets[i]; r.Seq == p.chosen && r.Copy == 0 {
				return describePacket(th, r)
			}
		}
		return []look.Span{look.Dim.Span(fmt.Sprintf("packet %d is gone from memory", p.chosen))}
	}
	groups := [][]look.Span{{look.Dim.Span("so far")}}
	for _, e := range p.ends() {
		if e.n == 0 && e.o != packetlog.Decoded && e.o != packetlog.Lost {
			continue
		}
		groups = append(groups, []look.Span{look.OutcomeInk(e.o).Span("  " + string(th.Outcome[e.o])),
			look.Value.Span(" " + strconv.FormatInt(e.n, 10)),
			look.Dim.Span(" " + look.OutcomeWord(e.o))})
	}
	return look.FitGroups(room, groups)
}

// describePacket tells the life of one packet in a line.
func describePacket(th *look.Theme, r *packetlog.Record) []look.Span {
	dot := " " + th.Dot + " "
	base := "initial state"
	if r.Baseline > 0 {
		base = fmt.Sprintf("baseline %d back", r.Baseline)
	}
	fate := look.OutcomeWord(r.Outcome)
	switch {
	case r.Outcome == packetlog.Lost:
		fate = "lost: " + lossmodel.Cause(r.Cause).String()
	case r.Arrived > 0:
		fate += fmt.Sprintf(" after %d ms", (r.Arrived - r.Sent).Milliseconds())
	}
	return []look.Span{
		look.Value.Span(fmt.Sprintf("#%d", r.Seq)),
		look.OutcomeInk(r.Outcome).Span(" " + string(th.Outcome[min(r.Outcome, packetlog.NumOutcomes-1)]) + " " + fate),
		look.Dim.Span(dot + "sent "), look.Plain.Span(look.Clock(r.Sent)),
		look.Dim.Span(dot), look.Plain.Span(fmt.Sprintf("%d", r.Payload)), look.Dim.Span(fmt.Sprintf(" B (wire %d)", r.Wire)),
		look.Dim.Span(dot), look.Plain.Span(fmt.Sprintf("%d", r.Changed)), look.Dim.Span(" changed" + dot + base + dot + r.Encoder),
	}
}

// stride is how many packets one row of the strip holds.
func (p *strip) stride() int { return max(p.width, 1) }

// point puts the cursor on the packet at a place of the picture.
func (p *strip) point(x, y int) {
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
