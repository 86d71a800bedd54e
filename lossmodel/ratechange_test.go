package lossmodel

import (
	"testing"
	"time"
)

// The fraction of a nanosecond that a fast line owes is no second of a slow one:
// it is in units of the old rate.
func TestRateChangeCarriesNoRest(t *testing.T) {
	l := linkOf(t, specOf(t, "rate", "600gbit", "queue", "off"), 1)
	before := l.Send(0, make([]byte, 97), 0).Due // 1000 bits: 1 ns and two thirds, which are carried
	if before != 1 {
		t.Fatalf("1000 bits at 600 Gbit/s take %v, want 1ns", before)
	}
	if err := l.Reshape(specOf(t, "rate", "1kbit", "queue", "off")); err != nil {
		t.Fatal(err)
	}
	if due := l.Send(0, make([]byte, 97), 0).Due; due != before+time.Second {
		t.Errorf("1000 bits at 1 kbit/s are due at %v, want %v", due, before+time.Second)
	}
}
