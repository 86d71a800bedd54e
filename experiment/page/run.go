package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"wirelab/dataset"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
)

// run is one run: its result and the data of its CSV files.
type run struct {
	Result  *engine.Result
	Rows    *rows    // data of samples.csv and packets.csv; nil if the run has no such files
	Missing []string // sentences about missing files
}

// points returns the points of the charts over time; none if the run has no Rows, such as one with many
// receivers.
func (r *run) points() []meters.Sample {
	if r.Rows == nil {
		return nil
	}
	return r.Rows.series.points
}

// charted returns the charts over time of runs like r.
func (r *run) charted() []timeChart {
	return timeCharts(r.Result.Item, report.CostsPerChange(r.Result), &r.Result.Totals.Playout)
}

// configOf returns the configuration of a result, nil if this version cannot read it. Its files may be
// missing.
func configOf(x *engine.Result) *config.Config {
	c, err := x.Config.Config("")
	if err != nil {
		return nil
	}
	return c
}

// document returns the content of the run's report.
func (r *run) document() *Document {
	x := r.Result
	c := configOf(x)
	failed := (&report.Report{Runs: []*engine.Result{x}}).Failed()
	changes := changeMarks(x.Changes)
	d := &Document{Title: initialEncoder(x) + " on " + report.SettingOf(x, "data", "source"),
		Headline: runHeadline(x, "")}
	d.Verdict = verdictOf(len(x.Assertions), len(failed))
	d.Marks = changes[:min(len(changes), maxMarks)]
	d.Meta = nonEmpty(strings.TrimSuffix(describeLink(x, c), ","),
		formatNumber(x.DurationS)+" s of virtual time",
		formatCount(int64(x.Frames), "frame")+" of "+formatCount(int64(x.ItemsPerFrame),
			x.Item), fmt.Sprintf("seed %d", x.Seed),
		"data "+report.SettingOf(x, "data", "source"), report.SetText(x.Set, " = ", ", "))
	d.Alarms = append(failed, nonEmpty(describeEnding(x.Reason, x.Error, x.Interrupted || x.Partial))...)
	d.Notes = append(slices.Clone(r.Missing), x.Warnings...)
	if r.Rows != nil {
		budget := 0.0
		if c != nil {
			budget = c.BudgetKbps
		}
		list, t := r.Rows.overTime(r.charted(), budget)
		d.add("charts", "Over time", list, t)
	}
	all := figures.Flatten(x.Totals)
	d.addTiles(x, all)
	if x.Totals.Crowd != nil {
		d.addCrowd(x)
	}
	d.addPlayoutPolicies(x.Totals.Playout.Policies)
	d.addBudgets(x)
	d.addControl(x)
	d.addBitBudget(x)
	d.addEndpoints(x)
	d.addPackets(r)
	d.addTraffic(x)
	d.addChanges(changes, len(x.Changes))
	d.addLanes(x)
	d.addTransfer(x)
	d.addAssertions(x)
	d.add("figures", "All figures", figureTable(all))
	d.addConfiguration(x)
	d.addRerun(x)
	return d
}

// nonEmpty returns the texts that are not "".
func nonEmpty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

// addTiles adds the most important figures that the run has; those of a distribution with its maximum.
func (d *Document) addTiles(x *engine.Result, all map[string]float64) {
	dataUnits := figures.UnitsOf(&x.Totals)
	for _, row := range figures.Ranked(figures.Narrow) {
		v, known := all[row.Key]
		if !known {
			continue
		}
		note := ""
		if dot := strings.LastIndexByte(row.Key, '.'); dot > 0 {
			if most, hasQuantiles := all[row.Key[:dot]+".max"]; hasQuantiles {
				note = "max " + formatNumber(most)
			}
		}
		d.tile(row.Title, formatNumber(v*row.Scale()), cmp.Or(dataUnits[row.Key], row.Unit), note)
	}
	if e := &x.Timing.EncodeUS; e.N > 0 {
		decode := &x.Timing.DecodeUS
		d.tile("encode", formatNumber(e.P50), "µs",
			"decode "+formatFigure(decode.Of(decode.P50))+"; "+cmp.Or(x.Timing.RunsAs, "in this process"))
	}
}

// Bounds of the marks in the charts and of the table of changes: a session in which a user plays has
// thousands.
const (
	maxMarks   = 200
	maxChanges = 1000
)

// changeMarks returns a mark for each change, at most maxChanges; repeated changes of one setting are
// combined.
func changeMarks(changes []config.StampedChange) (out []mark) {
	for len(changes) > 0 && len(out) < maxChanges {
		label, n := config.Summarise(changes) // label describes n changes
		out = append(out, mark{axisValue(changes[0].TS), label})
		changes = changes[n:]
	}
	return out
}

// addPlayoutPolicies adds the compared playout policies: a chart of starvation against age, with the curve of
// fixed delays and each policy as a point, and a table. p may be nil.
func (d *Document) addPlayoutPolicies(p *figures.PlayoutComparison) {
	if p == nil || len(p.List) == 0 {
		return
	}
	// Fixed delays beyond these limits are not shown. The limits grow with the figures of the policies.
	maxAge := 20.0    // ms
	maxStarved := 1.0 // %
	t := newTable("Playout policies on the same arrivals", "policy", ">starved", ">age p50, ms",
		">age p95, ms", ">longest freeze, ms",
		">speed changes", ">jumps", ">shifted, ms", ">best fixed delay, ms", ">p50 against it, ms")
	groups := []dots{{Name: "fixed delays", Join: "line"}}
	for i := range p.List {
		l := &p.List[i]
		starved := 100 * l.StarvedRatio.Or(0)
		maxAge = max(maxAge, l.AgeMS.P50*1.2)
		maxStarved = max(maxStarved, starved*1.5)
		t.add(l.Label, formatShare(l.StarvedRatio), l.AgeMS.Of(l.AgeMS.P50), l.AgeMS.Of(l.AgeMS.P95),
			l.LongestFreezeMS,
			l.SpeedChanges, l.Jumps, l.ShiftedMS, l.BestFixedMS, l.VsBestFixedMS)
		note := fmt.Sprintf("%s: %s starved, %s ms", l.Label, formatShare(l.StarvedRatio),
			formatNumber(l.AgeMS.P50))
		groups = append(groups, dots{Name: l.Label, Points: []dot{{X: l.AgeMS.P50, Y: starved, Note: note,
			Large: true}}})
	}
	for _, f := range p.Fixed {
		age, known := f.AgeMS.Value()
		starved := 100 * f.StarvedRatio.Or(0)
		if known && age <= maxAge && starved <= maxStarved {
			note := fmt.Sprintf("fixed %s ms: %s starved, %s ms", formatNumber(f.DelayMS),
				formatShare(f.StarvedRatio), formatNumber(age))
			groups[0].Points = append(groups[0].Points, dot{X: age, Y: starved, Note: note})
		}
	}
	lead := paragraph("From " + units.Fixed(p.FromS, 1) +
		" s on, without the three seconds after the first arrival. The line shows fixed " +
		"playout delays on the same arrivals. A point on the line is as good as the fixed delay that " +
		"would have been best in hindsight, which " +
		"starves at most as often; below and to the left is better.")
	d.add("playout-policies", "Playout policies", lead,
		charts{newScatter("Starvation against age", "median age of the displayed state, ms",
			"starved, % of display ticks", groups)}, t)
}

// addBudgets adds the lanes that have a budget: a chart of error against kbps with a line for each policy,
// and a table.
func (d *Document) addBudgets(x *engine.Result) {
	if x.Comparison == nil || x.Comparison.Budgets == nil {
		return
	}
	c := x.Comparison.Budgets
	var groups []dots
	for _, group := range c.ByLimit() {
		for _, i := range group {
			l := &c.Lanes[i]
			name := c.Name(i)
			e, known := l.MeanError.Value()
			if !known {
				continue
			}
			k := slices.IndexFunc(groups, func(g dots) bool { return g.Name == name })
			if k < 0 {
				k = len(groups)
				groups = append(groups, dots{Name: name, Join: "line"})
			}
			used := l.UsedKbps.Or(0)
			note := fmt.Sprintf("%s %s: %s kbps, %s %s", l.Lane, name, formatNumber(used), formatNumber(e),
				c.Unit)
			groups[k].Points = append(groups[k].Points, dot{X: used, Y: e, Tag: l.Lane, Note: note})
		}
	}
	for i := range groups {
		tags := ""
		for _, p := range groups[i].Points {
			tags += p.Tag + " "
		}
		groups[i].Name = tags + groups[i].Name
	}
	var blocks []block
	for _, sentence := range c.Findings() {
		blocks = append(blocks, paragraph(sentence))
	}
	lead := paragraph("All lanes had the same frames " + c.Period(1) +
		". The error is that of rows that changed in the last 100 ms, against " +
		"the newest frame of the source.")
	blocks = append(blocks, lead, charts{newScatter(errorTitle, usedAxis,
		"mean error of moving rows, "+c.Unit, groups)},
		&table{Table: *report.BudgetTable(c), Caption: "Lanes by budget and error"})
	d.add("budgets", "Error against kbps", blocks...)
}

// The title and the X axis of charts of error against kbps.
const (
	errorTitle = "Better is to the left and down"
	usedAxis   = "headers and payloads used, kbps"
)

// addControl adds a table of the send-rate controls of all lanes. For the first lane it also adds how
// the control recovered from changes of the links, and its newest decisions.
func (d *Document) addControl(x *engine.Result) {
	t := newTable("Snapshots held back", "lane", "control", ">held back", ">of those due", ">rate cuts",
		">rate at the end, kbps")
	addRow := func(lane string, c *figures.Control) {
		if c != nil {
			t.add(lane, c.Policy, c.Held, formatShare(c.HeldRatio), c.RateCuts, c.TargetKbps)
		}
	}
	addRow(x.Lane, x.Totals.Control)
	for i := range x.Shadows {
		addRow(x.Shadows[i].Lane, x.Shadows[i].Totals.Control)
	}
	steps := newTable("Time until delays and packets per second of lane "+x.Lane+" were normal after a "+
		"change of the links; – if they were not before the next one",
		">change at, s", ">delay, s", ">packets per second, s")
	decisions := newTable("Newest decisions of lane "+x.Lane, ">from, s", ">to, s", ">snapshots held back",
		"decision")
	decisions.Folded = true
	if c := x.Totals.Control; c != nil {
		for _, s := range c.Steps {
			steps.add(s.TS, s.DrainedS, s.RateS)
		}
		for i := range c.Decisions {
			decision := &c.Decisions[i]
			decisions.add(decision.TS, decision.UntilS, decision.Held, decision.Text)
		}
	}
	d.add("control", "Send-rate control", t, steps, decisions)
}

// addBitBudget adds a stacked bar and a table of the bits per part.
func (d *Document) addBitBudget(x *engine.Result) {
	t := newTable("Payload bits by part", "part", ">share", ">bits per packet", ">bits")
	var names []string
	var shares []float64
	for _, b := range x.Budget {
		names = append(names, b.Name())
		shares = append(shares, b.Share)
		t.add(b.Name(), formatPercent(b.Share), figures.RatioOrZero(b.Bits, float64(x.Totals.Sent)), b.Bits)
	}
	d.add("bits", "Bit budget", newStrip(names, shares), t)
}

// addEndpoints adds the gauges of encoder and decoder, and the rounding errors of the data and of the
// encoder.
func (d *Document) addEndpoints(x *engine.Result) {
	gauges := newTable("Figures of encoder and decoder", "endpoint", "figure", ">value", "unit")
	for _, g := range x.Totals.Sender {
		gauges.add("sender", g.Name, g.Value, g.Unit)
	}
	for _, g := range x.Totals.Receiver {
		gauges.add("receiver", g.Name, g.Value, g.Unit)
	}
	d.add("endpoints", "Encoder and decoder", gauges)
	t := newTable("What rounding to the schema's steps loses", dataset.PrecisionTitles()...)
	for _, row := range report.RoundingRows(x) {
		t.add(row)
	}
	d.add("precision", "Precision", t)
}

// addPackets adds a table of the outcomes of the packets, without those that did not occur, and tables of
// the packets with problems if the rows of packets.csv are known.
func (d *Document) addPackets(r *run) {
	x := &r.Result.Totals
	t := newTable("Outcomes of packets", "outcome", ">packets", ">share")
	for _, o := range []struct {
		name string
		n    int64
	}{{"decoded", x.Decoded}, {"stale: a newer one was decoded before", x.Stale}, {"duplicate",
		x.Duplicate}, {"lost", x.Lost},
		{"no baseline", x.Failures.NoBaseline}, {"corrupt", x.Failures.Corrupt}, {"unknown codec",
			x.Failures.UnknownCodec},
		{"wrong", x.Wrong}, {"in flight at the end", x.InFlight}, {"unknown: no arrival was reported",
			x.Unknown}} {
		if o.n > 0 || o.name == "wrong" ||
			o.name == "decoded" { // these two are of interest even if they are 0
			t.add(o.name, o.n, formatPercent(figures.RatioOrZero(float64(o.n), float64(x.Sent+x.Duplicated))))
		}
	}
	blocks := []block{t}
	if r.Rows != nil {
		blocks = append(blocks, problemTables(&r.Rows.packets)...)
	}
	d.add("packets", "Packets", blocks...)
}

// problemTables returns a table of the reasons, most frequent first, and a folded table of the packets of
// each kind.
func problemTables(p *packetStats) (out []block) {
	t := newTable("Problems by reason", "reason", ">packets", "first example")
	names := slices.SortedFunc(maps.Keys(p.reasons), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.reasons[b].count, p.reasons[a].count), cmp.Compare(a, b))
	})
	for _, name := range names {
		t.add(name, p.reasons[name].count, p.reasons[name].first.why)
	}
	out = append(out, t)
	for k := range numKinds {
		list := p.sortedProblems(k)
		t := newTable(fmt.Sprintf("Packets %s: %s", kindNames[k], formatNumber(float64(len(list)))),
			">packet", ">sent, s", ">delay, ms", "why")
		t.Folded = true
		if n := p.problems[k].total; n > len(list) {
			t.Caption += fmt.Sprintf(" of %s, sampled evenly; packets.csv has all", formatNumber(float64(n)))
		}
		for i := range list {
			e := &list[i]
			name := fmt.Sprint(e.seq)
			if e.copy > 0 {
				name += fmt.Sprintf(", copy %d", e.copy)
			}
			delay := figures.Figure{}
			if e.delay >= 0 {
				delay = figures.Known(e.delay)
			}
			t.add(name, units.Fixed(e.sent, 3), delay, e.why)
		}
		out = append(out, t)
	}
	return out
}

// addTraffic adds the other traffic on the downlink.
func (d *Document) addTraffic(x *engine.Result) {
	t := newTable("Flows that share the downlink", "flow", ">from, s", ">to, s", ">payload, Mbit/s",
		">round trip, ms", ">sent", ">lost",
		">retransmitted", ">timeouts")
	for i := range x.Traffic {
		f := &x.Traffic[i]
		t.add(f.Label, f.StartS, f.StopS, f.Mbps, f.RTTMS, f.Sent, f.Lost, f.Retransmit, f.Timeouts)
	}
	d.add("traffic", "Other traffic", t)
}

// addChanges adds a table of the changes during the run. Repeated changes of one setting share a row.
func (d *Document) addChanges(changes []mark, total int) {
	caption := "Changes during the run, with their marks in the charts"
	if len(changes) == maxChanges {
		caption = fmt.Sprintf("The first rows of %d changes; report.json has all", total)
	}
	t := newTable(caption, ">mark", ">at, s", "change")
	for i, x := range changes {
		t.add(i+1, units.Fixed(float64(x.T), 3), x.Text)
	}
	d.add("changes", "Changes", t)
}

// addLanes adds the stretches between swaps of the active encoder, and a comparison of it with the shadows.
// All ran on the same frames and losses, so that the ratios depend on the encoders only.
func (d *Document) addLanes(x *engine.Result) {
	t := newTable("Lane "+x.Lane+" between swaps of its encoder", "encoder", ">from, s", ">to, s",
		">payload kbps", ">wire kbps",
		">bits per "+x.Item, ">bits per changed", ">sent", ">decoded", ">stale", ">lost", ">failed", ">wrong")
	for i := range x.Stretches {
		s := &x.Stretches[i]
		t.add(s.Encoder, s.FromS, s.ToS, s.PayloadKbps, s.WireKbps, s.BitsPerItem, s.BitsPerChanged, s.Sent,
			s.Decoded, s.Stale, s.Lost, s.Failed, s.Wrong)
	}
	d.add("stretches", "Between swaps", t)
	if len(x.Shadows) == 0 {
		return
	}
	compared := newTable("Each since its start, on the same frames and losses", "lane", "encoder", ">from, s",
		">to, s", ">payload kbps", ">wire kbps",
		">bits per item", ">p95 bytes", ">sent", ">decoded", ">lost", ">failed", ">starved", ">wrong")
	addRow := func(lane, name string, from, to float64, totals *figures.Totals) {
		wrong := texttable.Cell{Text: formatNumber(float64(totals.Wrong))}
		if totals.Wrong > 0 {
			wrong.Class = "bad"
		}
		compared.add(lane, name, from, to, totals.PayloadKbps, totals.WireKbps, totals.BitsPerItem,
			totals.PacketBytes.Of(totals.PacketBytes.P95),
			totals.Sent, totals.Decoded, totals.Lost, totals.Failed(), formatShare(totals.Playout.StarvedRatio), wrong)
	}
	addRow(x.Lane, x.Encoders(), 0, x.DurationS, &x.Totals)
	for i := range x.Shadows {
		s := &x.Shadows[i]
		addRow(s.Lane, cmp.Or(s.Label, s.Encoder), s.FromS, cmp.Or(s.ToS, x.DurationS), &s.Totals)
	}
	d.add("shadows", "Encoders compared", ratioTable(x.Comparison), compared)
}

// ratioTable returns a table of the payload of each encoder divided by the payload of the first, over the
// period in which all of them ran. The confidence intervals are from pairs of samples. A ratio whose interval
// excludes 1 is marked as good or bad. The table is empty if the report has no comparison (c is nil) or only
// one lane.
func ratioTable(c *engine.Comparison) *table {
	t := newTable("", "lane", "encoder", ">payload kbps", ">bits per changed", ">ratio", ">95 % CI")
	if c == nil || len(c.Lanes) < 2 {
		return t
	}
	t.Caption = fmt.Sprintf("Payload ratio to the first, from %s to %s s, when all encoders ran, "+
		"without the first second after one joined or was "+
		"swapped; by pairs of samples", formatNumber(c.FromS), formatNumber(c.ToS))
	if c.SeamS > 0 {
		t.Caption += fmt.Sprintf("; without %s s at loop points", formatNumber(c.SeamS))
	}
	for i := range c.Lanes {
		l := &c.Lanes[i]
		ratio := texttable.Cell{Text: formatFigure(l.Times)}
		interval := "–"
		lo, hasLo := l.TimesLo.Value()
		hi, hasHi := l.TimesHi.Value()
		switch {
		case i == 0:
		case !hasLo || !hasHi:
			interval = "too few data"
		default:
			interval = fmt.Sprintf("%.3f to %.3f", lo, hi)
			if hi < 1 {
				ratio.Class = "good"
			} else if lo > 1 {
				ratio.Class = "bad"
			}
		}
		t.add(l.Lane, l.Label, l.PayloadKbps, l.BitsPerChanged, ratio, interval)
	}
	return t
}

// addTransfer adds the file transfer, if the session sent a file, and its earlier deliveries.
func (d *Document) addTransfer(x *engine.Result) {
	file := x.Totals.Transfer
	if file == nil {
		return
	}
	lead := fmt.Sprintf("%s, for a receiver that has a file of %s.",
		formatCount(int64(file.NewBytes), "byte"), formatCount(int64(file.OldBytes), "byte"))
	if file.SHA256 != "" {
		lead += " SHA-256 " + file.SHA256 + "."
	}
	t := newTable("Deliveries", "encoder", ">packed bytes", ">of the new file", ">blocks", ">datagrams",
		">resent", ">resent needlessly", ">seconds")
	for name, totals := range report.Lanes(x) {
		if f := totals.Transfer; f != nil {
			t.add(cmp.Or(f.Encoder, name), f.PackedBytes,
				formatPercent(figures.RatioOrZero(float64(f.PackedBytes), float64(f.NewBytes))), f.Blocks,
				totals.Sent, f.Resent, f.Spurious, f.Verdict())
		}
	}
	rounds := newTable("Earlier deliveries", ">began, s", "encoder", ">packed bytes", ">blocks", ">resent",
		">seconds")
	for _, f := range file.Rounds {
		took := "abandoned"
		if f.Done {
			took = units.Fixed(f.TimeS, 3)
		}
		rounds.add(units.Fixed(f.StartS, 3), f.Encoder, f.PackedBytes, f.Blocks, f.Resent, took)
	}
	d.add("file", "File transfer", paragraph(lead), t, rounds)
}

// addAssertions adds a table of the assertions with their verdicts.
func (d *Document) addAssertions(x *engine.Result) {
	t := newTable("Assertions and measured values", "figure", "bound", ">measured", "verdict")
	for _, a := range x.Assertions {
		verdict := texttable.Cell{Text: "holds", Class: "good"}
		if !a.Holds {
			verdict = texttable.Cell{Text: "does not hold", Class: "bad"}
		}
		t.add(a.Name, a.Bound, a.Got, verdict)
	}
	d.add("assertions", "Assertions", t)
}

// figureTable returns a table of figures with the keys that assertions and tui compare use. Quantiles of a
// figure share a row.
func figureTable(all map[string]float64) *table {
	columns := []string{"", "min", "p50", "p95", "p99",
		"max"} // last parts of keys; "" for figures without quantiles
	t := newTable("All figures, by key", "key", "figure", "unit", ">value", ">.min", ">.p50", ">.p95",
		">.p99", ">.max")
	last := "" // first cell of the last row
	for _, key := range slices.Sorted(maps.Keys(all)) {
		row := figures.Find(key)
		name := key
		column := 0
		dot := max(strings.LastIndexByte(key, '.'), 0)
		if _, hasQuantiles := all[key[:dot]+".p50"]; hasQuantiles {
			name = key[:dot]
			column = slices.Index(columns, key[dot+1:])
			row.Title = row.Title[:strings.LastIndexByte(row.Title, ',')] // without the name of the quantile
		}
		if name != last {
			t.add(name, row.Title, row.Unit, "", "", "", "", "", "")
			last = name
		}
		const firstColumn = 3
		t.Rows[len(t.Rows)-1][firstColumn+column].Text = formatNumber(all[key] * row.Scale())
	}
	return t
}

// addConfiguration adds the settings that differ from the defaults, and the complete TOML file. notes are
// paragraphs above them.
func (d *Document) addConfiguration(x *engine.Result, notes ...block) {
	c := configOf(x)
	if c == nil {
		d.add("configuration", "Configuration",
			paragraph("The configuration cannot be read by this version; it is in report.json."))
		return
	}
	defaults := config.Default().Settings()
	set := c.Settings()
	t := newTable("Settings that differ from the defaults", "key", "value", "default")
	for _, k := range slices.Sorted(maps.Keys(set)) {
		if set[k] != defaults[k] {
			t.add(k, set[k], cmp.Or(defaults[k], "–"))
		}
	}
	if t.isEmpty() {
		notes = append(notes, paragraph("All settings have their defaults."))
	}
	notes = append(notes, t)
	if y, err := x.Replayable(); err == nil {
		if text, err := y.TOML(); err == nil && len(text) <= maxTOML {
			notes = append(notes, code{"experiment.toml, with all defaults", string(text)})
		}
	}
	d.add("configuration", "Configuration", notes...)
}

// maxTOML bounds the bytes of the configuration on a page; that of a played session is long.
const maxTOML = 32 << 10

// replayCommands are the commands that repeat a run or a sweep.
var replayCommands = code{Text: "tui replay report.json     # run again and compare the digests\n" +
	"tui run experiment.toml    # run again without comparing\n" + remakeCommand}

const remakeCommand = "tui report .               # write report.html again"

// addRerun adds the commands that reproduce the run, its input files and its digest.
func (d *Document) addRerun(x *engine.Result) {
	commands := replayCommands
	remark := ""
	if x.Remote != nil {
		commands = code{Text: remakeCommand}
		remark = "The run was sent over a real network, to " + x.Remote.To + ", and cannot be replayed."
	}
	t := newTable("Input files", "file", ">bytes", "SHA-256")
	for _, f := range x.Files {
		t.add(f.Path, f.Bytes, f.SHA256)
	}
	digest := paragraph("Digest of every datagram sent and every frame decoded: " + x.Digest)
	d.add("again", "How to reproduce", digest, t, paragraph(remark), commands)
}
