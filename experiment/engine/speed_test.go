package engine

import (
	"fmt"
	"os"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// charlie is a real recording in the reference data next to the repository.
const charlie = "../../../shared/data/cubes/charlie.bin.zst"

func needCharlie(tb testing.TB) {
	tb.Helper()
	if _, err := os.Stat(charlie); err != nil {
		tb.Skipf("the recording %s is not here", charlie)
	}
}

// lossyConfig returns a configuration with 5 % loss and 50 +- 16 ms in each direction.
func lossyConfig(tb testing.TB) *config.Config {
	tb.Helper()
	c := config.Default()
	testkit.Set(tb, c, "down.loss", "5%", "link.latency", "50ms", "link.jitter", "16ms", "data.source", charlie)
	return c
}

// BenchmarkSession runs a recording over a bad link with each encoder, and with all that the dashboard
// requests. x_real is the virtual time divided by the wall time.
func BenchmarkSession(b *testing.B) {
	needCharlie(b)
	for _, codec := range labtest.CubeCodecs() {
		b.Run(codec.Name, func(b *testing.B) { benchmarkSession(b, codec.Name, Options{}) })
	}
	watched := Options{KeepSamples: 600, KeepPackets: 4096, Inspect: true}
	b.Run("watched", func(b *testing.B) { benchmarkSession(b, "relative-orientation", watched) })
}

func benchmarkSession(b *testing.B, encoder string, opt Options) {
	c := lossyConfig(b)
	c.Encoder.Name = encoder
	virtual := time.Duration(0)
	b.ReportAllocs()
	for b.Loop() {
		s, err := NewSession(b.Context(), c, opt)
		if err != nil {
			b.Fatal(err)
		}
		mustRun(b, s, time.Hour)
		virtual += s.Now()
		if got := totals(s); got.Wrong != 0 || got.Sent == 0 {
			b.Fatalf("wrong %d of %d", got.Wrong, got.Sent)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(virtual.Seconds()/b.Elapsed().Seconds(), "x_real")
}

// BenchmarkTick runs sessions of few cubes, so that encoding does not hide the rest of the work, without
// and with Options.Inspect.
func BenchmarkTick(b *testing.B) {
	for _, inspect := range []bool{false, true} {
		b.Run(fmt.Sprintf("inspect=%v", inspect), func(b *testing.B) {
			s := allocSession(b, "", 10, inspect)
			mustRun(b, s, 5*time.Second)
			b.ReportAllocs()
			n := s.framesDue
			for b.Loop() {
				mustRun(b, s, s.now+time.Second)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(s.framesDue-n), "ns/packet")
		})
	}
}

// allocSession returns an endless session over a bad link.
func allocSession(tb testing.TB, settings string, cubes int, inspect bool) *Session {
	tb.Helper()
	c := config.Default()
	testkit.Set(tb, c, "link.latency", "50ms", "link.jitter", "16ms", "down.loss", "5%", "down.duplicate", "2%")
	if err := setAll(settings, c.Set); err != nil {
		tb.Fatal(err)
	}
	return mustOpen(tb, c, labtest.NewCubeSource(cubes, max(1, cubes/10), -1, 1), Options{KeepSamples: 20, Endless: true, Inspect: inspect})
}

// In steady state a second of virtual time allocates nothing with the built-in encoders, also while packets
// are inspected or are in containers: 60 frames are encoded, sent, decoded, compared, acked and metered.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	if labtest.RaceEnabled {
		t.Skip("the race detector allocates for itself")
	}
	const contained = "down.keep_order true; link.jitter 0ms; "
	for _, x := range []struct {
		settings string
		inspect  bool
		limit    float64 // the ring of samples is renewed every four seconds, and reedsolomon allocates for a repair
	}{
		{"encoder.name raw", false, 1},
		{"encoder.name quantized", false, 1},
		{"encoder.name relative-orientation", false, 1},
		{"encoder.name rotor", false, 1},
		{"receiver.history 8", true, 1},
		{contained + "sender.redundancy repeat n=2", false, 12},
		{contained + "sender.redundancy xor data=4", false, 12},
		{contained + "sender.redundancy rs", false, 30},
		{contained + "messages.rate_hz 20", false, 12},
		{contained + "messages.rate_hz 20; messages.delivery rto", false, 12},
		{contained + "messages.rate_hz 20; messages.delivery stream", false, 12},
	} {
		s := allocSession(t, x.settings, 40, x.inspect)
		warmUp := 30 * time.Second
		if x.limit > 1 {
			warmUp = 3 * time.Minute
		}
		mustRun(t, s, warmUp)
		if n := testing.AllocsPerRun(20, func() { mustRun(t, s, s.now+time.Second) }); n > x.limit {
			t.Errorf("%s: %g allocations a second of virtual time", x.settings, n)
		}
	}
}
