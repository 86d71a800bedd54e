package file

import (
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
)

// transfer shows the progress of the file for every encoder: a bar, sizes, times, and a comparison of
// the first encoder with another.
type transfer struct {
	lanes  []engine.Lane
	making *delivery.PatchProgress // progress of the patch that is being computed; nil if none is
	now    int64                   // virtual time in hundredths of a second, as the figures show it
	past   bool                    // the time cursor is in the past; this pane shows the present only
}

func (p *transfer) Name() string { return "Transfer" }

func (p *transfer) Observe(v room.View) bool {
	making, now := v.Snap.Patch, int64(v.Snap.Now/(10*time.Millisecond))
	same := p.past == v.Cut() && len(p.lanes) == len(v.Snap.Lanes) && p.now == now && (p.making == nil) == (making == nil) &&
		(making == nil || *making == *p.making)
	if same {
		return false
	}
	p.lanes, p.making, p.now, p.past = v.Snap.Lanes, making, now, v.Cut()
	return true
}

// rows returns the number of lines that the pane can use: two per lane, an empty one and the verdict.
func (p *transfer) rows() int { return 2*max(len(p.lanes), 1) + 2 }

// Draw implements room.Pane: two rows per lane, then the verdict.
func (p *transfer) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, "Transfer", p.heading(look.TitleSpace(c.W, "Transfer"))...)
	y := 1
	for i := range p.lanes {
		if y+1 >= c.H-1 && i > 0 {
			break
		}
		p.drawLane(c, th, y, &p.lanes[i])
		y += 2
	}
	if y < c.H-1 {
		y++
	}
	if y < c.H-1 {
		c.Spans(2, y, c.W-4, p.verdict(c.W-4)...)
	}
}

// heading describes the file, or warns that the figures are those of the present.
func (p *transfer) heading(maxWidth int) []look.Span {
	if len(p.lanes) == 0 || p.lanes[0].Totals.Transfer == nil {
		return nil
	}
	if p.past {
		return look.Fit(maxWidth, []look.Span{look.Warn.Span("current figures: this page has no history")},
			[]look.Span{look.Warn.Span("current, no history")}, nil)
	}
	x := p.lanes[0].Totals.Transfer
	short := []look.Span{look.Dim.Span("new file "), look.Value.Span(units.Bytes(float64(x.NewBytes)))}
	return look.Fit(maxWidth, append(short[:2:2], look.Dim.Span(", receiver has "),
		look.Value.Span(units.Bytes(float64(x.OldBytes)))), short, nil)
}

// drawLane draws two lines about one encoder, from row y.
func (p *transfer) drawLane(c *look.Canvas, th *look.Theme, y int, l *engine.Lane) {
	x := l.Totals.Transfer
	if x == nil {
		return
	}
	nameWidth := min(14, c.W/4)
	c.Clip(2, y, nameWidth, look.Title, packEncoder(l))
	share, text := p.progress(l, x)
	right := c.W - 2 - look.TextWidth(text)
	style := look.Value
	switch {
	case x.Failed:
		style = look.Bad
	case x.Done:
		style = look.Good
	}
	c.Clip(right, y, look.TextWidth(text), style, text)
	barWidth := right - 2 - (3 + nameWidth)
	if barWidth > 0 {
		c.Fill(3+nameWidth, y, barWidth, look.Faint, th.GaugeOff)
		c.Fill(3+nameWidth, y, min(int(share*float64(barWidth)+0.5), barWidth), style, th.GaugeOn)
	}
	c.Spans(3+nameWidth, y+1, c.W-5-nameWidth, look.FitGroups(c.W-5-nameWidth, p.details(l, x))...)
}

// packEncoder returns the encoder of the file in transfer. It can differ from l.Encoder while the
// time cursor is in the past, because Totals are those of the present.
func packEncoder(l *engine.Lane) string {
	if x := l.Totals.Transfer; x != nil && x.Encoder != "" {
		return x.Encoder
	}
	return l.Encoder
}

// progress returns the progress of a lane, from 0 to 1 and in words.
func (p *transfer) progress(l *engine.Lane, x *figures.Transfer) (share float64, text string) {
	switch {
	case p.isMakingFor(l):
		share = float64(p.making.Done) / float64(max(p.making.Total, 1))
		text = "computing the patch, " + units.Fixed(100*share, 0) + " %"
		if p.making.Encoder != l.Encoder { // a swap to this encoder is pending
			text = p.making.Encoder + ": " + text
		}
		return share, text
	case x.Blocks == 0:
		return 0, "waiting"
	case x.Done:
		return 1, "delivered after " + formatSeconds(*x.TimeS)
	case x.Failed:
		return 1, "damaged in transit"
	}
	share = float64(x.Delivered) / float64(x.Blocks)
	text = units.Fixed(100*share, 0) + " %, " + formatSeconds(x.ElapsedS)
	if left, ok := timeLeft(x); ok {
		text += ", " + formatSeconds(left) + " left"
	}
	return share, text
}

// isMakingFor reports whether the patch that is being computed is for lane l. That is the lane with the
// encoder of the patch. If there is no such lane, the active encoder is about to be swapped for it, and the patch
// counts as that of the active lane, lanes[0].
func (p *transfer) isMakingFor(l *engine.Lane) bool {
	if p.making == nil {
		return false
	}
	if p.making.Encoder == l.Encoder {
		return true
	}
	for i := range p.lanes {
		if p.lanes[i].Encoder == p.making.Encoder {
			return false
		}
	}
	return l == &p.lanes[0]
}

// timeLeft estimates the remaining seconds of a transfer from its mean rate; false if it is unknown.
func timeLeft(x *figures.Transfer) (float64, bool) {
	const minElapsedS = 0.2 // before that the rate is too uncertain
	if x.Done || x.Delivered == 0 || x.ElapsedS < minElapsedS {
		return 0, false
	}
	return x.ElapsedS * float64(x.Blocks-x.Delivered) / float64(x.Delivered), true
}

// details returns the figures of a lane, most important first.
func (p *transfer) details(l *engine.Lane, x *figures.Transfer) [][]look.Span {
	if x.Blocks == 0 {
		return nil
	}
	detail := func(style look.Style, value, unit string) []look.Span {
		return []look.Span{style.Span(value), look.Dim.Span(unit + "  ")}
	}
	count := strconv.Itoa
	resentStyle := look.Value
	if x.Resent > 0 {
		resentStyle = look.Late
	}
	rate := 0.0 // packed bytes delivered per second
	if x.ElapsedS > 0 {
		rate = float64(x.PackedBytes) * float64(x.Delivered) / float64(x.Blocks) / x.ElapsedS
	}
	return [][]look.Span{
		detail(look.Value, units.Bytes(float64(x.PackedBytes)),
			", "+units.Fixed(100*float64(x.PackedBytes)/float64(max(x.NewBytes, 1)), 1)+" % of the new file"),
		detail(look.Value, count(x.Delivered), " of "+count(x.Blocks)+" blocks"),
		detail(resentStyle, strconv.FormatInt(x.Resent, 10), " resent"),
		detail(look.Value, units.Bytes(rate), "/s"),
		detail(look.Value, units.Fixed(x.RoundTripMS, 0), " ms round trip"),
		detail(look.Value, strconv.FormatInt(x.Spurious, 10), " duplicates"),
	}
}

// verdict compares the active encoder with the shadow that sends the whole file, or with the first
// shadow if none does, in at most w columns. It returns nil if a time is unknown.
func (p *transfer) verdict(w int) []look.Span {
	if len(p.lanes) < 2 || p.making != nil {
		return nil
	}
	active, other := &p.lanes[0], &p.lanes[1]
	for i := range p.lanes[1:] {
		if p.lanes[1+i].Encoder == "whole-zstd" { // the usual alternative to a patch
			other = &p.lanes[1+i]
		}
	}
	activeS, otherS := totalTime(active.Totals.Transfer), totalTime(other.Totals.Transfer) // seconds
	if activeS <= 0 || otherS <= 0 {
		return nil
	}
	verb := "takes"
	if other.Totals.Transfer.Done {
		verb = "took"
	}
	spans := []look.Span{look.Title.Span(packEncoder(active) + " "), look.Good.Span(formatSeconds(activeS)),
		look.Dim.Span(", " + packEncoder(other) + " " + verb + " "), look.Value.Span(formatSeconds(otherS)),
		look.Dim.Span(", "), look.Ratio.Span(units.Fixed(otherS/activeS, 1)), look.Dim.Span(" times as long")}
	return look.Fit(w, append(spans[:len(spans):len(spans)], look.Dim.Span(", over the same link with the same losses")), spans)
}

// totalTime returns the seconds that a transfer takes, measured if it is done, otherwise estimated;
// 0 if it is unknown.
func totalTime(x *figures.Transfer) float64 {
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
