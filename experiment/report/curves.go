package report

import (
	"time"

	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
)

// curve is one of the charts of report.md.
type curve int

// The curves; of those from peaks on the greatest value of a time counts, of the others
// the mean.
const (
	payloadCurve curve = iota
	changedCurve
	starvedCurve
	lateCurve
	failureCurve
	positionCurve
	orientationCurve
	numCurves

	peaks = failureCurve
)

// curves are what the charts show of a run of any length: a point for each sample, and
// after maxPoints samples for two of them, then for four, and so on.
type curves struct {
	begin, end time.Duration // of the samples
	points     [numCurves][]float64
	each       int                // samples in a point
	last       [numCurves]float64 // of the newest each samples, of which there are n
	n          int
}

// maxPoints is nearly two hours, and many times what a chart can show.
const maxPoints = 1 << 16

// add takes a sample, and returns how long its period was.
func (c *curves) add(s *meters.Sample) (width time.Duration) {
	if c.each == 0 { // not at zero in a live session, which remembers only its last minutes
		c.each, c.begin = 1, (s.T - 1).Truncate(meters.SamplePeriod)
		c.end = c.begin
	}
	width = s.T - c.end
	c.end = s.T
	v := [numCurves]float64{
		payloadCurve:     figures.Ratio(float64(s.PayloadBits)/1000, width.Seconds()),
		changedCurve:     figures.Ratio(float64(s.PayloadBits), float64(s.Changed)),
		starvedCurve:     100 * figures.Ratio(float64(s.Starved), float64(s.Displayed)),
		lateCurve:        figures.Ratio(float64(s.Late), width.Seconds()),
		failureCurve:     figures.Ratio(float64(s.Failed()), width.Seconds()),
		positionCurve:    s.PositionErrorMM,
		orientationCurve: s.OrientationErrorDeg,
	}
	for i := range v {
		c.last[i] = join(curve(i), c.last[i], float64(c.n), v[i], 1)
	}
	c.n++
	if c.n < c.each {
		return width
	}
	for i := range v {
		c.points[i] = append(c.points[i], c.last[i])
	}
	c.last, c.n = [numCurves]float64{}, 0
	if len(c.points[0]) == maxPoints {
		c.thin()
	}
	return width
}

// join makes two values of a curve one: of the first there were n, of the second m.
func join(c curve, a, n, b, m float64) float64 {
	if c >= peaks {
		return max(a, b)
	}
	return (a*n + b*m) / (n + m)
}

// thin makes one point of every two.
func (c *curves) thin() {
	for i, p := range c.points {
		for k := range maxPoints / 2 {
			p[k] = join(curve(i), p[2*k], 1, p[2*k+1], 1)
		}
		c.points[i] = p[:maxPoints/2]
	}
	c.each *= 2
}

// of returns the points of a curve, oldest first.
func (c *curves) of(k curve) []float64 {
	if c.n == 0 {
		return c.points[k]
	}
	return append(c.points[k][:len(c.points[k]):len(c.points[k])], c.last[k])
}
