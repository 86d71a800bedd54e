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
	failed := report.Failures(x)
	changes := changeMarks(x.Changes)
	d := &Document{
		Title:    x.Encoders() + " on " + report.SettingOf(x, "data", "source"),
		Headline: runHeadline(x),
		Verdict:  verdictOf(len(x.Assertions), len(failed)),
		Meta:     runFacts(x),
	}
	d.Marks = changes[:min(len(changes), maxMarks)]
	d.Alarms = append(failed, nonEmpty(describeEnding(x.Reason, x.Error, x.Interrupted || x.Partial))...)
	d.Notes = append(slices.Clone(r.Missing), x.Warnings...)
	d.addAssertions(x)
	d.addLanes(x)
	d.addOverTime(r)
	if r.Rows != nil {
		d.add("packets", "Packets with problems", problemTables(&r.Rows.packets)...)
	}
	d.addBits([]string{"measured"}, []*engine.Result{x})
	d.add("traffic", "Other traffic", figureTable("Flows that share the downlink", "flow", figures.Listed,
		x.Traffic, func(i int) string {
			return x.Traffic[i].Label
		}))
	d.addControl(x)
	d.addPlayoutPolicies(x.Totals.Playout.Policies)
	d.addBudgets(x)
	d.addCrowd(x)
	d.addTransfer(x)
	d.addChanges(changes, x)
	d.addEndpoints(x)
	d.addConfiguration(x)
	d.addRerun(x)
	return d
}

// runFacts returns what was run, a few words each.
func runFacts(x *engine.Result) []string {
	clients := ""
	if x.Totals.Crowd != nil {
		clients = formatCount(int64(x.Totals.Crowd.Clients), "client")
	}
	times := ""
	if encode, decode := &x.Timing.EncodeUS, &x.Timing.DecodeUS; max(encode.P50, decode.P50) > 0 {
		times = fmt.Sprintf("median times: encode %s, decode %s, %s", formatMicroseconds(encode),
			formatMicroseconds(decode), cmp.Or(x.Timing.RunsAs, "in this process"))
	}
	return nonEmpty(
		linkFact(x),
		formatNumber(x.DurationS)+" s of virtual time",
		formatCount(int64(x.Frames), "frame")+" of "+formatCount(int64(x.ItemsPerFrame), x.Item),
		clients,
		fmt.Sprintf("seed %d", x.Seed),
		"data "+report.SettingOf(x, "data", "source"),
		report.SetText(x.Set, " = ", ", "),
		times,
	)
}

// formatMicroseconds formats the median of times with its unit, "–" if none was measured. A transfer of a
// file has encoding times, but all of them are 0.
func formatMicroseconds(us *figures.Quantiles) string {
	if us.P50 == 0 {
		return "–"
	}
	return formatNumber(us.P50) + " µs"
}

// nonEmpty returns the texts that are not "".
func nonEmpty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

// addAssertions adds a table of the assertions with their verdicts.
func (d *Document) addAssertions(x *engine.Result) {
	t := newTable("Bounds and measured values", "figure", "bound", ">measured", "verdict")
	for _, a := range x.Assertions {
		verdict := texttable.Cell{Text: "holds", Class: "good"}
		if !a.Holds {
			verdict = texttable.Cell{Text: "does not hold", Class: "bad"}
		}
		t.add(a.Name, a.Bound, fmt.Sprintf("%g", a.Got), verdict)
	}
	d.add("assertions", "Assertions", t)
}

// addLanes adds the figures of all lanes, and the paired comparison of their payloads. All lanes had the
// same frames and losses, so that differences depend on the encoders only.
func (d *Document) addLanes(x *engine.Result) {
	values := figures.Flatten(x.Totals)
	for _, row := range report.KnownFigures(figures.Narrow, []*figures.Totals{&x.Totals}) {
		d.tile(row.Title, row.Text(values[row.Key]), row.Unit)
	}
	name := x.Lane + " " + x.Encoders()
	if len(x.Stretches) > 0 {
		name += ", whole run"
	}
	lanes := []measured{{name: name, totals: &x.Totals}}
	for i := range x.Shadows {
		s := &x.Shadows[i]
		name := s.Lane + " " + s.Label
		if s.FromS > 0 {
			name += " from " + units.Trimmed(s.FromS, 2) + " s"
		}
		if s.ToS > 0 {
			name += " until " + units.Trimmed(s.ToS, 2) + " s"
		}
		lanes = append(lanes, measured{name: name, totals: &s.Totals})
	}
	d.addFigures("Main figures", lanes, stretchTable([]string{""}, []*engine.Result{x}))
	c := x.Comparison
	if c == nil || len(c.Lanes) < 2 {
		return
	}
	caption := fmt.Sprintf("Payload from %s to %s s, when all encoders ran, without the first second after one "+
		"joined or was swapped; by pairs of samples", formatNumber(c.FromS), formatNumber(c.ToS))
	if c.SeamS > 0 {
		caption += fmt.Sprintf("; without %s s at loop points", formatNumber(c.SeamS))
	}
	d.add("shadows", "Encoders compared", figureTable(caption, "lane", figures.Listed, c.Lanes,
		func(i int) string {
			return c.Lanes[i].Lane + " " + c.Lanes[i].Label
		}))
}

// stretchTable returns a table with a row for each stretch of the runs between two changes of the encoder of the first
// lane or of the links, with the names of the runs. It is empty if no run has such a change.
func stretchTable(names []string, runs []*engine.Result) *table {
	var stretches []meters.StretchFigures
	var labels []string
	for i, r := range runs {
		for _, name := range meters.StretchNames(r.Stretches) {
			labels = append(labels, strings.TrimSpace(names[i]+" "+name))
		}
		stretches = append(stretches, r.Stretches...)
	}
	return figureTable("Between changes of the encoder and the link", "encoder", figures.Listed, stretches,
		func(i int) string { return labels[i] })
}

// addOverTime adds the charts over time and their data as a table.
func (d *Document) addOverTime(r *run) {
	if r.Rows == nil {
		return
	}
	budget := 0.0
	if c := configOf(r.Result); c != nil {
		budget = c.BudgetKbps
	}
	list, t := r.Rows.overTime(r.charted(), budget)
	d.add("charts", "Over time", list, t)
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

// addPlayoutPolicies adds the compared playout policies: a chart of starvation against age, with the
// curve of fixed delays and each policy as a point, and a table. p may be nil.
func (d *Document) addPlayoutPolicies(p *figures.PlayoutComparison) {
	if p == nil || len(p.List) == 0 {
		return
	}
	age := figures.Row{Title: "median age of the displayed state", Unit: "ms"}
	starved := figures.Row{Title: "starved display ticks", Unit: "%", Decimals: 2}
	groups := []dots{{Name: "fixed delays", Join: "line"}}
	for i := range p.List {
		l := &p.List[i]
		point := dot{Name: l.Label, X: exactly(l.AgeMS.P50), Y: exactly(l.StarvedRatio.Or(0)), Large: true}
		groups = append(groups, dots{Name: l.Label, Points: []dot{point}})
	}
	for _, f := range p.Fixed {
		x, known := f.AgeMS.Value()
		y := f.StarvedRatio.Or(0)
		if known {
			groups[0].Points = append(groups[0].Points,
				dot{Name: "fixed " + formatNumber(f.DelayMS) + " ms", X: exactly(x), Y: exactly(y)})
		}
		if y == 0 { // so do longer delays
			break
		}
	}
	lead := paragraph("From " + units.Fixed(p.FromS, 1) + " s on, without the three seconds after the first " +
		"arrival. Below and to the left is better. A point on the line is as good as the fixed playout delay that " +
		"would have been best in hindsight, which starves at most as often.")
	d.add("playout-policies", "Playout policies", lead,
		charts{newScatter("Starvation against age", &age, &starved, groups)},
		figureTable("Playout policies on the same arrivals", "policy", figures.Main, p.List,
			func(i int) string {
				return p.List[i].Label
			}))
}

// addBudgets adds the lanes that have a budget: a chart of error against kbps with a line for each policy,
// and a table.
func (d *Document) addBudgets(x *engine.Result) {
	if x.Comparison == nil || x.Comparison.Budgets == nil {
		return
	}
	c := x.Comparison.Budgets
	var groups []dots
	for _, i := range slices.Concat(c.ByLimit()...) {
		l := &c.Lanes[i]
		e, known := l.MeanError.Value()
		if !known {
			continue
		}
		name := c.Name(i)
		k := slices.IndexFunc(groups, func(g dots) bool { return g.Name == name })
		if k < 0 {
			k = len(groups)
			groups = append(groups, dots{Name: name, Join: "line"})
		}
		groups[k].Points = append(groups[k].Points, dot{Name: l.Lane + " " + name, Tag: l.Lane,
			X: exactly(l.UsedKbps.Or(0)), Y: exactly(e)})
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
	used := figures.Row{Title: "headers and payloads used", Unit: "kbps", Decimals: 1}
	meanError := figures.Row{Title: "mean error of moving rows", Unit: c.Unit}
	blocks = append(blocks, lead, charts{newScatter("Better is to the left and down", &used, &meanError, groups)},
		&table{Table: *report.BudgetTable(c), Caption: "Lanes by budget and error"})
	d.add("budgets", "Error against kbps", blocks...)
}

// addControl adds the send-rate controls of all lanes; how that of the first lane recovered from changes
// of the links, and its newest decisions.
func (d *Document) addControl(x *engine.Result) {
	policies := newTable("Controls of the lanes", "lane", "control")
	addPolicy := func(lane string, c *figures.Control) {
		if c != nil {
			policies.add(lane, c.Policy)
		}
	}
	addPolicy(x.Lane, x.Totals.Control)
	for i := range x.Shadows {
		addPolicy(x.Shadows[i].Lane, x.Shadows[i].Totals.Control)
	}
	blocks := []block{policies}
	if c := x.Totals.Control; c != nil {
		decisions := figureTable("Newest decisions of lane "+x.Lane, "decision", figures.Listed, c.Decisions,
			func(i int) string {
				return c.Decisions[i].Text
			})
		decisions.Folded = true
		blocks = append(blocks, figureTable("Until delays and packets per second were normal after a change of the "+
			"links; - if they were not before the next one", "lane", figures.Listed, c.Steps,
			func(int) string { return x.Lane }), decisions)
	}
	d.add("control", "Send-rate control", blocks...)
}

// addBits adds the bits per part of all runs, in the order in which the parts first occur; for a single
// run also as a stacked bar.
func (d *Document) addBits(names []string, runs []*engine.Result) {
	var parts []string
	var shares []float64
	columns := []string{"part"}
	for i, r := range runs {
		columns = append(columns, ">"+names[i]+", bits per packet", ">share, %")
		for _, b := range r.Budget {
			if !slices.Contains(parts, b.Name()) {
				parts = append(parts, b.Name())
				shares = append(shares, b.Share)
			}
		}
	}
	t := newTable("Payload bits by part", columns...)
	for _, part := range parts {
		row := []any{part}
		for _, r := range runs {
			cells := []string{"-", "-"}
			for _, b := range r.Budget {
				if b.Name() == part {
					perPacket := figures.RatioOrZero(b.Bits, float64(r.Totals.Sent))
					cells = []string{units.Fixed(perPacket, 1), units.Fixed(100*b.Share, 1)}
				}
			}
			row = append(row, cells)
		}
		t.add(row...)
	}
	var bar strip
	if len(runs) == 1 {
		bar = newStrip(parts, shares)
	}
	d.add("bits", "Bit budget", bar, t)
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
	precision := newTable("What rounding to the schema's steps loses", dataset.PrecisionTitles()...)
	for _, row := range report.RoundingRows(x) {
		precision.add(row)
	}
	d.add("endpoints", "Encoder and decoder", gauges, precision)
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

// addChanges adds the changes during the run. Repeated changes of one setting share a row.
func (d *Document) addChanges(changes []mark, x *engine.Result) {
	caption := "With their marks in the charts"
	if len(changes) == maxChanges {
		caption = fmt.Sprintf("The first rows of %d changes; report.json has all", len(x.Changes))
	}
	t := newTable(caption, ">mark", ">at, s", "change")
	for i, x := range changes {
		t.add(i+1, units.Fixed(float64(x.T), 3), x.Text)
	}
	d.add("changes", "Changes during the run", t)
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
	rounds := figureTable("Earlier deliveries", "encoder", figures.Listed, file.Rounds, func(i int) string {
		if file.Rounds[i].Done {
			return file.Rounds[i].Encoder
		}
		return file.Rounds[i].Encoder + " (abandoned)"
	})
	d.add("file", "File transfer", paragraph(lead), rounds)
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
	t := differingSettings("Settings that differ from the defaults", []string{"default", "value"},
		[]map[string]string{config.Default().Settings(), c.Settings()})
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

// differingSettings returns a table of the settings that differ between maps of values by key, one per
// column.
func differingSettings(caption string, names []string, settings []map[string]string) *table {
	t := newTable(caption, append([]string{"key"}, names...)...)
	for _, key := range report.SortedKeys(settings) {
		var values []string
		for _, all := range settings {
			values = append(values, cmp.Or(all[key], "–"))
		}
		if len(slices.Compact(slices.Clone(values))) > 1 {
			t.add(key, values)
		}
	}
	return t
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
