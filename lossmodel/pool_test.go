package lossmodel

import (
	"testing"
	"time"
)

// However large packets were once, a link holds on to little but what is under way.
func TestMemoryIsBoundedByWhatIsUnderWay(t *testing.T) {
	spec := DefaultSpec()
	if err := spec.Set("latency", "1s"); err != nil {
		t.Fatal(err)
	}
	link, err := NewLink(spec, 1, "down")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Duration(0)
	for range 20 { // large ones fill all slots, then small ones stay in them
		for range 40 {
			link.Send(now, make([]byte, MaxDatagram), 0)
		}
		now += time.Second
		for _, ok := link.Receive(now); ok; _, ok = link.Receive(now) {
		}
		for range 40 {
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
