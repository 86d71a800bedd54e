package file

import (
	"strconv"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
)

// transfer shows how far the file has come, for every encoder: a bar, what it
// took, how long it took or will take, and what that says of the first of them.
type transfer struct {
	lanes  []engine.Lane
	making *delivery.Making
	now    int64 // hundredths of a second
	back   bool  // somebody looks back, and this pane cannot
}

func (p *transfer) Name() string { return "Transfer" }

func (p *transfer) Observe(v room.View) bool {
	making, now := v.Snap.Making, int64(v.Snap.Now)/1e7
	same := p.back == v.Back && len(p.lanes) == len(v.Snap.Lanes) && p.now == now && (p.making == nil) == (making == nil) &&
		(making == nil || *making == *p.making)
	if same {
		return false
	}
	p.lanes, p.making, p.now, p.back = v.Snap.Lanes, making, now, v.Back
	return true
}

// rows is how many lines the pane has something for.
func (p *transfer) rows() int { return 2*max(len(p.lanes), 1) + 2 }

func (p *transfer) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, "Transfer", p.heading(look.HeadRoom(c.W, "Transfer"))...)
	y := 1
	for i := range p.lanes {
		if y+1 >= c.H-1 && i > 0 {
			break
		}
		p.lane(c, th, y, &p.lanes[i])
		y += 2
	}
	if y < c.H-1 {
		y++
	}
	if y < c.H-1 {
		c.Spans(2, y, c.W-4, p.verdict(c.W-4)...)
	}
}

// heading says what is brought where.
func (p *transfer) heading(room int) []look.Span {
	if len(p.lanes) == 0 || p.lanes[0].Totals.Transfer == nil {
		return nil
	}
	if p.back {
		return look.Fit(room, []look.Span{look.Warn.Span("as it is at present: this page cannot look back")},
			[]look.Span{look.Warn.Span("at present, not then")}, nil)
	}
	x := p.lanes[0].Totals.Transfer
	short := []look.Span{look.Dim.Span("a new file of "), look.Value.Span(units.Bytes(float64(x.NewBytes)))}
	return look.Fit(room, append(short[:2:2], look.Dim.Span(" for those who have one of "),
		look.Value.Span(units.Bytes(float64(x.OldBytes)))), short, nil)
}

// lane writes two lines about one encoder.
func (p *transfer) lane(c *look.Canvas, th *look.Theme, y int, l *engine.Lane) {
	x := l.Totals.Transfer
	if x == nil {
		return
	}
	name := min(14, c.W/4)
	c.Clip(2, y, name, look.Title, packer(l))
	share, says := p.progress(l, x)
	right := c.W - 2 - look.TextWidth(says)
	k := look.Value
	switch {
	case x.Failed:
		k = look.Bad
	case x.Done:
		k = look.Good
	}
	c.Clip(right, y, look.TextWidth(says), k, says)
	bar := right - 2 - (3 + name)
	if bar > 0 {
		c.Fill(3+name, y, bar, look.Faint, th.GaugeOff)
		c.Fill(3+name, y, min(int(share*float64(bar)+0.5), bar), k, th.GaugeOn)
	}
	c.Spans(3+name, y+1, c.W-5-name, look.FitGroups(c.W-5-name, p.details(l, x))...)
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
func (p *transfer) progress(l *engine.Lane, x *figures.Transfer) (share float64, says string) {
	switch {
	case p.madeFor(l):
		share = float64(p.making.Done) / float64(max(p.making.Total, 1))
		says = "being made, " + units.Fixed(100*share, 0) + " %"
		if p.making.Encoder != l.Encoder { // it is about to take over
			says = p.making.Encoder + " " + says
		}
		return share, says
	case x.Blocks == 0:
		return 0, "waits"
	case x.Done:
		return 1, "there after " + timeText(*x.TimeS)
	case x.Failed:
		return 1, "damaged on the way"
	}
	share = float64(x.Delivered) / float64(x.Blocks)
	says = units.Fixed(100*share, 0) + " %, " + timeText(x.ElapsedS)
	if left, ok := timeLeft(x); ok {
		says += ", " + timeText(left) + " left"
	}
	return share, says
}

// madeFor reports whether the patch that is made is a lane's: of its encoder, or, if
// that is of none, of the one that takes over under the keys.
func (p *transfer) madeFor(l *engine.Lane) bool {
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
func (p *transfer) details(l *engine.Lane, x *figures.Transfer) [][]look.Span {
	if x.Blocks == 0 {
		return nil
	}
	one := func(k look.Ink, value, what string) []look.Span {
		return []look.Span{k.Span(value), look.Dim.Span(what + "  ")}
	}
	count := strconv.Itoa
	k := look.Value
	if x.Resent > 0 {
		k = look.Late
	}
	rate := 0.0
	if x.ElapsedS > 0 {
		rate = float64(x.PackedBytes) * float64(x.Delivered) / float64(x.Blocks) / x.ElapsedS
	}
	return [][]look.Span{
		one(look.Value, units.Bytes(float64(x.PackedBytes)),
			", "+units.Fixed(100*float64(x.PackedBytes)/float64(max(x.NewBytes, 1)), 1)+" % of it"),
		one(look.Value, count(x.Delivered), " of "+count(x.Blocks)+" blocks"),
		one(k, strconv.FormatInt(x.Resent, 10), " resent"),
		one(look.Value, units.Bytes(rate), "/s"),
		one(look.Value, units.Fixed(x.RoundTripMS, 0), " ms round trip"),
		one(look.Value, strconv.FormatInt(x.Spurious, 10), " came twice"),
	}
}

// verdict compares the first encoder with the one beside it that sends the whole
// file, or else with the first beside it, in at most w columns.
func (p *transfer) verdict(w int) []look.Span {
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
	says := []look.Span{look.Title.Span(packer(first) + " "), look.Good.Span(timeText(a)),
		look.Dim.Span(", " + packer(beside) + " " + was + " "), look.Value.Span(timeText(b)),
		look.Dim.Span(", "), look.Ratio.Span(units.Fixed(b/a, 1)), look.Dim.Span(" times as long")}
	return look.Fit(w, append(says[:len(says):len(says)], look.Dim.Span(", over the same link with the same luck")), says)
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
