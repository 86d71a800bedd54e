package states

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/dataset/thorough"
	"wirelab/encoders"
	"wirelab/encoders/train"
)

// games is where matches are.
var games = filepath.Join("..", "..", "..", "shared", "data", "games")

// match opens a recorded match; it skips the test where there is none.
func match(t testing.TB, name string) dataset.Source {
	t.Helper()
	path := filepath.Join(games, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no recording of a match: %v", err)
	}
	kind := "quake3:"
	if strings.HasSuffix(name, ".demo") {
		kind = "teeworlds:"
	}
	src, err := dataset.Open(kind+path, dataset.Options{})
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
}

func (r *result) ratio() float64 { return float64(8*r.bytes) / float64(r.own) }

type run struct {
	back   int
	frames int // 0: all
	verify bool
	budget bool
	schema func(*frame.Schema)
	params Params
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
	enc, dec := newCoder(s, o.params), newCoder(s, o.params)
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
		if !thorough.Checks() {
			c.frames, c.most = 200, 1
		}
		c.params = defaults
		r := play(t, c.name, c.run)
		n := float64(max(r.frames, 1))
		t.Logf("%s: %d frames, game %.1f bits, ours %.1f, ratio %.4f; %.0f us, decoding %.0f us of CPU", c.name, r.frames, float64(r.own)/n,
			float64(8*r.bytes)/n, r.ratio(), float64(r.encode.Microseconds())/float64(r.played), float64(r.decode.Microseconds())/float64(r.played))
		if r.ratio() > c.most {
			t.Errorf("%s takes %.4f of the game's own bits, want at most %.2f", c.name, r.ratio(), c.most)
		}
	}
}

var defaults = Params{Limit: 250, Rate: 400}

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
		if thorough.Checks() {
			frames = 1200
		}
		files, err := learnBook(context.Background(), train.Job{Clips: []train.Clip{clip(t, c.from, frames)}}, train.Log{})
		if err != nil {
			t.Fatal(err)
		}
		r := play(t, c.to, run{back: c.back, frames: frames, verify: true, params: defaults, book: files[0].Data})
		alone := play(t, c.to, run{back: c.back, frames: frames, params: defaults})
		t.Logf("%s, %d back, learnt from %s (%d bytes): ratio %.4f, without %.4f", c.to, c.back, c.from, len(files[0].Data), r.ratio(), alone.ratio())
		if r.bytes >= alone.bytes {
			t.Errorf("%s takes %d bytes, and without what was learnt %d", c.to, r.bytes, alone.bytes)
		}
	}
}

// Packets of the beginnings of matches have these sizes, on every machine, and with a frame
// travel at most 256 KB.
func TestPacketsStay(t *testing.T) {
	for name, want := range map[string]int{"oa-ctf.dm_71": 3030, "oa-dm4.dm_71": 813, "tw-dm1.demo": 6577} {
		if r := play(t, name, run{back: 1, frames: 150, params: defaults}); r.bytes != want {
			t.Errorf("%s: 150 packets take %d bytes, want %d", name, r.bytes, want)
		}
		if size := newMemo(newPlan(match(t, name).Schema())).bytes(); size > 256<<10 {
			t.Errorf("%s: %d bytes travel with a frame", name, size)
		}
	}
}

// bytes returns the memory of a memo.
func (m *memo) bytes() int {
	n := int(unsafe.Sizeof(*m))
	v := reflect.ValueOf(m).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Slice {
			n += f.Cap() * int(f.Type().Elem().Size())
		}
	}
	return n
}

// In steady state nothing is allocated.
func TestNoAllocations(t *testing.T) {
	s := match(t, "oa-dm4.dm_71").Schema()
	enc, dec := New(s, defaults)
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
	if err := newCoder(s, usual).open(book); err != nil {
		t.Errorf("another match: %v", err)
	}
	if err := newCoder(match(t, "tw-dm1.demo").Schema(), usual).open(book); !errors.Is(err, errShape) {
		t.Errorf("another game: error %v", err)
	}
	for at := 0; at < len(book); at += len(book) / 50 {
		bad := append([]byte(nil), book...)
		bad[at] ^= 4
		if err := newCoder(s, usual).open(bad); err == nil {
			t.Errorf("byte %d damaged: taken", at)
		}
		if err := newCoder(s, usual).open(book[:at]); !errors.Is(err, errNoBook) {
			t.Errorf("cut after %d bytes: error %v", at, err)
		}
	}
}
