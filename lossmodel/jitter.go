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

// Distribution is the distribution of jitter around the latency.
type Distribution uint8

// Distributions of jitter.
const (
	Uniform      Distribution = iota // uniform from -jitter to +jitter
	Normal                           // normal with mean 0 and standard deviation jitter
	Pareto                           // tc's table: from -0.667 to 4 jitters, mean -0.033, standard deviation 0.82
	ParetoNormal                     // tc's table: a quarter normal, three quarters Pareto
	Exponential                      // exponential, never negative; mean and standard deviation are the jitter
	Gamma                            // gamma, never negative; standard deviation jitter, mean jitter * sqrt(shape)
	Tabled                           // the distribution that Delay.Table gives
	numDistributions
)

// String returns the name of the distribution as the key distribution accepts it.
func (d Distribution) String() string {
	names := [numDistributions]string{"uniform", "normal", "pareto", "paretonormal", "exponential", "gamma", "table"}
	if d < numDistributions {
		return names[d]
	}
	return fmt.Sprintf("distribution(%d)", uint8(d))
}

// sampler converts random words to jitter.
type sampler struct {
	dist        Distribution
	jitter      time.Duration
	twiceShape  int     // twice the shape of a Gamma distribution
	scale       int64   // 1/sqrt(shape) of a Gamma distribution, in units of 1/random.One
	points      []int64 // points of a table, ascending, in units of 1/random.One
	interpolate bool    // whether to interpolate between points; see lookUpQuantile
}

// newSampler returns the sampler of a delay's distribution. A table in a file must have been opened
// in files.
func newSampler(d *Delay, files *tracefile.Library) sampler {
	s := sampler{dist: d.Distribution, jitter: d.Jitter}
	switch d.Distribution {
	case Gamma:
		s.twiceShape = int(d.shape() * 2)
		s.scale = int64(random.One / math.Sqrt(d.shape())) // math.Sqrt gives the same result on all machines
	case Tabled:
		s.points, s.interpolate = d.Table.points(), d.Table.File.Path == ""
		if !s.interpolate {
			s.points = files.Get(d.Table.File, tcTableKind).([]int64)
		}
	}
	return s
}

// draw returns the jitter for a random word, which is uniformly distributed over all 64-bit values.
func (s *sampler) draw(word uint64) time.Duration {
	switch s.dist {
	case Uniform: // the range from -jitter to jitter includes both ends
		return time.Duration(random.Below(word, 2*uint64(s.jitter)+1)) - s.jitter
	case Normal:
		return random.Normal(word, s.jitter)
	}
	return random.Scale(s.drawUnits(word), s.jitter)
}

// drawUnits returns a random value of the distribution in units of 1/random.One, to be multiplied by the
// jitter setting. word is a random word. The distributions that draw computes itself are not handled.
func (s *sampler) drawUnits(word uint64) int64 {
	switch s.dist {
	case Pareto:
		return random.Pareto(word)
	case ParetoNormal:
		return random.ParetoNormal(word)
	case Exponential:
		return random.Exponential(word)
	case Gamma:
		return random.Gamma(word, s.twiceShape, s.scale)
	}
	return lookUpQuantile(s.points, word, s.interpolate)
}

// distributionUnit returns the unit of the key distribution, whose values are names such as "normal".
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
		Format:  Distribution.String,
		Number:  func(d Distribution) float64 { return float64(d) },
		InRange: func(d Distribution) bool { return d < numDistributions },
	}
}

// DefaultShape is the shape of gamma jitter if none is set.
const DefaultShape = 2

// shape returns Shape or its default.
func (d *Delay) shape() float64 {
	if d.Shape == 0 {
		return DefaultShape
	}
	return d.Shape
}

// setShape sets the shape. The default is stored as 0, so that equal settings give equal specs.
func (d *Delay) setShape(k float64) {
	if k == DefaultShape {
		k = 0
	}
	d.Shape = k
}

// shapeUnit is the unit of shapes. Multiples of 0.5 are sums of exponential and squared normal
// variables, which can be computed with integers.
var shapeUnit = setting.Unit[float64]{
	Expected: "a shape from 0.5 to 16 in steps of 0.5, such as 2", Min: "0.5", Max: "16",
	Parse: func(v any) (float64, bool) { return setting.ParseNumber(v) }, Format: units.FormatDecimal,
	Number:  func(k float64) float64 { return k },
	InRange: func(k float64) bool { return k >= 0.5 && k <= 16 && k*2 == math.Trunc(k*2) },
}

// jitterProcess draws jitter with the correlation rho between successive packets, and thus rho^m
// between packets m apart, for any distribution:
//
//   - Normal uses the autoregressive process z' = rho z + sqrt(1-rho^2) e.
//   - The others use a discrete autoregressive process (Jacobs and Lewis 1978): with probability
//     rho a packet has the jitter of the packet before, otherwise its own. This preserves the
//     distribution exactly.
type jitterProcess struct {
	sampler
	repeat                    random.Chance // the correlation rho as a probability
	rhoUnits, innovationUnits int64         // rho and sqrt(1-rho^2), in units of 1/random.One
	lastWord                  uint64        // random word of the last packet's jitter
	z, previousZ              int64         // state of Normal, and the state before the current datagram, in units of 1/random.One
	started                   bool          // a packet was drawn before
}

// reshape sets the parameters and keeps the state.
func (p *jitterProcess) reshape(d *Delay, files *tracefile.Library) {
	p.sampler = newSampler(d, files)
	rho := d.Correlation
	p.repeat = random.NewChance(rho)
	p.rhoUnits = int64(rho * random.One)
	p.innovationUnits = int64(math.Sqrt(1-float64(rho*rho)) * random.One)
}

// next returns the jitter of a packet, computed from a random word. copyNumber is 0 for the datagram
// itself, and 1 and up for its copies. A copy continues from the same state as its datagram, but has
// its own random word.
func (p *jitterProcess) next(word uint64, copyNumber int) time.Duration {
	if p.repeat == 0 { // the jitter is not correlated
		return p.draw(word)
	}
	if p.dist == Normal {
		return random.Scale(p.nextNormal(word, copyNumber), p.jitter)
	}
	if p.started && p.repeat.Hit(random.DeriveWord(word, repeatWord)) {
		word = p.lastWord
	}
	if copyNumber == 0 {
		p.lastWord, p.started = word, true
	}
	return p.draw(word)
}

// repeatWord is the index of the derived word that decides whether to repeat the last jitter.
// Gamma uses lower indices.
const repeatWord = 32

// nextNormal returns the next value of the autoregressive process, in units of 1/random.One. A
// datagram (copyNumber 0) advances the process; its copies are computed from the same previous state.
func (p *jitterProcess) nextNormal(word uint64, copyNumber int) int64 {
	if copyNumber == 0 {
		p.previousZ = p.z
	}
	z := random.NormalUnits(word)
	if p.started {
		z = random.Multiply(p.previousZ, p.rhoUnits) + random.Multiply(z, p.innovationUnits)
	}
	if copyNumber == 0 {
		p.z, p.started = z, true
	}
	return z
}
