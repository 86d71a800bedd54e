package nn

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func netFile(t testing.TB, shape ...int) []byte {
	t.Helper()
	n, err := Quantise(randomLayers(rand.New(rand.NewPCG(7, 8)), shape, 1))
	if err != nil {
		t.Fatal(err)
	}
	return n.Append(nil)
}

// A net survives the round trip through its file, and Append appends.
func TestFile(t *testing.T) {
	for _, shape := range shapes {
		want := netFile(t, shape...)
		n, err := Read(want)
		if err != nil {
			t.Fatalf("%v: %v", shape, err)
		}
		if got := n.Append([]byte("before")); !bytes.Equal(got, append([]byte("before"), want...)) {
			t.Errorf("%v: the file written again differs", shape)
		}
		if n.In() != shape[0] || n.Out() != shape[len(shape)-1] {
			t.Errorf("%v: read as %d inputs and %d outputs", shape, n.In(), n.Out())
		}
	}
}

func TestReadRefuses(t *testing.T) {
	good := netFile(t, 3, 2, 4)
	heavy := bytes.Clone(good)
	for i := len(heavy) - 4; i < len(heavy); i++ { // the last output's weights
		heavy[i] = 0x7F
	}
	edit := func(at int, b byte) []byte {
		c := bytes.Clone(good)
		c[at] = b
		return c
	}
	for name, bad := range map[string][]byte{
		"nothing":          nil,
		"another magic":    edit(0, 'x'),
		"no layers":        {'w', 'n', 'n', '1', 0, 1, 0},
		"too many layers":  edit(4, 200),
		"a width of zero":  edit(5, 0),
		"a great width":    edit(6, 0xFF),
		"too many places":  edit(11, 25),
		"too few places":   edit(11, 1),
		"a byte too many":  append(bytes.Clone(good), 0),
		"a byte too few":   good[:len(good)-1],
		"only its widths":  good[:11],
		"sums that exceed": heavy,
	} {
		if _, err := Read(bad); !errors.Is(err, errInvalidNet) {
			t.Errorf("%s: error %v, want errInvalidNet", name, err)
		}
	}
	for n := range good {
		if _, err := Read(good[:n]); !errors.Is(err, errInvalidNet) {
			t.Errorf("%d of %d bytes: error %v, want errInvalidNet", n, len(good), err)
		}
	}
}

func TestQuantiseRefuses(t *testing.T) {
	ok := func() []Dense { return randomLayers(rand.New(rand.NewPCG(9, 10)), []int{4, 3, 2}, 1) }
	for name, spoil := range map[string]func(l []Dense) []Dense{
		"no layers":       func(l []Dense) []Dense { return nil },
		"not a number":    func(l []Dense) []Dense { l[0].Weight[5] = float32(math.NaN()); return l },
		"infinite":        func(l []Dense) []Dense { l[1].Bias[0] = float32(math.Inf(-1)); return l },
		"far too large":   func(l []Dense) []Dense { l[1].Weight[0] = 1e6; return l },
		"another width":   func(l []Dense) []Dense { l[1].In = 5; return l },
		"a weight astray": func(l []Dense) []Dense { l[0].Weight = l[0].Weight[1:]; return l },
	} {
		if _, err := Quantise(spoil(ok())); !errors.Is(err, errInvalidNet) {
			t.Errorf("%s: error %v, want errInvalidNet", name, err)
		}
	}
}

// FuzzRead checks that any bytes are refused, or are the file of a net whose implementations agree.
func FuzzRead(f *testing.F) {
	f.Add(netFile(f, 3, 2, 4), int64(1))
	f.Add(netFile(f, 9, 9), int64(2))
	f.Fuzz(func(t *testing.T, data []byte, seed int64) {
		n, err := Read(data)
		if err != nil {
			if !errors.Is(err, errInvalidNet) {
				t.Fatal(err)
			}
			return
		}
		if !bytes.Equal(n.Append(nil), data) {
			t.Fatal("the file written again differs")
		}
		rng := rand.New(rand.NewPCG(uint64(seed), 0))
		x, out := randomInputs(rng, n.In()), make([]int32, n.Out())
		want := newReferenceNet(n).run(x)
		n.forEachRun(func(name string, run func(out, x []int32, s *Scratch)) {
			if run(out, x, new(Scratch)); !slices.Equal(out, want) {
				t.Fatalf("%s: %d, want %d", name, out, want)
			}
		})
	})
}
