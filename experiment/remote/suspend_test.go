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
	near, _ := newPipe(0)
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
	if err := l.Err(); err == nil || !strings.Contains(err.Error(), "no message from the peer") {
		t.Errorf("after a minute without a message: %v", err)
	}
}

// The error names the compressed size limit.
func TestSetupTooLarge(t *testing.T) {
	s := setup{Version: protocolVersion, Schema: frame.Schema{Name: "noise", Rows: 600_000, Fields: []frame.Field{{Name: "x"}}}}
	s.Initial.Table = make([]int32, s.Schema.Cells())
	x := uint64(1)
	for i := range s.Initial.Table {
		x = x*6364136223846793005 + 1442695040888963407
		s.Initial.Table[i] = int32(x >> 32)
	}
	if _, err := s.encode(); err == nil || !strings.Contains(err.Error(), "compressed; expected at most 1048576") {
		t.Errorf("noise of 2.4 MB: %v", err)
	}
}

// When virtual time falls behind the wall clock, the display at the receiver falls behind
// equally. A pause is reported separately.
func TestDisplayFollowsLostTime(t *testing.T) {
	near, end := newPipe(0)
	l := NewLink(near, "there")
	zero := time.Now()
	f := server{displayState: displayState{startedAt: zero}, playout: playout.NewCounter(endpoint.Cadence{TickHz: 60, RateHz: 60}, frame.NewHistory(&frame.Schema{}, 32)), setup: &setup{Schema: frame.Schema{TickHz: 60}, DisplayMilliHz: 60_000}}
	readConfirmations := func() {
		buf := make([]byte, 2000)
		for d, ok := end.Poll(buf); ok; d, ok = end.Poll(buf) {
			if err := f.handleConfirmation(zero, d.Data[1:]); err != nil {
				t.Fatal(err)
			}
		}
	}
	poll := func(zero time.Time) {
		l.Poll(config.Default(), 0, time.Second, zero)
		readConfirmations()
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
