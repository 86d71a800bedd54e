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

func both(t testing.TB, test func(t *testing.T, c encoders.Codec)) {
	for _, c := range []encoders.Codec{Lite(), Kinetic()} {
		t.(*testing.T).Run(c.Name, func(t *testing.T) { test(t, c) })
	}
}

// chains are both ends of a codec by the rules of the walk-off, or by others.
type chains struct {
	enc        encoders.Encoder
	dec        encoders.Decoder
	sent, got  map[uint32]encoders.Memo // by tick
	schema     *frame.Schema
	budget     encoders.Budget
	frames, by int // packets and their bytes
}

func newChains(t testing.TB, c encoders.Codec, rows int) *chains {
	t.Helper()
	s := frame.Cubes(rows)
	enc, dec, err := c.New(s, c.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	return &chains{enc: enc, dec: dec, schema: s, sent: map[uint32]encoders.Memo{}, got: map[uint32]encoders.Memo{}}
}

// send sends cur against base and checks that it arrives.
func (c *chains) send(t testing.TB, cur, base *frame.Frame) []byte {
	t.Helper()
	out, m, err := c.enc.Encode(nil, cur, []encoders.Ref{{Frame: base, Memo: c.sent[base.Tick]}}, nil, &c.budget)
	if err != nil {
		t.Fatal(err)
	}
	got := c.schema.NewFrame()
	got.Tick = cur.Tick
	mGot, err := c.dec.Decode(got, out, []encoders.Ref{{Frame: base, Memo: c.got[base.Tick]}}, nil)
	if err != nil {
		t.Fatalf("tick %d: %v", cur.Tick, err)
	}
	if !got.Equal(cur) {
		t.Fatalf("tick %d arrives as another frame", cur.Tick)
	}
	if !alike(m.(*memo), mGot.(*memo)) {
		t.Fatalf("tick %d: the memos of the two ends differ", cur.Tick)
	}
	c.sent[cur.Tick], c.got[cur.Tick] = m, mGot
	c.frames++
	c.by += len(out)
	return out
}

func alike(a, b *memo) bool {
	if len(a.tracks) != len(b.tracks) || !bytes.Equal(a.ages, b.ages) || a.adaptive != b.adaptive || a.player != b.player ||
		a.leadFrames != b.leadFrames || a.partFrames != b.partFrames {
		return false
	}
	for k := range a.tracks {
		if a.tracks[k] != b.tracks[k] {
			return false
		}
	}
	return true
}

// By the rules of the walk-off: every frame comes back, and takes no more than
// it did when this was written.
func TestRecordings(t *testing.T) {
	limits := map[string]map[string]float64{
		"kinetic-lite": {"bravo": 312, "lima": 345},
		"kinetic":      {"bravo": 180, "lima": 192},
	}
	frames := 200
	if !testkit.Thorough() {
		frames = 40
	}
	both(t, func(t *testing.T, codec encoders.Codec) {
		for _, name := range []string{"bravo", "lima"} {
			list := recording.Load(t, name, 360+frames)[360:]
			c := newChains(t, codec, frame.WalkoffCubes)
			for n := recording.BaselineAge; n < len(list); n++ {
				c.send(t, list[n], list[max(n-recording.BaselineAge, 0)])
			}
			mean := float64(c.by) / float64(c.frames)
			t.Logf("%s: %.1f bytes/packet over %d frames", name, mean, c.frames)
			if frames == 200 && mean > limits[codec.Name][name] {
				t.Errorf("%s: %.1f bytes/packet, want at most %.0f", name, mean, limits[codec.Name][name])
			}
		}
	})
}

// Whatever the link does, both ends remember the same: baselines come from any
// time back, and packets are lost on the way.
func TestAnyBaseline(t *testing.T) {
	both(t, func(t *testing.T, codec encoders.Codec) {
		list := recording.Load(t, "bravo", testkit.Choose(560, 480))[400:]
		c := newChains(t, codec, frame.WalkoffCubes)
		rng := rand.New(rand.NewPCG(11, 12))
		held := []int{0}
		for n := 1; n < len(list); n += 1 + rng.IntN(4) {
			base := held[max(0, len(held)-1-rng.IntN(12))]
			c.send(t, list[n], list[base])
			if rng.IntN(4) > 0 { // else it was lost, and nobody refers to it
				held = append(held, n)
			}
		}
	})
}

// A frame may be any distance from its baseline, even behind it.
func TestAnyTick(t *testing.T) {
	both(t, func(t *testing.T, codec encoders.Codec) {
		list := recording.Load(t, "bravo", 130)
		c := newChains(t, codec, frame.WalkoffCubes)
		c.send(t, list[100], list[94])
		for _, tick := range []uint32{100, 99, 101, 117, 355, 1 << 31, math.MaxUint32, 0} {
			cur := &frame.Frame{}
			cur.CopyFrom(list[106])
			cur.Tick = tick
			c.send(t, cur, list[100])
			c.sent[100], c.got[100] = c.sent[tick], c.got[tick]
		}
	})
}

// wild is a frame of any values there may be.
func wild(rng *rand.Rand, s *frame.Schema, tick uint32) *frame.Frame {
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

// Cubes may be anywhere, in any number, and all move at once.
func TestAnyFrame(t *testing.T) {
	both(t, func(t *testing.T, codec encoders.Codec) {
		for _, rows := range testkit.Choose([]int{1, 2, 300, frame.WalkoffCubes, 5000}, []int{1, 2, 300, frame.WalkoffCubes}) {
			rng := rand.New(rand.NewPCG(13, uint64(rows)))
			c := newChains(t, codec, rows)
			base := c.schema.NewFrame() // all in one place
			for n := range uint32(4) {
				cur := wild(rng, c.schema, 6*n+6)
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
				t.Errorf("%d bytes when nothing moves", len(p))
			}
		}
	})
}

// checkMemo holds a memo to its bounds.
func checkMemo(t testing.TB, m *memo) {
	t.Helper()
	size := int(unsafe.Sizeof(*m)) + cap(m.tracks)*int(unsafe.Sizeof(track{})) + cap(m.ages)
	if most := 16<<10 + 14*len(m.ages); size > most {
		t.Errorf("a memo of %d bytes for %d cubes, want at most %d", size, len(m.ages), most)
	}
	if len(m.tracks) > max(256, len(m.ages)/4) {
		t.Errorf("%d tracks of %d cubes", len(m.tracks), len(m.ages))
	}
}

// Values that no schema allows are refused, not coded.
func TestRefuses(t *testing.T) {
	both(t, func(t *testing.T, codec encoders.Codec) {
		c := newChains(t, codec, 3)
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

// Any bytes give an error or a frame that may be, and leave the decoder whole.
func FuzzDecode(f *testing.F) {
	list := recording.Load(f, "bravo", 130)
	codecs := []encoders.Codec{Lite(), Kinetic()}
	var c [2]*chains
	for k := range c {
		c[k] = newChains(f, codecs[k], frame.WalkoffCubes)
		c[k].send(f, list[100], list[94])
		p := c[k].send(f, list[106], list[100])
		f.Add(k == 0, p)
		f.Add(k == 0, p[:len(p)/2])
	}
	f.Fuzz(func(t *testing.T, lite bool, src []byte) {
		k := rangecoder.Flag(!lite)
		got := c[k].schema.NewFrame()
		got.Tick = 106
		m, err := c[k].dec.Decode(got, src, []encoders.Ref{{Frame: list[100], Memo: c[k].got[100]}}, nil)
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

// With spare memos at hand nothing is allocated.
func TestAllocations(t *testing.T) {
	both(t, func(t *testing.T, codec encoders.Codec) {
		list := recording.Load(t, "bravo", 130)
		c := newChains(t, codec, frame.WalkoffCubes)
		c.send(t, list[100], list[94])
		var out []byte
		var spare, spareGot encoders.Memo
		var err error
		refs, refsGot := []encoders.Ref{{Frame: list[100], Memo: c.sent[100]}}, []encoders.Ref{{Frame: list[100], Memo: c.got[100]}}
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

// A second snapshot, a frame before the baseline, shows how fast things are.
func TestSecondReference(t *testing.T) {
	list := recording.Load(t, "bravo", testkit.Choose(450, 405))[360:]
	codec := Kinetic()
	bytes := [2]int{}
	for k := range bytes {
		c := newChains(t, codec, frame.WalkoffCubes)
		for n := 7; n < len(list); n++ {
			refs := []encoders.Ref{{Frame: list[n-6], Memo: c.sent[list[n-6].Tick]}, {Frame: list[n-7]}}[:k+1]
			out, m, err := c.enc.Encode(nil, list[n], refs, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := c.schema.NewFrame()
			got.Tick = list[n].Tick
			refs[0].Memo = c.got[list[n-6].Tick]
			mGot, err := c.dec.Decode(got, out, refs, nil)
			if err != nil || !got.Equal(list[n]) {
				t.Fatalf("frame %d with %d references: error %v", n, k+1, err)
			}
			c.sent[list[n].Tick], c.got[list[n].Tick] = m, mGot
			bytes[k] += len(out)
		}
	}
	t.Logf("%d bytes with one reference, %d with two", bytes[0], bytes[1])
	if bytes[1] >= bytes[0] {
		t.Errorf("%d bytes with a second reference, %d without", bytes[1], bytes[0])
	}
}

// A model whose nets were trained on other features is refused before anything is
// encoded, and one that fits is not.
func TestModelThatDoesNotFit(t *testing.T) {
	s := frame.Cubes(3)
	for _, law := range []*law{nil, defaultLaw()} {
		for name, load := range map[string]func() (*model, error){"lite": liteModel, "kinetic": kineticModel} {
			_, _, err := ends(s, load, law)
			if fits := (name == "kinetic") == (law != nil); fits != (err == nil) || err != nil && !errors.Is(err, errModel) {
				t.Errorf("nets of %s, simulation %v: %v", name, law != nil, err)
			}
		}
	}
}
