package engine

import (
	"os"
	"testing"
	"time"

	"wirelab/dataset"
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

// BenchmarkSession runs a recording over a bad link with each encoder. x_real is the virtual time
// divided by the wall time.
func BenchmarkSession(b *testing.B) {
	needCharlie(b)
	for _, codec := range labtest.CubeCodecs() {
		b.Run(codec.Name, func(b *testing.B) {
			c := lossyConfig(b)
			c.Encoder = config.Encoder{Name: codec.Name}
			virtual := time.Duration(0)
			b.ReportAllocs()
			for b.Loop() {
				s, err := NewSession(b.Context(), c, Options{})
				if err != nil {
					b.Fatal(err)
				}
				if err := s.RunUntil(time.Hour); err != nil {
					b.Fatal(err)
				}
				virtual += s.Now()
				if got := s.lanes[0].totals(s.Now()); got.Wrong != 0 || got.Sent == 0 {
					b.Fatalf("wrong %d of %d", got.Wrong, got.Sent)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(virtual.Seconds()/b.Elapsed().Seconds(), "x_real")
		})
	}
}

// In steady state a second of virtual time allocates nothing with the built-in encoders: 60 frames
// are encoded, sent, decoded, compared, acked and metered.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	if labtest.RaceEnabled {
		t.Skip("the race detector allocates for itself")
	}
	for _, name := range []string{"raw", "quantized", "relative-orientation", "rotor"} {
		t.Run(name, func(t *testing.T) {
			c := config.Default()
			testkit.Set(t, c, []any{"encoder.name", name, "link.latency", "50ms", "link.jitter", "16ms", "down.loss", "5%",
				"down.duplicate", "2%"}...)
			cubes := testkit.Choose(200, 40)
			s, err := NewSessionFromSource(c, labtest.NewCubeSource(cubes, cubes/10, -1, 1), Options{KeepSamples: 20, Endless: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.RunUntil(30 * time.Second); err != nil {
				t.Fatal(err)
			}
			allocs := testing.AllocsPerRun(20, func() {
				if err := s.RunUntil(s.now + time.Second); err != nil {
					t.Fatal(err)
				}
			})
			if allocs > 1 { // the ring of samples is renewed every four seconds
				t.Errorf("%g allocations a second of virtual time", allocs)
			}
		})
	}
}

var _ dataset.Source = (*labtest.CubeSource)(nil)
