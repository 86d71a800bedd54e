package table_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
	"wirelab/encoders/table"
	"wirelab/internal/testkit"
)

// TestPacketsStay compares the packets of the demo with recorded digests. Only a newly trained model may change
// them. Package kinetic has its own test.
func TestPacketsStay(t *testing.T) {
	frames, want := 48, map[string]string{
		"adaptive rate=0": "68eede6fce331afc",
		"adaptive":        "a488257a24bde504",
		"delta-adaptive":  "aa88da7016acdc4e",
	}
	if testkit.Thorough() {
		frames, want = 1200, map[string]string{
			"adaptive rate=0": "86062aacff55a570",
			"adaptive":        "e77aaa012838876c",
			"delta-adaptive":  "95607725e5326050",
		}
	}
	demo := recording.Demo(t, 400, 400+frames)
	for name, want := range want {
		name, _, fixed := strings.Cut(name, " rate=0")
		c, err := table.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if fixed {
			c.Params = c.Defaults()
			if err := encoders.SetParam(c.Params, "rate", 0); err != nil {
				t.Fatal(err)
			}
		}
		sum := sha256.New()
		for _, packet := range record(t, *c, frame.Cubes(frame.WalkoffCubes), demo, 6).payloads {
			fmt.Fprintf(sum, "%x\n", packet)
		}
		if got := fmt.Sprintf("%.8x", sum.Sum(nil)); got != want {
			t.Errorf("%s, rate 0: %v: digest %s of its packets, want %s", name, fixed, got, want)
		}
	}
}
