package page

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"wirelab/dataset"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/internal/texttable"
)

// run is one run: its result and the data of its CSV files.
type run struct {
	Result  *engine.Result
	Rows    *rows    // data of samples.csv and packets.csv; nil if the run has no such files
	Missing []string // sentences about missing files
}

// points returns the points of the charts over time; none if the run has no Rows, such as one with many receivers.
func (r *run) points() []point {
	if r.Rows == nil {
		return nil
	}
	return r.Rows.series.allPoints()
}

// Write writes the page of one run.
func (r *run) Write(w io.Writer) error { return writeDocument(w, r.document()) }

// document returns the content of the run's page.
func (r *run) document() *document {
	x := r.Result
	c, err := x.Config.Config("")
	if err != nil {
		c = nil // with missing files: the page omits what needs the configuration
	}
	d := &document{Title: initialEncoder(x) + " on " + report.SettingOf(x, "data", "source")}
	d.Verdict, d.Headline = verdict(x.Assertions, len((&report.Report{Runs: []*engine.Result{x}}).Failed()))
	d.Headline += runHeadline(x, "")
	d.Meta = []string{strings.TrimSuffix(describeLink(x, c), ","), formatNumber(x.DurationS) + " s of virtual time", formatCount(int64(x.Frames), "frame") + " of " + formatCount(int64(x.ItemsPerFrame), x.Item),
		fmt.Sprintf("seed %d", x.Seed), "data " + report.SettingOf(x, "data", "source")}
	if len(x.Set) > 0 {
		d.Meta = append(d.Meta, report.SetText(x.Set, " = ", ", "))
	}
	d.Alarms = append((&report.Report{Runs: []*engine.Result{x}}).Failed(), nonEmpty(describeEnding(x.Reason, x.Error, x.Interrupted || x.Partial))...)
	d.Notes = append(slices.Clone(r.Missing), x.Warnings...)
	d.addTiles(x)
	if r.Rows != nil {
		d.addTimeCharts(r, c)
	}
	d.addCrowd(x)
	d.addPlayoutPolicies(x)
	d.addBudgets(x)
	d.addControl(x)
	d.addBitBudget(x)
	d.addPrecision(x)
	d.addPackets(r)
	d.addChanges(x)
	d.addStretches(x)
	d.addShadows(x)
	d.addTransfer(x)
	d.addAssertions(x)
	d.addAllFigures(x)
	d.addConfiguration(x, c)
	d.addRerun(x)
	return d
}

// nonEmpty returns the texts that are not "".
func nonEmpty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

// addTiles adds the main figures of the run, each as a tile: a name, a value with its unit, and a note with
// related figures. Figures without data are omitted.
func (d *document) addTiles(x *engine.Result) {
	t := &x.Totals
	if t.Crowd != nil {
		d.addCrowdTiles(x)
		return
	}
	add := func(name, value, unit, note string) { d.Tiles = append(d.Tiles, tile{name, value, unit, note}) }
	add("wire", formatNumber(t.WireKbps), "kbps", "payload "+formatNumber(t.PayloadKbps)+", feedback "+formatNumber(t.FeedbackKbps))
	if starved, known := t.Playout.StarvedRatio.Value(); known {
		add("starved", formatPercent(starved), "", formatCount(t.Playout.Freezes, "freeze"))
	}
	if q := &t.AgeMS; q.N > 0 {
		add("age of displayed data", formatNumber(q.P50), "ms", "p99 "+formatNumber(q.P99))
	}
	if f := t.BitsPerChangedCube; f != nil && report.CostsPerChange(x) {
		add("per changed "+x.Item, formatFigure(*f), "bits", "per "+x.Item+" "+formatFigure(t.BitsPerItem))
	} else {
		add("per "+x.Item, formatFigure(t.BitsPerItem), "bits", "")
	}
	q := &t.PacketBytes
	add("packet", formatFigure(q.Of(q.P50)), "bytes", "p95 "+formatFigure(q.Of(q.P95))+", max "+formatFigure(q.Of(q.Max)))
	add("lost", formatShare(t.Network.LossRate), "", formatNumber(float64(t.Lost+t.Unknown))+" of "+formatCount(t.Sent, "packet"))
	if t.Remote != nil {
		q := &t.Remote.RoundTripMS
		add("round trip", formatFigure(q.Of(q.P50)), "ms", "p95 "+formatFigure(q.Of(q.P95))+", jitter "+formatFigure(t.Remote.JitterMS))
	}
	add("failed", formatNumber(float64(t.Failed())), "packets", "wrong "+formatNumber(float64(t.Wrong))+", stale "+formatNumber(float64(t.Stale)))
	if over, budgeted := t.OverBudgetRatio.Value(); budgeted {
		add("over the budget", formatPercent(over), "", "of the time, payload per second")
	}
	if e := &x.Timing.EncodeUS; e.N > 0 {
		add("encode", formatNumber(e.P50), "µs", "decode "+formatFigure(x.Timing.DecodeUS.Of(x.Timing.DecodeUS.P50))+"; "+cmp.Or(x.Timing.RunsAs, "in this process"))
	}
}

// addTimeCharts adds the charts over time with the marks, and the same data as a table. c may be nil.
func (d *document) addTimeCharts(r *run, c *config.Config) {
	budget := 0.0
	if c != nil {
		budget = c.BudgetKbps
	}
	d.data.Marks = changeMarks(r.Result.Changes)
	d.data.timeCharts(r.Rows, r.Result.Item, report.CostsPerChange(r.Result), budget, &r.Result.Totals.Playout)
	if len(d.data.Charts) == 0 {
		return
	}
	s := section{ID: "charts", Title: "Over time"}
	s.addCharts(&d.data, 0) // all charts, from the first (0) on
	s.Tables = append(s.Tables, timeTable(r.points(), r.Result.Item))
	d.Sections = append(d.Sections, s)
}

// maxMarks bounds the marks in the charts; the table of changes has more.
const maxMarks = 200

// changeMarks returns a mark for each change; repeated changes of one setting are combined.
func changeMarks(changes []config.StampedChange) (out []mark) {
	for i := 0; i < len(changes) && len(out) < maxMarks; {
		label, n := config.Summarise(changes[i:])
		out = append(out, mark{axisValue(changes[i].TS), label})
		i += n
	}
	return out
}

// timeTable returns the data of the charts as a collapsed table of at most 20 rows, for screen readers.
func timeTable(points []point, item string) table {
	t := newTable("The charts as a table", "until, s", ">payload kbps", ">wire kbps", ">bits per changed "+item,
		">lost", ">failed", ">stale", ">baseline, ticks", ">starved %")
	t.Folded = true
	const maxRows = 20
	for _, p := range mergePoints(points, maxRows) {
		t.Add(formatNumber(p.until), formatNumber(divide(payloadKbps(&p))), formatNumber(divide(wireKbps(&p))), formatNumber(divide(bitsPerChanged(&p))),
			formatNumber(p.lost), formatNumber(p.failed), formatNumber(p.stale), formatNumber(divide(baselineAge(&p))), formatNumber(100*divide(starvedShare(&p))))
	}
	return t
}

// addBitBudget adds a stacked bar and a table of the bits per part.
func (d *document) addBitBudget(x *engine.Result) {
	if len(x.Budget) == 0 {
		return
	}
	s := section{ID: "bits", Title: "Bit budget"}
	t := newTable("Payload bits by part", "part", ">share", ">bits per packet", ">bits")
	var names []string
	var shares []float64
	for _, b := range x.Budget {
		names, shares = append(names, b.Name()), append(shares, b.Share)
		t.Add(b.Name(), formatPercent(b.Share), formatNumber(figures.RatioOrZero(b.Bits, float64(x.Totals.Sent))), formatNumber(b.Bits))
	}
	s.Strip, s.Tables = newStrip(names, shares), []table{t}
	d.Sections = append(d.Sections, s)
}

// addPrecision adds a table of the rounding errors of the data, if they round.
func (d *document) addPrecision(x *engine.Result) {
	rows := report.RoundingRows(x)
	if len(rows) == 0 {
		return
	}
	t := newTable("What rounding to the schema's steps loses", dataset.PrecisionTitles()...)
	for _, row := range rows {
		t.Add(row)
	}
	d.Sections = append(d.Sections, section{ID: "precision", Title: "Precision", Tables: []table{t}})
}

// addPackets adds a table of the outcomes of the packets, without those that did not occur, and tables of
// the packets with problems if the rows of packets.csv are known.
func (d *document) addPackets(r *run) {
	x := &r.Result.Totals
	s := section{ID: "packets", Title: "Packets"}
	t := newTable("Outcomes of packets", "outcome", ">packets", ">share")
	for _, o := range []struct {
		name string
		n    int64
	}{{"decoded", x.Decoded}, {"stale: a newer one was decoded before", x.Stale}, {"duplicate", x.Duplicate}, {"lost", x.Lost},
		{"no baseline", x.Failures.NoBaseline}, {"corrupt", x.Failures.Corrupt}, {"unknown codec", x.Failures.UnknownCodec},
		{"wrong", x.Wrong}, {"in flight at the end", x.InFlight}, {"unknown", x.Unknown}} {
		if o.n > 0 || o.name == "wrong" || o.name == "decoded" { // these two are of interest even if they are 0
			t.Add(o.name, formatNumber(float64(o.n)), formatPercent(figures.RatioOrZero(float64(o.n), float64(x.Sent+x.Duplicated))))
		}
	}
	s.Tables = append(s.Tables, t)
	if r.Rows != nil {
		s.Tables = append(s.Tables, problemTables(&r.Rows.packets)...)
	}
	d.Sections = append(d.Sections, s)
}

// problemTables returns a table of the reasons, most frequent first, and a collapsed table of the
// packets of each kind. It returns nil if there were no problems.
func problemTables(p *packetStats) (out []table) {
	if len(p.reasons) > 0 {
		t := newTable("Problems by reason", "reason", ">packets", "first example")
		names := slices.SortedFunc(maps.Keys(p.reasons), func(a, b string) int {
			return cmp.Or(cmp.Compare(p.reasons[b].count, p.reasons[a].count), cmp.Compare(a, b))
		})
		for _, name := range names {
			t.Add(name, formatNumber(float64(p.reasons[name].count)), p.reasons[name].first.why)
		}
		out = append(out, t)
	}
	for k := range numKinds {
		list := p.sortedProblems(k)
		if len(list) == 0 {
			continue
		}
		t := newTable(fmt.Sprintf("Packets %s: %s", kindNames[k], formatNumber(float64(len(list)))), ">packet", ">sent, s", ">delay, ms", "why")
		t.Folded = true
		if n := p.problems[k].total; n > len(list) {
			t.Caption += fmt.Sprintf(" of %s, sampled evenly; packets.csv has all", formatNumber(float64(n)))
		}
		for i := range list {
			e := &list[i]
			name, took := fmt.Sprint(e.seq), "–"
			if e.copy > 0 {
				name += fmt.Sprintf(", copy %d", e.copy)
			}
			if e.delay >= 0 {
				took = formatNumber(e.delay)
			}
			t.Add(name, fmt.Sprintf("%.3f", e.sent), took, e.why)
		}
		out = append(out, t)
	}
	return out
}

// maxChanges bounds the table of changes: a session in which a user plays has thousands.
const maxChanges = 1000

// addChanges adds a table of the changes during the run. Successive changes that Summarise describes together
// share a row.
func (d *document) addChanges(x *engine.Result) {
	if len(x.Changes) == 0 {
		return
	}
	t := newTable("Changes during the run, with their marks in the charts", ">mark", ">at, s", "change")
	for i := 0; i < len(x.Changes); {
		label, n := config.Summarise(x.Changes[i:])
		if len(t.Rows) == maxChanges {
			t.Caption = fmt.Sprintf("The first %d changes; report.json has all", maxChanges)
			break
		}
		t.Add(len(t.Rows)+1, fmt.Sprintf("%.3f", x.Changes[i].TS), label)
		i += n // label describes n changes
	}
	d.Sections = append(d.Sections, section{ID: "changes", Title: "Changes", Tables: []table{t}})
}

// addAssertions adds a table of the assertions with their verdicts.
func (d *document) addAssertions(x *engine.Result) {
	if len(x.Assertions) == 0 {
		return
	}
	t := newTable("Assertions and measured values", "figure", "bound", ">measured", "verdict")
	for _, a := range x.Assertions {
		verdict := texttable.Cell{Text: "holds", Class: "good"}
		if !a.Holds {
			verdict = texttable.Cell{Text: "does not hold", Class: "bad"}
		}
		t.Add(a.Name, a.Bound, formatFigure(a.Got), verdict)
	}
	d.Sections = append(d.Sections, section{ID: "assertions", Title: "Assertions", Tables: []table{t}})
}

// addAllFigures adds a table of every figure with the key that assertions and tui compare use.
func (d *document) addAllFigures(x *engine.Result) {
	all := figures.Flatten(x.Totals)
	t := newTable("All figures, by key", "key", ">measured")
	t.Folded = true
	for _, k := range slices.Sorted(maps.Keys(all)) {
		t.Add(k, formatNumber(all[k]))
	}
	d.Sections = append(d.Sections, section{ID: "figures", Title: "All figures", Tables: []table{t}})
}

// addConfiguration adds the settings that differ from the defaults, and the complete TOML file. c
// is nil if the configuration cannot be read.
func (d *document) addConfiguration(x *engine.Result, c *config.Config) {
	s := section{ID: "configuration", Title: "Configuration"}
	if c == nil {
		s.Lead = []string{"The configuration cannot be read by this version; it is in report.json."}
		d.Sections = append(d.Sections, s)
		return
	}
	defaults, set := config.Default().Settings(), c.Settings()
	t := newTable("Settings that differ from the defaults", "key", "value", "default")
	for _, k := range slices.Sorted(maps.Keys(set)) {
		if set[k] != defaults[k] {
			t.Add(k, set[k], cmp.Or(defaults[k], "–"))
		}
	}
	if len(t.Rows) > 0 {
		s.Tables = append(s.Tables, t)
	} else {
		s.Lead = []string{"All settings have their defaults."}
	}
	if y, err := x.Replayable(); err == nil {
		if text, err := y.TOML(); err == nil && len(text) <= maxTOML {
			s.Code = append(s.Code, code{"experiment.toml, with all defaults", string(text)})
		}
	}
	d.Sections = append(d.Sections, s)
}

// maxTOML bounds the bytes of the configuration on a page; that of a played session is long.
const maxTOML = 32 << 10

// addRerun adds the commands that reproduce the run, its input files and its digest.
func (d *document) addRerun(x *engine.Result) {
	s := section{ID: "again", Title: "How to reproduce"}
	s.Code = []code{{"", "tui replay report.json     # run again and compare the digests\ntui run experiment.toml    # run again without comparing\ntui report .               # write this page again"}}
	if x.Remote != nil {
		s.Code = []code{{"", "tui report .               # write this page again"}}
		s.Remarks = []string{"The run was sent over a real network, to " + x.Remote.To + ", and cannot be replayed."}
	}
	if len(x.Files) > 0 {
		t := newTable("Input files", "file", ">bytes", "SHA-256")
		for _, f := range x.Files {
			t.Add(f.Path, formatNumber(float64(f.Bytes)), f.SHA256)
		}
		s.Tables = append(s.Tables, t)
	}
	s.Lead = []string{"Digest of every datagram sent and every frame decoded: " + x.Digest}
	d.Sections = append(d.Sections, s)
}
