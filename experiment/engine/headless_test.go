//go:build unix

package engine

import (
	"syscall"
	"testing"
	"time"

	"wirelab/experiment/config"
)

// cpuTime returns the CPU time of all threads of this process.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkHeadless runs ten minutes of a looped recording over a bad link. x_cpu is the virtual
// time divided by the CPU time of the whole lab. Run it with GOMAXPROCS=1, to measure one core.
func BenchmarkHeadless(b *testing.B) {
	needCharlie(b)
	for _, name := range []string{"relative-orientation", "changed-index", "rotor", "quantized", "adaptive"} {
		b.Run(name, func(b *testing.B) { benchmarkMinutes(b, name, Options{KeepSamples: 600}) })
	}
}

// BenchmarkWatched is like BenchmarkHeadless with the inspector of the dashboard.
func BenchmarkWatched(b *testing.B) {
	needCharlie(b)
	benchmarkMinutes(b, "relative-orientation", Options{KeepSamples: 600, KeepPackets: 4096, Inspect: true})
}

// benchmarkMinutes runs ten minutes of charlie with the given encoder.
func benchmarkMinutes(b *testing.B, encoder string, opt Options) {
	c := lossyConfig(b)
	c.Encoder, c.Duration = config.Encoder{Name: encoder}, 10*time.Minute
	virtual, start := time.Duration(0), cpuTime(b)
	b.ReportAllocs()
	for b.Loop() {
		s, err := NewSession(b.Context(), c, opt)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.RunUntil(time.Hour); err != nil {
			b.Fatal(err)
		}
		virtual += s.Now()
		if got := s.lanes[0].totals(s.Now()); got.Wrong != 0 || got.Sent < 35_000 {
			b.Fatalf("wrong %d of %d", got.Wrong, got.Sent)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	took := cpuTime(b) - start
	b.ReportMetric(virtual.Seconds()/took.Seconds(), "x_cpu")
	b.ReportMetric(float64(took.Microseconds())/(virtual.Seconds()*60), "us/frame")
}
