package file

import (
	"slices"
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
)

// rounds lists the completed transfers of all encoders, newest first. A file is sent repeatedly; each
// transfer is a round.
type rounds struct {
	rounds []figures.Round
}

func (p *rounds) Name() string { return "Rounds" }

// Observe implements room.Observer. It collects the transfers of all lanes, newest first.
func (p *rounds) Observe(v room.View) bool {
	var all []figures.Round
	for i := range v.Snap.Lanes {
		if x := v.Snap.Lanes[i].Totals.Transfer; x != nil {
			all = append(all, x.Rounds...)
		}
	}
	slices.SortStableFunc(all, func(a, b figures.Round) int {
		switch {
		case a.StartS > b.StartS:
			return -1
		case a.StartS < b.StartS:
			return 1
		}
		return 0
	})
	if slices.Equal(all, p.rounds) {
		return false
	}
	p.rounds = all
	return true
}

// Draw implements room.Pane: a row per transfer with start, encoder, duration and resent blocks.
func (p *rounds) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, "Rounds", look.Fit(look.TitleSpace(c.W, "Rounds"),
		[]look.Span{look.Dim.Span("the file is sent repeatedly")}, nil)...)
	if len(p.rounds) == 0 {
		c.Clip(2, 1, c.W-4, look.Dim, "no transfer has ended yet")
		return
	}
	for y := 1; y < c.H-1 && y <= len(p.rounds); y++ {
		r := &p.rounds[y-1]
		took, tookStyle := formatSeconds(r.TimeS), look.Good
		if !r.Done {
			took, tookStyle = "incomplete", look.Late
		}
		start := look.FormatTime(time.Duration(r.StartS * float64(time.Second)))
		resentStyle := look.Value
		if r.Resent > 0 {
			resentStyle = look.Late
		}
		const encoderX, encoderWidth, tookEnd, resentEnd = 11, 14, 35, 41 // edges of the columns
		c.Text(2, y, look.Dim, start)
		c.Clip(encoderX, y, encoderWidth, look.Plain, r.Encoder)
		c.TextRight(tookEnd, y, tookStyle, took)
		c.TextRight(resentEnd, y, resentStyle, strconv.FormatInt(r.Resent, 10))
		ofBlocks := look.Dim.Span(" of " + strconv.Itoa(r.Blocks) + " resent")
		rest := c.W - 2 - resentEnd
		c.Spans(resentEnd, y, rest, look.Fit(rest, []look.Span{ofBlocks, look.Dim.Span(", " + units.Bytes(float64(r.PackedBytes)))},
			[]look.Span{ofBlocks})...)
	}
}
