package states

import (
	"context"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/encoders"
	"wirelab/encoders/train"
	"wirelab/internal/testkit"
)

// match opens a recorded match.
func match(t testing.TB, name string) dataset.Source {
	t.Helper()
	kind := "quake3:"
	if strings.HasSuffix(name, ".demo") {
		kind = "teeworlds:"
	}
	src, err := dataset.Open(t.Context(), kind+testkit.DataFile(t, "games/"+name), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// result is what came of a match.
type result struct {
	frames int // that are counted
	bytes  int // packets
	own    int // what the game spent, in bits
	encode time.Duration
	decode time.Duration
	played int
	budget encoders.Budget
	sum    uint32 // checksum of all packets
}

func (r *result) ratio() float64 { return float64(8*r.bytes) / float64(r.own) }

type run struct {
	back   int
	frames int // 0: all
	verify bool
	budget bool
	schema func(*frame.Schema)
	book   []byte
}

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano())
}

// play encodes a match against the frames before, each of which both ends have, and counts those
// for which the game, too, used the one before.
func play(t testing.TB, name string, o run) (res result) {
	src := match(t, name)
	if c, ok := src.(io.Closer); ok {
		defer c.Close()
	}
	schema := *src.Schema()
	if o.schema != nil {
		schema.Fields = append([]frame.Field(nil), schema.Fields...)
		o.schema(&schema)
	}
	s := &schema
	enc, dec := usualCoder(s), usualCoder(s)
	if o.book != nil {
		if err := errors.Join(enc.open(o.book), dec.open(o.book)); err != nil {
			t.Fatal(err)
		}
	}
	type end struct {
		frame frame.Frame
		memo  encoders.Memo
	}
	ring := make([][2]end, o.back+1)
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
		if len(recent) <= o.back {
			recent = append(recent, frame.NewRows(s.Rows))
		}
		copy(recent[i%len(recent)], src.(source.Tracked).Changed())
		changed := frame.NewRows(s.Rows)
		for back := range min(o.back, i+1) {
			changed.Union(recent[(i-back)%len(recent)])
		}
		to, from := &ring[i%len(ring)], &ring[(i+1)%len(ring)]
		price := src.(source.Priced).Price()
		counts := price.Base == 1 && i >= o.back
		var budget *encoders.Budget
		if o.budget && counts {
			budget = &res.budget
		}
		start := cpu()
		out, memo, err := enc.Encode(nil, cur, []encoders.Ref{{Frame: &from[0].frame, Memo: from[0].memo, Changed: changed}}, to[0].memo, budget)
		res.encode += cpu() - start
		if err != nil {
			t.Fatal(err)
		}
		res.sum = crc32.Update(res.sum, crc32.IEEETable, out)
		to[0].memo = memo
		to[0].frame.CopyFrom(cur)
		if o.verify {
			b := &to[1]
			b.frame.Tick = cur.Tick
			start := cpu()
			memo, err := dec.Decode(&b.frame, out, []encoders.Ref{{Frame: &from[1].frame, Memo: from[1].memo}}, b.memo)
			res.decode += cpu() - start
			if err != nil {
				t.Fatalf("frame %d: %v", i, err)
			}
			if b.memo = memo; !b.frame.Equal(cur) {
				t.Fatalf("frame %d came back as another one", i)
			}
		}
		if counts {
			res.frames++
			res.bytes += len(out)
			res.own += price.Bits
		}
		res.played++
	}
	return res
}

func kindsAlone(s *frame.Schema) {
	for i := range s.Fields {
		s.Fields[i].Hint = frame.Hint{}
	}
}

// Whole matches take this much of what the games spent on them, by the same baselines.
func TestMatches(t *testing.T) {
	for _, c := range []struct {
		name string
		run
		most float64
	}{
		{"oa-ctf.dm_71", run{back: 1, verify: true}, 0.31},
		{"oa-dm4.dm_71", run{back: 1, verify: true}, 0.36},
		{"oa-dm4.dm_71", run{back: 1, schema: kindsAlone}, 0.45},
		{"tw-ctf2.demo", run{back: 1, verify: true}, 0.30},
		{"tw-dm1.demo", run{back: 1, verify: true}, 0.36},
	} {
		if !testkit.Thorough() {
			c.frames, c.most = 200, 1
		} else if strings.Contains(c.name, "ctf") && !testkit.Long() {
			continue
		}
		r := play(t, c.name, c.run)
		n := float64(max(r.frames, 1))
		t.Logf("%s: %d frames, game %.1f bits, ours %.1f, ratio %.4f; %.0f us, decoding %.0f us of CPU", c.name, r.frames, float64(r.own)/n,
			float64(8*r.bytes)/n, r.ratio(), float64(r.encode.Microseconds())/float64(r.played), float64(r.decode.Microseconds())/float64(r.played))
		if r.ratio() > c.most {
			t.Errorf("%s takes %.4f of the game's own bits, want at most %.2f", c.name, r.ratio(), c.most)
		}
	}
}

// usualCoder returns a coder with the default parameters.
func usualCoder(s *frame.Schema) *coder { return newCoder(s, usualLimit, usualRate) }

// clip is a match to learn from, or its first frames.
func clip(t testing.TB, name string, frames int) train.Clip {
	src := match(t, name)
	return train.Clip{Name: name, Schema: src.Schema(), Frames: func(yield func(*frame.Frame) error) error {
		src := match(t, name)
		f := src.Schema().NewFrame()
		for n := 0; frames == 0 || n < frames; n++ {
			if err := src.Next(f); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			f.Tick = uint32(n + 1)
			if err := yield(f); err != nil {
				return err
			}
		}
		return nil
	}}
}

// What was learnt from one match helps with another one.
func TestTrained(t *testing.T) {
	for _, c := range []struct {
		from, to string
		back     int
	}{
		{"oa-ctf.dm_71", "oa-dm4.dm_71", 1},
		{"oa-dm4.dm_71", "oa-ctf.dm_71", 4},
	} {
		frames := 120
		if testkit.Thorough() {
			frames = 1200
		}
		files, err := learnBook(context.Background(), train.Job{Clips: []train.Clip{clip(t, c.from, frames)}}, train.Log{})
		if err != nil {
			t.Fatal(err)
		}
		r := play(t, c.to, run{back: c.back, frames: frames, verify: true, book: files[0].Data})
		alone := play(t, c.to, run{back: c.back, frames: frames})
		t.Logf("%s, %d back, learnt from %s (%d bytes): ratio %.4f, without %.4f", c.to, c.back, c.from, len(files[0].Data), r.ratio(), alone.ratio())
		if r.bytes >= alone.bytes {
			t.Errorf("%s takes %d bytes, and without what was learnt %d", c.to, r.bytes, alone.bytes)
		}
	}
}

// Packets of the beginnings of matches are these, on every machine, and with a frame travel at
// most 256 KB.
func TestPacketsStay(t *testing.T) {
	for _, c := range []struct {
		name  string
		bytes int
		sum   uint32
	}{
		{"oa-ctf.dm_71", 3030, 0x3c661519},
		{"oa-dm4.dm_71", 813, 0x2beea292},
		{"tw-dm1.demo", 6577, 0xb7d763c1},
	} {
		if r := play(t, c.name, run{back: 1, frames: 150}); r.bytes != c.bytes || r.sum != c.sum {
			t.Errorf("%s: 150 packets take %d bytes of checksum %#x, want %d of %#x", c.name, r.bytes, r.sum, c.bytes, c.sum)
		}
		if size := newMemo(newPlan(match(t, c.name).Schema())).bytes(); size > maxMemory {
			t.Errorf("%s: %d bytes travel with a frame", c.name, size)
		}
	}
}

// Schemas whose memos would take more than 256 KB are left to another coder, and all that are
// not take no more.
func TestMemoryIsBounded(t *testing.T) {
	for _, c := range []struct {
		rows, fields, parts, size int
		suits                     bool
	}{
		{1, 1, 0, 0, true},
		{maxRows, maxFields, 0, 0, true},
		{maxRows, 8, 0, 0, true},
		{maxRows + 1, 8, 0, 0, false},
		{8, maxFields + 1, 0, 0, false},
		{64, 52, 2, 52, true},
		{300, maxFields, 300, 4, false}, // each part has places of its own
		{300, maxFields, 300, maxFields, false},
	} {
		s := &frame.Schema{Name: "large", Item: "row", Rows: c.rows}
		for i := range c.fields {
			s.Fields = append(s.Fields, frame.Field{Name: "f", Max: math.MaxInt32, Min: math.MinInt32,
				Hint: frame.Hint{Role: frame.Velocity, Group: uint8(i%4 + 1), Axis: uint8(i / 4 % 3)}})
		}
		for i := range c.parts {
			n := c.rows / c.parts
			s.Parts = append(s.Parts, frame.Part{Row: i * n, Rows: n, Field: i * c.size % c.fields, Size: c.size})
		}
		if Suits(s) != c.suits {
			t.Errorf("%+v: suits is %v", c, !c.suits)
		} else if size := newMemo(newPlan(s)).bytes(); c.suits && size > maxMemory {
			t.Errorf("%+v: %d bytes travel with a frame", c, size)
		}
	}
}

// The first frame of a large table, where all rows are new, and the next come back, and a packet
// that ends early costs no more decisions than its bytes are for.
func TestLargeTables(t *testing.T) {
	s := &frame.Schema{Name: "large", Item: "row", Rows: maxRows, Fields: []frame.Field{{Name: "x", Kind: frame.Float32},
		{Name: "y", Min: math.MinInt32, Max: math.MaxInt32}, {Name: "z", Kind: frame.Bits}}}
	enc, dec := usualCoder(s), usualCoder(s)
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
		if _, err := dec.Decode(back, nil, got, nil); !errors.Is(err, encoders.ErrTruncated) || dec.row.index > maxRows/2 {
			t.Errorf("frame %d, cut: row %d, error %v", n, dec.row.index, err)
		}
		other, err := dec.Decode(back, out, got, nil)
		if err != nil || !back.Equal(cur) || !reflect.DeepEqual(memo, other) {
			t.Fatalf("frame %d came back as another one, error %v", n, err)
		}
		ref, got = []encoders.Ref{{Frame: cur, Memo: memo}}, []encoders.Ref{{Frame: cur, Memo: other}}
	}
}

// bytes returns the memory of a memo.
func (m *memo) bytes() int {
	n := int(unsafe.Sizeof(*m))
	for _, v := range []reflect.Value{reflect.ValueOf(m).Elem(), reflect.ValueOf(&m.learnt).Elem()} {
		for i := range v.NumField() {
			if f := v.Field(i); f.Kind() == reflect.Slice {
				n += f.Cap() * int(f.Type().Elem().Size())
			}
		}
	}
	return n
}

// In steady state nothing is allocated.
func TestNoAllocations(t *testing.T) {
	s := match(t, "oa-dm4.dm_71").Schema()
	enc, dec := New(s, usualLimit, usualRate)
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
		t.Errorf("%v allocations a frame, error %v", n, err)
	}
}

// A book that is damaged, cut or of another schema is refused.
func TestBooksAreChecked(t *testing.T) {
	files, err := learnBook(context.Background(), train.Job{Clips: []train.Clip{clip(t, "oa-dm4.dm_71", 40)}}, train.Log{})
	if err != nil {
		t.Fatal(err)
	}
	book, s := files[0].Data, match(t, "oa-ctf.dm_71").Schema()
	if err := usualCoder(s).open(book); err != nil {
		t.Errorf("another match: %v", err)
	}
	if err := usualCoder(match(t, "tw-dm1.demo").Schema()).open(book); !errors.Is(err, errShape) {
		t.Errorf("another game: error %v", err)
	}
	for at := 0; at < len(book); at += len(book) / 50 {
		bad := append([]byte(nil), book...)
		bad[at] ^= 4
		if err := usualCoder(s).open(bad); err == nil {
			t.Errorf("byte %d damaged: taken", at)
		}
		if err := usualCoder(s).open(book[:at]); !errors.Is(err, errNoBook) {
			t.Errorf("cut after %d bytes: error %v", at, err)
		}
	}
}
