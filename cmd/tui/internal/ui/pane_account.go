package ui

import (
	"math"
	"strings"

	"wirelab/encoders"
	"wirelab/experiment"
)

// accountPane is the table beside the charts: every part in figures, of the last
// two seconds, for the encoder under the keys and for the shadow, and what the one
// saves over the other.
type accountPane struct{ *account }

// How wide the table is, with a shadow and without one.
const (
	accountWidth = 80
	accountAlone = 56
)

func (p *accountPane) name() string { return "Account" }

// observe is the account's business.
func (p *accountPane) observe(sight) bool { return false }

// sums is what one encoder spent on one slot.
type sums struct{ kbps, share, changed, packet float64 }

// spent returns what a lane spent on a slot in the last two seconds; on all of
// them if k is MaxSlots.
func spent(l *experiment.Lane, k encoders.Slot) sums {
	r, total := &l.Recent, l.Recent.Budget.Total()
	if total <= 0 {
		return sums{}
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

func (p *accountPane) draw(c *canvas, th *theme, focused bool) {
	first, other := p.first(), p.other()
	c.frame(th, focused, "Account", fit(headRoom(c.w, "Account"), []span{{inkDim, "means of the last 2 s"}}, nil)...)
	if first == nil || len(p.parts) == 0 {
		c.clip(2, 1, c.w-4, inkDim, "nothing has been sent yet")
		return
	}
	y := p.head(c, first, other)
	room := c.h - y - 2 // without the lower edge and the sum
	from := p.scroll(room)
	for _, k := range p.parts[from:] {
		if room == 0 {
			break
		}
		p.row(c, th, y, k)
		y, room = y+1, room-1
	}
	p.row(c, th, y, encoders.MaxSlots)
	p.below(c, th, y+1)
}

// scroll is how many parts are left away above so that the chosen one is in sight.
func (p *accountPane) scroll(room int) int {
	for i, k := range p.parts {
		if int(k) == p.chosen {
			return max(i-room+1, 0)
		}
	}
	return 0
}

// The columns of the table, counted from its left edge: where a figure ends.
var accountEnds = [...]int{25, 33, 41, 50, 58, 66, 77}

// head writes what the columns are and returns the row after it.
func (p *accountPane) head(c *canvas, first, other *experiment.Lane) int {
	y := 1
	if other != nil {
		c.clip(18, y, 23, inkTitle, padLeft(short(first.Encoder, 23), 23))
		c.clip(43, y, 23, inkTitle, padLeft(short(other.Encoder, 23), 23))
		c.right(accountEnds[6], y, inkTitle, "difference")
		y++
	}
	per := "b/" + perHead(perWhat(p.snap.Schema, p.item()))
	words := []string{"kbps", "share %", per, "kbps", "share %", per, "kbps"}
	if other == nil {
		words = []string{"kbps", "share %", per, "b/packet"}
	}
	for i, word := range words {
		c.right(accountEnds[i], y, inkDim, word)
	}
	return y + 1
}

// row writes one part, or the sum of all.
func (p *accountPane) row(c *canvas, th *theme, y int, k encoders.Slot) {
	if y >= c.h-1 {
		return
	}
	name, all := "payload", k == encoders.MaxSlots
	if !all {
		name = k.Name(p.snap.Schema)
		c.set(3, y, slotInk(int(k)), th.swatch(int(k)))
	}
	ink := inkPlain
	if int(k) == p.chosen {
		c.text(1, y, inkChosen, th.chosen)
		ink = inkChosen
	} else if all {
		ink = inkTitle
	}
	c.clip(5, y, 13, ink, name)
	figures := spent(p.first(), k)
	p.figures(c, y, accountEnds[:3], figures)
	other := p.other()
	if other == nil {
		c.right(accountEnds[3], y, inkPlain, fixed(figures.packet, 1))
		return
	}
	beside := spent(other, k)
	p.figures(c, y, accountEnds[3:6], beside)
	diff := beside.kbps - figures.kbps
	c.right(accountEnds[6], y, gainInk(diff), signed(diff, 1))
}

func (p *accountPane) figures(c *canvas, y int, ends []int, s sums) {
	c.right(ends[0], y, inkValue, fixed(s.kbps, 1))
	c.right(ends[1], y, inkPlain, fixed(s.share, 1))
	c.right(ends[2], y, inkRatio, fixed(s.changed, 2))
}

// gainInk is the colour of a difference: less is good.
func gainInk(d float64) ink {
	switch {
	case math.Abs(d) < 0.05:
		return inkDim
	case d < 0:
		return inkGood
	}
	return inkWarn
}

// signed writes a difference with its sign, so that it can be read without colour.
func signed(v float64, digits int) string {
	s := fixed(math.Abs(v), digits)
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
func (p *accountPane) below(c *canvas, th *theme, y int) {
	if c.h-1-y > 4 {
		y++
	}
	room, w := c.h-1-y, c.w-6
	text, more := p.verdict()
	lines := wrap(text+more, w)
	if len(lines) > room {
		lines = wrap(text, w)
	}
	if len(lines) > room { // half a sentence says nothing
		return
	}
	for _, line := range lines {
		c.clip(3, y, c.w-5, inkPlain, line)
		y++
	}
	p.bars(c, th, y+1)
}

// verdict says in a sentence where the bits go or, beside a shadow, where they are
// saved; and more, where there is room for it.
func (p *accountPane) verdict() (text, more string) {
	first, other := p.first(), p.other()
	if other == nil {
		k, most := encoders.Slot(0), -1.0
		for _, x := range p.parts {
			if v := spent(first, x).share; v > most {
				k, most = x, v
			}
		}
		return first.Encoder + " spends most on " + k.Name(p.snap.Schema) + ": " + fixed(most, 0) + " % of its bits.", " A shadow puts another encoder beside it: v chooses one."
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
	text = other.Encoder + " takes " + fixed(math.Abs(b-a), 1) + " kbps " + word + " than " + first.Encoder + " (" + signed(100*(b/a-1), 0) + " %)"
	if most != 0 {
		more = ", most of it on " + k.Name(p.snap.Schema) + " (" + signed(most, 1) + ")"
	}
	return text, more
}

// bars draws a bar for each encoder, as long as its bandwidth.
func (p *accountPane) bars(c *canvas, th *theme, y int) {
	if c.h-1-y < 5 {
		return
	}
	lanes := []*experiment.Lane{p.first()}
	if o := p.other(); o != nil {
		lanes = append(lanes, o)
	}
	top := 0.0
	for _, l := range lanes {
		top = max(top, l.Recent.PayloadKbps)
	}
	for i, l := range lanes {
		at := y + 3*i
		if at+1 >= c.h-1 || top <= 0 || math.IsInf(top, 0) {
			return
		}
		c.spans(3, at, c.w-5, span{inkTitle, short(l.Encoder, 40)}, span{inkDim, "  " + fixed(l.Recent.PayloadKbps, 1) + " kbps"})
		room := c.w - 6
		p.bar(c, th, at+1, min(max(int(float64(room)*l.Recent.PayloadKbps/top), 0), room), l)
	}
}

// bar draws what a lane spends as one stretch for each part, n columns together.
func (p *accountPane) bar(c *canvas, th *theme, y, n int, l *experiment.Lane) {
	x, sum := 3, 0.0
	for _, k := range p.parts {
		sum += spent(l, k).share
		end := 3 + min(max(int(sum*float64(n)/100+0.5), 0), n)
		if th.color {
			c.fill(x, y, end-x, barInk(int(k)), ' ')
		} else {
			c.fill(x, y, end-x, inkPlain, th.shade(int(k)))
		}
		if label := " " + k.Name(p.snap.Schema) + " "; textWidth(label) <= end-x {
			c.text(x, y, barInk(int(k)), label)
		}
		x = max(x, end)
	}
}
