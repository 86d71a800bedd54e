package meters

import (
	"math/rand/v2"
	"testing"
)

// Runs of losses are counted exactly, whether a packet is lost when it is sent or dropped later.
func TestBursts(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 7))
		var m network
		var lost []bool
		for range 3000 {
			atOnce := random.IntN(5) == 0
			m.CountSent(atOnce)
			lost = append(lost, atOnce)
			if n := len(lost) - 1 - random.IntN(min(len(lost), 50)); !lost[n] && random.IntN(3) == 0 {
				m.CountDropped(uint64(n))
				lost[n] = true
			}
		}
		bursts, count := int64(0), int64(0)
		for i, x := range lost {
			if x {
				count++
				if i == 0 || !lost[i-1] {
					bursts++
				}
			}
		}
		if m.bursts != bursts || m.lost != count {
			t.Errorf("seed %d: %d losses in %d bursts, want %d in %d", seed, m.lost, m.bursts, count, bursts)
		}
	}
}
