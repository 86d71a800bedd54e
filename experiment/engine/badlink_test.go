package engine

import (
	"math/rand/v2"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/internal/testkit"
)

// otherSources are the sources without cubes, with encoders for them.
var otherSources = map[string][]string{
	"rpc":  {"full", "rpc-delta", "rpc-adaptive", "xor-rle"},
	"text": {"receiver-adaptive", "xor-rle", "deflate"},
}

// roughLink returns a configuration with all impairments of a link at once.
func roughLink(t *testing.T, source string, seed uint64) *config.Config {
	t.Helper()
	c := config.Default()
	c.Seed, c.Data.Source, c.Encoder.Name = seed, source, otherSources[source][0]
	testkit.Set(t, c, "link.loss", "8%", "link.latency", "60ms", "link.jitter", "40ms", "down.duplicate", "5%",
		"down.reorder", "10%", "down.corrupt", "2%", "duration", "20s")
	return c
}

// Calls and messages are never wrong, with any pattern of loss, reordering and duplication and any
// schedule of swaps. Late messages are decoded if the delivery is frame.Each.
func TestCallsAndMessages(t *testing.T) {
	for source, names := range otherSources {
		for seed := range testkit.Choose[uint64](3, 1) {
			s, err := NewSession(t.Context(), roughLink(t, source, seed), Options{})
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(seed, 8))
			for !s.Done() {
				mustRun(t, s, s.now+time.Duration(500+rng.IntN(3000))*time.Millisecond)
				if !s.Done() {
					_ = s.Change(config.NewChange("encoder.name", names[rng.IntN(len(names))]))
				}
			}
			checkOutcomes(t, s)
			got := s.lanes[0].totals(s.Now())
			if got.Wrong != 0 || got.DecodeRefused != 0 || got.EncodeFailed != 0 || got.Failures.NoBaseline != 0 {
				t.Errorf("%s, seed %d: wrong %d, refused %d, not encoded %d, %+v", source, seed, got.Wrong, got.DecodeRefused,
					got.EncodeFailed,
					got.Failures)
			}
			if late := got.Stale > 0; late != (source == "rpc") || got.Reordered == 0 {
				t.Errorf("%s, seed %d: %d stale, %d reordered", source, seed, got.Stale, got.Reordered)
			}
		}
	}
}
