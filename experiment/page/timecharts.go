package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"wirelab/experiment/figures"
)

// timeCharts adds the charts of a run over time. item is what a frame has many of.
func (d *data) timeCharts(r *rows, item string, budget float64) {
	points := r.series.all()
	if len(points) > 0 {
		d.sampleCharts(points, item, budget)
	}
	d.delayChart(&r.packets)
	d.packetChart(&r.packets)
}

// axis adds an axis and returns its number.
func (d *data) axis(x []place) int {
	d.X = append(d.X, x)
	return len(d.X) - 1
}

// A ratio is a figure of a stretch of time as a quotient, so that figures of longer stretches
// are sums divided by sums.
type ratio func(p *point) (num, den float64)

func payloadKbps(p *point) (num, den float64)    { return p.payload / 1000, p.width }
func wireKbps(p *point) (num, den float64)       { return p.wire / 1000, p.width }
func feedbackKbps(p *point) (num, den float64)   { return p.feedback / 1000, p.width }
func bitsPerItem(p *point) (num, den float64)    { return p.payload, p.items }
func bitsPerChanged(p *point) (num, den float64) { return p.payload, p.changed }
func failedRate(p *point) (num, den float64)     { return p.failed + p.wrong, p.width }
func lostRate(p *point) (num, den float64)       { return p.lost, p.width }
func staleRate(p *point) (num, den float64)      { return p.stale, p.width }
func uselessRate(p *point) (num, den float64)    { return p.failed + p.wrong + p.lost, p.width }
func baselineAge(p *point) (num, den float64)    { return p.age, p.aged }
func shownAge(p *point) (num, den float64)       { return p.shownAge, p.shownAged }
func starvedShare(p *point) (num, den float64)   { return p.starved, p.displayed }
func positionMM(p *point) (num, den float64)     { return p.positionMM, 1 }
func peakKbps(p *point) (num, den float64)       { return p.peakKbps, 1 }
func leastKbps(p *point) (num, den float64)      { return p.least, 1 }

// column returns a ratio of each point, times a factor.
func column(points []point, of ratio, times float64) []value {
	out := make([]value, len(points))
	for i := range points {
		out[i] = value(times * over(of(&points[i])))
	}
	return out
}

// over is x/y; no value if y is 0.
func over(x, y float64) float64 {
	if y == 0 {
		return math.NaN()
	}
	return x / y
}

func (d *data) sampleCharts(points []point, item string, budget float64) {
	until := make([]place, len(points))
	for i := range points {
		until[i] = place(points[i].until)
	}
	x := d.axis(until)
	add := func(title, unit string, lines ...line) {
		c := chart{Title: title, Unit: unit, Axis: "s", X: x, Lines: lines, Marked: true, Top: top(lines)}
		c.Label = label(title, unit, lines[0].Y)
		d.Charts = append(d.Charts, c)
	}
	kbps := []line{
		{Name: "payload", Ink: 1, Y: column(points, payloadKbps, 1)},
		{Name: "on the wire", Ink: 8, Y: column(points, wireKbps, 1)},
		{Name: "feedback", Ink: 3, Y: column(points, feedbackKbps, 1)},
	}
	if points[0].width > 1.5*samplePeriod { // the spikes that the mean hides
		kbps = append(kbps, line{Name: "payload, most in 100 ms", Ink: 1, Kind: "edge", Y: column(points, peakKbps, 1)},
			line{Name: "payload, least in 100 ms", Ink: 1, Kind: "edge", Band: 1, Y: column(points, leastKbps, 1)})
	}
	if budget > 0 {
		constant := func(*point) (num, den float64) { return budget, 1 }
		kbps = append(kbps, line{Name: "budget", Ink: 5, Kind: "dash", Y: column(points, constant, 1)})
	}
	add("Bandwidth", "kbps", kbps...)
	if anyOf(points, func(p *point) float64 { return p.changed }) {
		add("Bits per changed "+item, "bits", line{Name: "per changed " + item, Ink: 1, Y: column(points, bitsPerChanged, 1)})
	} else if anyOf(points, func(p *point) float64 { return p.items }) {
		add("Bits per "+item, "bits", line{Name: "per " + item, Ink: 1, Y: column(points, bitsPerItem, 1)})
	}
	add("Packets that were of no use", "a second", line{Name: "failed", Ink: 5, Y: column(points, failedRate, 1)},
		line{Name: "lost", Ink: 2, Y: column(points, lostRate, 1)}, line{Name: "stale", Ink: 4, Y: column(points, staleRate, 1)})
	if anyOf(points, func(p *point) float64 { return p.aged }) {
		add("Age of the baseline", "ticks", line{Name: "mean age", Ink: 1, Y: column(points, baselineAge, 1)})
	}
	if anyOf(points, func(p *point) float64 { return p.shownAged }) {
		add("How old what is shown is", "ms", line{Name: "mean age", Ink: 3, Y: column(points, shownAge, 1)})
	}
	if anyOf(points, func(p *point) float64 { return p.starved + p.late }) {
		add("Display starved", "% of its ticks", line{Name: "starved", Ink: 5, Y: column(points, starvedShare, 100)})
	}
	if anyOf(points, func(p *point) float64 { return p.positionMM }) {
		add("The worst shown cube is off by", "mm", line{Name: "position", Ink: 4, Y: column(points, positionMM, 1)})
	}
}

// top is where the scale of a chart ends so that rare spikes do not flatten all the rest: well
// above the 99th of 100 values, if there is far more; else 0.
func top(lines []line) value {
	var all []float64
	for _, l := range lines {
		for _, v := range l.Y {
			if l.Kind != "edge" && !math.IsNaN(float64(v)) {
				all = append(all, float64(v))
			}
		}
	}
	if len(all) < 50 {
		return 0
	}
	slices.Sort(all)
	if high := all[len(all)*99/100]; high > 0 && all[len(all)-1] > 3*high {
		return value(1.5 * high)
	}
	return 0
}

func anyOf(points []point, of func(p *point) float64) bool {
	for i := range points {
		if of(&points[i]) > 0 {
			return true
		}
	}
	return false
}

// label says in a sentence what a chart shows.
func label(title, unit string, y []value) string {
	least, most, sum, n := math.Inf(1), math.Inf(-1), 0.0, 0.0
	for _, v := range y {
		if f := float64(v); !math.IsNaN(f) {
			least, most, sum, n = min(least, f), max(most, f), sum+f, n+1
		}
	}
	if n == 0 {
		return title + ": no data"
	}
	return fmt.Sprintf("%s, %s: %s on average, from %s to %s", title, unit, digits(figures.Ratio(sum, n)), digits(least), digits(most))
}

// delayChart draws how long packets were under way.
func (d *data) delayChart(p *packets) {
	var x []place
	var mean, least, most []value
	p.delays.each(func(until float64, b delay) {
		x = append(x, place(until))
		mean = append(mean, value(float64(b.sum)/float64(b.n)/1e6))
		least, most = append(least, value(float64(b.least)/1e6)), append(most, value(float64(b.most)/1e6))
	})
	if len(x) == 0 {
		return
	}
	d.Charts = append(d.Charts, chart{Title: "One-way delay", Unit: "ms", Axis: "s", X: d.axis(x), Marked: true,
		Label: label("One-way delay", "ms", mean), Lines: []line{{Name: "mean", Ink: 1, Y: mean},
			{Name: "slowest", Ink: 1, Kind: "edge", Y: most}, {Name: "fastest", Ink: 1, Kind: "edge", Band: 1, Y: least}}})
}

// packetChart draws the packets with which something was wrong on a time line.
func (d *data) packetChart(p *packets) {
	type timed struct {
		event
		kind kind
	}
	var dots []timed
	rows, n := []string{}, 0
	inks := [numKinds]int{5, 2, 4, 6}
	var kinds []kind
	for k := numKinds - 1; k >= 0; k-- {
		if p.kinds[k].n == 0 {
			continue
		}
		rows, kinds = append(rows, kindNames[k]), append(kinds, k)
		for _, e := range p.listed(k) {
			dots = append(dots, timed{e, k})
		}
		n += p.kinds[k].n
	}
	if len(dots) == 0 {
		return
	}
	slices.SortStableFunc(dots, func(a, b timed) int { return cmp.Or(cmp.Compare(a.sent, b.sent), a.before(&b.event)) })
	c := chart{Title: "Packets with which something was wrong", Axis: "s", Rows: rows, Marked: true,
		Label: fmt.Sprintf("%d packets on a time line; the table under Packets says of each what was wrong", n)}
	x := make([]place, len(dots))
	for i, e := range dots {
		x[i] = place(e.sent)
		c.Notes = append(c.Notes, e.why)
	}
	c.X = d.axis(x)
	for row, k := range kinds {
		y := make([]value, len(dots))
		for i := range dots {
			y[i] = none
			if dots[i].kind == k {
				y[i] = value(row)
			}
		}
		c.Lines = append(c.Lines, line{Name: kindNames[k], Ink: inks[k], Kind: "dots", Y: y})
	}
	d.Charts = append(d.Charts, c)
}
