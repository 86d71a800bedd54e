//go:build ignore

// This program writes tables.bin: netem's distributions, by the formulas of the
// NIST Net programs that made them.
package main

import (
	"encoding/binary"
	"log"
	"math"
	"os"
)

const (
	fine = 16384 // steps of probability; every fourth is kept
	unit = 8192
)

func main() {
	var b []byte
	quantile := normalQuantiles()
	for _, value := range []func(int) int{
		func(i int) int { return normal(quantile, i) },
		pareto,
		func(i int) int { return (normal(quantile, i) + 3*pareto(i)) / 4 },
	} {
		for i := 0; i < fine; i += 4 {
			b = binary.LittleEndian.AppendUint16(b, uint16(min(max(value(i), math.MinInt16), math.MaxInt16)))
		}
	}
	if err := os.WriteFile("tables.bin", b, 0o644); err != nil {
		log.Fatal(err)
	}
}

// normalQuantiles walks along x in small steps and notes for each step of
// probability the last x that rounds to it.
func normalQuantiles() []float64 {
	table := make([]float64, fine+1)
	for x := -10.0; x < 10.05; x += .00005 {
		p := .5 + .5*math.Erf(x/math.Sqrt2)
		table[int(math.RoundToEven(fine*p))] = x
	}
	return table
}

func normal(quantile []float64, i int) int { return int(math.RoundToEven(quantile[i] * unit)) }

// pareto is that of shape 3, moved to a mean of 0 and stretched to a jitter of
// about 1.
func pareto(i int) int {
	rest := 1 - float64(i)/fine
	v := (1/math.Pow(rest, 1./3) - 1.5) * (4. / 3 * unit)
	return int(math.RoundToEven(min(v, math.MaxInt16)))
}
