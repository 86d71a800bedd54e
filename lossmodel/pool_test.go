package lossmodel

import (
	"testing"
	"time"
)

// The memory of a link is bounded by the bytes in flight, however large packets were before.
func TestPoolMemoryBounded(t *testing.T) {
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
	for now := range time.Duration(200) { // small packets reuse the slots of large ones
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
	for i := range link.pool.packets {
		held += cap(link.pool.packets[i].data)
	}
	if limit := link.InFlight()*(maxSlack+64) + maxFreeBytes; held > limit {
		t.Errorf("%d bytes for %d small packets, expected at most %d", held, link.InFlight(), limit)
	}
}
