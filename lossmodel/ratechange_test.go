package lossmodel

import (
	"testing"
	"time"
)

// The remainder of a nanosecond, which is in units of the old rate, is not carried over to a new
// rate.
func TestRateChangeRemainder(t *testing.T) {
	l := newLink(t, newSpec(t, "rate", "600gbit", "queue", "off"), 1)
	before := l.Send(0, make([]byte, 97), 0).Due // 1000 bits: 1 ns and two thirds, which are carried
	if before != 1 {
		t.Fatalf("1000 bits at 600 Gbit/s take %v, want 1ns", before)
	}
	if err := l.Reshape(newSpec(t, "rate", "1kbit", "queue", "off")); err != nil {
		t.Fatal(err)
	}
	if due := l.Send(0, make([]byte, 97), 0).Due; due != before+time.Second {
		t.Errorf("1000 bits at 1 kbit/s are due at %v, want %v", due, before+time.Second)
	}
}
