package page

import (
	"math"
	"slices"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/units"
)

// column is a column of points: a sum over the samples of a period or, from firstMaximum on, their maximum.
type column int

const (
	colWidth   column = iota // length of the period in seconds
	colSent                  // packets
	colPayload               // kbit, as are the next two
	colWire
	colFeedback
	colItems      // items sent
	colChanged    // of these, items that had changed
	colAge        // age of the baseline in ticks, summed over colReferenced packets
	colReferenced // packets with a baseline
	colDisplayed  // display ticks
	colStarved    // of these, ticks for which no newer snapshot had arrived
	colLate       // snapshots too late for display
	colDisplayAge // age of the display in ms, summed over colAged display ticks
	colAged
	colStale // packets, as are the next three
	colLost
	colFailed // also those that were decoded wrongly
	colAcross // with references from before a loop point of the recording
	colPeak   // largest payload in kbps
	colLow    // smallest payload in kbps, as the maximum of the negative values
	colPositionMM
	colRotation // degrees
	colPosition // in the unit of a table's schema, as is the next
	colAngle
	colOne // always 1
	numColumns

	firstMaximum = colPeak
)

// point contains the columns of the samples of a period that ends at until, in seconds.
type point struct {
	until  float64
	values [numColumns]float64
}

// join merges q, the samples of the period after p, into p.
func (p *point) join(q *point) {
	p.until = q.until
	for i, v := range q.values {
		if column(i) < firstMaximum {
			p.values[i] += v
		} else {
			p.values[i] = max(p.values[i], v)
		}
	}
}

// A ratio is a figure of a point as numerator and denominator, so that the figure of several points is
// the ratio of their sums. Figures that are maxima have the denominator colOne.
type ratio struct{ num, den column }

// value returns the figure of a point, NaN if the denominator is 0.
func (r ratio) value(p *point) float64 { return divide(p.values[r.num], p.values[r.den]) }

// divide returns x/y, NaN if y is 0.
func divide(x, y float64) float64 {
	if y == 0 {
		return math.NaN()
	}
	return x / y
}

// maxPoints bounds the points of a chart: more than a screen has pixels across.
const maxPoints = 2000

// series is a run over time: one point per sample. When there are maxPoints points, pairs are merged
// and each point has twice as many samples.
type series struct {
	points          []point // complete points
	samplesPerPoint int     // samples in a complete point
	partial         point   // the next point
	partialSamples  int     // samples in partial
}

// samplePeriod is the period of samples.csv, in seconds.
var samplePeriod = meters.SamplePeriod.Seconds()

// add adds a sample.
func (s *series) add(x *meters.Sample) {
	s.samplesPerPoint = max(s.samplesPerPoint, 1)
	peak := divide(meters.PayloadKbps(x))
	s.addPoint(point{until: x.T.Seconds(), values: [numColumns]float64{
		colWidth: x.Width.Seconds(), colSent: float64(x.Sent), colOne: 1,
		colPayload: float64(x.PayloadBits) / 1000, colWire: float64(x.WireBits) / 1000, colFeedback: float64(x.FeedbackBits) / 1000,
		colItems: float64(x.Items), colChanged: float64(x.Changed), colAge: float64(x.BaselineAge), colReferenced: float64(x.Referenced),
		colDisplayed: float64(x.Displayed), colStarved: float64(x.Starved), colLate: float64(x.Late),
		colDisplayAge: units.Milliseconds(x.Age), colAged: float64(x.Aged),
		colStale: float64(x.Stale), colLost: float64(x.Lost), colFailed: float64(x.Failed() + x.Wrong), colAcross: float64(x.CrossingLoop),
		colPeak: peak, colLow: -peak, colPositionMM: x.PositionErrorMM, colRotation: x.OrientationErrorDeg,
		colPosition: x.PositionError, colAngle: x.AngleError,
	}})
}

// addPoint adds one sample to s.partial, which becomes a point when it has s.samplesPerPoint samples. When
// there are maxPoints points, addPoint merges pairs of them and doubles s.samplesPerPoint.
func (s *series) addPoint(p point) {
	if s.partialSamples == 0 {
		s.partial = p
	} else {
		s.partial.join(&p)
	}
	s.partialSamples++
	if s.partialSamples < s.samplesPerPoint {
		return
	}
	s.points = append(s.points, s.partial)
	s.partialSamples = 0
	if len(s.points) == maxPoints {
		s.points = mergePoints(s.points, maxPoints/2)
		s.samplesPerPoint *= 2
	}
}

// allPoints returns the points; the last one may have fewer samples.
func (s *series) allPoints() []point {
	if s.partialSamples == 0 {
		return s.points
	}
	return append(slices.Clip(s.points), s.partial)
}

// clone returns a deep copy.
func (s *series) clone() series {
	x := *s
	x.points = slices.Clone(s.points)
	return x
}

// mergePoints merges neighbouring points so that at most n remain.
func mergePoints(points []point, n int) []point {
	n = min(n, len(points))
	out := make([]point, 0, n)
	for i := range n {
		group := points[i*len(points)/n : (i+1)*len(points)/n]
		merged := group[0]
		for k := range group[1:] {
			merged.join(&group[1+k])
		}
		out = append(out, merged)
	}
	return out
}
