package states

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/encoders"
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
	most   int // frames
	verify bool
	budget bool
	schema func(*frame.Schema)
	params Params
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
	enc, dec := New(s, o.params)
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
	for i := 0; o.most == 0 || i < o.most; i++ {
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

func TestMeasure(t *testing.T) {
	names := os.Getenv("MATCH")
	if names == "" {
		t.Skip()
	}
	debugFresh = os.Getenv("FRESH") != ""
	for _, name := range strings.Split(names, ",") {
		o := run{back: env("BACK", 1), most: env("MOST", 0), verify: os.Getenv("VERIFY") != "", budget: os.Getenv("FIELDS") != "",
			params: Params{Limit: env("LIMIT", 250), Rate: env("RATE", 200)}}
		if os.Getenv("NOHINTS") != "" {
			o.schema = kindsAlone
		}
		r := play(t, name, o)
		n := float64(r.frames)
		fmt.Printf("%-8s back %d: %d frames, game %.1f bits, ours %.1f, ratio %.4f; %.0f us, decode %.0f us\n", name, o.back, r.frames,
			float64(r.own)/n, float64(8*r.bytes)/n, r.ratio(), float64(r.encode.Microseconds())/float64(r.played),
			float64(r.decode.Microseconds())/float64(r.played))
		if o.budget {
			src := match(t, name)
			for k, u := range r.budget.Units {
				if x := float64(u) / 65536 / n; x > 0.5 {
					fmt.Printf("   %-24s %.1f\n", encoders.Slot(k).Name(src.Schema()), x)
				}
			}
		}
	}
	_ = strconv.Itoa
}
