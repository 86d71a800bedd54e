package align

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"wirelab/encoders/patch/delta"
	"wirelab/internal/testkit"
)

func randomLetters(n, of int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + byte(r.IntN(of))
	}
	return b
}

// periodic returns n bytes of a repeated random period, with every every-th byte or so changed.
func periodic(n, period, every int, seed uint64) []byte {
	b := bytes.Repeat(randomLetters(period, 256, 1), n/period+1)[:n]
	r := rand.New(rand.NewPCG(seed, 2))
	for range n / every {
		b[r.IntN(n)]++
	}
	return b
}

// planAll plans a new file as package patch does, and returns the work.
func planAll(t *testing.T, old, new []byte) work {
	a := New(old, new)
	var ops []delta.Op
	for at := 0; at < len(new); {
		if _, n := a.EqualRun(at, len(new)); n >= Block {
			at += n
			continue
		}
		end, told := min(at+Block, len(new)), 0
		ops = a.Plan(ops[:0], at, end)
		for _, o := range ops {
			told += o.Copy + o.Literal
		}
		if told != end-at {
			t.Fatalf("operations make %d bytes of %d", told, end-at)
		}
		at = end
	}
	return a.work
}

// TestWorkBound checks that the work per byte is bounded, also for data on which searches fail. It counts
// operations, because times depend on the machine.
func TestWorkBound(t *testing.T) {
	n := testkit.ChooseLong(2<<20, 1<<20, 1<<19)
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for _, c := range []struct {
		name     string
		old, new []byte
	}{
		{"two letters", randomLetters(n, 2, 1), randomLetters(n, 2, 2)},
		{"four letters", randomLetters(n, 4, 1), randomLetters(n, 4, 2)},
		{"zeros", make([]byte, n), make([]byte, n+1)},
		{"zeros from nothing", nil, make([]byte, n)},
		{"another period", periodic(n, 3, n, 1), periodic(n, 7, n, 1)},
		{"nearly periodic", periodic(n, 100, 500, 1), periodic(n, 100, 500, 2)},
		{"nearly periodic, long", periodic(n, 5000, 900, 1), periodic(n, 5000, 900, 2)},
		{"nearly periodic, swapped", periodic(n, 7, 30, 1), join(periodic(n, 7, 30, 1)[n/2:], periodic(n, 7, 30, 2)[:n/2])},
		{"nearly zeros", periodic(n, 1, 400, 1), periodic(n, 1, 400, 2)},
		{"noise", randomLetters(n, 256, 1), randomLetters(n, 256, 2)},
	} {
		w := planAll(t, c.old, c.new)
		t.Logf("%-26s for a byte: %.1f sorted, %.1f compared, %.1f divided, %.1f followed", c.name, perByte(w.sorted, c.new),
			perByte(w.compared, c.new), perByte(w.divided, c.new), perByte(w.followed, c.new))
		if all := perByte(w.sorted+w.compared+w.divided+w.followed, c.new); all > 100 {
			t.Errorf("%s: %.0f operations for a byte; expected at most 100", c.name, all)
		}
		if sorted := perByte(w.sorted, c.new); sorted > 6 {
			t.Errorf("%s: %.1f bytes sorted for a byte; expected at most 6", c.name, sorted)
		}
	}
}

func perByte(n int64, of []byte) float64 { return float64(n) / float64(len(of)) }
