package ui

import (
	"strconv"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
)

// transferPane shows how far the file has come, for every encoder: a bar, what it
// took, how long it took or will take, and what that says of the first of them.
type transferPane struct {
	lanes  []engine.Lane
	making *engine.Making
	now    int64 // hundredths of a second
	back   bool  // somebody looks back, and this pane cannot
}

func (p *transferPane) name() string { return "Transfer" }

func (p *transferPane) observe(v sight) bool {
	making, now := v.snap.Making, int64(v.snap.Now)/1e7
	same := p.back == v.back && len(p.lanes) == len(v.snap.Lanes) && p.now == now && (p.making == nil) == (making == nil) && (making == nil || *making == *p.making)
	if same {
		return false
	}
	p.lanes, p.making, p.now, p.back = v.snap.Lanes, making, now, v.back
	return true
}

// rows is how many lines the pane has something for.
func (p *transferPane) rows() int { return 2*max(len(p.lanes), 1) + 2 }

func (p *transferPane) draw(c *canvas, th *theme, focused bool) {
	c.frame(th, focused, "Transfer", p.heading(headRoom(c.w, "Transfer"))...)
	y := 1
	for i := range p.lanes {
		if y+1 >= c.h-1 && i > 0 {
			break
		}
		p.lane(c, th, y, &p.lanes[i])
		y += 2
	}
	if y < c.h-1 {
		y++
	}
	if y < c.h-1 {
		c.spans(2, y, c.w-4, p.verdict(c.w-4)...)
	}
}

// heading says what is brought where.
func (p *transferPane) heading(room int) []span {
	if len(p.lanes) == 0 || p.lanes[0].Totals.Transfer == nil {
		return nil
	}
	if p.back {
		return fit(room, []span{{inkWarn, "as it is at present: this page cannot look back"}}, []span{{inkWarn, "at present, not then"}}, nil)
	}
	x := p.lanes[0].Totals.Transfer
	short := []span{{inkDim, "a new file of "}, {inkValue, kilos(float64(x.NewBytes))}}
	return fit(room, append(short[:2:2], span{inkDim, " for those who have one of "}, span{inkValue, kilos(float64(x.OldBytes))}), short, nil)
}

// lane writes two lines about one encoder.
func (p *transferPane) lane(c *canvas, th *theme, y int, l *engine.Lane) {
	x := l.Totals.Transfer
	if x == nil {
		return
	}
	name := min(14, c.w/4)
	c.clip(2, y, name, inkTitle, packer(l))
	share, says := p.progress(l, x)
	right := c.w - 2 - textWidth(says)
	k := inkValue
	switch {
	case x.Failed:
		k = inkBad
	case x.Done:
		k = inkGood
	}
	c.clip(right, y, textWidth(says), k, says)
	bar := right - 2 - (3 + name)
	if bar > 0 {
		c.fill(3+name, y, bar, inkFaint, th.gaugeOff)
		c.fill(3+name, y, min(int(share*float64(bar)+0.5), bar), k, th.gaugeOn)
	}
	c.spans(3+name, y+1, c.w-5-name, uncut(c.w-5-name, p.details(l, x))...)
}

// packer names the encoder whose pack is brought across: to those who look back, a
// lane's is that of then, and the figures here are of the present.
func packer(l *engine.Lane) string {
	if x := l.Totals.Transfer; x != nil && x.Encoder != "" {
		return x.Encoder
	}
	return l.Encoder
}

// progress is how far a lane is, from 0 to 1, and in words.
func (p *transferPane) progress(l *engine.Lane, x *figures.Transfer) (share float64, says string) {
	switch {
	case p.madeFor(l):
		share = float64(p.making.Done) / float64(max(p.making.Total, 1))
		says = "being made, " + fixed(100*share, 0) + " %"
		if p.making.Encoder != l.Encoder { // it is about to take over
			says = p.making.Encoder + " " + says
		}
		return share, says
	case x.Blocks == 0:
		return 0, "waits"
	case x.Done:
		return 1, "there after " + howLong(*x.TimeS)
	case x.Failed:
		return 1, "damaged on the way"
	}
	share = float64(x.Delivered) / float64(x.Blocks)
	says = fixed(100*share, 0) + " %, " + howLong(x.ElapsedS)
	if left, ok := timeLeft(x); ok {
		says += ", " + howLong(left) + " left"
	}
	return share, says
}

// madeFor reports whether the patch that is made is a lane's: of its encoder, or, if
// that is of none, of the one that takes over under the keys.
func (p *transferPane) madeFor(l *engine.Lane) bool {
	if p.making == nil || p.making.Encoder == l.Encoder {
		return p.making != nil
	}
	for i := range p.lanes {
		if p.lanes[i].Encoder == p.making.Encoder {
			return false
		}
	}
	return l == &p.lanes[0]
}

// timeLeft is how long a transfer will go on at its pace so far.
func timeLeft(x *figures.Transfer) (float64, bool) {
	if x.Done || x.Delivered == 0 || x.ElapsedS < 0.2 {
		return 0, false
	}
	return x.ElapsedS * float64(x.Blocks-x.Delivered) / float64(x.Delivered), true
}

// details are the figures of a lane, those worth most first.
func (p *transferPane) details(l *engine.Lane, x *figures.Transfer) [][]span {
	if x.Blocks == 0 {
		return nil
	}
	one := func(k ink, value, what string) []span { return []span{{k, value}, {inkDim, what + "  "}} }
	count := strconv.Itoa
	k := inkValue
	if x.Resent > 0 {
		k = inkLate
	}
	rate := 0.0
	if x.ElapsedS > 0 {
		rate = float64(x.PackedBytes) * float64(x.Delivered) / float64(x.Blocks) / x.ElapsedS
	}
	return [][]span{
		one(inkValue, kilos(float64(x.PackedBytes)), ", "+fixed(100*float64(x.PackedBytes)/float64(max(x.NewBytes, 1)), 1)+" % of it"),
		one(inkValue, count(x.Delivered), " of "+count(x.Blocks)+" blocks"),
		one(k, strconv.FormatInt(x.Resent, 10), " resent"),
		one(inkValue, kilos(rate), "/s"),
		one(inkValue, fixed(x.RoundTripMS, 0), " ms round trip"),
		one(inkValue, strconv.FormatInt(x.Needless, 10), " came twice"),
	}
}

// verdict compares the first encoder with the one beside it that sends the whole
// file, or else with the first beside it, in at most w columns.
func (p *transferPane) verdict(w int) []span {
	if len(p.lanes) < 2 || p.making != nil {
		return nil
	}
	first, beside := &p.lanes[0], &p.lanes[1]
	for i := range p.lanes[1:] {
		if p.lanes[1+i].Encoder == "whole-zstd" {
			beside = &p.lanes[1+i]
		}
	}
	a, b := inAll(first.Totals.Transfer), inAll(beside.Totals.Transfer)
	if a <= 0 || b <= 0 {
		return nil
	}
	was := "takes"
	if beside.Totals.Transfer.Done {
		was = "took"
	}
	says := []span{{inkTitle, packer(first) + " "}, {inkGood, howLong(a)}, {inkDim, ", " + packer(beside) + " " + was + " "}, {inkValue, howLong(b)},
		{inkDim, ", "}, {inkRatio, fixed(b/a, 1)}, {inkDim, " times as long"}}
	return fit(w, append(says[:len(says):len(says)], span{inkDim, ", over the same link with the same luck"}), says)
}

// inAll is how long a transfer takes: measured if it is done, else at its pace so
// far; 0 if that is not known.
func inAll(x *figures.Transfer) float64 {
	switch {
	case x == nil || x.Failed:
		return 0
	case x.Done:
		return *x.TimeS
	}
	left, ok := timeLeft(x)
	if !ok {
		return 0
	}
	return x.ElapsedS + left
}
