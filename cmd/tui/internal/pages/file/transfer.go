package file

import (
	"fmt"
	"slices"
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
	lanes []engine.Lane
	transferState
}

// transferState is what the pane shows besides the lanes.
type transferState struct {
	making   delivery.PatchProgress // progress of the patch that is being computed; zero if none is
	now      time.Duration          // virtual time, in steps that the figures show
	past     bool                   // the time cursor is in the past; this pane shows the present only
	numLanes int
}

func (p *transfer) Name() string { return "Transfer" }

func (p *transfer) Observe(v room.View) bool {
	before := p.transferState
	p.lanes = v.Snap.Lanes
	p.transferState = transferState{now: v.Snap.Now.Truncate(10 * time.Millisecond), past: v.Cut(), numLanes: len(p.lanes)}
	if v.Snap.Patch != nil {
		p.making = *v.Snap.Patch
	}
	return p.transferState != before
}

// rows returns the number of lines that the pane can use: two per lane, an empty one and the verdict.
func (p *transfer) rows() int { return 2*max(len(p.lanes), 1) + 2 }

// Draw implements room.Pane: two rows per lane, then the verdict.
func (p *transfer) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	y := 1
	for i := range p.lanes {
		p.drawLane(c, th, y, &p.lanes[i])
		y += 2
	}
	c.Spans(2, y+1, c.W-4, p.verdict(c.W-4)...)
	c.Frame(th, focused, p.Name(), p.heading(look.TitleSpace(c.W, p.Name()))...) // covers what does not fit
}

// heading describes the file, or warns that the figures are those of the present.
func (p *transfer) heading(maxWidth int) []look.Span {
	switch {
	case len(p.lanes) == 0 || p.lanes[0].Totals.Transfer == nil:
		return nil
	case p.past:
		return look.Fit(maxWidth, []look.Span{look.Warn.Span("current figures: this page has no history")},
			[]look.Span{look.Warn.Span("current, no history")})
	}
	x := p.lanes[0].Totals.Transfer
	newSize, oldSize := units.Bytes(float64(x.NewBytes)), units.Bytes(float64(x.OldBytes))
	return look.Fit(maxWidth, look.Labelled("new file ", newSize, ", receiver has ", oldSize), look.Labelled("new file ", newSize))
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
	style := look.Value
	switch {
	case x.Failed:
		style = look.Bad
	case x.Done:
		style = look.Good
	}
	left, right := 3+nameWidth, c.W-2-look.TextWidth(text)
	c.Clip(right, y, c.W-2-right, style, text)
	barWidth := max(right-2-left, 0)
	c.Fill(left, y, barWidth, look.Faint, th.GaugeOff)
	c.Fill(left, y, min(int(share*float64(barWidth)+0.5), barWidth), style, th.GaugeOn)
	c.Spans(left, y+1, c.W-2-left, look.FitGroups(c.W-2-left, details(x))...)
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
	if p.making.Encoder == "" {
		return false
	}
	i := slices.IndexFunc(p.lanes, func(l engine.Lane) bool { return l.Encoder == p.making.Encoder })
	return l == &p.lanes[max(i, 0)]
}

// timeLeft estimates the remaining seconds of a transfer from its mean rate; false if it is unknown.
func timeLeft(x *figures.Transfer) (float64, bool) {
	const minElapsedS = 0.2 // before that the rate is too uncertain
	if x.Done || x.Delivered == 0 || x.ElapsedS < minElapsedS {
		return 0, false
	}
	return x.ElapsedS * float64(x.Blocks-x.Delivered) / float64(x.Delivered), true
}

// details returns the figures of a transfer, most important first.
func details(x *figures.Transfer) [][]look.Span {
	if x.Blocks == 0 {
		return nil
	}
	detail := func(value, unit string) []look.Span { return look.Labelled("", value, unit+"  ") }
	count := func(n int64, unit string) []look.Span { return detail(strconv.FormatInt(n, 10), unit) }
	rate := 0.0 // packed bytes delivered per second
	if x.ElapsedS > 0 {
		rate = float64(x.PackedBytes) * float64(x.Delivered) / float64(x.Blocks) / x.ElapsedS
	}
	percent := 100 * float64(x.PackedBytes) / float64(max(x.NewBytes, 1))
	return [][]look.Span{
		detail(units.Bytes(float64(x.PackedBytes)), ", "+units.Fixed(percent, 1)+" % of the new file"),
		count(int64(x.Delivered), " of "+strconv.Itoa(x.Blocks)+" blocks"),
		count(x.Resent, " resent"),
		detail(units.Bytes(rate), "/s"),
		detail(units.Fixed(x.RoundTripMS, 0), " ms round trip"),
		count(x.Spurious, " duplicates"),
	}
}

// verdict compares the active encoder with the shadow that sends the whole file, or with the first
// shadow if none does, in at most w columns. It returns nil if a time is unknown.
func (p *transfer) verdict(w int) []look.Span {
	if len(p.lanes) < 2 || p.making.Encoder != "" {
		return nil
	}
	whole := slices.IndexFunc(p.lanes[1:], func(l engine.Lane) bool { return l.Encoder == "whole-zstd" }) // the usual alternative to a patch
	active, other := &p.lanes[0], &p.lanes[1+max(whole, 0)]
	activeS, otherS := totalTime(active.Totals.Transfer), totalTime(other.Totals.Transfer) // seconds
	if activeS <= 0 || otherS <= 0 {
		return nil
	}
	verb := "takes"
	if other.Totals.Transfer.Done {
		verb = "took"
	}
	text := []string{packEncoder(active) + " ", formatSeconds(activeS), ", " + packEncoder(other) + " " + verb + " ", formatSeconds(otherS),
		", ", units.Fixed(otherS/activeS, 1), " times as long"}
	return look.Fit(w, look.Labelled(append(text, "", ", over the same link with the same losses")...), look.Labelled(text...))
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

// formatSeconds formats the duration of a transfer of s seconds.
func formatSeconds(s float64) string {
	switch d := time.Duration(s * float64(time.Second)); {
	case d >= time.Hour:
		return units.Fixed(d.Hours(), 1) + " h"
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d:%02d min", int(d.Minutes()), int(d.Seconds())%60)
	}
	return units.Stepped(s, 2, 10) + " s"
}
