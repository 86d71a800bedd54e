package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/hostile"
	"wirelab/encoders/table"
	"wirelab/internal/testkit"
)

// forEachCodec runs a test for every codec on every schema that it suits.
func forEachCodec(t *testing.T, test func(t *testing.T, c encoders.Codec, s *frame.Schema)) {
	for _, c := range table.All() {
		for _, s := range schemas() {
			if c.Suits(s) && (testkit.Thorough() || s.Rows <= frame.WalkoffCubes) {
				t.Run(fmt.Sprintf("%s/%s-%d", c.Name, s.Name, s.Rows), func(t *testing.T) { test(t, c, s) })
			}
		}
	}
}

// isOwnCodec reports whether a codec is implemented in this project. Codecs of libraries may allocate, for
// instance.
func isOwnCodec(c encoders.Codec) bool { return !strings.Contains(c.Source, "library") }

// pair is an encoder and a decoder of a codec, each with the memos that it made.
type pair struct {
	enc       encoders.Encoder
	dec       encoders.Decoder
	schema    *frame.Schema
	quantises bool
	sent, got map[*frame.Frame]encoders.Memo // by the frame as the test knows it
	budget    encoders.Budget                // of the last packet
}

func newPair(t testing.TB, c encoders.Codec, s *frame.Schema) *pair {
	t.Helper()
	return newPairOf(t, c, s, defaults(c))
}

func newPairOf(t testing.TB, c encoders.Codec, s *frame.Schema, params any) *pair {
	t.Helper()
	enc, dec, err := c.New(s, params)
	if err != nil {
		t.Fatalf("%s on %s: %v", c.Name, s.Name, err)
	}
	return &pair{enc: enc, dec: dec, schema: s, quantises: c.Quantises,
		sent: map[*frame.Frame]encoders.Memo{}, got: map[*frame.Frame]encoders.Memo{}}
}

// send encodes cur against base, decodes the payload and returns it. It checks that the frame is equal,
// that references and input are unchanged, that the budget adds up, and that dst is only appended to.
func (p *pair) send(t testing.TB, cur, base *frame.Frame) []byte {
	t.Helper()
	var before, baseBefore frame.Frame
	before.CopyFrom(cur)
	baseBefore.CopyFrom(base)
	prefix := []byte("what was there")
	refs := []encoders.Ref{{Frame: base, Memo: p.sent[base]}}
	p.budget.Reset()
	out, memo, err := p.enc.Encode(prefix[:len(prefix):len(prefix)], cur, refs, nil, &p.budget)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	p.sent[cur] = memo
	if !bytes.HasPrefix(out, prefix) {
		t.Fatalf("the prefix of dst was overwritten with %q", out[:len(prefix)])
	}
	payload := out[len(prefix):]
	if got, want := p.budget.Total(), int64(len(payload))*8*encoders.BitUnit; got != want {
		t.Fatalf("the budget of %d bytes sums to %d units, want %d", len(payload), got, want)
	}
	for k, u := range p.budget.Units {
		if u < 0 {
			t.Fatalf("slot %s holds %d units", encoders.Slot(k).Name(p.schema), u)
		}
	}
	if !p.quantises && !cur.Equal(&before) {
		t.Fatal("the encoder changed the frame")
	}
	got := p.schema.NewFrame()
	got.Tick = cur.Tick
	memo, err = p.dec.Decode(got, payload, []encoders.Ref{{Frame: base, Memo: p.got[base]}}, nil)
	if err != nil {
		t.Fatalf("decode of %d bytes: %v", len(payload), err)
	}
	p.got[cur] = memo
	if !got.Equal(cur) {
		t.Fatal("the decoded frame differs")
	}
	if !base.Equal(&baseBefore) {
		t.Fatal("the reference was changed")
	}
	return payload
}

// TestRoundTrip encodes and decodes frames against any earlier frame.
func TestRoundTrip(t *testing.T) {
	forEachCodec(t, func(t *testing.T, c encoders.Codec, s *frame.Schema) {
		length := testkit.ChooseLong(30, 12, 6)
		if s.Rows > 100 {
			length = testkit.ChooseLong(8, 4, 3)
		}
		p := newPair(t, c, s)
		rng := rand.New(rand.NewPCG(21, 22))
		frames := randomFrames(s, 1, length)
		for i, cur := range frames[1:] {
			p.send(t, cur, frames[rng.IntN(i+1)])
			p.send(t, cur, frames[0])
		}
	})
}

// TestSameBytesAfterReuse checks that new encoders and encoders that have coded other frames write the same
// bytes, with and without a budget.
func TestSameBytesAfterReuse(t *testing.T) {
	forEachCodec(t, func(t *testing.T, c encoders.Codec, s *frame.Schema) {
		used := newPair(t, c, s)
		frames := randomFrames(s, 2, testkit.Choose(7, 3))
		for i, cur := range frames[1:] {
			used.send(t, cur, frames[i])
		}
		used.dec.Decode(s.NewFrame(), []byte{1, 2, 3}, []encoders.Ref{{Frame: frames[0]}}, nil)
		for i, cur := range frames[1:] {
			fresh := newPair(t, c, s)
			fresh.sent[frames[i]], fresh.got[frames[i]] = used.sent[frames[i]], used.got[frames[i]]
			want := fresh.send(t, cur, frames[i])
			if got := used.send(t, cur, frames[i]); !bytes.Equal(got, want) {
				t.Fatalf("frame %d: %x from a used encoder, %x from a new one", i+1, head(got), head(want))
			}
			bare, _, err := used.enc.Encode(nil, cur, []encoders.Ref{{Frame: frames[i], Memo: used.sent[frames[i]]}}, nil, nil)
			if err != nil || !bytes.Equal(bare, want) {
				t.Fatalf("frame %d: %x without a budget, %x with; error %v", i+1, head(bare), head(want), err)
			}
		}
	})
}

func head(b []byte) []byte { return b[:min(len(b), 64)] }

// decodeInvalid passes invalid bytes to a decoder, which must return an error that wraps ErrTruncated or ErrCorrupt,
// or a frame within the schema.
func decodeInvalid(t testing.TB, p *pair, src []byte, base *frame.Frame) {
	t.Helper()
	got := p.schema.NewFrame()
	_, err := p.dec.Decode(got, src, []encoders.Ref{{Frame: base, Memo: p.got[base]}}, nil)
	if err := hostile.CheckDecode(p.schema, got, err); err != nil {
		t.Fatalf("%x... of %d bytes: %v", head(src), len(src), err)
	}
}

// TestDamage passes truncated packets and packets with a flipped bit to decoders, which must decode valid
// packets afterwards.
func TestDamage(t *testing.T) {
	forEachCodec(t, func(t *testing.T, c encoders.Codec, s *frame.Schema) {
		if !testkit.Thorough() && s.Rows > 100 {
			t.Skip("takes long packets; set WIRELAB_THOROUGH=1")
		}
		p := newPair(t, c, s)
		frames := randomFrames(s, 3, 6)
		rng := rand.New(rand.NewPCG(23, 24))
		for i, cur := range frames[1:] {
			base := frames[i]
			payload := p.send(t, cur, base)
			every := 1 + len(payload)*s.Cells()/testkit.ChooseLong(400_000, 50_000, 400_000) // long packets are sampled
			every += testkit.ChooseLong(0, 1, 11)
			for n := rng.IntN(every); n < len(payload); n += every {
				decodeInvalid(t, p, payload[:n], base)
				damaged := bytes.Clone(payload)
				damaged[n] ^= 1 << rng.IntN(8)
				decodeInvalid(t, p, damaged, base)
				damaged[rng.IntN(len(damaged))] = byte(rng.Uint32())
				decodeInvalid(t, p, damaged, base)
			}
			decodeInvalid(t, p, append(bytes.Clone(payload), 0), base)
			p.send(t, cur, base)
		}
	})
}

// TestCubesAreExact checks that decoders of cubes refuse every prefix of a packet, and a packet with a
// trailing byte.
func TestCubesAreExact(t *testing.T) {
	for _, c := range table.All() {
		s := frame.Cubes(33)
		if c.ID >= 64 || !c.Suits(s) {
			continue
		}
		p := newPair(t, c, s)
		frames := randomFrames(s, 4, testkit.Choose(6, 3))
		for i, cur := range frames[1:] {
			payload := p.send(t, cur, frames[i])
			refs := []encoders.Ref{{Frame: frames[i], Memo: p.got[frames[i]]}}
			for n := range payload {
				got := s.NewFrame()
				got.Tick = cur.Tick
				if _, err := p.dec.Decode(got, payload[:n], refs, nil); err == nil {
					t.Errorf("%s, frame %d: %d of %d bytes were accepted", c.Name, i+1, n, len(payload))
				}
			}
			got := s.NewFrame()
			got.Tick = cur.Tick
			if _, err := p.dec.Decode(got, append(bytes.Clone(payload), 0), refs, nil); !errors.Is(err, encoders.ErrCorrupt) {
				t.Errorf("%s, frame %d: trailing byte: error %v, want ErrCorrupt", c.Name, i+1, err)
			}
		}
	}
}

// TestStandalone checks that packets of standalone codecs decode to the same frame with any reference.
func TestStandalone(t *testing.T) {
	forEachCodec(t, func(t *testing.T, c encoders.Codec, s *frame.Schema) {
		if !c.Standalone {
			t.Skip("not standalone")
		}
		p := newPair(t, c, s)
		frames := randomFrames(s, 6, 5)
		for i, cur := range frames[1:] {
			payload := p.send(t, cur, frames[i])
			got := s.NewFrame()
			if _, err := p.dec.Decode(got, payload, []encoders.Ref{{Frame: frames[0]}}, nil); err != nil || !got.Equal(cur) {
				t.Fatalf("frame %d, decoded against the initial state: the frame differs, error %v", i+1, err)
			}
		}
	})
}

// TestNoAllocations checks that this project's codecs allocate nothing in steady state.
func TestNoAllocations(t *testing.T) {
	forEachCodec(t, func(t *testing.T, c encoders.Codec, s *frame.Schema) {
		if !isOwnCodec(c) {
			t.Skip("implemented by a library")
		}
		if s.Delivery == frame.Reliable {
			t.Skip("a file is encoded once")
		}
		frames := randomFrames(s, 5, testkit.Choose(6, 4))
		enc, dec, err := c.New(s, defaults(c))
		if err != nil {
			t.Fatal(err)
		}
		refs := []encoders.Ref{{}}
		var budget encoders.Budget
		var payload []byte
		got := s.NewFrame()
		var spareSent, spareGot encoders.Memo
		all := func() {
			for i, cur := range frames[1:] {
				refs[0].Frame, got.Tick = frames[i], cur.Tick
				if payload, spareSent, err = enc.Encode(payload[:0], cur, refs, spareSent, &budget); err == nil {
					spareGot, err = dec.Decode(got, payload, refs, spareGot)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		all()
		allocs := testkit.Least(0, func() float64 { return testing.AllocsPerRun(testkit.Choose(3, 1), all) })
		if allocs != 0 {
			t.Errorf("%v allocations for %d frames, want none", allocs, len(frames)-1)
		}
	})
}
