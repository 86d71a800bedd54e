package remote

import (
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/playout"
)

// The time during which the process was suspended does not count towards the peer timeout.
// Silence while the process polls does.
func TestPeerTimeoutAfterSuspension(t *testing.T) {
	near, _ := newPipe(t, 0)
	l := NewLink(near, "there")
	long := time.Now().Add(-time.Minute)
	l.lastReceived, l.lastPolled = long, long
	if err := l.Err(); err != nil {
		t.Errorf("before the first poll: %v", err)
	}
	l.Poll(config.Default(), 0, time.Second, time.Now())
	if err := l.Err(); err != nil {
		t.Errorf("after the first poll: %v", err)
	}
	l.lastReceived = long
	if err := l.Err(); err == nil || !strings.Contains(err.Error(), "nothing from the peer") {
		t.Errorf("after a minute without a message: %v", err)
	}
}

// When virtual time falls behind the wall clock, the display at the receiver falls behind
// equally. A pause is reported separately.
func TestDisplayFollowsLostTime(t *testing.T) {
	near, _ := newStoppedPipe(0)
	l := NewLink(near, "there")
	zero := time.Now()
	f := server{screen: screen{startedAt: zero}, playout: playout.NewCounter(endpoint.Cadence{TickHz: 60, RateHz: 60}, frame.NewHistory(32)), setup: &setup{Schema: frame.Schema{TickHz: 60}, DisplayMilliHz: 60_000}}
	readSettings := func() {
		for len(near.messages) > 0 {
			if err := f.handleDisplay(zero, (<-near.messages).Display); err != nil {
				t.Fatal(err)
			}
		}
	}
	poll := func(zero time.Time) {
		l.Poll(config.Default(), 0, time.Second, zero)
		readSettings()
	}
	poll(zero)
	poll(zero.Add(time.Millisecond)) // ordinary jitter
	if f.timeLost != 0 {
		t.Errorf("%v lost, expected 0 for 1 ms of jitter", f.timeLost)
	}
	poll(zero.Add(8 * time.Second))
	if f.timeLost != 8*time.Second || f.displayTime(zero.Add(9*time.Second)) != time.Second {
		t.Errorf("%v lost, expected 8 s; display time %v, expected 1 s", f.timeLost, f.displayTime(zero.Add(9*time.Second)))
	}
	l.SetPaused(true)
	poll(zero.Add(20 * time.Second))
	l.SetPaused(false)
	poll(zero.Add(30 * time.Second))
	if f.timeLost != 8*time.Second {
		t.Errorf("%v lost after a pause, expected 8 s", f.timeLost)
	}
}
