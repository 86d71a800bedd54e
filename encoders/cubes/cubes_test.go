package cubes

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rotation"
)

// newPair returns an encoder and a decoder of c. nil params are the defaults.
func newPair(t testing.TB, c encoders.Codec, s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder) {
	t.Helper()
	if params == nil {
		params = c.Defaults()
	}
	enc, dec, err := c.New(s, params)
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	return enc, dec
}

// sendFrame encodes cur against base, decodes the payload, compares the frames, and returns the
// payload and its bit budget.
func sendFrame(t testing.TB, enc encoders.Encoder, dec encoders.Decoder, cur, base *frame.Frame) ([]byte,
	*encoders.Budget) {
	t.Helper()
	var b encoders.Budget
	refs := []encoders.Ref{{Frame: base}}
	payload, _, err := enc.Encode(nil, cur, refs, nil, &b)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	var got frame.Frame
	got.Table = make([]int32, len(cur.Table))
	if _, err := dec.Decode(&got, payload, refs, nil); err != nil {
		t.Fatalf("decode: %v", err)
	}
	for i, v := range got.Table {
		if v != cur.Table[i] {
			t.Fatalf("cube %d, field %d: decoded as %d, want %d", i/frame.CubeFields, i%frame.CubeFields, v, cur.Table[i])
		}
	}
	return payload, &b
}

// codecByName returns the codec of the ladder with the given name.
func codecByName(name string) encoders.Codec {
	list := Ladder()
	return list[slices.IndexFunc(list, func(c encoders.Codec) bool { return c.Name == name })]
}

// randomCube returns a random cube within the schema.
func randomCube(rng *rand.Rand) cube.Row {
	return cube.Row{rng.Int32N(4), rng.Int32N(512), rng.Int32N(512), rng.Int32N(512),
		rng.Int32N(1<<18) - 1<<17, rng.Int32N(1<<18) - 1<<17, rng.Int32N(1 << 14), rng.Int32N(2)}
}

// randomTurned returns a cube with a random, quantised orientation.
func randomTurned(rng *rand.Rand) cube.Row {
	q := rotation.Quaternion{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
	return quantise(normalise(q))
}

// TestBitsPerCube checks the bits per cube that the article gives.
func TestBitsPerCube(t *testing.T) {
	s := frame.Cubes(2)
	base, cur := s.NewFrame(), s.NewFrame()
	cube.At(cur.Table, 0)[frame.CubeX] = 512 // the first cube moves, the second rests
	for _, test := range []struct {
		codec encoders.Codec
		want  int // bits of both cubes together
	}{
		{codecByName("raw"), 321 + 321},
		{codecByName("at-rest"), 160 + 127},
		{codecByName("quantized"), 80 + 80},
		{codecByName("changed-bits"), 2 + 80},
	} {
		enc, dec := newPair(t, test.codec, s, nil)
		_, b := sendFrame(t, enc, dec, cur, base)
		if got := (b.Total() - b.Units[encoders.SlotPadding]) / encoders.BitUnit; got != int64(test.want) {
			t.Errorf("%s: %d bits, want %d", test.codec.Name, got, test.want)
		}
	}
}

// TestIdlePacketSize checks the packet of an unchanged frame: 901 bits with changed-bits, and one byte
// from changed-index on.
func TestIdlePacketSize(t *testing.T) {
	s := frame.Cubes(frame.WalkoffCubes)
	still := s.NewFrame()
	want := map[string]int{"raw": 36153, "at-rest": 14304, "quantized": 9010, "changed-bits": 113}
	for _, c := range Ladder() {
		enc, dec := newPair(t, c, s, nil)
		payload, _ := sendFrame(t, enc, dec, still, still)
		if n, ok := want[c.Name]; !ok {
			if len(payload) != 1 {
				t.Errorf("%s: an idle packet of %d bytes, want 1", c.Name, len(payload))
			}
		} else if len(payload) != n {
			t.Errorf("%s: an idle packet of %d bytes, want %d", c.Name, len(payload), n)
		}
	}
}

// TestEncodeInvalid checks that invalid frames are refused without bytes, and that the encoder works
// afterwards.
func TestEncodeInvalid(t *testing.T) {
	s := frame.Cubes(3)
	base := s.NewFrame()
	for _, c := range Ladder() {
		enc, dec := newPair(t, c, s, nil)
		refs := []encoders.Ref{{Frame: base}}
		prefix := []byte("kept")
		for _, bad := range []*frame.Frame{
			{Table: make([]int32, 8)},
			{Table: make([]int32, 24), Body: []byte{1}},
			{Table: make([]int32, 24)},
		} {
			if len(bad.Table) == 24 && bad.Body == nil {
				cube.At(bad.Table, 1)[frame.CubeZ] = 1 << 14
			}
			out, _, err := enc.Encode(prefix, bad, refs, nil, nil)
			if err == nil || string(out) != "kept" {
				t.Errorf("%s: encoded a bad frame as %q, error %v", c.Name, out, err)
			}
		}
		for field, values := range [frame.CubeFields][]int32{
			{-1, 4}, {-1, 512}, {-1, 512}, {-1, 512}, {-1<<17 - 1, 1 << 17, -1 << 31, 1<<31 - 1}, {-1<<17 - 1, 1 << 17},
			{-1, 1 << 14}, {-1, 2},
		} {
			for _, v := range values {
				bad := s.NewFrame()
				cube.At(bad.Table, 2)[field] = v
				if _, _, err := enc.Encode(nil, bad, refs, nil, nil); !errors.Is(err, frame.ErrRange) {
					t.Errorf("%s: field %d = %d: error %v, want ErrRange", c.Name, field, v, err)
				}
			}
		}
		cur := s.NewFrame()
		cube.At(cur.Table, 2)[frame.CubeX] = 7
		sendFrame(t, enc, dec, cur, base)
	}
}

func TestNewInvalid(t *testing.T) {
	other := &frame.Schema{Name: "rpc", Rows: 1, Fields: []frame.Field{{Name: "a", Max: 1}}}
	for _, c := range Ladder() {
		if _, _, err := c.New(other, c.Defaults()); err == nil || c.Suits(other) {
			t.Errorf("%s: no error for a schema that is not of cubes", c.Name)
		}
	}
	if _, _, err := codecByName("relative-position").New(frame.Cubes(2),
		&positionWidths{XYSmall: 99}); !errors.Is(err, encoders.ErrParam) {
		t.Errorf("a width of 99 bits: error %v, want ErrParam", err)
	}
}

// TestDecodeInvalid checks that decoders refuse payloads that no encoder writes.
func TestDecodeInvalid(t *testing.T) {
	s := frame.Cubes(40)
	base, cur := s.NewFrame(), s.NewFrame()
	for _, i := range []int{3, 4, 30} {
		cube.At(cur.Table, i)[frame.CubeX] = 100
	}
	for _, c := range Ladder() {
		enc, dec := newPair(t, c, s, nil)
		payload, _ := sendFrame(t, enc, dec, cur, base)
		refs := []encoders.Ref{{Frame: base}}
		got := s.NewFrame()
		if _, err := dec.Decode(got, append(payload[:len(payload):len(payload)], 0), refs, nil); !errors.Is(err, encoders.ErrCorrupt) {
			t.Errorf("%s: trailing byte: error %v, want ErrCorrupt", c.Name, err)
		}
		if _, err := dec.Decode(got, payload[:len(payload)-1], refs, nil); !errors.Is(err, encoders.ErrTruncated) {
			t.Errorf("%s: missing byte: error %v, want ErrTruncated", c.Name, err)
		}
		if _, err := dec.Decode(got, nil, refs, nil); !errors.Is(err, encoders.ErrTruncated) {
			t.Errorf("%s: empty payload: error %v, want ErrTruncated", c.Name, err)
		}
		// Against the same frame as baseline the payload lists cubes that did not change.
		if c.ID >= 4 && c.ID <= 6 {
			if _, err := dec.Decode(got, payload, []encoders.Ref{{Frame: cur}}, nil); !errors.Is(err, cube.ErrUnchanged) ||
				!errors.Is(err, encoders.ErrCorrupt) {
				t.Errorf("%s: unchanged cubes listed: error %v, want ErrCorrupt", c.Name, err)
			}
		}
	}
}

// TestRelativeStaysInRange checks that a decoder refuses a relative position outside the schema.
func TestRelativeStaysInRange(t *testing.T) {
	s := frame.Cubes(1)
	base, cur, edge := s.NewFrame(), s.NewFrame(), s.NewFrame()
	cube.At(cur.Table, 0)[frame.CubeX] = 5
	cube.At(edge.Table, 0)[frame.CubeX] = cube.XYOffset - 3
	for _, c := range Ladder()[6:] {
		enc, dec := newPair(t, c, s, nil)
		payload, _ := sendFrame(t, enc, dec, cur, base)
		_, err := dec.Decode(s.NewFrame(), payload, []encoders.Ref{{Frame: edge}}, nil)
		if !errors.Is(err, encoders.ErrCorrupt) || !errors.Is(err, frame.ErrRange) {
			t.Errorf("%s: position out of range: error %v, want ErrCorrupt and ErrRange", c.Name, err)
		}
	}
}
