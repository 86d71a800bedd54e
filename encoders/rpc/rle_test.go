package rpc

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"wirelab/encoders"
)

func decodeRuns(src []byte, n int) ([]byte, []byte, error) {
	dst := make([]byte, n)
	err := readRuns(dst, func() byte {
		if len(src) == 0 {
			return 0
		}
		b := src[0]
		src = src[1:]
		return b
	})
	return dst, src, err
}

// The examples of the publication, and runs of the maximum length.
func TestRunsAsPublished(t *testing.T) {
	zeros := make([]byte, 300)
	for _, c := range []struct{ in, want []byte }{
		{[]byte("ABCDEFG"), append([]byte{135}, "ABCDEFG"...)},
		{[]byte("AAAAABCDE"), append([]byte{5, 'A', 132}, "BCDE"...)},
		{nil, nil},
		{[]byte("A"), []byte{1, 'A'}},
		{zeros[:128], []byte{128, 0}},
		{zeros[:129], []byte{128, 0, 1, 0}},
		{zeros, []byte{128, 0, 128, 0, 44, 0}},
		{[]byte("AABAAAC"), []byte{131, 'A', 'A', 'B', 3, 'A', 1, 'C'}},
	} {
		if got := appendRuns(nil, c.in); !bytes.Equal(got, c.want) {
			t.Errorf("%q becomes %v, want %v", c.in, got, c.want)
		}
	}
}

func TestRunsRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		in := make([]byte, rng.IntN(400))
		for i := range in {
			if in[i] = byte(rng.IntN(2)); i > 0 && rng.IntN(4) > 0 {
				in[i] = in[i-1]
			} else if rng.IntN(2) == 0 {
				in[i] = byte(rng.Uint32())
			}
		}
		out := appendRuns(nil, in)
		if got, left, err := decodeRuns(out, len(in)); err != nil || len(left) != 0 || !bytes.Equal(got, in) {
			t.Fatalf("%v decoded as %v, %d bytes left, error %v", in, got, len(left), err)
		}
		if most := len(in) + (len(in)+maxLiteral-1)/maxLiteral + 1; len(out) > most {
			t.Fatalf("%d bytes became %d, expected at most %d", len(in), len(out), most)
		}
	}
}

func TestMalformedRuns(t *testing.T) {
	for _, src := range [][]byte{{0, 1}, {128, 7}, {5, 7}, {133, 1, 2, 3, 4, 5}, {4, 1, 2, 0}, {2, 1, 128, 0}} {
		if got, _, err := decodeRuns(src, 4); !errors.Is(err, encoders.ErrCorrupt) && err != nil || err == nil && len(got) != 4 {
			t.Errorf("%v: %v, error %v", src, got, err)
		}
	}
	if _, _, err := decodeRuns([]byte{5, 7}, 4); !errors.Is(err, encoders.ErrCorrupt) {
		t.Errorf("a run of 5 in 4 bytes: error %v", err)
	}
	if _, _, err := decodeRuns([]byte{128}, 0); err != nil {
		t.Errorf("empty destination: error %v", err)
	}
}
