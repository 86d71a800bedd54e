package engine

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
)

// The digest of one minute with losses and swaps, for each encoder. It is the same on
// every machine. A change of a wire format changes its line, and belongs in the
// change log.
func TestGoldenDigests(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a minute of every encoder, in one goroutine, is long under the race detector")
	}
	var got bytes.Buffer
	for _, codec := range labtest.OfCubes() {
		c := config.Default()
		c.Seed, c.WholeFrames = 20151, true // as old reports, so that nothing else moves these lines
		for key, v := range map[string]any{
			"link.loss": "8%", "link.latency": "60ms", "link.jitter": "20ms", "link.distribution": "normal", "down.burst": 2,
			"down.duplicate": "3%", "down.corrupt": "1%", "down.reorder": "2%", "down.rate": "2mbit",
		} {
			if err := c.Set(key, v); err != nil {
				t.Fatal(err)
			}
		}
		c.At = []config.StampedChange{config.Stamp(20*time.Second, config.NewChange("encoder.name", codec.Name)),
			config.Stamp(40*time.Second, config.NewChange("down.loss", "30%"))}
		s, err := NewSessionOf(c, labtest.NewCrowd(24, 6, -1, 3), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RunUntil(time.Minute); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%-22s %s\n", codec.Name, s.lanes[0].digest.sum())
	}
	labtest.Golden(t, "testdata/digests.golden", got.Bytes())
}
