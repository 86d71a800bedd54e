package datagram

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/internal/testkit"
)

func learn(t testing.TB, acked bool, clips ...[][]byte) *model {
	t.Helper()
	tr := &trainer{budget: 256 << 10}
	for i, c := range clips {
		for _, d := range c {
			tr.samples = append(tr.samples, sample{data: d, clip: i})
		}
	}
	deal(tr.samples)
	if os.Getenv("V") != "" {
		tr.log.Step = func(what string, done, total int64) { t.Log(time.Now().Format("05.000"), what, done) }
	}
	m, err := tr.run(context.Background(), acked)
	if err != nil {
		t.Fatal(err)
	}
	file := m.Bytes()
	back, err := parseModel(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(back.Bytes(), file) {
		t.Fatal("the model's file is another when it is written again")
	}
	if os.Getenv("V") != "" {
		t.Logf("file %d bytes, shift %d", len(file), m.shift)
		for i, k := range back.kinds {
			t.Logf("kind %d: anchor %08x key %d size %d then %d clock %d/%d groups %d", i, k.anchor, k.key, k.size, k.then, k.clock, k.timing, len(k.groups))
			for at := range maxPlaces {
				p := back.places[i*maxPlaces+at]
				if p.field >= 0 && p.part == 0 {
					f := back.fields[p.field]
					t.Logf("   %d: %d bits %v", at, f.bits, f.guess)
				}
			}
		}
	}
	return back
}

// result sums up what datagrams came to.
type result struct {
	n, in, out, worst int
	encode, decode    time.Duration
}

func (r result) ratio() float64 { return float64(r.out) / float64(r.in) }

// measure codes datagrams as a session does in which the newest acknowledged one is lag
// back, and decodes them.
func measure(t testing.TB, m *model, list [][]byte, lag int) (r result) {
	t.Helper()
	enc, dec := newEnd(m, false), newEnd(m, true)
	frames := make([]frame.Frame, len(list))
	sent, got := make([]encoders.Memo, len(list)), make([]encoders.Memo, len(list))
	refs := func(i int, memos []encoders.Memo) (out []encoders.Ref) {
		if i < lag {
			return []encoders.Ref{{Frame: &frame.Frame{}}}
		}
		out = append(out, encoders.Ref{Frame: &frames[i-lag], Memo: memos[i-lag]})
		if m.acked && i > lag {
			out = append(out, encoders.Ref{Frame: &frames[i-lag-1], Memo: memos[i-lag-1]})
		}
		return out
	}
	var packet []byte
	var back frame.Frame
	for i, d := range list {
		frames[i] = frame.Frame{Tick: uint32(i), Body: d}
		a, b := refs(i, sent), refs(i, got)
		t0 := time.Now()
		var err error
		packet, sent[i], err = enc.Encode(packet[:0], &frames[i], a, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		t1 := time.Now()
		back.Tick = uint32(i)
		if got[i], err = dec.Decode(&back, packet, b, nil); err != nil || !bytes.Equal(back.Body, d) {
			t.Fatalf("datagram %d: %x\n became %x: %v", i, d, back.Body, err)
		}
		r.encode += t1.Sub(t0)
		r.decode += time.Since(t1)
		r.n++
		r.in += len(d)
		r.out += len(packet)
		r.worst = max(r.worst, len(packet)-len(d))
	}
	t.Logf("%d datagrams of %.1f bytes: %.4f, at most %+d bytes; %.3f and %.3f us a byte", r.n, float64(r.in)/float64(r.n), r.ratio(), r.worst,
		r.encode.Seconds()*1e6/float64(r.in), r.decode.Seconds()*1e6/float64(r.in))
	return r
}

// figuresEnv makes the test of made-up games learn from as many datagrams as README.md says,
// which takes minutes.
const figuresEnv = "WIRELAB_DATAGRAM_FIGURES"

// The tank game's second half, with what was learnt from its first: goals that are met. Of a
// quarter of it, less is learnt.
func TestTankGame(t *testing.T) {
	list := capture(t, "bz-1", 5154, true)
	list = list[:len(list)/testkit.Choose(1, 4)]
	half := len(list) / 2
	for i, most := range testkit.Choose([]float64{0.43, 0.27}, []float64{0, 0.34}) {
		if most == 0 {
			continue // what knows more is the harder one
		}
		m := learn(t, i == 1, list[:half])
		if r := measure(t, m, list[half:], 4); r.ratio() > most || r.worst > 0 {
			t.Errorf("acked %v: %.4f and at most %+d bytes, want %.2f and 0", i == 1, r.ratio(), r.worst, most)
		}
	}
}

// Lists of records, numbers with the lowest byte first, and numbers without regard to bytes:
// found in training, and of use in another session.
func TestMade(t *testing.T) {
	figures := os.Getenv(figuresEnv) != ""
	n := 400
	if figures {
		n = 1500
	} else if !testkit.Thorough() {
		t.Skip("learns from five made-up games: set WIRELAB_THOROUGH=1")
	}
	for i, shape := range shapes {
		if i%3 != 0 && !figures && !testkit.Long() {
			continue
		}
		most := []float64{0.52, 0.35, 0.35, 0.375, 0.44}[i]
		m := learn(t, true, made(t, shape, 1, n))
		if r := measure(t, m, made(t, shape, 2, n), 4); r.ratio() > most {
			t.Errorf("%s: %.4f, want at most %.3f", shape, r.ratio(), most)
		}
		if figures {
			measure(t, learn(t, false, made(t, shape, 1, n)), made(t, shape, 2, n), 4)
		}
	}
}

// Another session of a game whose datagrams are half scrambled or entropy-coded.
func TestQuake(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("learns from a long capture: set WIRELAB_THOROUGH=1")
	}
	for i, most := range [][2]float64{{1, 1}, {0.97, 0.55}} {
		down := i == 0
		if down && !testkit.Long() {
			continue
		}
		train, list := capture(t, "oa-ctf", 27960, down), capture(t, "oa-dm4", 27960, down)
		for j, most := range most {
			m := learn(t, j == 1, train)
			if r := measure(t, m, list, 4); r.ratio() > most || r.worst > 1 {
				t.Errorf("down %v, acked %v: %.4f and at most %+d bytes, want %.2f and 1", down, j == 1, r.ratio(), r.worst, most)
			}
		}
	}
}
