package netem

import (
	"math"
	"strings"
	"testing"

	"wirelab/internal/testkit"
)

func mustParse(t testing.TB, line string) Params {
	t.Helper()
	p, err := Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The loss rates in warnings are those that Enqueue produces.
func TestEffectiveRates(t *testing.T) {
	packets := testkit.Choose(4_000_000, 200_000)
	for _, c := range []struct {
		line string
		runs float64 // how much more than independent losses the mean may stray
		want float64 // as the specification has it, or -1
		near float64 // its error: it was measured on 10^5 packets
	}{
		{"loss 10% 25% seed 3", 1, .0173, .0012},
		{"loss 0.3% 25% seed 3", 1, 0, 1e-7},
		{"loss 10% 50% seed 3", 1, .0009, .0003},
		{"loss 30% 10% seed 3", 1, -1, 0},
		{"loss 70% 60% seed 3", 20, -1, 0},
		{"loss 50% 99% seed 3", 20, -1, 0},
		{"loss state 1% 20% 10% 30% 0.5% seed 3", 20, -1, 0},
		{"loss state 1% seed 3", 20, -1, 0},
		{"loss state 90% 80% 30% 20% 20% seed 3", 20, -1, 0},
		{"loss state 1% 0% 30% 10% seed 3", 20, -1, 0},
		{"loss gemodel 1% 20% 80% 2% seed 3", 20, -1, 0},
		{"loss state 1% 10% 30% 0% seed 3", 20, 0, 0},
		{"loss state 1% 0% 0% seed 3", 20, -1, 0},
		{"loss state 0% 0% 0% 0% 7% seed 3", 20, -1, 0},
		{"loss gemodel 1% seed 3", 20, -1, 0},
	} {
		p := mustParse(t, c.line)
		q, lost := New(p, 1), 0
		for i := range packets {
			if q.Enqueue(int64(i), 100).Packet.Outcome != passed {
				lost++
			}
		}
		got, n := float64(lost)/float64(packets), float64(packets)
		sigma := 5 * c.runs * math.Sqrt(got*(1-got)/n)
		if math.Abs(got-p.LossRate()) > sigma+1e-6 {
			t.Errorf("%s: loss rate %.5f, LossRate returns %.5f", c.line, got, p.LossRate())
		}
		if c.want >= 0 && math.Abs(p.LossRate()-c.want) > c.near {
			t.Errorf("%s: LossRate %.5f, measured %.5f", c.line, p.LossRate(), c.want)
		}
	}
}

// Every kernel bug has its warning.
func TestWarnings(t *testing.T) {
	for line, want := range map[string]string{
		"":                              "",
		"delay 50ms loss 1% seed 1":     "",
		"loss 10% 25%":                  "loss: netem's correlation narrows the distribution of its values, so loss 10% 25% loses 1.75% of packets",
		"loss 0.3% 25%":                 "loss 0.3% 25% loses no packets",
		"corrupt 10% 25%":               "damages 1.75% of packets",
		"delay 9ms reorder 10% 25%":     "reorder 10% 25% reorders 1.75% of packets",
		"duplicate 10% 25%":             "the correlation of 25% has no effect",
		"duplicate 10% 25% loss 0% 0%":  "duplicate 10% 25% duplicates 1.75% of packets",
		"delay 10ms 1ms 25% rate 1mbit": "delay: netem's correlation of 25% has no effect",
		"duplicate 10% loss 10%":        "so 9% of packets are lost and 8.1% of packets are duplicated",
		"loss 1% ecn":                   "dropped as without ecn",
		"delay 3s 3s limit 99999":       "the kernel limits a jitter of 3s to 2.147483647s",
		"delay 10ms 2ms":                "than the jitter of 2ms overtake each other",
		"delay 9ms reorder 5% rate 8":   "bypasses the rate as well as the delay",
		"limit 0":                       "0 loses every packet",
		"delay 100ms limit 50":          "packets beyond 500 per second are lost",
		"slot 10ms":                     "without a seed",
		"loss state 50% 20% 0% 0% 50%":  "the sum of p13 and p14 is 100% or more",
		"loss state 5% 80% 30%":         "a burst never ends",
	} {
		got := strings.Join(mustParse(t, line).Warnings(), "\n")
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%q: warnings %q, want %q", line, got, want)
		}
	}
	if w := (Params{}).Warnings(); w != nil {
		t.Errorf("warnings without a line: %q", w)
	}
}
