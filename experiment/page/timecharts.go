package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"wirelab/experiment/figures"
)

// timeCharts adds the charts of a run over time. item is what the data consist of, such as "cube". costsPerChange adds
// the chart of the bits per changed item. budget is in kbps, 0 means none. display names the units of display errors.
func (d *chartData) timeCharts(r *rows, item string, costsPerChange bool, budget float64, display *figures.Playout) {
	points := r.series.allPoints()
	if len(points) > 0 {
		d.sampleCharts(points, item, costsPerChange, budget, display)
	}
	d.delayChart(&r.packets)
	d.packetChart(&r.packets)
}

// addAxis adds an axis and returns its index.
func (d *chartData) addAxis(x []axisValue) int {
	d.X = append(d.X, x)
	return len(d.X) - 1
}

// A ratio is a figure of a point as numerator and denominator, so that the figure of several points is
// the ratio of their sums.
type ratio func(p *point) (num, den float64)

// The figures of the charts. Figures that are maxima or minima have the denominator 1.
func payloadKbps(p *point) (num, den float64)      { return p.payload / 1000, p.width }
func wireKbps(p *point) (num, den float64)         { return p.wire / 1000, p.width }
func feedbackKbps(p *point) (num, den float64)     { return p.feedback / 1000, p.width }
func bitsPerItem(p *point) (num, den float64)      { return p.payload, p.items }
func bitsPerChanged(p *point) (num, den float64)   { return p.payload, p.changed }
func failedRate(p *point) (num, den float64)       { return p.failed + p.wrong, p.width }
func lostRate(p *point) (num, den float64)         { return p.lost, p.width }
func staleRate(p *point) (num, den float64)        { return p.stale, p.width }
func failedOrLostRate(p *point) (num, den float64) { return p.failed + p.wrong + p.lost, p.width }
func baselineAge(p *point) (num, den float64)      { return p.age, p.packetsWithAge }
func displayAge(p *point) (num, den float64)       { return p.displayAge, p.ticksWithAge }
func starvedShare(p *point) (num, den float64)     { return p.starved, p.displayed }
func positionMM(p *point) (num, den float64)       { return p.positionMM, 1 }
func positionError(p *point) (num, den float64)    { return p.positionError, 1 }
func angleError(p *point) (num, den float64)       { return p.angleError, 1 }
func peakKbps(p *point) (num, den float64)         { return p.peakKbps, 1 }
func minKbps(p *point) (num, den float64)          { return p.minKbps, 1 }

// withMean is withRatio with the mean of the last two seconds in place of each point. If a point is longer, it is the
// mean of the point.
func (l line) withMean(points []point, figure ratio, scale float64) line {
	l = l.withRatio(points, figure, scale)
	for i := range points {
		sumNum, sumDen := 0.0, 0.0
		forEachRecent(points[:i+1], func(p *point) {
			num, den := figure(p)
			sumNum, sumDen = sumNum+num, sumDen+den
		})
		l.Y[i] = value(scale * divide(sumNum, sumDen))
	}
	return l
}

// meanSpan is the period of means in seconds: two, as in the dashboard.
const meanSpan = 2.0

// describeMean returns what a title says about the means of withMean, such as ", 2 s mean".
func describeMean(points []point) string {
	if len(points) == 0 {
		return ""
	}
	return ", " + formatNumber(max(meanSpan, points[0].width)) + " s mean"
}

// forEachRecent calls f for the points of the last meanSpan of points, at least for the last point.
func forEachRecent(points []point, f func(*point)) {
	span := 0.0
	for i := len(points) - 1; i >= 0; i-- {
		span += points[i].width
		if i < len(points)-1 && span > meanSpan+samplePeriod/2 {
			return
		}
		f(&points[i])
	}
}

// loopPoints returns the indices of the points whose means include a loop point of the recording.
func loopPoints(points []point) (list []int) {
	for i := range points {
		across := 0.0
		forEachRecent(points[:i+1], func(p *point) { across += p.across })
		if across > 0 {
			list = append(list, i)
		}
	}
	return list
}

// withRatio returns l with a figure of each point, and its mean over all points as the ratio of the sums. Both are
// multiplied by scale.
func (l line) withRatio(points []point, figure ratio, scale float64) line {
	l.Y = make([]value, len(points))
	sumNum, sumDen := 0.0, 0.0
	for i := range points {
		num, den := figure(&points[i])
		l.Y[i] = value(scale * divide(num, den))
		sumNum, sumDen = sumNum+num, sumDen+den
	}
	mean := value(scale * divide(sumNum, sumDen))
	l.Mean = &mean
	return l
}

// divide returns x/y, NaN if y is 0.
func divide(x, y float64) float64 {
	if y == 0 {
		return math.NaN()
	}
	return x / y
}

// sampleCharts adds the charts of the data in samples.csv, all over the same axis: bandwidth, bits per
// item, failures, age of the baseline, and the display. Charts without data are omitted. Color is the number
// of a colour in page.css; lines of the kind "edge" bound a band. The other parameters are those of timeCharts.
func (d *chartData) sampleCharts(points []point, item string, costsPerChange bool, budget float64, display *figures.Playout) {
	until := make([]axisValue, len(points))
	for i := range points {
		until[i] = axisValue(points[i].until)
	}
	x := d.addAxis(until)
	// addSized adds a chart of sizes of packets, which do not set the scale at loop points, where the data jump.
	addSized := func(loops []int, title, unit string, lines ...line) {
		c := chart{Title: title, Unit: unit, Axis: "s", X: x, Lines: lines, Marked: true, Top: scaleTop(lines, loops), Loops: loops}
		c.Label = describeSeries(title, unit, &lines[0])
		d.Charts = append(d.Charts, c)
	}
	add := func(title, unit string, lines ...line) { addSized(nil, title, unit, lines...) }
	kbps := []line{
		line{Name: "payload", Color: 1}.withMean(points, payloadKbps, 1),
		line{Name: "wire", Color: 8}.withMean(points, wireKbps, 1),
		line{Name: "feedback", Color: 3}.withMean(points, feedbackKbps, 1),
	}
	if points[0].width > 1.5*samplePeriod { // points are means of several samples: show their range
		kbps = append(kbps, line{Name: "payload, largest in 100 ms", Color: 1, Kind: "edge"}.withRatio(points, peakKbps, 1),
			line{Name: "payload, smallest in 100 ms", Color: 1, Kind: "edge", Band: 1}.withRatio(points, minKbps, 1))
	}
	if budget > 0 {
		constant := func(*point) (num, den float64) { return budget, 1 }
		kbps = append(kbps, line{Name: "budget", Color: 5, Kind: "dash"}.withRatio(points, constant, 1))
	}
	mean, loops := describeMean(points), loopPoints(points)
	addSized(loops, "Bandwidth"+mean, "kbps", kbps...)
	if costsPerChange && anyPositive(points, func(p *point) float64 { return p.changed }) {
		addSized(loops, "Bits per changed "+item+mean, "bits", line{Name: "per changed " + item, Color: 1}.withMean(points, bitsPerChanged, 1))
	} else if anyPositive(points, func(p *point) float64 { return p.items }) {
		addSized(loops, "Bits per "+item+mean, "bits", line{Name: "per " + item, Color: 1}.withMean(points, bitsPerItem, 1))
	}
	add("Packets failed, lost or stale"+mean, "per second", line{Name: "failed", Color: 5}.withMean(points, failedRate, 1),
		line{Name: "lost", Color: 2}.withMean(points, lostRate, 1), line{Name: "stale", Color: 4}.withMean(points, staleRate, 1))
	if anyPositive(points, func(p *point) float64 { return p.packetsWithAge }) {
		add("Age of the baseline"+mean, "ticks", line{Name: "mean age", Color: 1}.withMean(points, baselineAge, 1))
	}
	if anyPositive(points, func(p *point) float64 { return p.ticksWithAge }) {
		add("Age of displayed data"+mean, "ms", line{Name: "mean age", Color: 3}.withMean(points, displayAge, 1))
	}
	if anyPositive(points, func(p *point) float64 { return p.starved + p.late }) {
		add("Display starved"+mean, "% of display ticks", line{Name: "starved", Color: 5}.withMean(points, starvedShare, 100))
	}
	if anyPositive(points, func(p *point) float64 { return p.positionMM }) {
		add("Maximum position error", "mm", line{Name: "position error", Color: 4}.withRatio(points, positionMM, 1))
	}
	if anyPositive(points, func(p *point) float64 { return p.positionError }) {
		add("Maximum position error", display.PositionErrorUnit, line{Name: "position error", Color: 4}.withRatio(points, positionError, 1))
	}
	if anyPositive(points, func(p *point) float64 { return p.angleError }) {
		add("Maximum angle error", display.AngleErrorUnit, line{Name: "angle error", Color: 3}.withRatio(points, angleError, 1))
	}
}

// scaleTop returns the upper end of a chart's scale, which may cut off rare spikes so that they do not flatten
// the rest. It is 1.5 times the 99th percentile if the maximum exceeds three times that percentile, otherwise
// 0, which means that the scale ends at the maximum. Values with an index in loops, which is in order, do not count.
func scaleTop(lines []line, loops []int) value {
	var all []float64
	for _, l := range lines {
		for i, v := range l.Y {
			if _, isLoop := slices.BinarySearch(loops, i); !isLoop && l.Kind != "edge" && !math.IsNaN(float64(v)) {
				all = append(all, float64(v))
			}
		}
	}
	if len(all) < 50 { // too few for a 99th percentile
		return 0
	}
	slices.Sort(all)
	if high := all[len(all)*99/100]; high > 0 && all[len(all)-1] > 3*high {
		return value(1.5 * high)
	}
	return 0
}

// anyPositive reports whether value is positive for any point.
func anyPositive(points []point, value func(p *point) float64) bool {
	for i := range points {
		if value(&points[i]) > 0 {
			return true
		}
	}
	return false
}

// describeSeries returns the text alternative of a line: its mean, minimum and maximum.
func describeSeries(title, unit string, l *line) string {
	minValue, maxValue, sum, n := math.Inf(1), math.Inf(-1), 0.0, 0.0
	for _, v := range l.Y {
		if f := float64(v); !math.IsNaN(f) {
			minValue, maxValue, sum, n = min(minValue, f), max(maxValue, f), sum+f, n+1
		}
	}
	if n == 0 {
		return title + ": no data"
	}
	mean := sum / n
	if l.Mean != nil {
		mean = float64(*l.Mean)
	}
	return fmt.Sprintf("%s, %s: mean %s, from %s to %s", title, unit, formatNumber(mean), formatNumber(minValue), formatNumber(maxValue))
}

// delayChart adds the chart of one-way delays: mean, and the band from the fastest to the slowest packet.
// It adds nothing if no packet arrived.
func (d *chartData) delayChart(p *packetStats) {
	var x []axisValue
	var minDelay, maxDelay []value
	var all delayStats
	mean := line{Name: "mean", Color: 1}
	p.delays.forEach(func(until float64, b delayStats) {
		x, all = append(x, axisValue(until)), all.join(b)
		mean.Y = append(mean.Y, b.meanMS())
		minDelay, maxDelay = append(minDelay, value(float64(b.min)/1e6)), append(maxDelay, value(float64(b.max)/1e6))
	})
	if len(x) == 0 {
		return
	}
	ofAll := all.meanMS()
	mean.Mean = &ofAll
	d.Charts = append(d.Charts, chart{Title: "One-way delay", Unit: "ms", Axis: "s", X: d.addAxis(x), Marked: true,
		Label: describeSeries("One-way delay", "ms", &mean), Lines: []line{mean,
			{Name: "slowest", Color: 1, Kind: "edge", Y: maxDelay}, {Name: "fastest", Color: 1, Kind: "edge", Band: 1, Y: minDelay}}})
}

// packetChart adds a time line of packets with problems: a row per kind, and a dot per packet with its
// explanation. The X values of all rows are the packets in order of time; each row has gaps for the
// packets of other kinds.
func (d *chartData) packetChart(p *packetStats) {
	type timed struct {
		problem
		kind problemKind
	}
	var dots []timed
	rows, n := []string{}, 0
	colors := [numKinds]int{kindFailed: 5, kindLost: 2, kindLate: 4, kindLarge: 6}
	var kinds []problemKind              // of the rows, from the bottom
	for k := numKinds - 1; k >= 0; k-- { // the most severe kind is at the top
		if p.problems[k].total == 0 {
			continue
		}
		rows, kinds = append(rows, kindNames[k]), append(kinds, k)
		for _, e := range p.sortedProblems(k) {
			dots = append(dots, timed{e, k})
		}
		n += p.problems[k].total
	}
	if len(dots) == 0 {
		return
	}
	slices.SortStableFunc(dots, func(a, b timed) int { return cmp.Or(cmp.Compare(a.sent, b.sent), a.compare(&b.problem)) })
	c := chart{Title: "Packets with problems", Axis: "s", Rows: rows, Marked: true,
		Label: fmt.Sprintf("%d packets on a time line; the tables under Packets explain each", n)}
	x := make([]axisValue, len(dots))
	for i, e := range dots {
		x[i] = axisValue(e.sent)
		c.Notes = append(c.Notes, e.why)
	}
	c.X = d.addAxis(x)
	for row, k := range kinds {
		y := make([]value, len(dots))
		for i := range dots {
			y[i] = noValue
			if dots[i].kind == k {
				y[i] = value(row)
			}
		}
		c.Lines = append(c.Lines, line{Name: kindNames[k], Color: colors[k], Kind: "dots", Y: y})
	}
	d.Charts = append(d.Charts, c)
}
