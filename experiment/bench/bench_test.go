package bench

import (
	"bytes"
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment/walkoff"
)

// The reference loop has the result of the same loop in Python. A faster loop would be a different unit.
func TestReferenceIsFixed(t *testing.T) {
	if got := runReference(); got != 0x56a07a04b999b603 {
		t.Errorf("%#x", got)
	}
	if n := testing.AllocsPerRun(10, func() { runReference() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// newTestClock returns a clock that advances by a microsecond with each call.
func newTestClock() func() time.Duration {
	var now time.Duration
	return func() time.Duration { now += time.Microsecond; return now }
}

func openDemo() (dataset.Source, error) {
	return dataset.Open(context.Background(), "demo", dataset.Options{})
}

func codecs(t *testing.T, names ...string) (list []*encoders.Codec) {
	t.Helper()
	for _, name := range names {
		c, err := table.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

// With a clock that advances by one tick per call, an encode, a decode and a pass all take one tick, so times are one
// pass. Sizes are those of the walk-off.
func TestRun(t *testing.T) {
	list := codecs(t, "rotor", "adaptive")
	opt := Options{Frames: 60, Rounds: 2, Clock: newTestClock()}
	b, err := Run(t.Context(), "demo", 1, openDemo, list, opt)
	if err != nil {
		t.Fatal(err)
	}
	want, err := walkoff.Run(t.Context(), "demo", openDemo, list, walkoff.Options{Frames: 60, Clock: newTestClock()})
	if err != nil {
		t.Fatal(err)
	}
	if b.Rounds != 2 || len(b.Rows) != 2 || b.Reference != 1 || b.Interrupted || !reflect.DeepEqual(b.Dataset, want.Dataset) {
		t.Fatalf("%+v", b)
	}
	for i, r := range b.Rows {
		w := &want.Results[i]
		if r.Encoder != w.Encoder || r.Packets != 54 || r.BytesPerPacket != w.BytesPerPacket || r.BitsPerChanged != w.BitsPerChangedItem {
			t.Errorf("%+v, by the walk-off %+v", r, w)
		}
		for _, s := range []*samples{&r.Encode, &r.Decode} {
			if us, ref := s.Median(); len(s.US) != 2 || us != 1 || ref != 1 {
				t.Errorf("%s: %+v", r.Encoder, s)
			}
		}
		if us, _ := r.Frame.Median(); len(r.Frame.US) != 2 || math.Abs(r.RealTime*us*60/1e6-1) > 1e-3 {
			t.Errorf("%s: %v us per frame, %v times real time", r.Encoder, us, r.RealTime)
		}
	}

	var text bytes.Buffer
	if err := WriteGo(&text, b); err != nil {
		t.Fatal(err)
	}
	lines := 0
	for r := benchfmt.NewReader(&text, "board"); r.Scan(); {
		switch x := r.Result().(type) {
		case *benchfmt.Result:
			lines++
			if v, ok := x.Value("B/packet"); strings.Contains(string(x.Name), "rotor") && (!ok || math.Abs(v-want.Results[0].BytesPerPacket) > 0.05) {
				t.Errorf("%s: %v", x.Name, x.Values)
			}
		case *benchfmt.SyntaxError:
			t.Error(x)
		}
	}
	if lines != 1+2*2 {
		t.Errorf("%d lines of results", lines)
	}
	text.Reset()
	if err := WriteTable(&text, b, "2026-11-22"); err != nil || strings.Count(text.String(), "\n| rotor |")+strings.Count(text.String(), "\n| adaptive |") != 2 ||
		!strings.Contains(text.String(), "2026-11-22") {
		t.Errorf("%v\n%s", err, &text)
	}
}

// After an interruption in the second round, the board has the first round.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opt := Options{Frames: 30, Rounds: 3, Clock: newTestClock(), Progress: func(done, total float64) {
		if done/total > 0.4 {
			cancel()
		}
	}}
	b, err := Run(ctx, "demo", 1, openDemo, codecs(t, "rotor", "changed-index"), opt)
	if !errors.Is(err, context.Canceled) || !b.Interrupted || b.Rounds != 1 || len(b.Rows) != 2 {
		t.Fatalf("%v, %+v", err, b)
	}
	for _, r := range b.Rows {
		if len(r.Encode.US) != 1 || len(r.Frame.Ref) != 1 {
			t.Errorf("%+v", r)
		}
	}
	var text bytes.Buffer
	if err := WriteGo(&text, b); err != nil || strings.Count(text.String(), "BenchmarkEncoder") != 2 {
		t.Errorf("%v\n%s", err, &text)
	}
}

// noopDecoder returns an empty frame.
type noopDecoder struct{ encoders.Decoder }

func (noopDecoder) Decode(*frame.Frame, []byte, []encoders.Ref, encoders.Memo) (encoders.Memo, error) {
	return nil, nil
}

// An encoder that is not lossless is an error.
func TestLossy(t *testing.T) {
	broken := *codecs(t, "rotor")[0]
	make := broken.New
	broken.New = func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
		e, d, err := make(s, params)
		return e, noopDecoder{d}, err
	}
	_, err := Run(t.Context(), "demo", 1, openDemo, []*encoders.Codec{&broken}, Options{Frames: 20, Rounds: 1, Clock: newTestClock()})
	if !errors.Is(err, errLossy) {
		t.Errorf("got %v", err)
	}
}
