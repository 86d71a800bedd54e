package engine

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/golden"
	"wirelab/internal/testkit"
)

// TestGoldenDigests compares the digests of twelve seconds with losses and swaps, and of a minute,
// for each encoder. They are the same on every machine. A change of a packet format changes its
// line, and must be in the change log. The minute only runs in the long checks and with -update.
func TestGoldenDigests(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: every encoder, in one goroutine, is long under the race detector")
	}
	whole := testkit.Long() || golden.IsUpdating()
	var brief, minute bytes.Buffer
	for _, codec := range labtest.CubeCodecs() {
		c := config.Default()
		c.Seed = 20151
		testkit.Set(t, c, []any{
			"link.loss", "8%", "link.latency", "60ms", "link.jitter", "20ms", "link.distribution", "normal", "down.burst", 2,
			"down.duplicate", "3%", "down.corrupt", "1%", "down.reorder", "2%", "down.rate", "2mbit",
		}...)
		c.At = []config.StampedChange{config.Stamp(2*time.Second, config.NewChange("encoder.name", codec.Name)),
			config.Stamp(8*time.Second, config.NewChange("down.loss", "30%"))}
		s := mustOpen(t, c, labtest.NewCubeSource(24, 6, -1, 3), Options{})
		run := func(until time.Duration, lines *bytes.Buffer) {
			mustRun(t, s, until)
			fmt.Fprintf(lines, "%-22s %s\n", codec.Name, s.lanes[0].digest.sum())
		}
		run(12*time.Second, &brief)
		if whole {
			run(time.Minute, &minute)
		}
	}
	golden.Compare(t, "testdata/brief.golden", brief.String())
	if whole {
		golden.Compare(t, "testdata/digests.golden", minute.String())
	}
}
