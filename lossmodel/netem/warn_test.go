package netem

import (
	"math"
	"strings"
	"testing"

	"wirelab/internal/testkit"
)

func parsed(t testing.TB, line string) Params {
	t.Helper()
	p, err := Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The shares that warnings name are those that come out.
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
		p := parsed(t, c.line)
		q, lost := New(p, 1), 0
		for i := range packets {
			if q.Enqueue(int64(i), 100).Packet.Outcome != kept {
				lost++
			}
		}
		got, n := float64(lost)/float64(packets), float64(packets)
		sigma := 5 * c.runs * math.Sqrt(got*(1-got)/n)
		if math.Abs(got-p.LossRate()) > sigma+1e-6 {
			t.Errorf("%s loses %.5f, LossRate says %.5f", c.line, got, p.LossRate())
		}
		if c.want >= 0 && math.Abs(p.LossRate()-c.want) > c.near {
			t.Errorf("%s: LossRate %.5f, measured %.5f", c.line, p.LossRate(), c.want)
		}
	}
}

func TestWarnings(t *testing.T) {
	for line, want := range map[string]string{
		"":                              "",
		"delay 50ms loss 1% seed 1":     "",
		"loss 10% 25%":                  "loss: netem's correlation draws its values to the middle, so loss 10% 25% loses 1.75% of packets",
		"loss 0.3% 25%":                 "loss 0.3% 25% loses no packets",
		"corrupt 10% 25%":               "damages 1.75% of packets",
		"delay 9ms reorder 10% 25%":     "reorder 10% 25% picks 1.75% of packets",
		"duplicate 10% 25%":             "tc does not pass on the correlation of 25%",
		"duplicate 10% 25% loss 0% 0%":  "duplicate 10% 25% doubles 1.75% of packets",
		"delay 10ms 1ms 25% rate 1mbit": "delay: netem's correlation of 25% has no effect",
		"duplicate 10% loss 10%":        "so 9% of packets are lost altogether and 8.1% of packets come twice",
		"loss 1% ecn":                   "dropped as without it",
		"delay 3s 3s limit 99999":       "the kernel cuts a jitter of 3s to 2.147483647s",
		"delay 10ms 2ms":                "than the jitter of 2ms overtake each other",
		"delay 9ms reorder 5% rate 8":   "passes by the rate as well as the delay",
		"limit 0":                       "0 loses every packet",
		"delay 100ms limit 50":          "more than 500 packets a second are lost",
		"slot 10ms":                     "from no seed",
		"loss state 50% 20% 0% 0% 50%":  "p13 and p14 add up to 100% or more",
		"loss state 5% 80% 30%":         "a burst never ends for good",
	} {
		got := strings.Join(parsed(t, line).Warnings(), "\n")
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%q warns %q, want %q", line, got, want)
		}
	}
	if w := (Params{}).Warnings(); w != nil {
		t.Errorf("no line warns %q", w)
	}
}
