package view

import (
	"math/rand/v2"
	"testing"
	"time"
)

// At an interval of T a packet may take rate*T/8 bytes, and of a second if T is longer; with a burst of
// b packets, one after twenty that were not sent takes b times as much, as far as a window permits.
func TestBucketClosedForm(t *testing.T) {
	for _, c := range []struct {
		rate, burst  int64
		interval     time.Duration
		late, steady int // bytes
	}{
		{64_000, 1000, time.Second / 50, 160, 160},
		{64_000, 2000, time.Second / 50, 320, 160},
		{8_000, 1000, time.Second, 1000, 1000},
		{8_000, 1000, 2500 * time.Millisecond, 1000, 1000},
		{8_000, 3000, time.Minute, 3000, 1000},
		{1_000_000_000, 1000, time.Hour, 125_000_000, 125_000_000},
		{1_000_000_000, 16_000, time.Hour, maxDepth / 8_000_000_000, 125_000_000},
	} {
		var b Bucket
		b.Set(c.rate, c.burst, c.interval)
		for n := range 40 {
			now, want := time.Duration(n)*c.interval, c.steady
			got := b.Allow(now, 0)
			if n > 10 && n < 30 {
				continue
			} else if n == 30 {
				want = c.late
			}
			if got != want {
				t.Errorf("%d bit/s, burst %d, packet %d after %v each: %d bytes, want %d", c.rate, c.burst, n, c.interval, got, want)
			}
			b.Spend(now, b.Allow(now, 0))
		}
	}
	// A packet leaves the window slack before its time. A need that the bucket can contain does not deepen it.
	var b Bucket
	b.Set(80_000, 10_000, 10*time.Millisecond)
	b.Spend(0, b.Allow(0, 0))
	b.Spend(time.Second, 1000)
	for i, want := range []int{900, 1000} {
		now := time.Second + BudgetWindow - slack - 1 + time.Duration(i)
		if got := b.Allow(now, 1000); got != want {
			t.Errorf("at %v: %d bytes, want %d", now, got, want)
		}
	}
}

// With random changes of rate, burst and interval between packets, no 100 ms that end with a packet
// contain more than the settings of that packet allow, packets that take all they may use the budget,
// and all packets together never take more than the budget of the time and of one packet.
func TestBucketLiveChanges(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var b Bucket
		type sentBytes struct {
			at    time.Duration
			bytes int
		}
		var sent []sentBytes
		var rate, burst int64
		var interval, now time.Duration
		total, budget := 0, 0.0
		for n := range 2000 {
			if n == 0 || rng.IntN(40) == 0 {
				rate, burst = 1000+rng.Int64N(1_000_000), 1000+rng.Int64N(31)*500
				interval = time.Second / time.Duration(1+rng.IntN(120))
				if rng.IntN(4) == 0 {
					interval = time.Duration(rng.Int64N(int64(3 * time.Second)))
				}
				b.Set(rate, burst, interval)
			}
			now += interval
			size := b.Allow(now, 20)
			if size < 20 {
				size = 0
			} else if rng.IntN(5) == 0 {
				size = 20 + rng.IntN(size-19)
			}
			b.Spend(now, size)
			sent = append(sent, sentBytes{now, size})
			total += size
			budget += float64(rate) / 8 * interval.Seconds()
			if float64(total) > budget+1 {
				t.Fatalf("seed %d: %d bytes until %v, the budget of that time and one packet is %.0f", seed, total, now, budget)
			}
			inWindow := 0
			for k := len(sent) - 1; k >= 0 && sent[k].at > now-BudgetWindow+slack; k-- {
				inWindow += sent[k].bytes
			}
			counted := min(interval, time.Second)
			limit := float64(rate) / 8 * (max(BudgetWindow, counted) + time.Duration(burst-1000)*counted/1000).Seconds()
			if size > 0 && float64(inWindow) > limit+1 {
				t.Fatalf("seed %d: %d bytes in the 100 ms before %v, allowed are %.0f: %d bit/s, burst %d, every %v", seed, inWindow, now, limit, rate, burst, interval)
			}
		}
		if float64(total) < budget/4 {
			t.Errorf("seed %d: %d bytes of %.0f were used", seed, total, budget)
		}
	}
}
