package page

import (
	"slices"

	"wirelab/experiment/engine/meters"
)

// maxPoints bounds the points of a chart: more than a screen has pixels across.
const maxPoints = 2000

// series is a run over time. Each point of its charts is a sample, or several that were joined: when
// there are more than maxPoints points, pairs are joined and each point has twice as many samples.
type series struct {
	points          []meters.Sample
	samplesPerPoint int
	samplesOfLast   int // samples of the last point
}

// add adds a sample.
func (s *series) add(x *meters.Sample) {
	if n := len(s.points); n > 0 && s.samplesOfLast < s.samplesPerPoint {
		s.points[n-1].Join(x)
		s.samplesOfLast++
		return
	}
	s.samplesPerPoint = max(s.samplesPerPoint, 1)
	if len(s.points) == maxPoints {
		s.points = joinPoints(s.points, maxPoints/2)
		s.samplesPerPoint *= 2
	}
	s.points = append(s.points, *x)
	s.samplesOfLast = 1
}

// clone returns a deep copy.
func (s *series) clone() series {
	x := *s
	x.points = slices.Clone(s.points)
	return x
}

// joinPoints joins neighbouring points so that at most n remain.
func joinPoints(points []meters.Sample, n int) []meters.Sample {
	n = min(n, len(points))
	out := make([]meters.Sample, n)
	for i := range n {
		first := i * len(points) / n
		out[i] = points[first]
		for k := first + 1; k < (i+1)*len(points)/n; k++ {
			out[i].Join(&points[k])
		}
	}
	return out
}
