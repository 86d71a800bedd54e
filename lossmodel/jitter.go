package lossmodel

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel/random"
	"wirelab/lossmodel/tracefile"
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

func newSampler(d *Delay, files *tracefile.Library) sampler {
	s := sampler{dist: d.Distribution, jitter: d.Jitter}
	switch d.Distribution {
	case Gamma:
		s.halves = int(d.shape() * 2)
		s.scale = int64(random.One / math.Sqrt(d.shape())) // a root is rounded alike everywhere
	case Tabled:
		s.points, s.blend = d.Table.points(), d.Table.File.Path == ""
		if !s.blend {
			s.points = files.Get(d.Table.File, delayTable).([]int64)
		}
	}
	return s
}

func (s *sampler) offset(word uint64) time.Duration {
	switch s.dist {
	case Uniform:
		return time.Duration(random.Below(word, 2*uint64(s.jitter)+1)) - s.jitter
	case Normal:
		return random.Normal(word, s.jitter)
	}
	return random.Times(s.units(word), s.jitter)
}

// units returns the quantile in units of the jitter, for those that have one.
func (s *sampler) units(word uint64) int64 {
	switch s.dist {
	case Pareto:
		return random.Pareto(word)
	case ParetoNormal:
		return random.ParetoNormal(word)
	case Exponential:
		return random.Exponential(word)
	case Gamma:
		return random.Gamma(word, s.halves, s.scale)
	}
	return quantileOf(s.points, word, s.blend)
}

func distributionUnit() setting.Unit[Distribution] {
	names := make([]string, numDistributions)
	for i := range names {
		names[i] = Distribution(i).String()
	}
	return setting.Unit[Distribution]{
		Expected: "one of " + strings.Join(names, ", "), Choices: names,
		Parse: func(v any) (Distribution, bool) {
			name, _ := v.(string)
			i := slices.Index(names, name)
			return Distribution(i), i >= 0
		},
		Format: Distribution.String,
		Number: func(d Distribution) float64 { return float64(d) },
		In:     func(d Distribution) bool { return d < numDistributions },
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
	if k == DefaultShape {
		k = 0
	}
	d.Shape = k
}

// shapeUnit: whole and half shapes are sums of exponentials and squared normals,
// which integers can add up.
var shapeUnit = setting.Unit[float64]{
	Expected: "a shape from 0.5 to 16 in steps of 0.5, such as 2", Min: "0.5", Max: "16",
	Parse: func(v any) (float64, bool) { return setting.ParseNumber(v) }, Format: units.FormatDecimal,
	Number: func(k float64) float64 { return k },
	In:     func(k float64) bool { return k >= 0.5 && k <= 16 && k*2 == math.Trunc(k*2) },
}

// jitterProcess draws jitter from packet to packet with an exact correlation rho
// between neighbours, so rho^m between packets m apart, whatever the distribution:
//
//   - Normal is the autoregressive process z' = rho z + sqrt(1-rho^2) e, which
//     drifts.
//   - The others are a discrete autoregressive process (Jacobs and Lewis 1978):
//     with probability rho a packet has the jitter of the one before it, else one
//     of its own. That keeps any distribution exactly as it is.
type jitterProcess struct {
	sampler
	hold       random.Chance // rho
	carry, add int64         // rho and sqrt(1-rho^2), in units
	word       uint64        // whose quantile the last packet had
	z, before  int64         // Normal's state, and what it was before the present datagram
	begun      bool
}

func (p *jitterProcess) reshape(d *Delay, files *tracefile.Library) {
	p.sampler = newSampler(d, files)
	rho := d.Correlation
	p.hold = random.ChanceOf(rho)
	p.carry = int64(rho * random.One)
	p.add = int64(math.Sqrt(1-float64(rho*rho)) * random.One)
}

// draw returns the jitter of a datagram, or of a copy of it. A copy follows from
// the same past as its datagram, but by its own chance.
func (p *jitterProcess) draw(word uint64, number int) time.Duration {
	if p.hold == 0 {
		return p.offset(word)
	}
	if p.dist == Normal {
		return random.Times(p.drift(word, number), p.jitter)
	}
	if p.begun && p.hold.Hit(random.Further(word, holdWord)) {
		word = p.word
	}
	if number == 0 {
		p.word, p.begun = word, true
	}
	return p.offset(word)
}

// holdWord is which further word decides to hold; those before it are Gamma's.
const holdWord = 32

func (p *jitterProcess) drift(word uint64, number int) int64 {
	if number == 0 {
		p.before = p.z
	}
	z := random.NormalUnits(word)
	if p.begun {
		z = random.Product(p.before, p.carry) + random.Product(z, p.add)
	}
	if number == 0 {
		p.z, p.begun = z, true
	}
	return z
}
