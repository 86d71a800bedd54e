package report

import (
	"time"

	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
)

// curve is one of the curves that report.md charts.
type curve int

// The curves. A point that stands for several samples is their maximum for firstPeakCurve and the curves
// after it, and their mean for the curves before it. The curves before positionCurve are means of the last two
// seconds, as in the charts of the dashboard; loopCurve is 1 if these contain a loop point of the recording, otherwise 0.
const (
	payloadCurve curve = iota
	changedCurve
	starvedCurve
	lateCurve
	failureCurve
	positionCurve
	orientationCurve
	loopCurve
	numCurves

	firstPeakCurve = failureCurve
)

// curves collects the data of the charts for a run of any length. A point stands for one sample. When
// there are maxPoints points, pairs of points are combined, so that a point stands for two samples, then
// for four, and so on.
type curves struct {
	begin, end      time.Duration // time range of the samples
	points          [numCurves][]float64
	recent          slidingSums
	samplesPerPoint int                // 0 before the first sample
	partial         [numCurves]float64 // incomplete point of the newest partialSamples samples
	partialSamples  int
}

// maxPoints is the maximum number of points: nearly two hours of samples, many more than a chart shows.
const maxPoints = 1 << 16

// meanSamples is the number of samples in two seconds, over which rates are averaged.
const meanSamples = int(2 * time.Second / meters.SamplePeriod)

// sampleSums are the counts of one or more samples, and the length of their period.
type sampleSums struct {
	width                                                            time.Duration
	payloadBits, changed, displayed, starved, late, failed, crossing int64
}

// add adds sign times the counts of x.
func (t *sampleSums) add(x *sampleSums, sign int64) {
	t.width += time.Duration(sign) * x.width
	t.payloadBits += sign * x.payloadBits
	t.changed += sign * x.changed
	t.displayed += sign * x.displayed
	t.starved += sign * x.starved
	t.late += sign * x.late
	t.failed += sign * x.failed
	t.crossing += sign * x.crossing
}

// slidingSums is the sum of the newest meanSamples samples.
type slidingSums struct {
	sampleSums
	ring [meanSamples]sampleSums // sample number n is at n % len
	n    int                     // samples so far
}

// addSample adds sample s, whose period has the given length, and removes the oldest of meanSamples samples.
func (t *slidingSums) addSample(s *meters.Sample, width time.Duration) {
	oldest := &t.ring[t.n%meanSamples]
	t.sampleSums.add(oldest, -1)
	*oldest = sampleSums{width, s.PayloadBits, s.Changed, int64(s.Displayed), int64(s.Starved), int64(s.Late), int64(s.Failed()), int64(s.CrossingLoop)}
	t.sampleSums.add(oldest, 1)
	t.n++
}

// payloadKbps returns the mean payload in kbit/s.
func (t *slidingSums) payloadKbps() float64 {
	return figures.RatioOrZero(float64(t.payloadBits)/1000, t.width.Seconds())
}

// add adds a sample and returns the length of its period, which is shorter for the last sample of a run.
func (c *curves) add(s *meters.Sample) (width time.Duration) {
	if c.samplesPerPoint == 0 { // the first sample of a live session's report may be later than 0
		// The start of the sample's period; -1 because its end may be a multiple of SamplePeriod.
		c.samplesPerPoint, c.begin = 1, (s.T - 1).Truncate(meters.SamplePeriod)
		c.end = c.begin
	}
	width = s.T - c.end
	c.end = s.T
	c.recent.addSample(s, width)
	t := &c.recent
	v := [numCurves]float64{
		payloadCurve:     t.payloadKbps(),
		changedCurve:     figures.RatioOrZero(float64(t.payloadBits), float64(t.changed)),
		starvedCurve:     100 * figures.RatioOrZero(float64(t.starved), float64(t.displayed)),
		lateCurve:        figures.RatioOrZero(float64(t.late), t.width.Seconds()),
		failureCurve:     figures.RatioOrZero(float64(t.failed), t.width.Seconds()),
		positionCurve:    max(s.PositionErrorMM, s.PositionError), // a session has either cubes or a table
		orientationCurve: max(s.OrientationErrorDeg, s.AngleError),
		loopCurve:        float64(min(t.crossing, 1)),
	}
	for i := range v {
		c.partial[i] = combine(curve(i), c.partial[i], float64(c.partialSamples), v[i])
	}
	c.partialSamples++
	if c.partialSamples < c.samplesPerPoint {
		return width
	}
	for i := range v {
		c.points[i] = append(c.points[i], c.partial[i])
	}
	c.partial, c.partialSamples = [numCurves]float64{}, 0
	if len(c.points[0]) == maxPoints {
		c.halve()
	}
	return width
}

// combine combines two values of a curve: a, which stands for n samples, and b, which stands for one.
func combine(c curve, a, n, b float64) float64 {
	if c >= firstPeakCurve {
		return max(a, b)
	}
	return (a*n + b) / (n + 1)
}

// halve combines each pair of points into one, in place, so that half of the space is free again. It is called
// when every curve has maxPoints points.
func (c *curves) halve() {
	for i, p := range c.points {
		for k := range maxPoints / 2 {
			p[k] = combine(curve(i), p[2*k], 1, p[2*k+1])
		}
		c.points[i] = p[:maxPoints/2]
	}
	c.samplesPerPoint *= 2
}

// series returns the points of a curve, oldest first, including the incomplete last one. The caller must
// not modify the result.
func (c *curves) series(k curve) []float64 {
	if c.partialSamples == 0 {
		return c.points[k]
	}
	// The full slice expression makes append copy the points.
	return append(c.points[k][:len(c.points[k]):len(c.points[k])], c.partial[k])
}
