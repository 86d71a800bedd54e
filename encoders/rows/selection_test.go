package rows

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// Whatever baselines losses lead to, sender and receiver select the same model and have equal memos. After the
// trial one model is left: here that of the velocities.
func TestSelection(t *testing.T) {
	for _, c := range []struct {
		tankOptions
		best, models int
	}{
		{tankOptions{Hints: "tpx", Velocity: true}, 1, 2},
		{tankOptions{Hints: "tpxP", Velocity: true, Living: true}, 1, 2},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		s := tankSchema(c.tankOptions)
		codec := DeltaAdaptive()
		enc, dec, err := codec.New(s, codec.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		if n := len(enc.(*selector).models); n != c.models {
			t.Fatalf("%+v: %d models, want %d", c.tankOptions, n, c.models)
		}
		acked := encoders.Ref{Frame: s.NewFrame()} // the newest frame of which the sender knows that it arrived
		got := acked
		for i, f := range tankFrames(300, c.tankOptions) {
			out, memo, err := enc.Encode(nil, f, []encoders.Ref{acked}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			back := &frame.Frame{Tick: f.Tick}
			other, err := dec.Decode(back, out, []encoders.Ref{got}, nil)
			if err != nil || !back.Equal(f) || !reflect.DeepEqual(memo, other) {
				t.Fatalf("%+v, frame %d: decoded differently, error %v", c.tankOptions, i, err)
			}
			if rng.IntN(3) > 0 {
				acked, got = encoders.Ref{Frame: f, Memo: memo}, encoders.Ref{Frame: back, Memo: other}
			}
		}
		m := acked.Memo.(*selectionMemo)
		for i, memo := range m.memos {
			if (memo != nil) != (i == c.best) {
				t.Errorf("%+v: model %d is selected, want %d; memos %v", c.tankOptions, m.best, c.best, memo != nil)
			}
		}
	}
}

// During the trial the packet is that of the model whose packets were the smallest, in a window that forgets.
// Models that are much worse are out early, but not before minTrial frames.
func TestSelectModel(t *testing.T) {
	x := &selector{models: make([]candidate, 3), trial: 20, margin: 16}
	m := &selectionMemo{frames: minTrial - 1, sizes: []int{1600, 1700, 1701}, memos: []encoders.Memo{0, 1, 2}}
	if x.selectModel(m); m.best != 0 || m.memos[2] == nil {
		t.Errorf("before the first model may be out: %+v", m)
	}
	m.frames++
	if x.selectModel(m); m.best != 0 || m.memos[1] == nil || m.memos[2] != nil {
		t.Errorf("model 2 is larger by more than a sixteenth: %+v", m)
	}
	m.sizes = []int{1600, 1599, 1}
	if x.selectModel(m); m.best != 1 || m.memos[0] == nil {
		t.Errorf("model 2 is out, model 1 is smaller than 0: %+v", m)
	}
	m.frames = x.trial
	if x.selectModel(m); m.best != 1 || m.memos[0] != nil || m.memos[1] == nil {
		t.Errorf("after the trial one model is left: %+v", m)
	}
}

// A selector does not allocate when memos and buffers are reused, neither during the trial nor after it.
func TestSelectorDoesNotAllocate(t *testing.T) {
	o := tankOptions{Hints: "tpx", Velocity: true}
	s, frames := tankSchema(o), tankFrames(shortTrial+20, o)
	codec := DeltaAdaptive()
	enc, dec, err := codec.New(s, codec.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []int{1, shortTrial + 2} {
		sent, got := encoders.Ref{Frame: s.NewFrame()}, encoders.Ref{Frame: s.NewFrame()}
		back := s.NewFrame()
		var out []byte
		for _, f := range frames[:from] {
			back.Tick = f.Tick
			var memo, other encoders.Memo
			if out, memo, err = enc.Encode(make([]byte, 0, 1<<14), f, []encoders.Ref{sent}, nil, nil); err == nil {
				other, err = dec.Decode(back, out, []encoders.Ref{got}, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			sent, got = encoders.Ref{Frame: f, Memo: memo}, encoders.Ref{Frame: f, Memo: other}
		}
		refs, gotRefs := []encoders.Ref{sent}, []encoders.Ref{got}
		f := frames[from]
		var memo, other encoders.Memo
		run := func() {
			if out, memo, err = enc.Encode(out[:0], f, refs, memo, nil); err == nil {
				back.Tick = f.Tick
				other, err = dec.Decode(back, out, gotRefs, other)
			}
		}
		run()
		if n := testing.AllocsPerRun(10, run); n != 0 || err != nil {
			t.Errorf("after %d frames: %v allocations, error %v", from, n, err)
		}
	}
}

// The parameter memory sets the number of counters, a power of two: at 256 KB 32 Ki of 4 bytes.
func TestMemory(t *testing.T) {
	s := tankSchema(tankOptions{})
	for memory, want := range map[int]int{64: 1 << 13, 256: 1 << 15, 300: 1 << 15, 1024: 1 << 17, 4096: 1 << 19} {
		if n := len(newMemo(newPlan(s), memory).counters); n != want {
			t.Errorf("%d KB: %d counters, want %d", memory, n, want)
		}
	}
}
