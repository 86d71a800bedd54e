package engine

import (
	"math"
	"testing"
	"time"

	"wirelab/dataset"
	"wirelab/dataset/physics"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
)

// worldSession returns a session on the live world with the given script.
func worldSession(tb testing.TB, script string, ch config.Change) *Session {
	tb.Helper()
	c := config.Default()
	c.Data.Source, c.Data.Script = "world", script
	if err := c.Apply(ch); err != nil {
		tb.Fatal(err)
	}
	s, err := NewSession(tb.Context(), c, Options{Endless: true})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// The sender's cubes in a picture equal the world, to half a quantisation unit. The receiver's equal the
// world at the displayed time, but for the errors that the picture shows, which include the rounding.
func TestPictureShowsBothEndpoints(t *testing.T) {
	s := worldSession(t, "katamari", config.NewChange("down.latency", "50ms"))
	src, err := dataset.Open(t.Context(), "world", dataset.Options{Seed: s.config.Seed, Script: "katamari"})
	if err != nil {
		t.Fatal(err)
	}
	w := src.(interface {
		dataset.Source
		dataset.Steered
		Player() *physics.Body
	})
	f := w.Schema().NewFrame()
	var path []physics.Vec // of the player, by tick
	if s.View(0).World != nil {
		t.Error("there is a picture before the first frame")
	}
	for tick := range uint64(300) {
		if err := w.Next(f); err != nil {
			t.Fatal(err)
		}
		mustRun(t, s, endpoint.TickTime(tick, 60))
		at := w.Player().Pos
		path = append(path, at)
		p := s.View(0).World
		me := p.Sent[0]
		for i, d := range []float64{float64(me.X) - at.X, float64(me.Y) - at.Y} {
			if math.Abs(d) > 0.0011 {
				t.Fatalf("tick %d: coordinate %d of the player is off by %g m", tick, i, d)
			}
		}
		if !p.Live || !p.Autopilot || p.Keys != w.Keys() {
			t.Fatalf("tick %d: the picture has %v %v %+v", tick, p.Live, p.Autopilot, p.Keys)
		}
		if p.Shown == nil {
			continue
		}
		moment := s.Now() - p.Behind
		n := endpoint.TickAt(moment, 60)
		share := float64(moment-endpoint.TickTime(n, 60)) * 60 / float64(time.Second)
		want := path[n].Scale(1-share).AddScaled(path[min(n+1, tick)], share)
		shown := physics.Vec{X: float64(p.Shown[0].X), Y: float64(p.Shown[0].Y), Z: float64(p.Shown[0].Z)}
		moves := path[n] != path[min(n+1, tick)]
		if off := shown.Sub(want).Length(); off > 0.0025 || p.Starved || moves && math.Abs(off*1000-float64(p.Error[0])) > 0.01 {
			t.Fatalf("tick %d: the player is shown off by %g m, starved %v; the picture has %g mm", tick, off, p.Starved, p.Error[0])
		}
	}
	// Three uniform errors of up to half a step of 1/361.33 are 0.159 degrees (root mean square), and with
	// the largest component, which follows from them, at most 0.55.
	if turn := s.lanes[0].totals(s.Now()).Playout.OrientationErrorDeg; math.Abs(turn.P50-0.159) > 0.02 || turn.Max > 0.55 {
		t.Errorf("orientations are off by %+v degrees", *turn)
	}
	if p := s.View(0).World; p.Shown == nil || p.Error == nil {
		t.Error("after five seconds nothing is on display")
	}
}

// BenchmarkPicture measures copying the cubes for the dashboard, twenty times a second.
func BenchmarkPicture(b *testing.B) {
	s := worldSession(b, "katamari", config.Change{})
	mustRun(b, s, 5*time.Second)
	b.ReportAllocs()
	for b.Loop() {
		s.lanes[0].display.Picture(&s.feed.current.Frame, &s.truths, s.Now())
	}
}
