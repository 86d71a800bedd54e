package lossmodel

import (
	"encoding/binary"
	"testing"
	"time"
)

const ms = time.Millisecond

// packets is how many a statistical test sends: enough to see a fault of a
// thousandth, fewer under -short.
func packets() int {
	if testing.Short() {
		return 100_000
	}
	return 1_000_000
}

// specOf builds a spec from keys and texts.
func specOf(t testing.TB, pairs ...string) Spec {
	t.Helper()
	s := DefaultSpec()
	for i := 0; i < len(pairs); i += 2 {
		if err := s.Set(pairs[i], pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return s
}

func linkOf(t testing.TB, spec Spec, seed uint64) *Link {
	t.Helper()
	l, err := NewLink(spec, seed, "down")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// everything is a spec in which every stage has something to do.
func everything(t testing.TB) Spec {
	return specOf(t, "loss", "5%", "burst", "2", "latency", "50ms±10ms", "distribution", "normal",
		"reorder", "5%", "duplicate", "5%", "duplicate_copies", "2", "duplicate_delay", "3ms",
		"corrupt", "5%", "rate", "20mbit", "queue", "64KB")
}

// drain receives all there is, whenever it is due.
func drain(l *Link, visit func(Delivery)) {
	for {
		due, ok := l.Next()
		if !ok {
			return
		}
		d, ok := l.Receive(due)
		if !ok {
			panic("Next promised a delivery that Receive does not have")
		}
		visit(d)
	}
}

// numbered returns a datagram of size bytes whose content follows from n.
func numbered(buf []byte, n uint64, size int) []byte {
	buf = buf[:0]
	for len(buf) < size {
		buf = binary.LittleEndian.AppendUint64(buf, mix(n+uint64(len(buf))))
	}
	return buf[:size]
}
