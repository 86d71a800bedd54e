package crowd

import (
	"fmt"
	"math"
	"strconv"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
)

// baselines shows how many clients share each encoding: a row for each age of baselines, a heat map of the share of
// clients over time, and the encodings of the newest tick.
type baselines struct {
	span *panes.TimeAxis
	view *engine.CrowdView
}

func (p *baselines) Name() string { return "Baselines" }

// Wheel implements room.Wheeler: the charts have the same time span.
func (p *baselines) Wheel(_, _, notches int) room.Request {
	p.span.ZoomBy(notches)
	return room.Request{}
}

func (p *baselines) Observe(v room.View) bool {
	if v.RedrawDue {
		p.view = v.Snap.Crowd
	}
	return v.RedrawDue
}

// shareRunes are the characters of the heat map, from small to large shares.
var shareRunes = []rune("·░░▒▒▓▓█")

// ageRow is a row of the pane: the ages from from to to, in packets.
type ageRow struct{ from, to int }

// label names the ages.
func (r ageRow) label() string {
	switch {
	case r.from == 0 && r.to == 0:
		return "initial"
	case r.to == engine.CrowdAges-1:
		return strconv.Itoa(r.from) + "+"
	case r.from == r.to:
		return strconv.Itoa(r.from)
	}
	return fmt.Sprintf("%d-%d", r.from, r.to)
}

// ageRows returns at most n rows with the ages that occur in samples: the initial state, if it occurs, then ranges of
// equal length.
func ageRows(samples []engine.CrowdSample, n int) (rows []ageRow) {
	first, last, initial := engine.CrowdAges, 0, false
	for i := range samples {
		for age, count := range samples[i].ByAge {
			switch {
			case count == 0:
			case age == 0:
				initial = true
			default:
				first, last = min(first, age), max(last, age)
			}
		}
	}
	if initial {
		rows, n = append(rows, ageRow{}), n-1
	}
	if last == 0 || n < 1 {
		return rows
	}
	step := (last - first + n) / n
	for from := first; from <= last; from += step {
		rows = append(rows, ageRow{from, min(from+step-1, last)})
	}
	return rows
}

func (p *baselines) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.FitFrame(th, focused, "Clients by age of baseline", look.Labelled("in packets"))
	c.Clip(2, 1, c.W-24, look.Dim, "· few  █ many clients")
	samples := p.view.Samples
	span := int(p.span.Span() / meters.SamplePeriod)
	samples = samples[max(len(samples)-span, 0):]
	const labelX, tableW = 9, 18
	w := c.W - labelX - 3 - tableW
	per := (span + w - 1) / max(w, 1)
	end := int64(0)
	if n := len(samples); n > 0 {
		end = int64(samples[n-1].T / meters.SamplePeriod)
	}
	c.TextRight(c.W-12, 1, look.Dim, "clients")
	c.TextRight(c.W-2, 1, look.Dim, "bytes now")
	runes := shareRunes
	for y, row := range ageRows(samples, c.H-3) {
		c.TextRight(labelX-1, 2+y, look.Dim, row.label())
		shares := make([]float64, len(samples))
		for i := range samples {
			clients := int32(0)
			for age := row.from; age <= row.to; age++ {
				clients += samples[i].ByAge[age]
			}
			shares[i] = ratio(float64(clients), samples[i].Packets)
		}
		for x, share := range chart.Columns(shares, nil, end, per, w, chart.Mean) {
			if share > 0 { // false for NaN
				// A quarter of the clients at one age is much: about ten ages are in use.
				level := min(int(share*4*float64(len(runes))), len(runes)-1)
				c.Set(labelX+x, 2+y, look.Heat+look.Style(level*look.NumHeats/len(runes)), runes[level])
			}
		}
		p.drawNewest(c, 2+y, row)
	}
}

// drawNewest draws the encodings of the newest tick with an age in row: the clients, and the sizes of the payloads.
func (p *baselines) drawNewest(c *look.Canvas, y int, row ageRow) {
	clients, smallest, largest := 0, math.MaxInt, 0
	for _, e := range p.view.Encodings {
		if age := min(e.Age, engine.CrowdAges-1); age >= row.from && age <= row.to {
			clients += e.Clients
			smallest, largest = min(smallest, e.Payload), max(largest, e.Payload)
		}
	}
	if clients == 0 {
		return
	}
	bytes := strconv.Itoa(largest)
	if smallest < largest {
		bytes = strconv.Itoa(smallest) + "-" + bytes
	}
	c.TextRight(c.W-12, y, look.Value, strconv.Itoa(clients))
	c.TextRight(c.W-2, y, look.Payload, bytes)
}
