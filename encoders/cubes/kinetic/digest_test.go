package kinetic

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/thorough"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
)

// Packets are these bytes, whatever the processor and however fast the code. They change
// with what was trained, on purpose only.
func TestPacketsStay(t *testing.T) {
	frames, want := 48, map[string]string{
		"kinetic-lite": "ecb298bd9143aa08",
		"kinetic":      "c6cbf137a6291ef6",
	}
	if thorough.Checks() {
		frames, want = 600, map[string]string{
			"kinetic-lite": "f6384b208f778e61",
			"kinetic":      "7cfa1aa4fce3d367",
		}
	}
	list := recording.Demo(t, 400, 400+frames)
	both(t, func(t *testing.T, codec encoders.Codec) {
		c, sum := newChains(t, codec, frame.WalkoffCubes), sha256.New()
		for n := recording.Age; n < len(list); n++ {
			fmt.Fprintf(sum, "%x\n", c.send(t, list[n], list[n-recording.Age]))
		}
		if got := fmt.Sprintf("%.8x", sum.Sum(nil)); got != want[codec.Name] {
			t.Errorf("digest %s of %d packets, want %s", got, c.frames, want[codec.Name])
		}
	})
}
