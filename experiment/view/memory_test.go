package view

import (
	"runtime"
	"testing"

	"wirelab/internal/testkit"
)

// The memory of a server is bounded by its rows, at 2 % loss and at 20 %: that of the clients of a filler, with the values
// that they share, and without memos. WIRELAB_THOROUGH=2 measures 1,000 clients after 600 ticks: 27 KB and 41 KB.
func TestServerMemory(t *testing.T) {
	clients, ticks := testkit.ChooseLong(1000, 200, 200), testkit.ChooseLong(600, 40, 40)
	for losePercent, most := range map[int]int64{2: 30_000, 20: 44_000} {
		l := newLoad(t, "relative-orientation", clients, 3, ticks, 64, losePercent)
		before := testkit.HeapBytes()
		r := newServing(t, l)
		empty := testkit.HeapBytes()
		for n := range l.frames {
			r.advance(n)
			for c := range r.servers {
				r.packet(t, n, c)
			}
		}
		bytes := (testkit.HeapBytes() - before) / int64(clients)
		values := r.filler.values
		t.Logf("%d %% loss: %d bytes a client, %d of them in the beginning, %d for %d shared values", losePercent, bytes, (empty-before)/int64(clients),
			(4*cap(values.cells)+16*cap(values.list))/clients, len(values.list))
		if bytes > most {
			t.Errorf("%d %% loss: %d bytes a client, want at most %d", losePercent, bytes, most)
		}
		runtime.KeepAlive(r)
	}
}
