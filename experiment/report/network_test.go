package report

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/atomicfile"
	"wirelab/internal/testkit"
	"wirelab/lossmodel/capture"
	"wirelab/lossmodel/measure"
)

// The meter's figures of the network equal those computed from the report's own packets.csv, read
// as a capture.
func TestNetworkAgreesWithCapture(t *testing.T) {
	c := config.Default()
	c.Seed, c.Duration = 6, 40*time.Second
	testkit.Set(t, c, []any{"down.loss", "8%", "down.burst", 3, "down.latency", "50ms", "down.jitter", "25ms",
		"down.distribution", "normal", "down.duplicate", "2%", "down.corrupt", "1%"}...)
	folder, err := (*atomicfile.Disk)(nil).Open(t.TempDir(), reportFileName.MatchString, false)
	if err != nil {
		t.Fatal(err)
	}
	out := NewExporter(folder, nil, nil, Pages{})
	s, err := engine.NewSessionFromSource(c, labtest.NewCubeSource(4, 2, -1, 1), engine.Options{Observer: out})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RunUntil(time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(out.Write(s.Result()), out.Close()); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(folder.Path(), "packets.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	read, err := capture.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	seq, err := read.Sequence()
	if err != nil {
		t.Fatal(err)
	}
	want, got := measure.NewStats(seq), s.Result().Totals.Network
	near := func(what string, got, want, tolerance float64) {
		t.Helper()
		if math.Abs(got-want) > tolerance || want == 0 {
			t.Errorf("%s: %g, from the capture %g", what, got, want)
		}
	}
	// The meter does not count packets in flight at the end as lost, and considers
	// the packets themselves, whereas a capture has the copy that arrived first.
	near("loss", got.LossRate.Or(-1), want.LossRate, 0.001)
	near("mean burst", got.MeanBurst.Or(-1), want.MeanBurst, 0.05)
	near("reordered", got.ReorderedRatio.Or(-1), want.Reordering.Ratio, 0.003)
	near("largest extent", got.ReorderExtent.Max, float64(want.Reordering.MaxExtent), 0)
	near("median delay", got.DelayMS.P50, float64(want.Delay.P50)/1e6, 0.04*got.DelayMS.P50)
	near("longest delay", got.DelayMS.Max, float64(want.Delay.Max)/1e6, 0.001)
}
