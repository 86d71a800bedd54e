package bits

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/internal/units"
)

// table is the table beside the charts: every part in figures, of the last
// two seconds, for the encoder under the keys and for the shadow, and what the one
// saves over the other.
type table struct{ *account }

// How wide the table is, with a shadow and without one.
const (
	accountWidth = 80
	accountAlone = 56
)

func (p *table) Name() string { return "Account" }

// sums is what one encoder spent on one slot.
type sums struct{ kbps, share, changed, packet float64 }

// spent returns what a lane spent on a slot in the last two seconds; on all of
// them if k is MaxSlots.
func spent(l *engine.Lane, k encoders.Slot) sums {
	r, total := &l.Recent, l.Recent.Budget.Total()
	if total <= 0 {
		return sums{kbps: 0 * r.PayloadKbps, share: 0 * r.PayloadKbps, changed: 0 * r.BitsPerChanged} // "-" of one that was not there
	}
	share := 1.0
	if k < encoders.MaxSlots {
		share = float64(r.Budget.Units[k]) / float64(total)
	}
	perPacket := 0.0
	if r.ChangedPerFrame > 0 {
		perPacket = r.BitsPerChanged * r.ChangedPerFrame
	}
	return sums{share * r.PayloadKbps, 100 * share, share * r.BitsPerChanged, share * perPacket}
}

func (p *table) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	first, other := p.first(), p.other()
	c.Frame(th, focused, "Account", p.heading(look.HeadRoom(c.W, "Account"), c.H)...)
	if first == nil || len(p.parts) == 0 {
		c.Clip(2, 1, c.W-4, look.Dim, panes.NothingSentText(first))
		return
	}
	y := p.head(c, first, other)
	shown, rest := p.visible(c.H - y - 2) // without the lower edge and the sum
	names := panes.SlotNames(p.parts, p.snap.Schema, accountName)
	for i, k := range p.parts {
		if slices.Contains(shown, k) {
			p.row(c, th, y, accountRow{names[i], []encoders.Slot{k}, int(k) == p.chosen})
			y++
		}
	}
	if len(rest) > 0 {
		p.row(c, th, y, accountRow{p.others(rest), rest, false})
		y++
	}
	p.row(c, th, y, accountRow{"payload", []encoders.Slot{encoders.MaxSlots}, false})
	p.below(c, th, y+1)
}

// heading says what the figures are, and how to see the parts that have no row.
func (p *table) heading(room, h int) []look.Span {
	of := []look.Span{look.Dim.Span("means of the last 2 s")}
	if len(p.parts) > h-4 {
		return look.Fit(room, append(of[:1:1], look.Dim.Span("; "), look.Key.Span("↑↓"), look.Dim.Span(" go through all "),
			look.Value.Span(strconv.Itoa(len(p.parts)))), of, nil)
	}
	return look.Fit(room, of, nil)
}

// accountName is how wide the names of the parts may be.
const accountName = 13

// visible returns the parts that have a row of their own in a table of n rows, and those that
// share the last one: without a choice the largest have one, else those around the chosen one.
func (p *table) visible(n int) (shown, rest []encoders.Slot) {
	if len(p.parts) <= n {
		return p.parts, nil
	}
	keep := max(n-1, 0)
	if at := slices.Index(p.parts, encoders.Slot(max(p.chosen, 0))); p.chosen >= 0 && at >= 0 {
		from := min(max(at-keep/2, 0), len(p.parts)-keep)
		return p.parts[from : from+keep], slices.Concat(p.parts[:from], p.parts[from+keep:])
	}
	order := slices.Clone(p.parts)
	slices.SortStableFunc(order, func(a, b encoders.Slot) int { return cmp.Compare(p.used.Units[b], p.used.Units[a]) })
	return order[:keep], order[keep:]
}

// others names a row that several parts share.
func (p *table) others(rest []encoders.Slot) string {
	n := 0
	for _, k := range rest {
		n += k.Fields(p.snap.Schema)
	}
	return panes.OthersName(n)
}

// The columns of the table, counted from its left edge: where a figure ends.
var accountEnds = [...]int{25, 33, 41, 50, 58, 66, 77}

// head writes what the columns are and returns the row after it.
func (p *table) head(c *look.Canvas, first, other *engine.Lane) int {
	y := 1
	if other != nil {
		c.Clip(18, y, 23, look.Title, look.PadLeft(look.LaneName(first.Encoder, first.Differs, 23), 23))
		c.Clip(43, y, 23, look.Title, look.PadLeft(look.LaneName(other.Encoder, other.Differs, 23), 23))
		c.Right(accountEnds[6], y, look.Title, "difference")
		y++
	}
	per := "b/" + panes.PerItemHeading(panes.PerItemUnit(p.snap.Schema, p.item()))
	words := []string{"kbps", "share %", per, "kbps", "share %", per, "kbps"}
	if other == nil {
		words = []string{"kbps", "share %", per, "b/packet"}
	}
	for i, word := range words {
		c.Right(accountEnds[i], y, look.Dim, word)
	}
	return y + 1
}

// accountRow is a row of the table: a part, several that share it, or the sum of all.
type accountRow struct {
	name   string
	slots  []encoders.Slot
	chosen bool
}

// spentOn is what a lane spent on all parts of a row.
func (r *accountRow) spentOn(l *engine.Lane) (sum sums) {
	for _, k := range r.slots {
		s := spent(l, k)
		sum.kbps, sum.share, sum.changed, sum.packet = sum.kbps+s.kbps, sum.share+s.share, sum.changed+s.changed, sum.packet+s.packet
	}
	return sum
}

// row writes one row.
func (p *table) row(c *look.Canvas, th *look.Theme, y int, r accountRow) {
	if y >= c.H-1 {
		return
	}
	ink, k := look.Plain, int(r.slots[0])
	switch {
	case r.chosen:
		c.Text(1, y, look.Chosen, th.Chosen)
		ink = look.Chosen
	case k == encoders.MaxSlots:
		ink = look.Title
	}
	if k < encoders.MaxSlots && len(r.slots) == 1 {
		c.Set(3, y, look.SlotInk(k), th.Swatch(k))
	}
	c.Clip(5, y, accountName, ink, r.name)
	figures := r.spentOn(p.first())
	p.figures(c, y, accountEnds[:3], figures)
	other := p.other()
	if other == nil {
		c.Right(accountEnds[3], y, look.Plain, units.Fixed(figures.packet, 1))
		return
	}
	beside := r.spentOn(other)
	p.figures(c, y, accountEnds[3:6], beside)
	diff := beside.kbps - figures.kbps
	c.Right(accountEnds[6], y, gainInk(diff), signed(diff, 1))
}

func (p *table) figures(c *look.Canvas, y int, ends []int, s sums) {
	c.Right(ends[0], y, look.Value, units.Fixed(s.kbps, 1))
	c.Right(ends[1], y, look.Plain, units.Fixed(s.share, 1))
	c.Right(ends[2], y, look.Ratio, units.Fixed(s.changed, 2))
}

// gainInk is the colour of a difference: less is good.
func gainInk(d float64) look.Ink {
	switch {
	case math.Abs(d) < 0.05:
		return look.Dim
	case d < 0:
		return look.Good
	}
	return look.Warn
}

// signed writes a difference with its sign, so that it can be read without colour.
func signed(v float64, digits int) string {
	s := units.Fixed(math.Abs(v), digits)
	switch {
	case strings.Trim(s, "0.") == "":
		return s
	case v < 0:
		return "-" + s
	}
	return "+" + s
}

// below uses what room is left: the verdict in words, then a bar for each encoder
// on one scale.
func (p *table) below(c *look.Canvas, th *look.Theme, y int) {
	if c.H-1-y > 4 {
		y++
	}
	room, w := c.H-1-y, c.W-6
	text, more := p.verdict()
	lines := look.Wrap(text+more, w)
	if len(lines) > room {
		lines = look.Wrap(text, w)
	}
	if len(lines) > room { // half a sentence says nothing
		return
	}
	for _, line := range lines {
		c.Clip(3, y, c.W-5, look.Plain, line)
		y++
	}
	p.bars(c, th, y+1)
}

// verdict says in a sentence where the bits go or, beside a shadow, where they are
// saved; and more, where there is room for it.
func (p *table) verdict() (text, more string) {
	first, other := p.first(), p.other()
	if other == nil {
		k, most := encoders.Slot(0), -1.0
		for _, x := range p.parts {
			if v := spent(first, x).share; v > most {
				k, most = x, v
			}
		}
		return first.Name() + " spends most on " + panes.SlotName(k, p.snap.Schema) + ": " + units.Fixed(most, 0) +
			" % of its bits.", " A shadow puts another encoder beside it: v chooses one."
	}
	a, b := spent(first, encoders.MaxSlots).kbps, spent(other, encoders.MaxSlots).kbps
	if a <= 0 || b <= 0 {
		return "", ""
	}
	k, most := encoders.Slot(0), 0.0
	for _, x := range p.parts {
		if d := spent(other, x).kbps - spent(first, x).kbps; d*(b-a) > 0 && math.Abs(d) > math.Abs(most) {
			k, most = x, d
		}
	}
	word := "less"
	if b > a {
		word = "more"
	}
	text = other.ShortName(first) + " takes " + units.Fixed(math.Abs(b-a), 1) + " kbps " + word + " than " + first.Name() + " (" +
		signed(100*(b/a-1), 0) + " %)"
	if most != 0 {
		more = ", most of it on " + panes.SlotName(k, p.snap.Schema) + " (" + signed(most, 1) + ")"
	}
	return text, more
}

// bars draws a bar for each encoder, as long as its bandwidth.
func (p *table) bars(c *look.Canvas, th *look.Theme, y int) {
	if c.H-1-y < 5 {
		return
	}
	lanes := []*engine.Lane{p.first()}
	if o := p.other(); o != nil {
		lanes = append(lanes, o)
	}
	top := 0.0
	for _, l := range lanes {
		top = max(top, l.Recent.PayloadKbps)
	}
	for i, l := range lanes {
		at := y + 3*i
		if at+1 >= c.H-1 || top <= 0 || math.IsInf(top, 0) {
			return
		}
		c.Spans(3, at, c.W-5, look.Title.Span(look.LaneName(l.Encoder, l.Differs, 40)), look.Dim.Span("  "+units.Fixed(l.Recent.PayloadKbps, 1)+" kbps"))
		room := c.W - 6
		parts := make([]panes.Part, len(p.parts))
		for i, k := range p.parts {
			parts[i] = panes.Part{Name: panes.SlotName(k, p.snap.Schema), Share: spent(l, k).share / 100, Slot: int(k)}
		}
		panes.StackedBar(c, th, 3, at+1, min(max(int(float64(room)*l.Recent.PayloadKbps/top), 0), room), parts)
	}
}
