package page

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/internal/texttable"
)

// timeLine is a line of a chart over time: a figure of the samples of a run.
type timeLine struct {
	name   string
	color  int // number of the colour in page.css
	of     meters.Ratio
	points []meters.Sample
}

// timeChart is a chart of figures over time.
type timeChart struct {
	title, unit string
	scale       float64 // factor from the figures to the unit
	kind        timeKind
	lines       []timeLine
}

// timeKind describes how a chart over time is drawn.
type timeKind int

const (
	meanKind    timeKind = iota // means of two seconds
	sizeKind                    // also of sizes of packets: values at loop points, where the data jump, do not set the scale
	maximumKind                 // the value of each point
)

// timeCharts returns the charts of the data in samples.csv. item is what the data consist of, such as
// "cube". costsPerChange selects the bits per changed item instead of per item. display names the units
// of display errors.
func timeCharts(item string, costsPerChange bool, display *figures.Playout) []timeChart {
	size := newTimeLine("per "+item, 1, meters.BitsPerItem)
	if costsPerChange {
		size = newTimeLine("per changed "+item, 1, meters.BitsPerChanged)
	}
	maximum := func(title, unit string, color int, of func(s *meters.Sample) float64) timeChart {
		ratio := func(s *meters.Sample) (num, den float64) { return of(s), 1 }
		return timeChart{"Maximum " + title, unit, 1, maximumKind, []timeLine{newTimeLine(title, color, ratio)}}
	}
	return []timeChart{
		{"Bandwidth", "kbps", 1, sizeKind, []timeLine{newTimeLine("payload", 1, meters.PayloadKbps),
			newTimeLine("wire", 8, meters.WireKbps), newTimeLine("feedback", 3, meters.FeedbackKbps)}},
		{"Bits " + size.name, "bits", 1, sizeKind, []timeLine{size}},
		{"Packets failed, lost or stale", "per second", 1, meanKind, []timeLine{
			newTimeLine("failed", 5, perSecond(func(s *meters.Sample) int64 {
				return s.Failed() + s.Wrong
			})),
			newTimeLine("lost", 2, perSecond(func(s *meters.Sample) int64 {
				return s.Lost
			})),
			newTimeLine("stale", 4, perSecond(func(s *meters.Sample) int64 {
				return s.Stale
			}))}},
		{"Age of the baseline", "ticks", 1, meanKind, []timeLine{newTimeLine("mean age", 1, meters.BaselineAge)}},
		{"Age of displayed data", "ms", 1, meanKind, []timeLine{newTimeLine("mean age", 3, meters.DisplayAgeMS)}},
		{"Display starved", "% of display ticks", 100, meanKind, []timeLine{newTimeLine("starved", 5, starvedShare)}},
		{"Late snapshots", "per second", 1, meanKind, []timeLine{
			newTimeLine("late", 2, perSecond(func(s *meters.Sample) int64 {
				return int64(s.Late)
			}))}},
		maximum("position error", "mm", 4, func(s *meters.Sample) float64 { return s.PositionErrorMM }),
		maximum("rotation error", "degrees", 3, func(s *meters.Sample) float64 { return s.OrientationErrorDeg }),
		maximum("position error", display.PositionErrorUnit, 4,
			func(s *meters.Sample) float64 { return s.PositionError }),
		maximum("angle error", display.AngleErrorUnit, 3,
			func(s *meters.Sample) float64 { return s.AngleError }),
	}
}

// newTimeLine returns a line without points.
func newTimeLine(name string, color int, of meters.Ratio) timeLine {
	return timeLine{name, color, of, nil}
}

// perSecond returns the ratio of a count to the time.
func perSecond(count func(s *meters.Sample) int64) meters.Ratio {
	return func(s *meters.Sample) (num, den float64) { return float64(count(s)), s.Width.Seconds() }
}

// starvedShare is the share of display ticks without a newer snapshot.
func starvedShare(s *meters.Sample) (num, den float64) {
	return float64(s.Starved), float64(s.Displayed)
}

// draw returns the chart. Its X values are all points in time of all lines, because samples of several
// runs may have different periods. draw returns nil if all figures are 0 or unknown.
func (t *timeChart) draw() *chart {
	c := &chart{Title: t.title, Unit: t.unit, Axis: timeAxis}
	times := map[time.Duration]bool{}
	period := meanSpan
	for _, l := range t.lines {
		for i := range l.points {
			times[l.points[i].T] = true
			period = max(period, l.points[0].Width)
		}
	}
	if t.kind != maximumKind {
		c.Title += ", " + formatNumber(period.Round(time.Millisecond).Seconds()) + " s mean"
	}
	until := slices.Sorted(maps.Keys(times))
	for _, x := range until {
		c.X = append(c.X, axisValue(x.Seconds()))
	}
	hasData := false
	c.Label = c.titleWithUnit()
	for _, l := range t.lines {
		x := t.newLine(l.of, l.points)
		hasData = hasData || slices.ContainsFunc(x.Y, func(v value) bool { return v != 0 && v == v })
		x.Name = l.name
		x.Color = l.color
		x.Y = c.align(t, l.points, x.Y, until)
		c.Lines = append(c.Lines, x)
		c.Label += "; " + describeLine(&x)
	}
	if !hasData {
		return nil
	}
	slices.Sort(c.Loops)
	c.Loops = slices.Compact(c.Loops)
	c.Top = scaleTop(c.Lines, c.Loops)
	return c
}

// align returns the values y of points at the given times, and adds the loop points to c.Loops. A point
// covers the time from its beginning to its end; other times are gaps.
func (c *chart) align(t *timeChart, points []meters.Sample, y []value, times []time.Duration) []value {
	out := gaps(len(times))
	k := 0 // index of the point that covers a time; both are in order
	for i, at := range times {
		for k < len(points) && points[k].T < at {
			k++
		}
		if k == len(points) || at <= points[k].T-points[k].Width {
			continue
		}
		out[i] = y[k]
		if t.kind == sizeKind && crossesLoop(recent(points[:k+1])) {
			c.Loops = append(c.Loops, i)
		}
	}
	return out
}

// newLine returns a line with the figure of each point or, unless it is a maximum, of the two seconds that
// end with it; and with the mean over all points as the ratio of the sums.
func (t *timeChart) newLine(of meters.Ratio, points []meters.Sample) line {
	l := line{Y: make([]value, len(points))}
	for i := range points {
		averaged := points[i : i+1]
		if t.kind != maximumKind {
			averaged = recent(points[:i+1])
		}
		l.Y[i] = t.valueOf(of, averaged)
	}
	l.Mean = new(t.valueOf(of, points))
	return l
}

// valueOf returns a figure of points in the unit of the chart, a gap if there are no data.
func (t *timeChart) valueOf(of meters.Ratio, points []meters.Sample) value {
	return value(of.Of(points).Times(t.scale).Or(math.NaN()))
}

// meanSpan is the period of means: two seconds, as in the dashboard.
const meanSpan = 2 * time.Second

// recent returns the last meanSpan of points, at least the last point.
func recent(points []meters.Sample) []meters.Sample {
	span := time.Duration(0)
	first := len(points)
	for first > 0 {
		span += points[first-1].Width
		if first < len(points) && span > meanSpan+meters.SamplePeriod/2 {
			break
		}
		first--
	}
	return points[first:]
}

// crossesLoop reports whether packets had references from before a loop point of the recording.
func crossesLoop(points []meters.Sample) bool {
	return slices.ContainsFunc(points, func(s meters.Sample) bool { return s.CrossingLoop > 0 })
}

// overTime returns the charts of a run over time, and their data as a table for screen readers. budget
// is in kbps, 0 means none.
func (r *rows) overTime(list []timeChart, budget float64) (out charts, t *table) {
	points := r.series.points
	for i := range list {
		for k := range list[i].lines {
			list[i].lines[k].points = points
		}
		c := list[i].draw()
		if c == nil {
			continue
		}
		if i == 0 {
			c.addBandwidth(points, budget)
		}
		out = append(out, c)
	}
	for _, c := range []*chart{r.packets.delayChart(), r.packets.problemChart()} {
		if c != nil {
			out = append(out, c)
		}
	}
	for _, c := range out {
		c.Marked = true
	}
	return out, timeTable(points, list)
}

// addBandwidth adds the range of the samples of each point, if points stand for several, and the budget.
func (c *chart) addBandwidth(points []meters.Sample, budget float64) {
	if points[0].Width > meters.SamplePeriod {
		high := line{Name: "payload, largest in 100 ms", Color: 1, Kind: "edge", Y: gaps(len(points))}
		low := line{Name: "payload, smallest in 100 ms", Color: 1, Kind: "edge", Band: 1, Y: gaps(len(points))}
		const bitsPerKbps = 100 // in 100 ms
		for i := range points {
			high.Y[i] = value(points[i].LargestBits) / bitsPerKbps
			low.Y[i] = value(points[i].SmallestBits) / bitsPerKbps
		}
		c.Lines = append(c.Lines, high, low)
	}
	if budget > 0 {
		c.Lines = append(c.Lines, line{Name: "budget", Color: 5, Kind: "dash",
			Y: slices.Repeat([]value{value(budget)}, len(points))})
	}
}

// timeTable returns the data of the charts as a table of at most 20 rows.
func timeTable(points []meters.Sample, list []timeChart) *table {
	t := newTable("The charts as a table", ">until, s")
	t.Folded = true
	for _, c := range list {
		for _, l := range c.lines {
			t.Heads = append(t.Heads, texttable.Head{Text: withUnit(l.name, c.unit), Number: true})
		}
	}
	const maxRows = 20
	joined := joinPoints(points, maxRows)
	for i := range joined {
		row := []any{joined[i].T.Seconds()}
		for _, c := range list {
			for _, l := range c.lines {
				row = append(row, float64(c.valueOf(l.of, joined[i:i+1])))
			}
		}
		t.add(row...)
	}
	return t
}

// scaleTop returns the upper end of a chart's scale, which may cut off rare spikes so that they do not
// flatten the rest. It is 1.5 times the 99th percentile if the maximum exceeds three times that
// percentile, otherwise 0, which means that the scale ends at the maximum. Values with an index in
// loops, which is in order, do not count.
func scaleTop(lines []line, loops []int) value {
	var all []float64
	for _, l := range lines {
		for i, v := range l.Y {
			if _, isLoop := slices.BinarySearch(loops, i); !isLoop && l.Kind != "edge" &&
				!math.IsNaN(float64(v)) {
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

// describeLine returns the text alternative of a line: its mean, minimum and maximum.
func describeLine(l *line) string {
	minValue := math.Inf(1)
	maxValue := math.Inf(-1)
	sum := 0.0
	n := 0.0
	for _, v := range l.Y {
		if f := float64(v); !math.IsNaN(f) {
			minValue = min(minValue, f)
			maxValue = max(maxValue, f)
			sum = sum + f
			n = n + 1
		}
	}
	if n == 0 {
		return l.Name + ": no data"
	}
	mean := sum / n
	if l.Mean != nil {
		mean = float64(*l.Mean)
	}
	return fmt.Sprintf("%s: mean %s, from %s to %s", l.Name, formatNumber(mean), formatNumber(minValue),
		formatNumber(maxValue))
}

// delayChart returns the chart of one-way delays: mean, and the band from the fastest to the slowest
// packet; nil if no packet arrived.
func (p *packetStats) delayChart() *chart {
	c := &chart{Title: "One-way delay", Unit: "ms", Axis: timeAxis}
	mean := line{Name: "mean", Color: 1}
	slowest := line{Name: "slowest", Color: 1, Kind: "edge"}
	fastest := line{Name: "fastest", Color: 1, Kind: "edge", Band: 1}
	var all delayStats
	p.delays.forEach(func(until float64, b delayStats) {
		all = all.join(b)
		c.X = append(c.X, axisValue(until))
		mean.Y = append(mean.Y, b.meanMS())
		slowest.Y = append(slowest.Y, value(float64(b.max)/1e6))
		fastest.Y = append(fastest.Y, value(float64(b.min)/1e6))
	})
	if all.count == 0 {
		return nil
	}
	mean.Mean = new(all.meanMS())
	c.Lines = []line{mean, slowest, fastest}
	c.Label = c.titleWithUnit() + "; " + describeLine(&mean)
	return c
}

// problemChart returns a time line of packets with problems: a row per kind, the most severe at the top,
// and a dot per packet with its explanation. It returns nil if there were no problems.
func (p *packetStats) problemChart() *chart {
	type timed struct {
		problem
		row int
	}
	c := &chart{Title: "Packets with problems", Axis: timeAxis, Rows: []string{}}
	colors := [numKinds]int{kindFailed: 5, kindLost: 2, kindLate: 4, kindLarge: 6}
	var all []timed
	total := 0
	for k := numKinds - 1; k >= 0; k-- {
		if p.problems[k].total == 0 {
			continue
		}
		total += p.problems[k].total
		for _, e := range p.sortedProblems(k) {
			all = append(all, timed{e, len(c.Rows)})
		}
		c.Rows = append(c.Rows, kindNames[k])
		c.Lines = append(c.Lines, line{Name: kindNames[k], Color: colors[k], Kind: "dots"})
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b timed) int {
		return cmp.Or(cmp.Compare(a.sent, b.sent),
			a.compare(&b.problem))
	})
	c.Label = fmt.Sprintf("%d packets on a time line; the tables under Packets explain each", total)
	for row := range c.Lines {
		c.Lines[row].Y = gaps(len(all))
	}
	for i, e := range all {
		c.X = append(c.X, axisValue(e.sent))
		c.Notes = append(c.Notes, e.why)
		c.Lines[e.row].Y[i] = value(e.row)
	}
	return c
}
