package page

import (
	"math"
	"slices"
)

// point is the sum of the samples of a period.
type point struct {
	until, width                         float64 // seconds
	sent, payload, wire, feedback        float64 // sent in packets, the others in bits
	items, changed                       float64 // numbers of items sent, and of those that had changed
	age, packetsWithAge                  float64 // age in ticks, summed over packetsWithAge
	displayed, starved, late             float64 // display ticks, those for which no newer snapshot had arrived, and snapshots too late for display
	displayAge, ticksWithAge             float64 // age in ms, summed over ticksWithAge
	stale, lost, failed, wrong           float64 // packets
	across                               float64 // packets with references from before a loop point of the recording
	peakKbps, positionMM, orientationDeg float64 // maxima of the samples
	positionError, angleError            float64 // maxima of the samples, in the units of a table's schema
	minKbps                              float64 // minimum payload of the samples
}

// join merges q, the samples of the period after p, into p. Counts and sums are added, and of the extremes the
// larger maximum and the smaller minimum remain.
func (p *point) join(q *point) {
	p.until = q.until
	p.width += q.width
	// The fields that are sums, each with its addend.
	for _, pair := range [][2]*float64{{&p.sent, &q.sent}, {&p.payload, &q.payload}, {&p.wire, &q.wire}, {&p.feedback, &q.feedback},
		{&p.items, &q.items}, {&p.changed, &q.changed}, {&p.age, &q.age}, {&p.packetsWithAge, &q.packetsWithAge}, {&p.displayed, &q.displayed},
		{&p.starved, &q.starved}, {&p.late, &q.late}, {&p.displayAge, &q.displayAge}, {&p.ticksWithAge, &q.ticksWithAge}, {&p.stale, &q.stale}, {&p.lost, &q.lost}, {&p.failed, &q.failed},
		{&p.wrong, &q.wrong}, {&p.across, &q.across}} {
		*pair[0] += *pair[1]
	}
	p.peakKbps, p.minKbps = max(p.peakKbps, q.peakKbps), min(p.minKbps, q.minKbps)
	p.positionMM, p.orientationDeg = max(p.positionMM, q.positionMM), max(p.orientationDeg, q.orientationDeg)
	p.positionError, p.angleError = max(p.positionError, q.positionError), max(p.angleError, q.angleError)
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
	end             float64 // time of the last sample, in seconds
	started         bool    // a sample was added
}

// samplePeriod is the period of samples.csv, in seconds.
const samplePeriod = 0.1

// failures are the columns of outcomes that count as failures.
var failures = []string{"no_baseline", "corrupt", "unknown_codec"}

// add adds a row of samples.csv. The file has rates, ratios and means of the sample; they are converted to
// sums, so that samples can be merged.
func (s *series) add(c cells) {
	until := c.number("t_s")
	if !s.started { // the first sample may be late: a live session stores only its last minutes
		s.started, s.samplesPerPoint = true, 1
		s.end = samplePeriod * math.Floor((until-1e-6)/samplePeriod)
	}
	width := max(until-s.end, 0)
	s.end = until
	p := point{until: until, width: width, sent: c.number("sent"), displayed: c.number("displayed"), starved: c.number("starved"),
		late: c.number("late"), stale: c.number("stale"), lost: c.number("lost"), wrong: c.number("wrong"), across: c.number("across"),
		positionMM: c.number("position_error_mm"), orientationDeg: c.number("orientation_error_deg"),
		positionError: c.number("position_error"), angleError: c.number("angle_error")}
	for _, name := range failures {
		p.failed += c.number(name)
	}
	bits := func(name string) float64 { return c.number(name) * 1000 * width } // from kbps
	p.payload, p.wire, p.feedback = bits("payload_kbps"), bits("wire_kbps"), bits("feedback_kbps")
	p.peakKbps, p.minKbps = c.number("payload_kbps"), c.number("payload_kbps")
	// items returns the number of items: payload bits divided by the bits per item in column name.
	items := func(name string) float64 {
		if bitsPer := c.number(name); bitsPer > 0 {
			return p.payload / bitsPer
		}
		return 0
	}
	p.items, p.changed = items("bits_per_item"), items("bits_per_changed")
	if age := c.number("baseline_age_ticks"); age > 0 {
		p.age, p.packetsWithAge = age*p.sent, p.sent
	}
	if c.text("age_ms") != "" {
		ticks := max(p.displayed, 1)
		p.displayAge, p.ticksWithAge = c.number("age_ms")*ticks, ticks
	}
	s.addPoint(p)
}

// addPoint adds one sample to s.partial, which becomes a point when it has s.samplesPerPoint samples. When there
// are maxPoints points, addPoint merges pairs of them and doubles s.samplesPerPoint.
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
		for i := range maxPoints / 2 {
			s.points[i] = s.points[2*i]
			s.points[i].join(&s.points[2*i+1])
		}
		s.points, s.samplesPerPoint = s.points[:maxPoints/2], 2*s.samplesPerPoint
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

// mergePoints merges neighbouring points so that at most n remain, for tables.
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
