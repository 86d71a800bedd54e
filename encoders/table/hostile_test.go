package table_test

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/internal/testkit"
)

// extremes returns frames at the limits of a schema of cubes, in an order in which everything changes from one
// limit to another: bounds, all cubes in one place, quaternions with equal components, codes that are no
// quaternions, and frames in which all cubes or none move.
func extremes(s *frame.Schema) []*frame.Frame {
	grid := s.NewFrame()
	for i := range s.Rows {
		copy(grid.Table[i*frame.CubeFields:], []int32{3, 256, 256, 256, int32(i%30)*400 - 6000, int32(i/30%300)*400 - 6000, 102, 0})
	}
	all := func(cube ...int32) *frame.Frame {
		f := s.NewFrame()
		for i := range s.Rows {
			copy(f.Table[i*frame.CubeFields:], cube)
		}
		return f
	}
	stirred := &frame.Frame{}
	stirred.CopyFrom(grid)
	for i := range s.Rows {
		q := stirred.Table[i*frame.CubeFields:]
		q[frame.CubeX] += int32(i%5) - 2
		q[frame.CubeY] -= int32(i%7) - 3
		q[frame.CubeZ] += int32(i % 3)
		q[frame.CubeA] += int32(i%11) - 5
	}
	const least, most, top = -1 << 17, 1<<17 - 1, 1<<14 - 1
	return []*frame.Frame{
		grid,
		stirred,
		stirred, // none moves
		all(3, 256, 256, 256, 0, 0, 0, 0),
		all(0, 436, 436, 436, most, most, top, 1), // all four components are a half
		all(1, 76, 76, 76, least, least, 0, 1),    // and minus a half
		all(2, 0, 0, 0, most, least, top, 0),      // no unit quaternion
		all(3, 511, 511, 511, least, most, top, 1),
		all(0, 436, 436, 436, most, most, top, 1),
		grid,
		stirred,
	}
}

// TestExtremes encodes and decodes the extremes with every encoder of cubes, in order and against any reference,
// with any distance in ticks.
func TestExtremes(t *testing.T) {
	for _, c := range table.All() {
		for _, n := range testkit.ChooseLong([]int{1, 2, 901, 5000}, []int{1, 2, 901}, []int{1, 2, 50}) {
			s := frame.Cubes(n)
			if !c.Suits(s) {
				continue
			}
			p := newPair(t, c, s)
			frames := extremes(s)
			ticks := []uint32{0, 6, 12, 12, 13, 300, 1 << 20, 1<<32 - 1, 3, 4, 10} // 0, 1, 255 and what never happens
			for i := range frames {
				copied := &frame.Frame{}
				copied.CopyFrom(frames[i])
				copied.Tick = ticks[i]
				frames[i] = copied
			}
			for i, cur := range frames {
				if i == 0 {
					continue
				}
				p.send(t, cur, frames[i-1])
				if n < 901 {
					for _, base := range frames[:i] {
						p.send(t, cur, base)
					}
				}
			}
			if t.Failed() {
				t.Fatalf("%s with %d cubes", c.Name, n)
			}
		}
	}
}

// journal is a sequence of packets with the frames and memos that they were encoded from.
type journal struct {
	frames   []*frame.Frame
	payloads [][]byte // of frames[age:]
	age      int
}

// record encodes frames, each against the one age frames before it and its memo.
func record(t testing.TB, c encoders.Codec, s *frame.Schema, frames []*frame.Frame, age int) *journal {
	t.Helper()
	j := &journal{frames: frames, age: age, payloads: make([][]byte, len(frames))}
	enc, _, err := c.New(s, defaults(c))
	if err != nil {
		t.Fatal(err)
	}
	memos := make([]encoders.Memo, len(frames))
	for i := age; i < len(frames); i++ {
		ref := []encoders.Ref{{Frame: frames[i-age], Memo: memos[i-age]}}
		if j.payloads[i], memos[i], err = enc.Encode(nil, frames[i], ref, nil, nil); err != nil {
			t.Fatalf("%s, frame %d: %v", c.Name, i, err)
		}
	}
	return j
}

// TestChainSurvives decodes invalid bytes between the packets of a chain, with the same decoder and spare memo.
// Whether they are refused or decode to a frame by chance, all valid packets must decode correctly.
func TestChainSurvives(t *testing.T) {
	forEachCodec(t, func(t *testing.T, c encoders.Codec, s *frame.Schema) {
		if s.Rows > 901 || !testkit.Thorough() && s.Rows > 100 {
			t.Skip("long packets: under WIRELAB_THOROUGH=1")
		}
		const age = 2
		j := record(t, c, s, randomFrames(s, 8, testkit.Choose(11, 7)), age)
		_, dec, err := c.New(s, defaults(c))
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(31, uint64(c.ID)))
		memos := make([]encoders.Memo, len(j.frames))
		var spare encoders.Memo
		for i := age; i < len(j.frames); i++ {
			refs := []encoders.Ref{{Frame: j.frames[i-age], Memo: memos[i-age]}}
			got := s.NewFrame()
			got.Tick = j.frames[i].Tick
			for _, bad := range invalidPackets(rng, j.payloads[i]) {
				memo, err := dec.Decode(got, bad, refs, spare)
				if err == nil {
					spare = memo // it was never attached to anything
				}
			}
			if memos[i], err = dec.Decode(got, j.payloads[i], refs, spare); err != nil || !got.Equal(j.frames[i]) {
				t.Fatalf("frame %d after invalid bytes: the decoded frame differs, error %v", i, err)
			}
			spare = nil
			if i >= 2*age { // has left the history
				spare, memos[i-age] = memos[i-age], nil
			}
		}
	})
}

// invalidPackets returns invalid packets made from valid ones: random bytes, truncated packets, packets with a flipped bit
// or with random bytes from some position on.
func invalidPackets(rng *rand.Rand, payload []byte) (list [][]byte) {
	random := make([]byte, rng.IntN(2*len(payload)+2))
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	list = append(list, random, nil, bytes.Repeat([]byte{0xFF}, len(payload)))
	for range min(5, len(payload)) {
		at := rng.IntN(len(payload))
		flipped := bytes.Clone(payload)
		flipped[at] ^= 1 << rng.IntN(8)
		torn := bytes.Clone(payload)
		for i := at; i < len(torn); i++ {
			torn[i] = byte(rng.Uint32())
		}
		list = append(list, flipped, torn, payload[:at])
	}
	return list
}

// TestHostileMemory checks that a decoder of cubes allocates no more for invalid bytes than for the worst valid
// packet, apart from the error. Decoders of bodies are not tested, because a schema does not bound bodies.
func TestHostileMemory(t *testing.T) {
	forEachCodec(t, func(t *testing.T, c encoders.Codec, s *frame.Schema) {
		if c.ID >= 64 || s.Rows == 0 || s.Rows > 901 {
			t.Skip("has bodies, or takes long")
		}
		j := record(t, c, s, randomFrames(s, 9, testkit.Choose(6, 4)), 1)
		const anError = 2048
		extra := testkit.Least(anError, func() int { return extraBytes(t, c, s, j) })
		if extra > anError {
			t.Errorf("%d bytes more for an invalid packet than for the worst valid one", extra)
		}
	})
}

// extraBytes returns how many bytes more a new decoder allocates for the worst invalid packet than for the
// worst valid one.
func extraBytes(t *testing.T, c encoders.Codec, s *frame.Schema, j *journal) int {
	_, dec, err := c.New(s, defaults(c))
	if err != nil {
		t.Fatal(err)
	}
	got := s.NewFrame()
	got.Body = make([]byte, 0, encoders.MaxBody) // a schema does not bound bodies
	cost := func(i int, src []byte) int {
		var before, after runtime.MemStats
		refs := []encoders.Ref{{Frame: j.frames[i-1]}}
		got.Tick = j.frames[i].Tick
		runtime.ReadMemStats(&before)
		_, _ = dec.Decode(got, src, refs, nil)
		runtime.ReadMemStats(&after)
		return int(after.TotalAlloc - before.TotalAlloc)
	}
	var valid, invalid int
	for i := 1; i < len(j.frames); i++ {
		valid = max(valid, cost(i, j.payloads[i]))
	}
	rng := rand.New(rand.NewPCG(32, uint64(c.ID)))
	for i := 1; i < len(j.frames); i++ {
		for _, src := range invalidPackets(rng, j.payloads[i]) {
			invalid = max(invalid, cost(i, src))
		}
	}
	return invalid - valid
}
