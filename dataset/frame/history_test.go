package frame_test

import (
	"math/rand/v2"
	"testing"

	"wirelab/dataset/frame"
)

// one is a schema with a single value.
func one() *frame.Schema {
	return &frame.Schema{Name: "one", Rows: 1, Fields: []frame.Field{{Name: "v", Min: -5, Max: 5}}}
}

// A history has the same entries as a list of everything that was put, within its length, with sequence
// numbers that are late, repeated, or have small and large gaps.
func TestHistoryIsAWindow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 6, 31, frame.MaxHistory} {
		h := frame.NewHistory(n)
		put, newest := map[uint64]int32{}, uint64(0)
		seq := uint64(1 << 16)
		for step := range int32(5000) {
			seq += []uint64{1, 1, 1, 2, 5, uint64(2 * n)}[rng.IntN(6)]
			at := seq - uint64(rng.IntN(3)*rng.IntN(n+2))
			e := h.Put(at)
			if late := at+uint64(n) < newest; (e == nil) != late {
				t.Fatalf("%d frames, newest %d: Put(%d) = %v", n, newest, at, e)
			}
			if e != nil {
				e.Frame.Table = []int32{step}
				put[at], newest = step, max(newest, at)
			}
			for back := range uint64(n + 3) {
				want, ok := put[newest-back]
				got := h.Get(newest - back)
				if held := ok && back <= uint64(n); (got != nil) != held || held && got.Frame.Table[0] != want {
					t.Fatalf("%d frames, newest %d: Get(%d back) = %v; put %d, %v", n, newest, back, got, want, ok)
				}
			}
			if h.Get(newest+1) != nil {
				t.Fatalf("%d frames: an entry that was never put", n)
			}
		}
		if got, any := h.Newest(); got != newest || !any {
			t.Errorf("Newest() = %d, %v, want %d", got, any, newest)
		}
		count := 0
		h.Each(func(*frame.Entry) { count++ })
		if count > n+1 {
			t.Errorf("%d entries are held, want at most %d", count, n+1)
		}
	}
}

func TestHistoryStartsEmpty(t *testing.T) {
	h := frame.NewHistory(1000)
	if _, any := h.Newest(); any || h.Get(0) != nil {
		t.Error("a new history holds something")
	}
	h.Each(func(*frame.Entry) { t.Error("a new history has an entry") })
	if h.Len() != frame.MaxHistory || frame.NewHistory(-1).Len() != 1 {
		t.Errorf("%d frames, want %d; and 1 at least", h.Len(), frame.MaxHistory)
	}
}

// Put returns the slot with the frame and the memo of the entry that it replaces.
func TestPutHandsOverWhatLeaves(t *testing.T) {
	h := frame.NewHistory(3)
	first := h.Put(7)
	first.Memo = "memo"
	for seq := uint64(8); seq < 11; seq++ {
		h.Put(seq)
	}
	if h.Get(7) != first {
		t.Fatal("frame 7 left while 10 was the newest of 3 more")
	}
	e := h.Put(11)
	if e != first || e.Memo != "memo" || e.Seq != 11 || h.Get(7) != nil {
		t.Errorf("the slot of 7 has %+v", e)
	}
}

func TestHistoryAllocatesNothing(t *testing.T) {
	h, seq := frame.NewHistory(20), uint64(0)
	if n := testing.AllocsPerRun(1000, func() { seq++; h.Put(seq); h.Get(seq - 3) }); n != 0 {
		t.Errorf("%v allocations a frame, want none", n)
	}
}
