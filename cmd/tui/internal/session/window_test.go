package session

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/live"
	"wirelab/internal/testkit"
)

// TestPastEqualsFormerPresent: the snapshot of a past time equals the snapshot that the lab had then.
func TestPastEqualsFormerPresent(t *testing.T) { synctest.Test(t, pastEqualsFormerPresent) }

func pastEqualsFormerPresent(t *testing.T) {
	cfg := config.Default()
	if err := cfg.Apply(config.NewChange("encoder.name", "relative-orientation", "profile", "unity-broadband")); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	runner, err := live.New(t.Context(), cfg, live.Options{Clock: func() time.Duration { return time.Since(start) }})
	if err != nil {
		t.Fatal(err)
	}
	runner.Start(context.Background())
	defer runner.Stop()
	at := func(when time.Duration) *engine.Snapshot {
		runner.Do(live.Command{Seek: &when})
		testkit.WaitFor(t, when.String(), func() bool {
			s := runner.Snapshot()
			return s.State == engine.Paused && s.Now >= when
		})
		return runner.Snapshot()
	}
	runner.Do(live.Command{Pause: new(true)})
	then := at(7 * time.Second)
	later := at(11 * time.Second)
	want, got := then.Lanes[0].Recent, window{snap: later, to: 7 * time.Second}.snapshot().Lanes[0].Recent
	if got.EncodeUS <= 0 { // the lab's is of as many packets, not of as much time
		t.Errorf("encoding took %v µs, it was %v", got.EncodeUS, want.EncodeUS)
	}
	got.EncodeUS, got.DecodeUS = want.EncodeUS, want.DecodeUS
	if math.Abs(got.BaselineAgeMS-want.BaselineAgeMS) < 1e-9 {
		got.BaselineAgeMS = want.BaselineAgeMS
	}
	if got != want || want.PayloadP95Kbps == 0 {
		t.Errorf("the past is\n%+v\nit was\n%+v", got, want)
	}
}

// TestPastOfAPlugin: encoding times of the past are marked if any of them is from a plugin.
func TestPastOfAPlugin(t *testing.T) {
	c := config.Default()
	c.Codecs = []encoders.Codec{{Name: "own"}, {Name: "theirs", Plugin: &encoders.Plugin{Runtime: "process"}}}
	var packets []packetlog.Record
	for n := range 100 { // ten a second, those of the plugin until 3 s
		p := packetlog.Record{Sent: time.Duration(n) * 100 * time.Millisecond, Encoder: "own"}
		if n <= 30 {
			p.Encoder = "theirs"
		}
		packets = append(packets, p)
	}
	for _, x := range []struct {
		at   int
		want string
	}{{10, "process"}, {40, "process"}, {50, "process"}, {51, ""}, {99, ""}} {
		if got := pluginKind(packets[:x.at+1], packets[x.at].Sent, c); got != x.want {
			t.Errorf("at %v: %q, want %q", packets[x.at].Sent, got, x.want)
		}
	}
}
