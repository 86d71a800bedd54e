package engine

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// Sending every sixth of 60 snapshots a second equals sending 10 a second: the same
// frames, times, losses and display.
func TestEverySixthEqualsTenHertz(t *testing.T) {
	run := func(settings ...any) (figures.Totals, uint64) {
		c := config.Default()
		testkit.Set(t, c, settings...)
		if err := errors.Join(c.Set("profile", "fiedler"), c.Set("encoder.name", "quantized"),
			c.Set("receiver.playout_delay", "250ms")); err != nil {
			t.Fatal(err)
		}
		s, err := NewSessionFromSource(c, labtest.NewCubeSource(20, 4, -1, 3), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RunUntil(time.Minute); err != nil {
			t.Fatal(err)
		}
		return s.lanes[0].totals(s.Now()), s.Result().Frames
	}
	tenth, frames := run("sender.rate_hz", 10)
	sixth, same := run("sender.every", 6)
	if !reflect.DeepEqual(tenth.Playout, sixth.Playout) || tenth.Playout.Freezes == 0 {
		t.Errorf("10 a second: %+v\nevery sixth: %+v", tenth.Playout, sixth.Playout)
	}
	if tenth.Sent != sixth.Sent || tenth.Lost != sixth.Lost || tenth.Reordered != sixth.Reordered || frames != same || sixth.Sent != 600 {
		t.Errorf("10 a second: %d sent, %d lost; every sixth: %d sent, %d lost", tenth.Sent, tenth.Lost, sixth.Sent, sixth.Lost)
	}
}

// The rate changes during the run, with losses, reordering and swaps. The chained
// codecs check that memos and ticks agree at both ends.
func TestRateChangesMidway(t *testing.T) {
	for seed := range uint64(6) {
		c := withChainedCodecs(config.Default())
		c.Seed, c.Sender.History, c.Receiver.History, c.Sender.RateHz = seed, 255, 200, 60/(1+int(seed%2))
		testkit.Set(t, c, "link.loss", "15%", "link.latency", "60ms", "link.jitter", "40ms", "down.duplicate", "10%")
		s, err := NewSessionFromSource(c, labtest.NewCubeSource(5, 3, -1, seed), Options{})
		if err != nil {
			t.Fatal(err)
		}
		names, every := []string{"chained-120", "chained-121", "chained-122", "quantized"}, []int{1, 6, 2, 30, 3, 1, 10}
		for i := range 80 {
			if err := s.Change(config.NewChange("encoder.name", names[(uint64(i)*7+seed)%4], "sender.every", every[i%7])); err != nil {
				t.Fatal(err)
			}
			before := s.lanes[0].totals(s.Now()).Sent
			took := time.Duration(300+137*i%900) * time.Millisecond
			if err := s.RunUntil(s.now + took); err != nil {
				t.Fatal(err)
			}
			want := took.Seconds() * float64(c.Sender.RateHz) / float64(every[i%7])
			if n := float64(s.lanes[0].totals(s.Now()).Sent - before); n < want-1.1 || n > want+1.1 {
				t.Fatalf("%g packets in %v at every %d-th of %d, want %g", n, took, every[i%7], c.Sender.RateHz, want)
			}
		}
		checkOutcomes(t, s)
		got := s.lanes[0].totals(s.Now())
		if got.Wrong != 0 || got.DecodeRefused != 0 || got.Decoded < 200 {
			t.Errorf("seed %d: %d decoded, %d wrong, %d refused: %v", seed, got.Decoded, got.Wrong, got.DecodeRefused, s.lanes[0].lastErr)
		}
		if _, err := s.Undo(); err != nil || s.config.Sender.Every != every[78%7] {
			t.Errorf("undone to every %d-th, want %d: %v", s.config.Sender.Every, every[78%7], err)
		}
	}
}

// A history that is too short to hold two of the sent snapshots is refused.
func TestEveryNeedsAHistory(t *testing.T) {
	c := config.Default()
	c.Receiver.History = 20
	for every, ok := range map[int]bool{1: true, 10: true, 11: false, 60: false} {
		var bad *config.Error
		if err := c.Check(config.NewChange("sender.every", every)); (err == nil) != ok || err != nil &&
			(!errors.As(err, &bad) || bad.Key != "sender.every") {
			t.Errorf("every %d-th with a history of 20: %v", every, err)
		}
	}
}
