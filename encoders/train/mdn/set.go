package mdn

import (
	"fmt"
	"math/rand/v2"

	"wirelab/encoders/nn"
	"wirelab/internal/seed"
)

// Target is what a sample is scored by.
type Target struct {
	Base [Components][3]float32 // where each component stands by itself
	J    [9]float32             // row-major: how the net's three offsets move the three axes
	Y    [3]float32             // the outcome: integers
}

// Set is a bag of samples. Inputs are kept as the net will see them when it codes:
// rounded to 1/1024 and clamped to [-4, 4], so that learning knows of it. A sample
// takes two bytes an input and 108 more.
type Set struct {
	inputs  int
	limit   int
	seen    int
	rng     *rand.Rand
	x       [][]int16 // pages of pageSize samples: a slice that doubles would hold them twice
	targets [][]Target
}

const pageSize = 4096

// NewSet returns an empty set of samples with that many inputs. With a limit above
// zero it keeps that many at most: a uniform choice, drawn by the seed, of all that
// were added.
func NewSet(inputs, limit int, number uint64) *Set {
	return &Set{inputs: inputs, limit: limit, rng: rand.New(seed.Tagged(number, "set"))}
}

// Len returns how many samples the set holds.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	if s.limit > 0 {
		return min(s.seen, s.limit)
	}
	return s.seen
}

// Add puts a sample in. x has the set's number of inputs; it and t are copied.
func (s *Set) Add(x []float32, t *Target) {
	if len(x) != s.inputs {
		panic(fmt.Sprintf("mdn: a sample of %d inputs for a set of %d", len(x), s.inputs))
	}
	slot := s.seen
	s.seen++
	if s.limit > 0 && slot >= s.limit {
		slot = s.rng.IntN(s.seen)
		if slot >= s.limit {
			return
		}
	}
	page, at := slot/pageSize, slot%pageSize
	if page == len(s.x) {
		s.x = append(s.x, make([]int16, pageSize*s.inputs))
		s.targets = append(s.targets, make([]Target, pageSize))
	}
	s.targets[page][at] = *t
	for i, v := range x {
		s.x[page][at*s.inputs+i] = int16(fixedInput(v))
	}
}

// fixedInput is the fixed point that a net is fed for v: rounded to nearest, halves up,
// clamped to what an input can be. What is not a number counts as zero.
func fixedInput(v float32) int32 {
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

// sample is one of a set's; it points into the set.
type sample struct {
	x      []int16
	target *Target
}

func (s *Set) at(i uint32) sample {
	page, at := int(i/pageSize), int(i%pageSize)
	return sample{x: s.x[page][at*s.inputs : (at+1)*s.inputs], target: &s.targets[page][at]}
}
