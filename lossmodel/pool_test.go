package lossmodel

import (
	"testing"
	"time"
)

// However large packets were once, a link holds on to little but what is under way.
func TestMemoryIsBoundedByWhatIsUnderWay(t *testing.T) {
	fast, slow := DefaultSpec(), DefaultSpec()
	if err := slow.Set("latency", "10s"); err != nil {
		t.Fatal(err)
	}
	link, err := NewLink(fast, 1, "down")
	if err != nil {
		t.Fatal(err)
	}
	reshape := func(spec Spec) {
		if err := link.Reshape(spec); err != nil {
			t.Fatal(err)
		}
	}
	for now := range time.Duration(200) { // large ones pass, then small ones stay where they were
		reshape(fast)
		for range 15 {
			link.Send(now, make([]byte, MaxDatagram), 0)
		}
		for _, ok := link.Receive(now); ok; _, ok = link.Receive(now) {
		}
		reshape(slow)
		for range 15 {
			link.Send(now, make([]byte, 10), 0)
		}
	}
	held := 0
	for i := range link.pool.flights {
		held += cap(link.pool.flights[i].data)
	}
	if most := link.InFlight()*(maxIdle+64) + maxKept; held > most {
		t.Errorf("%d bytes are held for %d small packets; expected at most %d", held, link.InFlight(), most)
	}
}
