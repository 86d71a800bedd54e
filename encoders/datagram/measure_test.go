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

// trainModel trains a model on clips of datagrams and returns it as read from its file. If the environment
// variable V is set, it logs the progress and the model.
func trainModel(t testing.TB, acked bool, clips ...[][]byte) *model {
	t.Helper()
	tr := &trainer{budget: 256 << 10}
	for i, c := range clips {
		for _, d := range c {
			tr.samples = append(tr.samples, sample{data: d, clip: i})
		}
	}
	assignFolds(tr.samples)
	if os.Getenv("V") != "" {
		tr.log.Step = func(what string, done, total int64) { t.Log(time.Now().Format("05.000"), what, done) }
	}
	m, err := tr.train(context.Background(), acked)
	if err != nil {
		t.Fatal(err)
	}
	file := m.Bytes()
	back, err := parseModel(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(back.Bytes(), file) {
		t.Fatal("the model file changes when it is read and written")
	}
	if os.Getenv("V") != "" {
		t.Logf("file %d bytes, shift %d", len(file), m.hashShift)
		for i, k := range back.kinds {
			t.Logf("kind %d: anchor %08x key %d size %d then %d clock %d/%d groups %d", i, k.anchor, k.keyUnit, k.size, k.next, k.clockByte, k.clockFormat, len(k.groups))
			for at := range unitsPerKind {
				p := back.units[i*unitsPerKind+at]
				if p.field >= 0 && p.fieldUnit == 0 {
					f := back.fields[p.field]
					t.Logf("   %d: %d bits %v", at, f.bits, f.predictors)
				}
			}
		}
	}
	return back
}

// result is the outcome of measure.
type result struct {
	n, in, out     int // datagrams, their bytes, and the bytes of the packets
	worst          int // largest difference of a packet's size from its datagram's
	encode, decode time.Duration
}

func (r result) ratio() float64 { return float64(r.out) / float64(r.in) }

// measure encodes and decodes datagrams as in a session in which every datagram is acknowledged lag
// datagrams later.
func measure(t testing.TB, m *model, list [][]byte, lag int) (r result) {
	t.Helper()
	enc, dec := newCodec(m, false), newCodec(m, true)
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

// figuresEnv is the environment variable that makes TestSyntheticGames train on as many datagrams as for
// the table in README.md, which takes minutes.
const figuresEnv = "WIRELAB_DATAGRAM_FIGURES"

// The second half of the tank game's capture meets the goals with a model of the first half. Only the long check
// uses the whole capture; otherwise a quarter of it is measured, with a lower goal.
func TestTankGame(t *testing.T) {
	list := readCapture(t, "bz-1", 5154, true)
	list = list[:len(list)/testkit.ChooseLong(1, 4, 4)]
	half := len(list) / 2
	for i, most := range testkit.ChooseLong([]float64{0.46, 0.31}, []float64{0, 0.39}, []float64{0, 0.39}) {
		if most == 0 {
			continue // the model without acknowledgements is left to the long check
		}
		m := trainModel(t, i == 1, list[:half])
		if r := measure(t, m, list[half:], 4); r.ratio() > most || r.worst > 1 {
			t.Errorf("acked %v: %.4f and at most %+d bytes, want %.2f and 1", i == 1, r.ratio(), r.worst, most)
		}
	}
}

// Training finds lists of records, little-endian numbers and bit-packed numbers, and the model is useful in
// another session.
func TestSyntheticGames(t *testing.T) {
	figures := os.Getenv(figuresEnv) != ""
	n := 400
	if figures {
		n = 1500
	} else if !testkit.Thorough() {
		t.Skip("learns from five made-up games: set WIRELAB_THOROUGH=1")
	}
	for i, shape := range formats {
		if i%3 != 0 && !figures && !testkit.Long() {
			continue
		}
		most := []float64{0.52, 0.35, 0.35, 0.375, 0.44}[i]
		m := trainModel(t, true, synthesize(t, shape, 1, n))
		if r := measure(t, m, synthesize(t, shape, 2, n), 4); r.ratio() > most {
			t.Errorf("%s: %.4f, want at most %.3f", shape, r.ratio(), most)
		}
		if figures {
			measure(t, trainModel(t, false, synthesize(t, shape, 1, n)), synthesize(t, shape, 2, n), 4)
		}
	}
}

// A model is useful in another session of a game whose datagrams are partly scrambled or entropy-coded.
func TestQuake(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("learns from a long capture: set WIRELAB_THOROUGH=1")
	}
	for i, most := range [][2]float64{{1, 1}, {0.97, 0.55}} {
		down := i == 0
		if down && !testkit.Long() {
			continue
		}
		train, list := readCapture(t, "oa-ctf", 27960, down), readCapture(t, "oa-dm4", 27960, down)
		for j, most := range most {
			m := trainModel(t, j == 1, train)
			if r := measure(t, m, list, 4); r.ratio() > most || r.worst > 1 {
				t.Errorf("down %v, acked %v: %.4f and at most %+d bytes, want %.2f and 1", down, j == 1, r.ratio(), r.worst, most)
			}
		}
	}
}
