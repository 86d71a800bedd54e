package engine

import (
	"errors"
	"math"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders/table"
	"wirelab/experiment/config"
)

// The estimate of each encoder is what its session sent over the same frames, losses and baselines; of those that
// learn along the baselines it is nearly that, because they begin to learn three seconds before.
func TestEstimatesAreWhatASessionSends(t *testing.T) {
	small := newTracedSession(t, "rotor", true)
	mustRun(t, small, 5*time.Second)
	recent, err := small.RecentFrames()
	if err != nil {
		t.Fatal(err)
	}
	goOn := func() error { return nil }
	for _, c := range table.All() {
		got := recent.Estimate(config.Encoder{Name: c.Name}, nil, goOn)
		if suits := c.Suits(small.Schema()); !suits || got.Err != nil {
			if suits == (got.Err != nil) {
				t.Errorf("%s suits the data: %v, but: %v", c.Name, suits, got.Err)
			}
			continue
		}
		s := newTracedSession(t, c.Name, true)
		mustRun(t, s, 5*time.Second)
		bytes := 0
		tolerance := 1e-6
		for _, r := range s.View(1 << 14).Lanes[0].Packets {
			if r.Copy == 0 && r.Sent >= recent.From && r.Sent < recent.Until {
				bytes += r.Payload
				if r.Payload > 1400 { // more fragments are lost
					tolerance = 0.02
				}
			}
		}
		want := float64(bytes) * 8 / 1000 / (recent.Until - recent.From).Seconds()
		s.lanes[0].rcv.History().Each(func(e *frame.Entry) {
			if e.Memo != nil {
				tolerance = 0.05
			}
		})
		if math.Abs(got.Kbps/want-1) > tolerance {
			t.Errorf("%s: estimated %.1f kbps, sent %.1f", c.Name, got.Kbps, want)
		}
	}
}

// An estimate ends with the error of rest, and a session reports why it cannot be estimated.
func TestEstimatesThatEnd(t *testing.T) {
	s := newTracedSession(t, "rotor", true)
	mustRun(t, s, 50*time.Millisecond)
	if _, err := s.RecentFrames(); err == nil {
		t.Error("encoders can be estimated with three frames")
	}
	mustRun(t, s, time.Second)
	recent, err := s.RecentFrames()
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	if got := recent.Estimate(config.Encoder{Name: "rotor"}, nil, func() error { return stop }); !errors.Is(got.Err, stop) {
		t.Errorf("it does not end: %+v", got)
	}
	mustChange(t, s, config.NewChange("sender.budget", "64kbit"))
	mustRun(t, s, 6*time.Second)
	if _, err := s.RecentFrames(); err == nil {
		t.Error("encoders can be estimated with a budget")
	}
}
