package random

import (
	"bytes"
	"encoding/binary"
	"flag"
	"math"
	"os"
	"runtime"
	"testing"
)

// go test ./lossmodel/random -run TablesFile -generate writes tables.bin.
var generate = flag.Bool("generate", false, "write tables.bin")

// tables.bin has the contents described in normal.go and quantile.go. Other processors than amd64
// may round differently.
func TestTablesFile(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the tables are generated on amd64")
	}
	const unit = 1 << 28
	var b []byte
	add := func(x float64) { b = binary.LittleEndian.AppendUint32(b, uint32(math.Round(x*unit))) }
	const octaves, parts = 33, 32
	for i := range octaves*parts + 1 {
		octave, part := i/parts, i%parts
		add(normalQuantile(math.Ldexp(1+float64(part)/parts, octave-octaves-1)))
	}
	for _, f := range []func(float64) float64{math.Log, func(x float64) float64 { return 1 / math.Cbrt(x) }} {
		for i := range 257 {
			add(f(1 + float64(i)/256))
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

// normalQuantile returns z with Q(z) = p, p <= 1/2, by Newton's method with Erfc, which is
// accurate in the tail. Erfcinv, which loses precision there, gives the start value.
func normalQuantile(p float64) float64 {
	z := math.Sqrt2 * math.Erfcinv(2*p)
	for range 4 {
		density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		z += (math.Erfc(z/math.Sqrt2)/2 - p) / density
	}
	return z
}
