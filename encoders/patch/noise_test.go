package patch

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"wirelab/internal/testkit"
)

// change is an edit: at a position some bytes are removed and others inserted.
type change struct{ at, out, in int }

// applyChanges returns b after changes, which are in the order of their positions in b, and the number of
// inserted bytes.
func applyChanges(b []byte, changes []change, seed uint64) (out []byte, came int) {
	at := 0
	for i, c := range changes {
		out = append(out, b[at:c.at]...)
		out = append(out, randomBytes(c.in, seed+uint64(i))...)
		at, came = c.at+c.out, came+c.in
	}
	return append(out, b[at:]...), came
}

// TestChangedNoise checks that a patch for changed noise has at most 1.02 times the inserted bytes, plus a few
// for the file and for each change.
func TestChangedNoise(t *testing.T) {
	const forFile, forChange = 160, 24
	sizes := testkit.ChooseLong([]int{1, 30, 700, 5000, 100_000, 270_000}, []int{1, 700, 100_000}, []int{1, 100_000})
	places := testkit.ChooseLong([]int{0, 100_000, 262_144 - 5}, []int{0, 262_144 - 5}, []int{262_144 - 5})
	cases := map[string][]change{}
	for _, at := range places {
		for _, n := range sizes {
			cases[fmt.Sprintf("%d replaced at %d", n, at)] = []change{{at, n, n}}
			cases[fmt.Sprintf("%d put in at %d", n, at)] = []change{{at, 0, n}}
			cases[fmt.Sprintf("%d taken out at %d", n, at)] = []change{{at, n, 0}}
		}
	}
	cases["several"] = []change{{10, 5000, 5000}, {60_000, 0, 40_000}, {100_000, 9000, 0}, {200_000, 50_000, 50_001}, {400_000, 3, 20_000}}
	var many []change
	r := rand.New(rand.NewPCG(1, 1))
	for at := 1000; at < 590_000; at += 5000 + r.IntN(20_000) {
		many = append(many, change{at, r.IntN(3) * 500, 300 + r.IntN(3)*700})
	}
	cases["many"] = many
	old := randomBytes(600_000, 1)
	for name, changes := range cases {
		new, came := applyChanges(old, changes, 100)
		patch := mustMake(t, old, new)
		if got, err := applyBytes(old, patch); err != nil || !bytes.Equal(got, new) {
			t.Fatalf("%s: the result differs from the new file: %v", name, err)
		}
		most := came + came/50 + forFile + forChange*len(changes)
		for _, c := range changes {
			if c.in < minNoise {
				most += c.in / 5 // too few bytes for a raw block
			}
		}
		if len(patch) > most {
			t.Errorf("%s: %d bytes of patch for %d; expected at most %d", name, len(patch), came, most)
		}
	}
}

// TestRepeatedNoise checks that repeated noise is not coded again.
func TestRepeatedNoise(t *testing.T) {
	for _, n := range testkit.Choose([]int{300, 5000, 60_000}, []int{300, 5000}) {
		fresh := randomBytes(n, 9)
		new := bytes.Join([][]byte{text(3000), fresh, text(2000), fresh, fresh, text(500)}, nil)
		most := n + n/20 + 2500
		if patch := mustMake(t, text(3000), new); len(patch) > most {
			t.Errorf("%d bytes three times: %d bytes of patch; expected at most %d", n, len(patch), most)
		}
	}
}
