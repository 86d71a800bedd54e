package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/lockstep"
	"wirelab/experiment/report"
	"wirelab/internal/units"
)

// run is what page 6 shows of one run: one that was saved, or the present one.
type run struct {
	name     string
	trouble  string // why it cannot be read; nothing else is known then
	note     string
	length   time.Duration
	totals   figures.Totals
	timing   figures.Timing
	shadows  []string
	changes  []config.StampedChange
	settings map[string]string
}

// openRun reads a saved report. It takes as long as the file is large.
func openRun(s report.SavedReport) *run {
	d := &run{name: s.Name}
	runs, err := report.ReadReport(s.Path)
	if err != nil {
		var ce *config.Error
		d.trouble = err.Error()
		if errors.As(err, &ce) { // the list names the file already
			d.trouble = fmt.Sprintf("%s %s. Expected: %s.", s.Name, ce.Problem, ce.Expected)
		}
		return d
	}
	r := runs[0]
	d.length, d.totals, d.timing, d.changes = r.DurationNS, r.Totals, r.Timing, r.Changes
	for i, x := range r.Shadows {
		name, kbps := cmp.Or(x.Label, x.Encoder), x.Totals.PayloadKbps
		if c := r.Comparison; c != nil && len(c.Lanes) == 1+len(r.Shadows) { // as on page 5 and in report.md
			kbps = c.Lanes[1+i].PayloadKbps.Or(math.NaN())
		}
		d.shadows = append(d.shadows, name+" "+units.Fixed(kbps, 1)+" kbps")
	}
	if len(runs) > 1 {
		d.note = fmt.Sprintf("a sweep of %d runs: the first", len(runs))
	}
	if d.settings, err = r.Settings(); err != nil {
		d.note = "its configuration cannot be read here: " + err.Error()
	}
	return d
}

// presentRun is the run under the keys.
func presentRun(snap *engine.Snapshot) *run {
	d := &run{name: "this run", length: snap.Now, changes: snap.Log, settings: snap.Config.Settings()}
	if len(snap.Lanes) > 0 {
		d.totals, d.timing = snap.Lanes[0].Totals, snap.Lanes[0].Timing
	}
	if len(snap.Lanes) < 2 { // to gather what there is to compare takes a walk through all samples
		return d
	}
	for i, c := 1, lockstep.Gather(snap); i < len(snap.Lanes); i++ {
		d.shadows = append(d.shadows, snap.Lanes[i].Name()+" "+units.Fixed(c.Lanes[i].Kbps().Value(), 1)+" kbps")
	}
	return d
}

// short is the name without the day, which a list of reports of one day shares.
func (d *run) short() string {
	if n := d.name; len(n) > 11 && n[4] == '-' && n[7] == '-' && n[10] == '-' {
		return n[11:]
	}
	return d.name
}

// reading is a line of the table of figures.
type reading struct {
	label  string
	digits int
	of     func(*run) (v float64, known bool)
}

// mark stands behind the times of a plugin.
func (m reading) mark(d *run) string {
	if strings.Contains(m.label, "µs") {
		return d.timing.Mark()
	}
	return ""
}

// readings are the figures of a run, in their order; those that only cubes have are left out of others'.
func readings(item string) []reading {
	always := func(of func(*run) float64) func(*run) (float64, bool) {
		return func(d *run) (float64, bool) { return of(d), true }
	}
	share := func(n, of int64) float64 { return 100 * float64(n) / float64(max(of, 1)) }
	changed, off := "bits per changed "+item, "off by mm, p95"
	all := []reading{
		{"length s", 1, always(func(d *run) float64 { return d.length.Seconds() })},
		{"payload kbps", 1, always(func(d *run) float64 { return d.totals.PayloadKbps })},
		{"wire kbps", 1, always(func(d *run) float64 { return d.totals.WireKbps })},
		{"feedback kbps", 1, always(func(d *run) float64 { return d.totals.FeedbackKbps })},
		{"bits per " + item, 2, func(d *run) (float64, bool) { return d.totals.BitsPerItem.Value() }},
		{changed, 1, func(d *run) (float64, bool) {
			if d.totals.BitsPerChangedCube == nil {
				return 0, false
			}
			return d.totals.BitsPerChangedCube.Value()
		}},
		{"packet B, median", 0, func(d *run) (float64, bool) { return d.totals.PacketBytes.Of(d.totals.PacketBytes.P50).Value() }},
		{"packet B, p95", 0, func(d *run) (float64, bool) { return d.totals.PacketBytes.Of(d.totals.PacketBytes.P95).Value() }},
		{"lost %", 2, always(func(d *run) float64 { return share(d.totals.Lost, d.totals.Sent+d.totals.Duplicated) })},
		{"no baseline", 0, always(func(d *run) float64 { return float64(d.totals.Failures.NoBaseline) })},
		{"corrupt", 0, always(func(d *run) float64 { return float64(d.totals.Failures.Corrupt) })},
		{"display starved %", 2, func(d *run) (float64, bool) { return d.totals.Playout.StarvedRatio.Times(100).Value() }},
		{off, 1, func(d *run) (float64, bool) {
			q := d.totals.Playout.PositionErrorMM
			if q == nil {
				return 0, false
			}
			return q.Of(q.P95).Value()
		}},
		{"encode µs, median", 0, always(func(d *run) float64 { return d.timing.EncodeUS.P50 })},
		{"decode µs, median", 0, always(func(d *run) float64 { return d.timing.DecodeUS.P50 })},
		{"wrong", 0, always(func(d *run) float64 { return float64(d.totals.Wrong) })},
	}
	if item == "cube" {
		return all
	}
	return slices.DeleteFunc(all, func(m reading) bool { return m.label == changed || m.label == off })
}

// setting is a key whose values differ between two runs; "" where one has none.
type setting struct{ key, a, b string }

// differing lists what two runs were set to differently at their ends.
func differing(a, b *run) []setting {
	var out []setting
	for k, v := range a.settings {
		if w := b.settings[k]; v != w {
			out = append(out, setting{k, v, w})
		}
	}
	for k, w := range b.settings {
		if _, both := a.settings[k]; !both {
			out = append(out, setting{k, "", w})
		}
	}
	// What a person thinks of first comes first.
	order := []string{"data", "seed", "encoder", "down", "up", "sender", "receiver"}
	place := func(s setting) int {
		head, _, _ := strings.Cut(s.key, ".")
		if i := slices.Index(order, head); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortFunc(out, func(a, b setting) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.key, b.key))
	})
	return out
}
