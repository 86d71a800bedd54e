package figures_test

import (
	"slices"
	"strings"
	"testing"

	"wirelab/experiment/figures"
	"wirelab/lossmodel"
)

// Each figure of the totals has one row with a label of its own, and the row describes its value.
func TestRows(t *testing.T) {
	for _, want := range []figures.Row{
		{Key: "payload_kbps", Title: "payload", Unit: "kbps", Decimals: 1, Rank: figures.Narrow, Common: true},
		{Key: "decoded", Title: "decoded", Better: figures.MoreIsBetter, Rank: figures.Main, Common: true},
		{Key: "packet_bytes.p95", Title: "packet size, p95", Unit: "bytes", Rank: figures.Narrow},
		{Key: "packet_bytes.min", Title: "packet size, minimum", Unit: "bytes"},
		{Key: "playout.starved_ratio", Title: "display starved", Unit: "%", Decimals: 2, Rank: figures.Narrow},
		{Key: "lost_by.burst", Title: "lost by burst", Rank: figures.Main},
		{Key: "control.held_by.round_trip", Title: "snapshots held back by round trip", Better: figures.Neither},
		{Key: "crowd.p95.view.used_ratio", Title: "budget used, p95 of clients", Unit: "%", Decimals: 1},
		{Key: "no_baseline", Title: "failed without baseline", Rank: figures.Narrow},
		{Key: "unheard of", Title: "unheard of"},
	} {
		if got := figures.Find(want.Key); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	seen := map[string]string{}
	for _, r := range figures.Table() {
		if r.Title == "" || strings.ContainsAny(r.Title, "._") || seen[r.Label()] != "" || !slices.Contains(figures.Keys(), r.Key) {
			t.Errorf("%s is %q, as is %q", r.Key, r.Label(), seen[r.Label()])
		}
		seen[r.Label()] = r.Key
	}
}

// Flatten returns the figures that a run has.
func TestFlatten(t *testing.T) {
	x := figures.Totals{Transfer: &figures.Transfer{TimeS: new(2.5)}}
	x.Lost, x.LostBy[lossmodel.Queue], x.Failures.NoBaseline = 4, 3, 5
	x.PacketBytes = figures.Quantiles{P95: 512, N: 1}
	all := figures.Flatten(x)
	for key, want := range map[string]float64{"lost": 4, "lost_by.queue": 3, "no_baseline": 5, "failures.no_baseline": 5, "transfer.time_s": 2.5, "packet_bytes.p95": 512} {
		if got, known := all[key]; !known || got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	for _, key := range []string{"view.used_kbps", "age_ms.p50", "bits_per_item"} {
		if got, known := all[key]; known {
			t.Errorf("%s is %v, but the run has no data for it", key, got)
		}
	}
}
