package remote

import (
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/playout"
)

// When virtual time falls behind the wall clock, the display at the receiver falls behind
// equally. A pause is reported separately.
func TestDisplayFollowsLostTime(t *testing.T) {
	near, _ := newStoppedPipe(t, 0)
	l := NewLink(near, "there")
	zero := time.Now()
	f := server{screen: screen{startedAt: zero}, playout: playout.NewCounter(endpoint.Cadence{TickHz: 60, RateHz: 60}, frame.NewHistory(32)),
		setup: validSetup()}
	readSettings := func() {
		for len(near.outbox) > 0 {
			if err := f.handleDisplay(zero, (<-near.outbox).Display); err != nil {
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
	if f.display.Behind != 0 {
		t.Errorf("%v lost, expected 0 for 1 ms of jitter", f.display.Behind)
	}
	poll(zero.Add(8 * time.Second))
	if f.displayTime(zero.Add(9*time.Second)) != time.Second {
		t.Errorf("display time %v, expected 1 s", f.displayTime(zero.Add(9*time.Second)))
	}
	l.SetPaused(true)
	poll(zero.Add(20 * time.Second))
	if !f.display.Paused || f.display.Behind != 8*time.Second {
		t.Errorf("in a pause: %+v", f.display)
	}
	l.SetPaused(false)
	poll(zero.Add(30 * time.Second))
	if f.displayTime(zero.Add(31*time.Second)) != time.Second {
		t.Errorf("display time %v after a pause, expected 1 s", f.displayTime(zero.Add(31*time.Second)))
	}
	poll(zero.Add(-time.Minute)) // frames were stepped
	if f.displayTime(zero) != time.Minute {
		t.Errorf("display time %v after steps, expected 1 min", f.displayTime(zero))
	}
}
