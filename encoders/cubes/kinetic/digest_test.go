package kinetic

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
	"wirelab/internal/testkit"
)

// TestPacketDigests compares the packets with recorded digests, which are the same on all processors,
// with and without AVX2. Only a newly trained model may change them.
func TestPacketDigests(t *testing.T) {
	frames, want := 48, map[string]string{
		"kinetic-lite": "6accded24734435a",
		"kinetic":      "dab5847ca9eea7d4",
	}
	if testkit.Thorough() {
		frames, want = 600, map[string]string{
			"kinetic-lite": "9e8cb78e58177776",
			"kinetic":      "00f569cc9a8d6778",
		}
	}
	list := recording.Demo(t, 400, 400+frames)
	testBoth(t, func(t *testing.T, codec encoders.Codec) {
		c, sum := newConnection(t, codec, frame.WalkoffCubes), sha256.New()
		for n := recording.BaselineAge; n < len(list); n++ {
			fmt.Fprintf(sum, "%x\n", c.send(t, list[n], list[n-recording.BaselineAge]))
		}
		if got := fmt.Sprintf("%.8x", sum.Sum(nil)); got != want[codec.Name] {
			t.Errorf("digest %s of %d packets, want %s", got, c.frames, want[codec.Name])
		}
	})
}
