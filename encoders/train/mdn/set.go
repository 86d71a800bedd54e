package mdn

import (
	"fmt"
	"math/rand/v2"

	"wirelab/encoders/nn"
	"wirelab/internal/seed"
)

// Target is the outcome of a sample and the predictions that the net's outputs are relative to.
type Target struct {
	Base [Components][3]float32 // the mean of each component if its offsets are 0
	J    [9]float32             // Jacobian, row-major: derivatives of the three axes by the three offsets
	Y    [3]float32             // the outcome: integers
}

// Set is a set of samples. Inputs are stored as a codec passes them to the net, rounded to 1/1024 and clamped
// to [-4, 4], so that training accounts for this. A sample takes two bytes for each input and 108 more.
type Set struct {
	inputs     int        // number of inputs of a sample
	maxSamples int        // maximum number of samples; 0 means no limit
	seen       int        // number of samples added, including those not stored
	rng        *rand.Rand // chooses the samples to replace
	x          [][]int16  // inputs, in pages of pageSize samples: growing one slice would need twice the memory
	targets    [][]Target // targets, in pages of pageSize samples
}

// pageSize is the number of samples in a page of a Set.
const pageSize = 4096

// NewSet returns an empty set of samples with the given number of inputs. If maxSamples is not 0, the set
// keeps at most that many samples: a uniform random choice of all that are added (reservoir sampling).
func NewSet(inputs, maxSamples int, seedValue uint64) *Set {
	return &Set{inputs: inputs, maxSamples: maxSamples, rng: rand.New(seed.Tagged(seedValue, "set"))}
}

// Len returns the number of samples in the set, 0 if s is nil.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	if s.maxSamples > 0 {
		return min(s.seen, s.maxSamples)
	}
	return s.seen
}

// Add adds a sample with the inputs x and the target t. Both are copied. Add panics unless x has the set's number
// of inputs.
func (s *Set) Add(x []float32, t *Target) {
	if len(x) != s.inputs {
		panic(fmt.Sprintf("mdn: sample of %d inputs, expected %d", len(x), s.inputs))
	}
	slot := s.seen
	s.seen++
	if s.maxSamples > 0 && slot >= s.maxSamples { // full: replace a random sample, or drop this one
		slot = s.rng.IntN(s.seen)
		if slot >= s.maxSamples {
			return
		}
	}
	page, position := slot/pageSize, slot%pageSize
	if page == len(s.x) {
		s.x = append(s.x, make([]int16, pageSize*s.inputs))
		s.targets = append(s.targets, make([]Target, pageSize))
	}
	s.targets[page][position] = *t
	for i, v := range x {
		s.x[page][position*s.inputs+i] = int16(toFixed(v))
	}
}

// toFixed returns v as fixed point with nn.InputBits fractional bits: rounded to nearest, halves up, and
// clamped to the range of an input. NaN becomes 0.
func toFixed(v float32) int32 {
	scaled := float64(float32(v*(1<<nn.InputBits))) + 0.5
	switch {
	case scaled >= nn.InputMax:
		return nn.InputMax
	case scaled <= -nn.InputMax:
		return -nn.InputMax
	case scaled != scaled:
		return 0
	}
	n := int32(scaled)
	if float64(n) > scaled { // conversion rounds toward zero
		n--
	}
	return n
}

// sample is a sample of a set and shares its memory.
type sample struct {
	x      []int16 // inputs, in units of 1/1024
	target *Target
}

func (s *Set) sampleAt(i uint32) sample {
	page, at := int(i/pageSize), int(i%pageSize)
	return sample{x: s.x[page][at*s.inputs : (at+1)*s.inputs], target: &s.targets[page][at]}
}
