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

// run is one run on page 6: a saved report, or the running session.
type run struct {
	name      string
	readError string // why the report cannot be read; then only name is set
	note      string // a remark about the report, "" if none
	length    time.Duration
	totals    figures.Totals
	timing    figures.Timing
	shadows   []string // name and payload of each, such as "delta 31.2 kbps"
	changes   []config.StampedChange
	settings  map[string]string // at the end of the run; nil if unknown
}

// openRun reads a saved report; of a sweep only its first run. It parses the whole file, so call it in the
// background. An error is stored in the run's readError, for the screen.
func openRun(s report.SavedReport) *run {
	opened := &run{name: s.Name}
	runs, err := report.ReadRuns(s.Path)
	if err != nil {
		var ce *config.Error
		opened.readError = err.Error()
		if errors.As(err, &ce) { // ce names the file, which the list shows already
			opened.readError = fmt.Sprintf("%s %s. Expected: %s.", s.Name, ce.Problem, ce.Expected)
		}
		return opened
	}
	r := runs[0]
	opened.length, opened.totals, opened.timing, opened.changes = r.DurationNS, r.Totals, r.Timing, r.Changes
	for i, shadow := range r.Shadows {
		name, kbps := cmp.Or(shadow.Label, shadow.Encoder), shadow.Totals.PayloadKbps
		// Prefer the payload of the period in which all lanes ran, as on page 5 and in report.md.
		if c := r.Comparison; c != nil && len(c.Lanes) == 1+r.Running() && i < r.Running() {
			kbps = c.Lanes[1+i].PayloadKbps.Or(math.NaN())
		}
		opened.shadows = append(opened.shadows, name+" "+units.Fixed(kbps, 1)+" kbps")
	}
	if len(runs) > 1 {
		opened.note = fmt.Sprintf("a sweep of %d runs, of which this is the first", len(runs))
	}
	if opened.settings, err = r.Settings(); err != nil {
		opened.note = "its configuration cannot be read: " + err.Error()
	}
	return opened
}

// presentRun returns the running session as a run.
func presentRun(snap *engine.Snapshot) *run {
	present := &run{name: "this run", length: snap.Now, changes: snap.Log, settings: snap.Config.Settings()}
	if len(snap.Lanes) > 0 {
		present.totals, present.timing = snap.Lanes[0].Totals, snap.Lanes[0].Timing
	}
	if snap.Crowd != nil {
		present.totals = snap.Crowd.Totals
	}
	if len(snap.Lanes) < 2 { // no shadows: avoid lockstep.CommonSamples, which visits all samples
		return present
	}
	for i, common := 1, lockstep.CommonSamples(snap); i < len(snap.Lanes); i++ {
		present.shadows = append(present.shadows, snap.Lanes[i].Name()+" "+units.Fixed(common.Lanes[i].Kbps().Value(), 1)+" kbps")
	}
	return present
}

// shortName returns the name without the date, such as 2006-01-02-, at its start.
func (r *run) shortName() string {
	if n := r.name; len(n) > 11 && n[4] == '-' && n[7] == '-' && n[10] == '-' {
		return n[11:]
	}
	return r.name
}

// runFigure is a row of the table of figures.
type runFigure struct {
	label  string
	digits int // decimals
	value  func(*run) (v float64, known bool)
}

// timingMark returns the marker that follows encode and decode times of a plugin, because they are not
// comparable with those of built-in encoders; "" for other figures.
func (m runFigure) timingMark(r *run) string {
	if strings.Contains(m.label, "µs") {
		return r.timing.Mark()
	}
	return ""
}

// runFigures returns the rows of the table for data with the given item. Figures that only cubes have are
// omitted for other items.
func runFigures(item string) []runFigure {
	always := func(value func(*run) float64) func(*run) (float64, bool) {
		return func(d *run) (float64, bool) { return value(d), true }
	}
	percent := func(n, total int64) float64 { return 100 * float64(n) / float64(max(total, 1)) }
	changed, positionError := "bits per changed "+item, "position error mm, p95"
	all := []runFigure{
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
		{"lost %", 2, always(func(d *run) float64 { return percent(d.totals.Lost, d.totals.Sent+d.totals.Duplicated) })},
		{"no baseline", 0, always(func(d *run) float64 { return float64(d.totals.Failures.NoBaseline) })},
		{"corrupt", 0, always(func(d *run) float64 { return float64(d.totals.Failures.Corrupt) })},
		{"display starved %", 2, func(d *run) (float64, bool) { return d.totals.Playout.StarvedRatio.Times(100).Value() }},
		{positionError, 1, func(d *run) (float64, bool) {
			q := d.totals.Playout.PositionErrorMM
			if q == nil {
				return 0, false
			}
			return q.Of(q.P95).Value()
		}},
		{"encode µs, median", 0, func(d *run) (float64, bool) { return d.timing.EncodeUS.P50, d.timing.EncodeUS.P50 > 0 }},
		{"decode µs, median", 0, func(d *run) (float64, bool) { return d.timing.DecodeUS.P50, d.timing.DecodeUS.P50 > 0 }},
		{"wrong", 0, always(func(d *run) float64 { return float64(d.totals.Wrong) })},
	}
	if item == "cube" {
		return all
	}
	return slices.DeleteFunc(all, func(m runFigure) bool { return m.label == changed || m.label == positionError })
}

// setting is a key with its values in two runs, a and b; "" means that a run does not have the key.
type setting struct{ key, a, b string }

// differingSettings returns the settings that differ at the end of two runs, the most important sections
// first and each section by key.
func differingSettings(a, b *run) []setting {
	var out []setting
	for key, valueA := range a.settings {
		if valueB := b.settings[key]; valueA != valueB {
			out = append(out, setting{key, valueA, valueB})
		}
	}
	for key, valueB := range b.settings {
		if _, both := a.settings[key]; !both {
			out = append(out, setting{key, "", valueB})
		}
	}
	sections := []string{"data", "seed", "encoder", "down", "up", "sender", "receiver"}
	rank := func(s setting) int {
		section, _, _ := strings.Cut(s.key, ".")
		if i := slices.Index(sections, section); i >= 0 {
			return i
		}
		return len(sections)
	}
	slices.SortFunc(out, func(a, b setting) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.key, b.key))
	})
	return out
}
