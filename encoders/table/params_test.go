package table_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/internal/testkit"
)

// TestEveryParam runs the checks of TestRoundTrip with random parameters, of which one in three is at its minimum and
// one in three at its maximum.
func TestEveryParam(t *testing.T) {
	settings := testkit.Choose(60, 6)
	for _, c := range table.All() {
		if c.Params == nil {
			continue
		}
		rng := rand.New(rand.NewPCG(25, uint64(c.ID)))
		n := settings
		if !isOwnCodec(c) {
			n = 3 // a level alters nothing of ours
		}
		for i := range n {
			params := randomParams(t, rng, c)
			s := frame.Cubes([]int{1, 2, 33}[i%3])
			if !c.Suits(s) {
				s, _ = taleFor(c)
			}
			p := newPairOf(t, c, s, params)
			frames := randomFrames(s, uint64(i), 9)
			for k, cur := range frames[1:] {
				payload := p.send(t, cur, frames[k])
				for range min(5, len(payload)) {
					damaged := bytes.Clone(payload)
					damaged[rng.IntN(len(damaged))] ^= byte(1 + rng.IntN(255))
					decodeInvalid(t, p, damaged, frames[k])
				}
			}
			if t.Failed() {
				t.Fatalf("%s with %+v", c.Name, params)
			}
		}
	}
}

// randomParams returns random parameters. It supports numbers and switches.
func randomParams(t *testing.T, rng *rand.Rand, c encoders.Codec) any {
	t.Helper()
	params := defaults(c)
	for _, p := range c.ParamInfo() {
		var v any
		switch p.Type {
		case "int":
			lo, hi := int(*p.Min), int(*p.Max)
			v = []int{lo, hi, lo + rng.IntN(hi-lo+1)}[rng.IntN(3)]
		case "float":
			v = *p.Min + []float64{0, 1, rng.Float64()}[rng.IntN(3)]*(*p.Max-*p.Min)
		case "bool":
			v = rng.IntN(2) == 0
		case "string": // names a file, which defaults chose
			continue
		default:
			t.Fatalf("%s: parameter %s has the unsupported type %s", c.Name, p.Name, p.Type)
		}
		if err := encoders.SetParam(params, p.Name, v); err != nil {
			t.Fatal(err)
		}
	}
	return params
}
