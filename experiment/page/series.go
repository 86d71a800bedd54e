package page

import (
	"math"
	"slices"
)

// point is what happened in a stretch of time, summed over its samples.
type point struct {
	until, width                         float64 // seconds
	sent, payload, wire, feedback        float64 // packets, bits
	items, changed                       float64
	age, aged                            float64 // ticks, summed over packets
	displayed, starved, late             float64
	shownAge, shownAged                  float64 // ms, summed over display ticks
	stale, lost, failed, wrong           float64
	peakKbps, positionMM, orientationDeg float64 // the greatest
	least                                float64 // kbps of the quietest sample
}

// join adds the samples of another point, which comes next.
func (p *point) join(q *point) {
	p.until = q.until
	p.width += q.width
	for _, x := range [][2]*float64{{&p.sent, &q.sent}, {&p.payload, &q.payload}, {&p.wire, &q.wire}, {&p.feedback, &q.feedback},
		{&p.items, &q.items}, {&p.changed, &q.changed}, {&p.age, &q.age}, {&p.aged, &q.aged}, {&p.displayed, &q.displayed},
		{&p.starved, &q.starved}, {&p.late, &q.late}, {&p.shownAge, &q.shownAge}, {&p.shownAged, &q.shownAged}, {&p.stale, &q.stale}, {&p.lost, &q.lost}, {&p.failed, &q.failed},
		{&p.wrong, &q.wrong}} {
		*x[0] += *x[1]
	}
	p.peakKbps, p.least = max(p.peakKbps, q.peakKbps), min(p.least, q.least)
	p.positionMM, p.orientationDeg = max(p.positionMM, q.positionMM), max(p.orientationDeg, q.orientationDeg)
}

// maxPoints bounds the points of a chart: many times what the eye tells apart.
const maxPoints = 2000

// series is a run over time: a point for each sample, and after maxPoints samples one for
// two of them, then for four, and so on.
type series struct {
	points []point
	each   int // samples in a point
	open   point
	n      int // samples in open
	end    float64
	begun  bool
}

// samplePeriod is that of samples.csv, in seconds.
const samplePeriod = 0.1

// failures are the outcomes that count as such.
var failures = []string{"no_baseline", "corrupt", "unknown_codec", "tainted"}

func (s *series) add(c cells) {
	until := c.number("t_s")
	if !s.begun { // not at zero in a live session, which remembers only its last minutes
		s.begun, s.each = true, 1
		s.end = samplePeriod * math.Floor((until-1e-6)/samplePeriod)
	}
	width := max(until-s.end, 0)
	s.end = until
	p := point{until: until, width: width, sent: c.number("sent"), displayed: c.number("displayed"), starved: c.number("starved"),
		late: c.number("late"), stale: c.number("stale"), lost: c.number("lost"), wrong: c.number("wrong"),
		positionMM: c.number("position_error_mm"), orientationDeg: c.number("orientation_error_deg")}
	for _, name := range failures {
		p.failed += c.number(name)
	}
	bits := func(name string) float64 { return c.number(name) * 1000 * width }
	p.payload, p.wire, p.feedback = bits("payload_kbps"), bits("wire_kbps"), bits("feedback_kbps")
	p.peakKbps, p.least = c.number("payload_kbps"), c.number("payload_kbps")
	per := func(name string) float64 {
		if v := c.number(name); v > 0 {
			return p.payload / v
		}
		return 0
	}
	p.items, p.changed = per("bits_per_item"), per("bits_per_changed")
	if age := c.number("baseline_age_ticks"); age > 0 {
		p.age, p.aged = age*p.sent, p.sent
	}
	if c.text("age_ms") != "" {
		n := max(p.displayed, 1)
		p.shownAge, p.shownAged = c.number("age_ms")*n, n
	}
	s.take(p)
}

func (s *series) take(p point) {
	if s.n == 0 {
		s.open = p
	} else {
		s.open.join(&p)
	}
	s.n++
	if s.n < s.each {
		return
	}
	s.points = append(s.points, s.open)
	s.n = 0
	if len(s.points) == maxPoints {
		for i := range maxPoints / 2 {
			s.points[i] = s.points[2*i]
			s.points[i].join(&s.points[2*i+1])
		}
		s.points, s.each = s.points[:maxPoints/2], 2*s.each
	}
}

// all returns the points, the last of which may be of fewer samples.
func (s *series) all() []point {
	if s.n == 0 {
		return s.points
	}
	return append(slices.Clip(s.points), s.open)
}

func (s *series) clone() series {
	x := *s
	x.points = slices.Clone(s.points)
	return x
}

// slices of time, for tables: at most n points.
func coarse(points []point, n int) []point {
	n = min(n, len(points))
	out := make([]point, 0, n)
	for i := range n {
		part := points[i*len(points)/n : (i+1)*len(points)/n]
		p := part[0]
		for k := range part[1:] {
			p.join(&part[1+k])
		}
		out = append(out, p)
	}
	return out
}
