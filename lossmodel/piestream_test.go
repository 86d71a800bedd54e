package lossmodel

import (
	"slices"
	"testing"
	"time"
)

// PIE continues its random numbers after a time with another discipline: two equal overloads lose different packets.
func TestPIEContinuesRandomNumbers(t *testing.T) {
	l := newLink(t, newSpec(t, "rate", "1mbit"), 1)
	set := func(now time.Duration, discipline string) {
		if err := l.ReshapeAt(now, newSpec(t, "rate", "1mbit", "queue", "1MB", disciplineKey, discipline)); err != nil {
			t.Fatal(err)
		}
	}
	lost := func(start time.Duration) (packets []int) {
		set(start, "pie")
		for i := range 3000 {
			now := start + time.Duration(i)*time.Millisecond
			if v := l.Send(now, make([]byte, 200), 0); v.Lost != None {
				packets = append(packets, i)
			}
			for _, ok := l.Receive(now); ok; _, ok = l.Receive(now) {
			}
		}
		set(start+20*time.Second, "droptail")
		for _, ok := l.Receive(start + 20*time.Second); ok; _, ok = l.Receive(start + 20*time.Second) {
		}
		return packets
	}
	first, second := lost(0), lost(30*time.Second) // 30 s is a multiple of the interval between updates
	if len(first) < 100 || slices.Equal(first, second) {
		t.Errorf("%d and %d packets are lost, the same ones: %v", len(first), len(second), slices.Equal(first, second))
	}
}
