package rpc

import (
	"math"
	"math/rand/v2"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// runChain encodes n calls, each against the call age calls before (at first the initial state),
// and returns the mean bits of a packet. It calls see with the original call and the decoded one.
func runChain(t *testing.T, c encoders.Codec, seed uint64, n, age int, see func(i int, truth, held *frame.Frame)) float64 {
	t.Helper()
	s := schema()
	enc, dec, err := c.New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	list := readCalls(seed, n)
	sent, got := make([]encoders.Memo, n), make([]encoders.Memo, n)
	bytes := 0
	for i, cur := range list {
		refs, seen := []encoders.Ref{{Frame: s.NewFrame()}}, []encoders.Ref{{Frame: s.NewFrame()}}
		if i >= age {
			refs[0] = encoders.Ref{Frame: list[i-age], Memo: sent[i-age]}
			seen[0] = encoders.Ref{Frame: list[i-age], Memo: got[i-age]}
		}
		truth := &frame.Frame{}
		truth.CopyFrom(cur)
		payload, memo, err := enc.Encode(nil, cur, refs, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		sent[i], bytes = memo, bytes+len(payload)
		held := s.NewFrame()
		held.Tick = cur.Tick
		if got[i], err = dec.Decode(held, payload, seen, nil); err != nil || !held.Equal(cur) {
			t.Fatalf("%s, call %d: decoded call differs, error %v", c.Name, i, err)
		}
		if see != nil {
			see(i, truth, held)
		}
	}
	return float64(bytes) * 8 / float64(n)
}

// A full call takes 540 bits, rpc-delta at most 68 % of that (365 bits in the publication),
// rpc-adaptive at most 60 % of rpc-delta.
func TestLadder(t *testing.T) {
	if got := newDelta(schema(), false).fullBits; got != 540 {
		t.Errorf("a call takes %d bits, want 540 as published", got)
	}
	for _, age := range []int{2, 6, 18} { // round trips of 33, 100 and 300 ms
		const n = 3600
		full := runChain(t, Full(), 7, n, age, nil)
		diff := runChain(t, Delta(), 7, n, age, nil)
		adapt := runChain(t, Adaptive(), 7, n, age, nil)
		t.Logf("age %2d: full %.1f, rpc-delta %.1f (%.1f %%), rpc-adaptive %.1f (%.1f %%) bits per call",
			age, full, diff, 100*diff/full, adapt, 100*adapt/diff)
		if full != 544 || diff > 0.68*540 || adapt > 0.60*diff {
			t.Errorf("age %d: %.1f, %.1f, %.1f bits per call; want 544, at most 68 %% of 540, at most 60 %% of that", age, full, diff, adapt)
		}
	}
}

// On every call of a long chain, floats are off by at most half a tenth plus a rounding of float32;
// all other fields are exact.
func TestErrorsDoNotAccumulate(t *testing.T) {
	s := schema()
	for _, c := range []encoders.Codec{Delta(), Adaptive()} {
		worst := 0.0
		runChain(t, c, 3, 6000, 1, func(n int, truth, held *frame.Frame) {
			for i, f := range s.Fields {
				if f.Kind != frame.Float32 {
					if truth.Table[i] != held.Table[i] {
						t.Fatalf("%s, call %d: %s is %d, want %d", c.Name, n, f.Name, held.Table[i], truth.Table[i])
					}
					continue
				}
				want := float64(float(truth.Table[i]))
				ulp := float64(math.Nextafter32(float32(math.Abs(want)), math.MaxFloat32)) - math.Abs(want)
				off := math.Abs(float64(float(held.Table[i])) - want)
				if off > 0.05+ulp*1.5+1e-6 {
					t.Fatalf("%s, call %d: %s is %v off", c.Name, n, f.Name, off)
				}
				worst = max(worst, off)
			}
		})
		if worst < 0.01 {
			t.Errorf("%s: largest error %v; want some rounding", c.Name, worst)
		}
	}
}

// If a difference is NaN, infinite or too large, the call is sent in full, exactly, and the chain
// continues from it.
func TestNonFiniteFloats(t *testing.T) {
	odd := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, -math.MaxFloat32,
		math.SmallestNonzeroFloat32, float32(math.Copysign(0, -1)), 1.7e6, -1.7e6, 0}
	rng := rand.New(rand.NewPCG(5, 6))
	s := schema()
	for _, c := range []encoders.Codec{Full(), Delta(), Adaptive()} {
		enc, dec, _ := c.New(s, nil)
		base := s.NewFrame()
		var sent, got encoders.Memo
		for n := range 3000 {
			cur := &frame.Frame{}
			cur.CopyFrom(base)
			cur.Tick = uint32(n)
			for range 1 + rng.IntN(3) {
				v := odd[rng.IntN(len(odd))]
				if rng.IntN(3) == 0 {
					v = math.Float32frombits(rng.Uint32())
				}
				cur.Table[colPosition+rng.IntN(15)] = int32(math.Float32bits(v))
			}
			truth := &frame.Frame{}
			truth.CopyFrom(cur)
			payload, memo, err := enc.Encode(nil, cur, []encoders.Ref{{Frame: base, Memo: sent}}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			held := s.NewFrame()
			held.Tick = cur.Tick
			if got, err = dec.Decode(held, payload, []encoders.Ref{{Frame: base, Memo: got}}, nil); err != nil || !held.Equal(cur) {
				t.Fatalf("%s, call %d: decoded call differs, error %v", c.Name, n, err)
			}
			for i := colPosition; i < colMode; i++ {
				a, b := float64(float(truth.Table[i])), float64(float(held.Table[i]))
				if math.IsNaN(a) != math.IsNaN(b) || !math.IsNaN(a) && a != b && !(math.Abs(a-b) <= 0.11+math.Abs(a)*1e-6) {
					t.Fatalf("%s, call %d, field %s: %v became %v", c.Name, n, s.Fields[i].Name, a, b)
				}
			}
			sent, base = memo, held
		}
	}
}

// The largest difference that fits a vector is sent as a difference; the next float makes a full
// call, exact in every field.
func TestLargestDifference(t *testing.T) {
	s := schema()
	const bound = float32(1_677_721.5)
	for _, c := range []struct {
		to   float32
		fits bool
	}{
		{math.Nextafter32(bound, 0), true}, {bound, false}, {math.Nextafter32(bound, 2*bound), false},
		{math.Nextafter32(-bound, 0), true}, {-bound, true}, {math.Nextafter32(-bound, -2*bound), false},
	} {
		enc, dec, err := Delta().New(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		base, cur, held := s.NewFrame(), s.NewFrame(), s.NewFrame()
		base.Table[colTime] = 1 // not the initial call
		cur.Table[colVelocity+1] = int32(math.Float32bits(c.to))
		refs := []encoders.Ref{{Frame: base}}
		payload, _, err := enc.Encode(nil, cur, refs, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dec.Decode(held, payload, refs, nil); err != nil || !held.Equal(cur) {
			t.Errorf("%v: decoded call differs, error %v", c.to, err)
		}
		exact := float(held.Table[colVelocity+1]) == c.to
		if full := len(payload) == 68; full == c.fits || full && !exact {
			t.Errorf("a difference of %v makes %d bytes, %v comes out", c.to, len(payload), float(held.Table[colVelocity+1]))
		}
	}
}

// Rates of change are derived from the units of the schema.
func TestRates(t *testing.T) {
	s := schema()
	got := findRates(s)
	for i, f := range s.Fields {
		want := -1
		switch {
		case i >= colPosition && i < colAcceleration:
			want = i + 3
		case i >= colRotation && i < colSpin:
			want = i + 3
		}
		if got[i] != want {
			t.Errorf("the rate of %s is field %d, want %d", f.Name, got[i], want)
		}
	}
	seen := map[int]bool{}
	for _, i := range newAdaptive(s).codingOrder {
		if r := got[i]; r >= 0 && !seen[r] {
			t.Errorf("%s is ordered before its rate of change", s.Fields[i].Name)
		}
		seen[i] = true
	}
	if len(seen) != len(s.Fields) {
		t.Errorf("%d of %d fields are coded", len(seen), len(s.Fields))
	}
}

// Frames that are not calls of the schema are refused.
func TestEncodeRefuses(t *testing.T) {
	s := schema()
	for _, c := range allCodecs() {
		enc, _, _ := c.New(s, nil)
		bad := s.NewFrame()
		bad.Table[colMode] = 16
		long := s.NewFrame()
		long.Body = []byte("x")
		for _, f := range []*frame.Frame{bad, long, {}} {
			if _, _, err := enc.Encode(nil, f, []encoders.Ref{{Frame: s.NewFrame()}}, nil, nil); err == nil {
				t.Errorf("%s took %v", c.Name, f)
			}
		}
		if c.Suits(frame.Cubes(1)) || c.Suits(&frame.Schema{Item: "byte"}) || !c.Suits(s) {
			t.Errorf("%s: Suits is wrong", c.Name)
		}
	}
}
