package lossmodel

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Distribution is how jitter is spread around the latency. A new one is a file
// with its sampler, and a case in offset and in its name.
type Distribution uint8

// The distributions.
const (
	Uniform      Distribution = iota // every offset from -jitter to +jitter alike
	Normal                           // mean 0, standard deviation jitter
	Pareto                           // tc's: from -0.667 to 4 jitters, mean -0.033, standard deviation 0.82
	ParetoNormal                     // tc's: a quarter normal, three quarters Pareto
	Exponential                      // never below the latency: mean and standard deviation jitter
	Gamma                            // never below the latency: standard deviation jitter, mean jitter times the root of the shape
	Tabled                           // by a table of quantiles or a file
	numDistributions
)

// String returns the name that the distribution key takes.
func (d Distribution) String() string {
	names := [numDistributions]string{"uniform", "normal", "pareto", "paretonormal", "exponential", "gamma", "table"}
	if d < numDistributions {
		return names[d]
	}
	return fmt.Sprintf("distribution(%d)", uint8(d))
}

// sampler turns words into offsets from the latency.
type sampler struct {
	dist   Distribution
	jitter time.Duration
	halves int     // of Gamma's shape
	scale  int64   // 1/sqrt(shape)
	points []int64 // of the table, not decreasing
	blend  bool    // between its points
}

func newSampler(d *Delay, files *library) sampler {
	s := sampler{dist: d.Distribution, jitter: d.Jitter}
	switch d.Distribution {
	case Gamma:
		s.halves = int(d.shape() * 2)
		s.scale = int64(one / math.Sqrt(d.shape())) // a root is rounded alike everywhere
	case Tabled:
		if s.points, s.blend = d.Table.points(), true; d.Table.File.Path != "" {
			s.points, s.blend = files.get(d.Table.File, asTable).table, false
		}
	}
	return s
}

func (s *sampler) offset(word uint64) time.Duration {
	switch s.dist {
	case Uniform:
		return time.Duration(scale(word, 2*uint64(s.jitter)+1)) - s.jitter
	case Normal:
		return normal(word, s.jitter)
	}
	return times(s.units(word), s.jitter)
}

// units returns the quantile in units of the jitter, for those that have one.
func (s *sampler) units(word uint64) int64 {
	switch s.dist {
	case Pareto:
		return pareto(word)
	case ParetoNormal:
		return paretonormal(word)
	case Exponential:
		return exponential(word)
	case Gamma:
		return gamma(word, s.halves, s.scale)
	}
	return quantileOf(s.points, word, s.blend)
}

func distributionUnit() unit[Distribution] {
	names := make([]string, numDistributions)
	for i := range names {
		names[i] = Distribution(i).String()
	}
	return unit[Distribution]{
		expected: "one of " + strings.Join(names, ", "), choices: names,
		parse: func(v any) (Distribution, bool) {
			name, _ := v.(string)
			i := slices.Index(names, name)
			return Distribution(i), i >= 0
		},
		format: Distribution.String,
		number: func(d Distribution) float64 { return float64(d) },
		in:     func(d Distribution) bool { return d < numDistributions },
	}
}

// DefaultShape is that of gamma jitter where none is set.
const DefaultShape = 2

func (d *Delay) shape() float64 {
	if d.Shape == 0 {
		return DefaultShape
	}
	return d.Shape
}

// setShape keeps the default as 0, so that equal specs are equal.
func (d *Delay) setShape(k float64) {
	if d.Shape = k; k == DefaultShape {
		d.Shape = 0
	}
}

// shapeUnit: whole and half shapes are sums of exponentials and squared normals,
// which integers can add up.
var shapeUnit = unit[float64]{
	expected: "a shape from 0.5 to 16 in steps of 0.5, such as 2", min: "0.5", max: "16",
	parse: func(v any) (float64, bool) { return parseNumber(v) }, format: formatNumber,
	number: func(k float64) float64 { return k },
	in:     func(k float64) bool { return k >= 0.5 && k <= 16 && k*2 == math.Trunc(k*2) },
}
