package netem

import (
	"bytes"
	"encoding/binary"
	"flag"
	"math"
	"os"
	"runtime"
	"testing"
)

// go test ./lossmodel/netem -run TablesFile -generate writes tables.bin.
var generate = flag.Bool("generate", false, "write tables.bin")

// tables.bin has netem's distributions, computed by the formulas of the NIST Net programs that
// generated the originals. Other processors than amd64 may round differently.
func TestTablesFile(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the tables are generated on amd64")
	}
	var b []byte
	quantile := normalQuantiles()
	for _, value := range []func(int) int{
		func(i int) int { return normalValue(quantile, i) },
		paretoValue,
		func(i int) int { return (normalValue(quantile, i) + 3*paretoValue(i)) / 4 },
	} {
		for i := 0; i < fine; i += 4 {
			b = binary.LittleEndian.AppendUint16(b, uint16(min(max(value(i), math.MinInt16), math.MaxInt16)))
		}
	}
	if *generate {
		if err := os.WriteFile("tables.bin", b, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(b, tableBytes) {
		t.Error("tables.bin differs from the formulas")
	}
}

const fine = 16384 // steps of probability; every fourth is used

// normalQuantiles advances x in small steps and stores, for each step of probability, the last x
// that is rounded to it.
func normalQuantiles() []float64 {
	table := make([]float64, fine+1)
	for x := -10.0; x < 10.05; x += .00005 {
		p := .5 + .5*math.Erf(x/math.Sqrt2)
		table[int(math.RoundToEven(fine*p))] = x
	}
	return table
}

func normalValue(quantile []float64, i int) int {
	return int(math.RoundToEven(quantile[i] * tableUnit))
}

// paretoValue is the value of a Pareto distribution with shape 3, shifted to mean 0 and scaled to
// a jitter of about 1.
func paretoValue(i int) int {
	rest := 1 - float64(i)/fine
	v := (1/math.Pow(rest, 1./3) - 1.5) * (4. / 3 * tableUnit)
	return int(math.RoundToEven(min(v, math.MaxInt16)))
}
