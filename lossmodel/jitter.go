package lossmodel

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Distribution is how jitter is spread around the latency. A new one is a file
// with its sampler, and a case in sample and in its name.
type Distribution uint8

// The distributions.
const (
	Uniform Distribution = iota // every offset from -jitter to +jitter alike
	Normal                      // mean 0, standard deviation jitter
	numDistributions
)

// String returns the name that the distribution key takes.
func (d Distribution) String() string {
	names := [numDistributions]string{"uniform", "normal"}
	if d < numDistributions {
		return names[d]
	}
	return fmt.Sprintf("distribution(%d)", uint8(d))
}

// sample turns a uniform word into an offset from the latency.
func (d Distribution) sample(word uint64, jitter time.Duration) time.Duration {
	if d == Normal {
		return normal(word, jitter)
	}
	return time.Duration(scale(word, 2*uint64(jitter)+1)) - jitter
}

func distributionUnit() unit[Distribution] {
	names := make([]string, numDistributions)
	for i := range names {
		names[i] = Distribution(i).String()
	}
	return unit[Distribution]{
		expected: strings.Join(names, " or "), choices: names,
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
