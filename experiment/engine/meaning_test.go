package engine

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
)

// Encoders that send all cubes have no current figure of bits per changed cube; the others have one.
func TestBitsPerChangedOnlyForChanges(t *testing.T) {
	for name, means := range map[string]bool{"raw": false, "quantized": false, "deflate": false, "changed-index": true, "relative-orientation": true} {
		c := config.Default()
		c.Encoder.Name = name
		s := mustOpen(t, c, labtest.NewCubeSource(20, 8, -1, 3), Options{})
		mustRun(t, s, 4*time.Second)
		r := s.View(0).Lanes[0].Recent
		if math.IsNaN(r.BitsPerChanged) == means || !(r.BitsPerItem > 0) || !(r.BitsPerPacket > 0) {
			t.Errorf("%s: %v bits per changed cube, %v per cube, %v per packet", name, r.BitsPerChanged, r.BitsPerItem, r.BitsPerPacket)
		}
	}
}

// noise is a capture of datagrams of random bytes.
type noise struct{ rng *rand.Rand }

func (n *noise) Schema() *frame.Schema {
	return &frame.Schema{Name: "packets", Item: "byte", Delivery: frame.Unreliable, TickHz: 60}
}
func (n *noise) Initial(*frame.Frame) {}
func (n *noise) Next(f *frame.Frame) error {
	f.Tick++
	f.Body = f.Body[:0]
	for range 200 {
		f.Body = append(f.Body, byte(n.rng.Uint32()))
	}
	return nil
}

// Captures have the encoder datagram by default. If the payload is larger than the datagrams, the dashboard
// and the report remark on it, and on the missing model.
func TestExpansionIsRemarked(t *testing.T) {
	s := mustOpen(t, config.Default(), &noise{rand.New(rand.NewPCG(1, 2))}, Options{})
	for _, x := range []struct {
		until time.Duration
		want  bool
	}{{200 * time.Millisecond, false}, {3 * time.Second, true}} { // 2,400 and 36,000 bytes
		mustRun(t, s, x.until)
		const want = "the payload of datagram is larger than the data: it has no model"
		for what, text := range map[string]string{"dashboard": strings.Join(s.View(0).Remarks, "; "), "report": strings.Join(s.Result().Warnings, "; ")} {
			if strings.Contains(text, want) != x.want {
				t.Errorf("after %v the remarks of the %s are %q", x.until, what, text)
			}
		}
	}
}
