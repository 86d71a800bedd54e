package kinetic

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
	"wirelab/encoders/rangecoder"
	"wirelab/internal/testkit"
)

// testBoth runs a test for kinetic-lite and for kinetic.
func testBoth(t testing.TB, test func(t *testing.T, c encoders.Codec)) {
	for _, c := range []encoders.Codec{Lite(), Kinetic()} {
		t.(*testing.T).Run(c.Name, func(t *testing.T) { test(t, c) })
	}
}

// connection is an encoder and a decoder with the memos that each of them made.
type connection struct {
	enc            encoders.Encoder
	dec            encoders.Decoder
	sent, received map[uint32]encoders.Memo // by tick
	schema         *frame.Schema
	budget         encoders.Budget
	frames, bytes  int // packets and their bytes
}

func newConnection(t testing.TB, c encoders.Codec, rows int) *connection {
	t.Helper()
	s := frame.Cubes(rows)
	enc, dec, err := c.New(s, c.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	return &connection{enc: enc, dec: dec, schema: s, sent: map[uint32]encoders.Memo{},
		received: map[uint32]encoders.Memo{}}
}

// send encodes cur against base, decodes the packet, compares frames and memos, and returns the
// packet.
func (c *connection) send(t testing.TB, cur, base *frame.Frame) []byte {
	t.Helper()
	out, m, err := c.enc.Encode(nil, cur, []encoders.Ref{{Frame: base, Memo: c.sent[base.Tick]}}, nil, &c.budget)
	if err != nil {
		t.Fatal(err)
	}
	got := c.schema.NewFrame()
	got.Tick = cur.Tick
	mGot, err := c.dec.Decode(got, out, []encoders.Ref{{Frame: base, Memo: c.received[base.Tick]}}, nil)
	if err != nil {
		t.Fatalf("tick %d: %v", cur.Tick, err)
	}
	if !got.Equal(cur) {
		t.Fatalf("tick %d: the decoded frame differs", cur.Tick)
	}
	if !equalMemos(m.(*memo), mGot.(*memo)) {
		t.Fatalf("tick %d: the memos of encoder and decoder differ", cur.Tick)
	}
	c.sent[cur.Tick], c.received[cur.Tick] = m, mGot
	c.frames++
	c.bytes += len(out)
	return out
}

func equalMemos(a, b *memo) bool {
	if len(a.tracks) != len(b.tracks) || !bytes.Equal(a.ages, b.ages) || a.adaptive != b.adaptive ||
		a.basePlayer != b.basePlayer ||
		a.baselineFrames != b.baselineFrames || a.leftoverFrames != b.leftoverFrames {
		return false
	}
	for k := range a.tracks {
		if a.tracks[k] != b.tracks[k] {
			return false
		}
	}
	return true
}

// TestRecordings sends recordings by the rules of the walk-off. Every frame must be decoded
// correctly, and the mean packet size must not grow.
func TestRecordings(t *testing.T) {
	limits := map[string]map[string]float64{
		"kinetic-lite": {"bravo": 312, "lima": 345},
		"kinetic":      {"bravo": 180, "lima": 192},
	}
	frames := 200
	if !testkit.Thorough() {
		frames = 40
	}
	testBoth(t, func(t *testing.T, codec encoders.Codec) {
		for _, name := range []string{"bravo", "lima"} {
			list := recording.Load(t, name, 360+frames)[360:]
			c := newConnection(t, codec, frame.WalkoffCubes)
			for n := recording.BaselineAge; n < len(list); n++ {
				c.send(t, list[n], list[max(n-recording.BaselineAge, 0)])
			}
			mean := float64(c.bytes) / float64(c.frames)
			t.Logf("%s: %.1f bytes/packet over %d frames", name, mean, c.frames)
			if frames == 200 && mean > limits[codec.Name][name] {
				t.Errorf("%s: %.1f bytes/packet, want at most %.0f", name, mean, limits[codec.Name][name])
			}
		}
	})
}

// TestAnyBaseline loses packets and uses baselines of any age: the memos of encoder and decoder must
// stay equal.
func TestAnyBaseline(t *testing.T) {
	testBoth(t, func(t *testing.T, codec encoders.Codec) {
		list := recording.Load(t, "bravo", testkit.Choose(560, 480))[400:]
		c := newConnection(t, codec, frame.WalkoffCubes)
		rng := rand.New(rand.NewPCG(11, 12))
		held := []int{0}
		for n := 1; n < len(list); n += 1 + rng.IntN(4) {
			base := held[max(0, len(held)-1-rng.IntN(12))]
			c.send(t, list[n], list[base])
			if rng.IntN(4) > 0 { // otherwise the packet is lost and is no baseline
				held = append(held, n)
			}
		}
	})
}

// TestAnyTick sends frames with ticks far after, equal to and before that of the baseline.
func TestAnyTick(t *testing.T) {
	testBoth(t, func(t *testing.T, codec encoders.Codec) {
		list := recording.Load(t, "bravo", 130)
		c := newConnection(t, codec, frame.WalkoffCubes)
		c.send(t, list[100], list[94])
		for _, tick := range []uint32{100, 99, 101, 117, 355, 1 << 31, math.MaxUint32, 0} {
			cur := &frame.Frame{}
			cur.CopyFrom(list[106])
			cur.Tick = tick
			c.send(t, cur, list[100])
			c.sent[100], c.received[100] = c.sent[tick], c.received[tick]
		}
	})
}

// randomFrame returns a frame of random values, many of them at the bounds of the schema.
func randomFrame(rng *rand.Rand, s *frame.Schema, tick uint32) *frame.Frame {
	f := s.NewFrame()
	f.Tick = tick
	for i := range f.Table {
		fd := &s.Fields[i%frame.CubeFields]
		switch rng.IntN(4) {
		case 0:
			f.Table[i] = fd.Min
		case 1:
			f.Table[i] = fd.Max
		default:
			f.Table[i] = fd.Min + int32(rng.Int64N(int64(fd.Max)-int64(fd.Min)+1))
		}
	}
	return f
}

// TestAnyFrame sends random frames of several sizes, in which all cubes move.
func TestAnyFrame(t *testing.T) {
	testBoth(t, func(t *testing.T, codec encoders.Codec) {
		for _, rows := range testkit.Choose([]int{1, 2, 300, frame.WalkoffCubes, 5000}, []int{1, 2, 300, frame.WalkoffCubes}) {
			rng := rand.New(rand.NewPCG(13, uint64(rows)))
			c := newConnection(t, codec, rows)
			base := c.schema.NewFrame() // all in one place
			for n := range uint32(4) {
				cur := randomFrame(rng, c.schema, 6*n+6)
				c.send(t, cur, base)
				checkMemo(t, c.sent[cur.Tick].(*memo))
				base = cur
			}
			if rows > 1 {
				continue
			}
			still := &frame.Frame{}
			still.CopyFrom(base)
			still.Tick++
			if p := c.send(t, still, base); len(p) > 2 {
				t.Errorf("%d bytes for an unchanged frame, want at most 2", len(p))
			}
		}
	})
}

// checkMemo checks the size of a memo.
func checkMemo(t testing.TB, m *memo) {
	t.Helper()
	size := int(unsafe.Sizeof(*m)) + cap(m.tracks)*int(unsafe.Sizeof(track{})) + cap(m.ages)
	if limit := 16<<10 + 14*len(m.ages); size > limit {
		t.Errorf("a memo of %d bytes for %d cubes, want at most %d", size, len(m.ages), limit)
	}
	if len(m.tracks) > max(256, len(m.ages)/4) {
		t.Errorf("%d tracks of %d cubes", len(m.tracks), len(m.ages))
	}
}

// TestEncodeOutOfRange checks that values outside the schema are refused.
func TestEncodeOutOfRange(t *testing.T) {
	testBoth(t, func(t *testing.T, codec encoders.Codec) {
		c := newConnection(t, codec, 3)
		base := c.schema.NewFrame()
		for field, v := range map[int]int32{frame.CubeLargest: 4, frame.CubeA: 512, frame.CubeB: -1, frame.CubeX: 1 << 17,
			frame.CubeY: -1<<17 - 1, frame.CubeZ: 1 << 14, frame.CubeInteracting: 2} {
			cur := c.schema.NewFrame()
			cur.Table[8+field] = v
			if _, _, err := c.enc.Encode(nil, cur, []encoders.Ref{{Frame: base}}, nil, nil); !errors.Is(err, frame.ErrRange) {
				t.Errorf("field %d of %d: error %v", field, v, err)
			}
		}
	})
}

// FuzzDecode decodes arbitrary bytes: the result is an error or a frame within the schema, and the
// decoder works afterwards.
func FuzzDecode(f *testing.F) {
	list := recording.Load(f, "bravo", 130)
	codecs := []encoders.Codec{Lite(), Kinetic()}
	var c [2]*connection
	for k := range c {
		c[k] = newConnection(f, codecs[k], frame.WalkoffCubes)
		c[k].send(f, list[100], list[94])
		p := c[k].send(f, list[106], list[100])
		f.Add(k == 0, p)
		f.Add(k == 0, p[:len(p)/2])
	}
	f.Fuzz(func(t *testing.T, lite bool, src []byte) {
		k := rangecoder.Flag(!lite)
		got := c[k].schema.NewFrame()
		got.Tick = 106
		m, err := c[k].dec.Decode(got, src, []encoders.Ref{{Frame: list[100], Memo: c[k].received[100]}}, nil)
		switch {
		case err == nil:
			if err := c[k].schema.Check(got); err != nil {
				t.Fatal(err)
			}
			checkMemo(t, m.(*memo))
			next := c[k].schema.NewFrame()
			next.Tick = 112
			_, _ = c[k].dec.Decode(next, src, []encoders.Ref{{Frame: got, Memo: m}}, nil)
		case !errors.Is(err, encoders.ErrTruncated) && !errors.Is(err, encoders.ErrCorrupt):
			t.Fatal(err)
		}
	})
}

// TestAllocations checks that nothing is allocated if spare memos are given.
func TestAllocations(t *testing.T) {
	testBoth(t, func(t *testing.T, codec encoders.Codec) {
		list := recording.Load(t, "bravo", 130)
		c := newConnection(t, codec, frame.WalkoffCubes)
		c.send(t, list[100], list[94])
		var out []byte
		var spare, spareGot encoders.Memo
		var err error
		refs := []encoders.Ref{{Frame: list[100], Memo: c.sent[100]}}
		refsGot := []encoders.Ref{{Frame: list[100], Memo: c.received[100]}}
		got := c.schema.NewFrame()
		got.Tick = 106
		run := func() {
			if out, spare, err = c.enc.Encode(out[:0], list[106], refs, spare, &c.budget); err == nil {
				spareGot, err = c.dec.Decode(got, out, refsGot, spareGot)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		run()
		if n := testing.AllocsPerRun(20, run); n != 0 {
			t.Errorf("%v allocations, want none", n)
		}
	})
}

// TestSecondReference checks that a second reference, the frame before the baseline, makes packets
// smaller, because it shows the speeds.
func TestSecondReference(t *testing.T) {
	list := recording.Load(t, "bravo", testkit.Choose(450, 405))[360:]
	codec := Kinetic()
	bytes := [2]int{}
	for k := range bytes {
		c := newConnection(t, codec, frame.WalkoffCubes)
		for n := 7; n < len(list); n++ {
			refs := []encoders.Ref{{Frame: list[n-6], Memo: c.sent[list[n-6].Tick]}, {Frame: list[n-7]}}[:k+1]
			out, m, err := c.enc.Encode(nil, list[n], refs, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := c.schema.NewFrame()
			got.Tick = list[n].Tick
			refs[0].Memo = c.received[list[n-6].Tick]
			mGot, err := c.dec.Decode(got, out, refs, nil)
			if err != nil || !got.Equal(list[n]) {
				t.Fatalf("frame %d with %d references: error %v", n, k+1, err)
			}
			c.sent[list[n].Tick], c.received[list[n].Tick] = m, mGot
			bytes[k] += len(out)
		}
	}
	t.Logf("%d bytes with one reference, %d with two", bytes[0], bytes[1])
	if bytes[1] >= bytes[0] {
		t.Errorf("%d bytes with a second reference, %d without", bytes[1], bytes[0])
	}
}

// TestWrongModel checks that newCoders refuses a model whose nets have another number of features.
func TestWrongModel(t *testing.T) {
	s := frame.Cubes(3)
	for _, law := range []*simulationConfig{nil, defaultSimulation()} {
		for name, load := range map[string]func() (*model, error){"lite": liteModel, "kinetic": kineticModel} {
			_, _, err := newCoders(s, load, law)
			if fits := (name == "kinetic") == (law != nil); fits != (err == nil) || err != nil && !errors.Is(err, errModel) {
				t.Errorf("nets of %s, simulation %v: %v", name, law != nil, err)
			}
		}
	}
}
