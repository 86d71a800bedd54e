package ui

import (
	"slices"
	"strconv"
	"time"

	"wirelab/experiment/figures"
)

// roundsPane lists the deliveries that ended, of all encoders, the newest first.
type roundsPane struct {
	rounds []figures.Round
}

func (p *roundsPane) name() string { return "Rounds" }

func (p *roundsPane) observe(v sight) bool {
	var all []figures.Round
	for i := range v.snap.Lanes {
		if x := v.snap.Lanes[i].Totals.Transfer; x != nil {
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

func (p *roundsPane) draw(c *canvas, th *theme, focused bool) {
	c.frame(th, focused, "Rounds", fit(headRoom(c.w, "Rounds"), []span{{inkDim, "it is delivered again and again"}}, nil)...)
	if len(p.rounds) == 0 {
		c.clip(2, 1, c.w-4, inkDim, "none has ended yet")
		return
	}
	for y := 1; y < c.h-1 && y <= len(p.rounds); y++ {
		r := &p.rounds[y-1]
		took, k := howLong(r.TimeS), inkGood
		if !r.Done {
			took, k = "given up", inkLate
		}
		start := clock(time.Duration(r.StartS * float64(time.Second)))
		resent := inkValue
		if r.Resent > 0 {
			resent = inkLate
		}
		c.text(2, y, inkDim, start)
		c.clip(11, y, 14, inkPlain, r.Encoder)
		c.right(35, y, k, took)
		c.right(41, y, resent, strconv.FormatInt(r.Resent, 10))
		of := span{inkDim, " of " + strconv.Itoa(r.Blocks) + " resent"}
		c.spans(41, y, c.w-43, fit(c.w-43, []span{of, {inkDim, ", " + kilos(float64(r.PackedBytes))}}, []span{of})...)
	}
}
