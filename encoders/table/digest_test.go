package table_test

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders/internal/recording"
	"wirelab/encoders/table"
	"wirelab/internal/testkit"
)

// TestPacketsStay compares the packets of the demo with recorded digests. Only a newly trained model may change
// them. Package kinetic has its own test.
func TestPacketsStay(t *testing.T) {
	frames, want := 48, map[string]string{
		"static":         "68eede6fce331afc",
		"adaptive":       "a488257a24bde504",
		"predictive":     "8b4f164e03668bd1",
		"delta-adaptive": "857ed827f0cc766c",
	}
	if testkit.Thorough() {
		frames, want = 1200, map[string]string{
			"static":         "86062aacff55a570",
			"adaptive":       "e77aaa012838876c",
			"predictive":     "f2d667af8a5145bf",
			"delta-adaptive": "c8a4481bc99e0cb1",
		}
	}
	demo := recording.Demo(t, 400, 400+frames)
	for _, c := range table.All() {
		if want[c.Name] == "" {
			continue
		}
		sum := sha256.New()
		for _, packet := range record(t, c, frame.Cubes(frame.WalkoffCubes), demo, 6).payloads {
			fmt.Fprintf(sum, "%x\n", packet)
		}
		if got := fmt.Sprintf("%.8x", sum.Sum(nil)); got != want[c.Name] {
			t.Errorf("%s: digest %s of its packets, want %s", c.Name, got, want[c.Name])
		}
	}
}
