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

// A process that was stopped has heard nothing for a while: that is no reason to call the
// far end gone. If it looks and nothing comes, that is one.
func TestStoppedProcess(t *testing.T) {
	near, _ := newPipe(0)
	l := NewLink(near, "there")
	long := time.Now().Add(-time.Minute)
	l.receivedAt, l.looked = long, long
	if err := l.Err(); err != nil {
		t.Errorf("before it looked: %v", err)
	}
	l.Poll(config.Default(), 0, time.Second, time.Now())
	if err := l.Err(); err != nil {
		t.Errorf("after it looked: %v", err)
	}
	l.receivedAt = long
	if err := l.Err(); err == nil || !strings.Contains(err.Error(), "nothing came") {
		t.Errorf("a minute of silence: %v", err)
	}
}

// What is too large is told by the size that is.
func TestSetupTooLarge(t *testing.T) {
	s := setup{Version: protocolVersion, Schema: frame.Schema{Name: "noise", Rows: 600_000, Fields: []frame.Field{{Name: "x"}}}}
	s.Initial.Table = make([]int32, s.Schema.Cells())
	x := uint64(1)
	for i := range s.Initial.Table {
		x = x*6364136223846793005 + 1442695040888963407
		s.Initial.Table[i] = int32(x >> 32)
	}
	if _, err := s.encode(); err == nil || !strings.Contains(err.Error(), "at most 1048576 travel") {
		t.Errorf("noise of 2.4 MB: %v", err)
	}
}

// Where virtual time falls behind the wall clock, the display at the far end does so too. A
// pause is none of that: it is told as one.
func TestDisplayFallsBehind(t *testing.T) {
	near, end := newPipe(0)
	l := NewLink(near, "there")
	zero := time.Now()
	f := far{began: zero, show: playout.NewCounter(endpoint.Cadence{TickHz: 60, RateHz: 60}, frame.NewHistory(&frame.Schema{}, 32)), s: &setup{DisplayMilliHz: 60_000}}
	hear := func() {
		buf := make([]byte, 2000)
		for d, ok := end.Poll(buf); ok; d, ok = end.Poll(buf) {
			if err := f.confirmed(zero, d.Data[1:]); err != nil {
				t.Fatal(err)
			}
		}
	}
	poll := func(zero time.Time) {
		l.Poll(config.Default(), 0, time.Second, zero)
		hear()
	}
	poll(zero)
	poll(zero.Add(time.Millisecond)) // a beat
	if f.lost != 0 {
		t.Errorf("%v lost by a beat", f.lost)
	}
	poll(zero.Add(8 * time.Second))
	if f.lost != 8*time.Second || f.clock(zero.Add(9*time.Second)) != time.Second {
		t.Errorf("%v lost, expected 8 s; its clock says %v", f.lost, f.clock(zero.Add(9*time.Second)))
	}
	l.Paused(true)
	poll(zero.Add(20 * time.Second))
	l.Paused(false)
	poll(zero.Add(30 * time.Second))
	if f.lost != 8*time.Second {
		t.Errorf("%v lost: a pause is told otherwise", f.lost)
	}
}
