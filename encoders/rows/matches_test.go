package rows

import (
	"errors"
	"hash/crc32"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/encoders"
	"wirelab/internal/testkit"
)

// openSource opens a recorded match; see testkit.Match.
func openSource(t testing.TB, name string) dataset.Source {
	t.Helper()
	src, err := dataset.Open(t.Context(), testkit.Match(t, name), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// A matchResult sums up an encoded match. bytes, gameBits and budget count only the frames that the
// game encoded against the frame before, and of tables all frames.
type matchResult struct {
	frames   int // number of counted frames
	bytes    int // of packets
	gameBits int // size of the game's own encoding; 0 for tables
	encode   time.Duration
	decode   time.Duration
	encoded  int // number of frames
	budget   encoders.Budget
	checksum uint32 // of all packets
}

func (r *matchResult) ratio() float64 { return float64(8*r.bytes) / float64(r.gameBits) }

// matchOptions are the options of encodeMatch.
type matchOptions struct {
	baselineAge int  // in frames
	frames      int  // number of frames to encode; 0 means all
	verify      bool // decode every packet and compare
	budget      bool
	schema      func(*frame.Schema) // changes the schema; nil leaves it
}

// encodeMatch encodes a match, each frame against the frame baselineAge frames before.
func encodeMatch(t testing.TB, name string, o matchOptions) (res matchResult) {
	src := openSource(t, name)
	if c, ok := src.(io.Closer); ok {
		defer c.Close()
	}
	schema := *src.Schema()
	if o.schema != nil {
		schema.Fields = append([]frame.Field(nil), schema.Fields...)
		o.schema(&schema)
	}
	s := &schema
	enc, dec := defaultCoder(s), defaultCoder(s)
	type end struct {
		frame frame.Frame
		memo  encoders.Memo
	}
	ring := make([][2]end, o.baselineAge+1)
	for i := range ring {
		src.Initial(&ring[i][0].frame)
		src.Initial(&ring[i][1].frame)
	}
	var recent []frame.Rows
	cur := s.NewFrame()
	for i := 0; o.frames == 0 || i < o.frames; i++ {
		if err := src.Next(cur); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		cur.Tick = uint32(i + 1)
		if len(recent) <= o.baselineAge {
			recent = append(recent, frame.NewRows(s.Rows))
		}
		var changed frame.Rows // nil if the source does not track changes
		if tracked, ok := src.(source.Tracked); ok {
			changed = frame.NewRows(s.Rows)
			copy(recent[i%len(recent)], tracked.Changed())
			for back := range min(o.baselineAge, i+1) {
				changed.Union(recent[(i-back)%len(recent)])
			}
		}
		to, from := &ring[i%len(ring)], &ring[(i+1)%len(ring)]
		price := dataset.Price{Base: 1}
		if priced, ok := src.(source.Priced); ok {
			price = priced.Price()
		}
		counts := price.Base == 1 && i >= o.baselineAge
		var budget *encoders.Budget
		if o.budget && counts {
			budget = &res.budget
		}
		start := testkit.CPUTime()
		out, memo, err := enc.Encode(nil, cur, []encoders.Ref{{Frame: &from[0].frame, Memo: from[0].memo, Changed: changed}}, to[0].memo, budget)
		res.encode += testkit.CPUTime() - start
		if err != nil {
			t.Fatal(err)
		}
		res.checksum = crc32.Update(res.checksum, crc32.IEEETable, out)
		to[0].memo = memo
		to[0].frame.CopyFrom(cur)
		if o.verify {
			b := &to[1]
			b.frame.Tick = cur.Tick
			start := testkit.CPUTime()
			memo, err := dec.Decode(&b.frame, out, []encoders.Ref{{Frame: &from[1].frame, Memo: from[1].memo}}, b.memo)
			res.decode += testkit.CPUTime() - start
			if err != nil {
				t.Fatalf("frame %d: %v", i, err)
			}
			if b.memo = memo; !b.frame.Equal(cur) {
				t.Fatalf("frame %d decoded differently", i)
			}
		}
		if counts {
			res.frames++
			res.bytes += len(out)
			res.gameBits += price.Bits
		}
		res.encoded++
	}
	return res
}

// removeHints leaves only the kinds of fields.
func removeHints(s *frame.Schema) {
	for i := range s.Fields {
		s.Fields[i].Hint = frame.Hint{}
	}
}

// Whole matches take at most this ratio of the bits that the games themselves spent, with the same
// baselines.
func TestMatchesBeatGames(t *testing.T) {
	for _, c := range []struct {
		name string
		matchOptions
		most     float64
		gameBits int // per frame, for tables; from the README of the reference data
	}{
		{"oa-ctf.dm_71", matchOptions{baselineAge: 1, verify: true}, 0.31, 0},
		{"oa-dm4.dm_71", matchOptions{baselineAge: 1, verify: true}, 0.36, 0},
		{"oa-dm4.dm_71", matchOptions{baselineAge: 1, schema: removeHints}, 0.45, 0},
		{"tw-ctf2.table", matchOptions{baselineAge: 1, verify: true}, 0.30, 766},
		{"tw-dm1.table", matchOptions{baselineAge: 1, verify: true}, 0.36, 914},
	} {
		if !testkit.Thorough() {
			c.frames, c.most = 200, 1
		} else if strings.Contains(c.name, "ctf") && !testkit.Long() {
			continue
		}
		r := encodeMatch(t, c.name, c.matchOptions)
		r.gameBits += c.gameBits * r.frames
		n := float64(max(r.frames, 1))
		t.Logf("%s: %d frames, game %.1f bits, ours %.1f, ratio %.4f; %.0f us, decoding %.0f us of CPU", c.name, r.frames, float64(r.gameBits)/n,
			float64(8*r.bytes)/n, r.ratio(), float64(r.encode.Microseconds())/float64(r.encoded), float64(r.decode.Microseconds())/float64(r.encoded))
		if r.ratio() > c.most {
			t.Errorf("%s takes %.4f of the game's own bits, want at most %.2f", c.name, r.ratio(), c.most)
		}
	}
}

// defaultCoder returns a coder with the default parameters.
func defaultCoder(s *frame.Schema) *coder {
	return newCoder(s, DeltaAdaptive().Params.(*params))
}

// defaultMemory is the size of a memo by default, in bytes.
const defaultMemory = 256 << 10

// The packets of the first 150 frames of matches are fixed, on every machine, and memos stay within
// their bound.
func TestGoldenPackets(t *testing.T) {
	for _, c := range []struct {
		name  string
		bytes int
		sum   uint32
	}{
		{"oa-ctf.dm_71", 2816, 0xb341b5c7},
		{"oa-dm4.dm_71", 749, 0xa257b568},
		{"tw-dm1.table", 6277, 0xb12fec94},
	} {
		if r := encodeMatch(t, c.name, matchOptions{baselineAge: 1, frames: 150}); r.bytes != c.bytes || r.checksum != c.sum {
			t.Errorf("%s: 150 packets take %d bytes of checksum %#x, want %d of %#x", c.name, r.bytes, r.checksum, c.bytes, c.sum)
		}
		if size := newMemo(newPlan(openSource(t, c.name).Schema(), defaultMemory), defaultMemory).bytes(); size > defaultMemory {
			t.Errorf("%s: %d bytes in a memo", c.name, size)
		}
	}
}

// The first frames of a large table, in which all rows are new, survive the round trip. Decoding a
// truncated packet stops early.
func TestLargeTable(t *testing.T) {
	s := &frame.Schema{Name: "large", Item: "row", Rows: 4096, Fields: []frame.Field{{Name: "x", Kind: frame.Float32},
		{Name: "y", Min: math.MinInt32, Max: math.MaxInt32}, {Name: "z", Kind: frame.Bits}}}
	enc, dec := defaultCoder(s), defaultCoder(s)
	base, back := s.NewFrame(), s.NewFrame()
	ref := []encoders.Ref{{Frame: base}}
	got := ref
	for n := range int32(3) {
		cur := s.NewFrame()
		cur.Tick, back.Tick = uint32(n+1), uint32(n+1)
		for i := range cur.Table {
			cur.Table[i] = int32(i)*2654435 - n*int32(i%7)
		}
		out, memo, err := enc.Encode(nil, cur, ref, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dec.Decode(back, nil, got, nil); !errors.Is(err, encoders.ErrTruncated) || dec.row.index > 2048 {
			t.Errorf("frame %d, truncated: row %d, error %v", n, dec.row.index, err)
		}
		other, err := dec.Decode(back, out, got, nil)
		if err != nil || !back.Equal(cur) || !reflect.DeepEqual(memo, other) {
			t.Fatalf("frame %d decoded differently, error %v", n, err)
		}
		ref, got = []encoders.Ref{{Frame: cur, Memo: memo}}, []encoders.Ref{{Frame: cur, Memo: other}}
	}
}

// bytes returns the size of a memo in memory.
func (m *memo) bytes() int {
	n := int(unsafe.Sizeof(*m))
	for _, v := range []reflect.Value{reflect.ValueOf(m).Elem(), reflect.ValueOf(m.mixing).Elem()} {
		for i := range v.NumField() {
			if f := v.Field(i); f.Kind() == reflect.Slice {
				n += f.Cap() * int(f.Type().Elem().Size())
			}
		}
	}
	return n
}

// Encode and Decode do not allocate when memos and buffers are reused.
func TestNoAllocations(t *testing.T) {
	s := openSource(t, "oa-dm4.dm_71").Schema()
	enc, dec := defaultCoder(s), defaultCoder(s)
	base, cur, back := s.NewFrame(), s.NewFrame(), s.NewFrame()
	for i := range 40 {
		cur.Table[i*len(s.Fields)*3] = 1
		cur.Table[i*len(s.Fields)*3+3] = int32(i)
	}
	cur.Tick, back.Tick = 1, 1
	refs := []encoders.Ref{{Frame: base}}
	out, memo, err := enc.Encode(make([]byte, 0, 4096), cur, refs, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var other encoders.Memo
	if n := testing.AllocsPerRun(20, func() {
		out, memo, err = enc.Encode(out[:0], cur, refs, memo, nil)
		if err == nil {
			other, err = dec.Decode(back, out, refs, other)
		}
	}); n != 0 || err != nil {
		t.Errorf("%v allocations per frame, error %v", n, err)
	}
}
