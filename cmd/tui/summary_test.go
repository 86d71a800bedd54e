package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/experiment/search"
	"wirelab/internal/testkit"
)

// TestFormatNumber checks the number of digits.
func TestFormatNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0.000", 3.14159: "3.142", 31.4159: "31.42", 314.159: "314.2", 31415.9: "31416",
		-314.159: "-314.2"} {
		if got := formatNumber(v); got != want {
			t.Errorf("figure(%v) = %s, want %s", v, got, want)
		}
	}
}

// TestBudgetOfManyFields checks that the largest fields are named and that the shares add up to
// the whole payload.
func TestBudgetOfManyFields(t *testing.T) {
	var budget []figures.BudgetShare
	for i := range 40 {
		budget = append(budget, figures.BudgetShare{Slot: string(rune('A' + i)), Share: float64(i) / 780})
	}
	var b strings.Builder
	writeBudget(&b, budget)
	if got := b.String(); !strings.HasPrefix(got, "bits      h 5.0 %, g 4.9 %, ") || !strings.HasSuffix(got, ", 29 others 52.1 %\n") {
		t.Error(got)
	}
	b.Reset()
	writeBudget(&b, budget[:12])
	if got := b.String(); strings.Count(got, ",") != 11 || strings.Contains(got, "others") {
		t.Error(got)
	}
}

// TestGaugeValue checks that a gauge has at least three digits and no exponent.
func TestGaugeValue(t *testing.T) {
	for value, want := range map[float64]string{999.6: "1000", 999.4: "999", 12345.6: "12346", 0.12345: "0.123", 12: "12"} {
		if got := gaugeValue(encoders.Gauge{Value: value}); got != want {
			t.Errorf("%v is shown as %s, want %s", value, got, want)
		}
	}
	lo, hi := 123_000.0, 124_000.0
	if got := (figures.Mean{N: 8, Mean: 123_456.7, Lo: &lo, Hi: &hi}).Significant(5); got != "123457 ± 500" {
		t.Errorf("a mean is shown as %s", got)
	}
	few := figures.Mean{N: 8, Mean: 1.5, Lo: &lo, Hi: &hi, Approximate: true}
	var b strings.Builder
	writeSearchText(&b, &search.Result{Minimise: "payload_kbps", Best: &search.Candidate{Text: "x?", Figures: map[string]figures.Mean{"payload_kbps": few}}, RatioToOwn: &few})
	if strings.Count(b.String(), " ± 500") != 2 || strings.Contains(b.String(), "500?") || strings.Count(b.String(), figures.ApproximateNote) != 1 {
		t.Errorf("approximate intervals are not explained once:\n%s", b.String())
	}
}

// TestDisplayOfCalls checks that starvation and age are printed for data without cubes if anything was displayed, and
// otherwise left out.
func TestDisplayOfCalls(t *testing.T) {
	shown := figures.Totals{AgeMS: figures.Quantiles{P50: 167, P99: 182, N: 9}, Playout: figures.Playout{StarvedRatio: figures.Known(0.0123)}}
	for _, x := range []struct {
		totals  figures.Totals
		present bool
	}{{shown, true}, {figures.Totals{}, false}} {
		var b strings.Builder
		writeRun(&b, &engine.Result{Totals: x.totals})
		for _, want := range []string{`display starved, % +1.23\n`, `display age, median, ms +167\n`} {
			if regexp.MustCompile(want).MatchString(b.String()) != x.present || strings.Contains(b.String(), "display") != x.present {
				t.Errorf("%q present: %v, in\n%s", want, !x.present, b.String())
			}
		}
		b.Reset()
		writeReport(&b, &report.Report{Sweep: true, Runs: []*engine.Result{{Set: map[string]string{"down.loss": "1%"}, Totals: x.totals}}})
		if strings.Contains(b.String(), "starved, %") != x.present || strings.Contains(b.String(), "1.23") != x.present {
			t.Errorf("the table of a sweep:\n%s", b.String())
		}
	}
}

// A display that starves because its delay is shorter than the time between snapshots says so.
func TestShortDelayIsNamed(t *testing.T) {
	for delay, want := range map[string]bool{"85ms": true, "100ms": false, "250ms": false} {
		o := tui("run --quiet --data demo --set duration=2s --set sender.every=6 --set", "receiver.playout_delay="+delay)
		const text = "the playout delay of 85ms is shorter than the 100 ms between snapshots; try --set receiver.playout_delay=300ms"
		if strings.Contains(o.stdout, text) != want || strings.Contains(o.stdout, "is shorter") != want {
			t.Errorf("%s: named: %v, in\n%s", delay, !want, o.stdout)
		}
	}
}

// The first line of a run names its links, and the largest size of a packet is that of packets.csv.
func TestRunNamesLink(t *testing.T) {
	for args, want := range map[string]string{
		"":                   "demo with relative-orientation, seed 7: 1.0 s, 60 frames of 901 cubes over a perfect link: no loss, no delay; try --profile unity-4g",
		"--profile|unity-4g": "cubes over unity-4g",
		"--set|loss=5%":      "cubes over link.loss=5%",
		"--profile|unity-4g|--set|down.latency=9s":   "down.latency=9s",
		"--set|at[0].t=500ms|--set|at[0].loss=5%":    "cubes over a perfect link at first",
		"--set|crowd.clients=2|--set|crowd.rtt=30ms": "901 cubes",
	} {
		dir := t.TempDir()
		list := []string{"run", "--quiet", "--set", "duration=1s", "--out", dir}
		if args != "" {
			list = append(list, strings.Split(args, "|")...)
		}
		o := tui("", list...)
		first, rest, _ := strings.Cut(o.stdout, "\n")
		if o.code != exitDone || !strings.HasSuffix(first, want) && !strings.Contains(first, "over down.") {
			t.Errorf("%s: exit %d, %q%s, want %q", args, o.code, first, o.stderr, want)
		}
		if strings.Contains(args, "crowd") {
			continue
		}
		file, err := os.Open(filepath.Join(dir, "packets.csv"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(file).ReadAll()
		_ = file.Close()
		if err != nil {
			t.Fatal(err)
		}
		column, largest := slices.Index(rows[0], "payload_bytes"), 0
		for _, row := range rows[1:] {
			largest = max(largest, testkit.ParseInt(t, row[column]))
		}
		if want := fmt.Sprintf(`packet size, maximum, bytes +%d\n`, largest); !regexp.MustCompile(want).MatchString(rest) {
			t.Errorf("%s: %s, want %s", args, rest, want)
		}
	}
}
