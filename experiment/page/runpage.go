package page

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/internal/texttable"
)

// run is one run: its result, and its rows as far as they are there.
type run struct {
	Result  *engine.Result
	Rows    *rows
	Missing []string // what is not there, in sentences
}

// Write writes the page of one run.
func (r *run) Write(w io.Writer) error { return write(w, r.document()) }

func (r *run) document() *document {
	x := r.Result
	c, err := x.Config.Config("")
	if err != nil {
		c = nil // of a later version, or with files that are not here: the page does without
	}
	d := &document{Title: encoderOf(x) + " on " + report.SettingOf(x, "data", "source"), Headline: headline(x, c)}
	d.Meta = []string{digits(x.DurationS) + " s of virtual time", count(int64(x.Frames), "frame") + " of " + count(int64(x.ItemsPerFrame), x.Item),
		fmt.Sprintf("seed %d", x.Seed), "data " + report.SettingOf(x, "data", "source")}
	if len(x.Set) > 0 {
		d.Meta = append(d.Meta, report.SetText(x.Set, " = ", ", "))
	}
	d.Alarms = append((&report.Report{Runs: []*engine.Result{x}}).Failed(), notEmpty(ending(x.Reason, x.Error, x.Interrupted || x.Partial))...)
	d.Notes = append(slices.Clone(r.Missing), x.Warnings...)
	d.tiles(x)
	if r.Rows != nil {
		d.overTime(r, c)
	}
	d.bits(x)
	d.packetSection(r)
	d.changes(x)
	d.shadows(x)
	d.transfer(x)
	d.assertions(x)
	d.allFigures(x)
	d.configuration(x, c)
	d.again(x)
	return d
}

func notEmpty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

func (d *document) tiles(x *engine.Result) {
	t := &x.Totals
	add := func(name, value, unit, note string) { d.Tiles = append(d.Tiles, tile{name, value, unit, note}) }
	add("payload", digits(t.PayloadKbps), "kbps", "on the wire "+digits(t.WireKbps)+", feedback "+digits(t.FeedbackKbps))
	if f := t.BitsPerChangedCube; f != nil {
		add("per changed "+x.Item, figure(*f), "bits", "over every "+x.Item+" "+figure(t.BitsPerItem))
	} else {
		add("per "+x.Item, figure(t.BitsPerItem), "bits", "")
	}
	q := &t.PacketBytes
	add("packet", figure(q.Of(q.P50)), "bytes", "95 % up to "+figure(q.Of(q.P95))+", the largest "+figure(q.Of(q.Max)))
	add("lost", share(t.Network.LossRate), "", digits(float64(t.Lost+t.Unknown))+" of "+count(t.Sent, "packet"))
	if t.Remote != nil {
		q := &t.Remote.RoundTripMS
		add("round trip", figure(q.Of(q.P50)), "ms", "95 % up to "+figure(q.Of(q.P95))+", jitter "+figure(t.Remote.JitterMS))
	}
	add("failed", digits(float64(t.Failed())), "packets", "wrong "+digits(float64(t.Wrong))+", stale "+digits(float64(t.Stale)))
	if t.BitsPerCube != nil {
		add("starved", share(t.Playout.StarvedRatio), "", count(t.Playout.Freezes, "freeze")+", "+figure(t.Playout.BehindMS)+" ms behind the sender")
		if q := &t.AgeMS; q.N > 0 {
			add("age of what is shown", digits(q.P50), "ms", "99 % up to "+digits(q.P99))
		}
	}
	if over, budgeted := t.OverBudgetRatio.Value(); budgeted {
		add("over the budget", percent(over), "", "of the time, by the payload of the last second")
	}
	if e := &x.Timing.EncodeUS; e.N > 0 {
		add("encode", digits(e.P50), "µs", "decode "+figure(x.Timing.DecodeUS.Of(x.Timing.DecodeUS.P50))+"; "+cmp.Or(x.Timing.RunsAs, "in this one process"))
	}
}

// overTime is the charts, their marks, and the same in a table.
func (d *document) overTime(r *run, c *config.Config) {
	budget := 0.0
	if c != nil {
		budget = c.BudgetKbps
	}
	d.data.Marks = marks(r.Result.Changes)
	d.data.timeCharts(r.Rows, r.Result.Item, budget)
	if len(d.data.Charts) == 0 {
		return
	}
	s := section{ID: "charts", Title: "Over time"}
	s.show(&d.data, 0)
	s.Tables = append(s.Tables, timeTable(r.Rows.series.all(), r.Result.Item))
	d.Sections = append(d.Sections, s)
}

// maxMarks bounds the marks in the charts; a table has all changes.
const maxMarks = 200

func marks(changes []config.StampedChange) (out []mark) {
	for i := 0; i < len(changes) && len(out) < maxMarks; {
		label, n := config.Summarise(changes[i:])
		out = append(out, mark{place(changes[i].TS), label})
		i += n
	}
	return out
}

// timeTable tells what the charts show to those who do not see them.
func timeTable(points []point, item string) table {
	t := newTable("The charts as a table", "until, s", ">payload kbps", ">wire kbps", ">bits per changed "+item,
		">lost", ">failed", ">stale", ">baseline, ticks", ">starved %")
	t.Folded = true
	for _, p := range coarse(points, 20) {
		t.Add(digits(p.until), digits(over(payloadKbps(&p))), digits(over(wireKbps(&p))), digits(over(bitsPerChanged(&p))),
			digits(p.lost), digits(p.failed), digits(p.stale), digits(over(baselineAge(&p))), digits(100*over(starvedShare(&p))))
	}
	return t
}

func (d *document) bits(x *engine.Result) {
	if len(x.Budget) == 0 {
		return
	}
	s := section{ID: "bits", Title: "Where the bits go"}
	t := newTable("Bits of the payload by what they were spent on", "part", ">share", ">bits a packet", ">bits")
	var names []string
	var shares []float64
	for _, b := range x.Budget {
		names, shares = append(names, b.Name()), append(shares, b.Share)
		t.Add(b.Name(), percent(b.Share), digits(figures.Ratio(b.Bits, float64(x.Totals.Sent))), digits(b.Bits))
	}
	s.Strip, s.Tables = strip(names, shares), []table{t}
	d.Sections = append(d.Sections, s)
}

func (d *document) packetSection(r *run) {
	x := &r.Result.Totals
	s := section{ID: "packets", Title: "Packets"}
	t := newTable("How packets ended", "outcome", ">packets", ">share")
	for _, o := range []struct {
		name string
		n    int64
	}{{"decoded", x.Decoded}, {"stale: after a newer one", x.Stale}, {"duplicate", x.Duplicate}, {"lost", x.Lost},
		{"no baseline", x.Failures.NoBaseline}, {"corrupt", x.Failures.Corrupt}, {"unknown codec", x.Failures.UnknownCodec},
		{"tainted", x.Tainted}, {"wrong", x.Wrong}, {"in flight at the end", x.InFlight}, {"unknown", x.Unknown}} {
		if o.n > 0 || o.name == "wrong" || o.name == "decoded" {
			t.Add(o.name, digits(float64(o.n)), percent(figures.Ratio(float64(o.n), float64(x.Sent+x.Duplicated))))
		}
	}
	s.Tables = append(s.Tables, t)
	if r.Rows != nil {
		s.Tables = append(s.Tables, reasonTable(&r.Rows.packets)...)
	}
	d.Sections = append(d.Sections, s)
}

// reasonTable says what was wrong with packets: by reason, and one by one.
func reasonTable(p *packets) (out []table) {
	if len(p.reasons) > 0 {
		t := newTable("What was wrong", "reason", ">packets", "the first of them")
		names := slices.SortedFunc(maps.Keys(p.reasons), func(a, b string) int {
			return cmp.Or(cmp.Compare(p.reasons[b].n, p.reasons[a].n), cmp.Compare(a, b))
		})
		for _, name := range names {
			t.Add(name, digits(float64(p.reasons[name].n)), p.reasons[name].first.why)
		}
		out = append(out, t)
	}
	for k := range numKinds {
		list := p.listed(k)
		if len(list) == 0 {
			continue
		}
		t := newTable(fmt.Sprintf("Each that was %s: %s", kindNames[k], digits(float64(len(list)))), ">packet", ">sent, s", ">under way, ms", "why")
		t.Folded = true
		if n := p.kinds[k].n; n > len(list) {
			t.Caption += fmt.Sprintf(" of %s, chosen evenly; packets.csv has all", digits(float64(n)))
		}
		for i := range list {
			e := &list[i]
			name, took := fmt.Sprint(e.seq), "–"
			if e.copy > 0 {
				name += fmt.Sprintf(", copy %d", e.copy)
			}
			if e.delay >= 0 {
				took = digits(e.delay)
			}
			t.Add(name, fmt.Sprintf("%.3f", e.sent), took, e.why)
		}
		out = append(out, t)
	}
	return out
}

// maxChanges bounds a table: a world that was played has thousands.
const maxChanges = 1000

func (d *document) changes(x *engine.Result) {
	if len(x.Changes) == 0 {
		return
	}
	t := newTable("Changes during the run; the charts have a mark at each", ">mark", ">at, s", "change")
	for i := 0; i < len(x.Changes); {
		label, n := config.Summarise(x.Changes[i:])
		if len(t.Rows) == maxChanges {
			t.Caption = fmt.Sprintf("The first %d changes; report.json has all", maxChanges)
			break
		}
		t.Add(len(t.Rows)+1, fmt.Sprintf("%.3f", x.Changes[i].TS), label)
		i += n
	}
	d.Sections = append(d.Sections, section{ID: "changes", Title: "What was changed", Tables: []table{t}})
}

func (d *document) assertions(x *engine.Result) {
	if len(x.Assertions) == 0 {
		return
	}
	t := newTable("What was demanded, and what was measured", "figure", "bound", ">measured", "verdict")
	for _, a := range x.Assertions {
		verdict := texttable.Cell{Text: "holds", Class: "good"}
		if !a.Holds {
			verdict = texttable.Cell{Text: "does not hold", Class: "bad"}
		}
		t.Add(a.Name, a.Bound, figure(a.Got), verdict)
	}
	d.Sections = append(d.Sections, section{ID: "assertions", Title: "Assertions", Tables: []table{t}})
}

// allFigures lists every figure by its key: what assertions and compare go by.
func (d *document) allFigures(x *engine.Result) {
	all := figures.Of(x.Totals)
	t := newTable("Every figure by its key", "key", ">measured")
	t.Folded = true
	for _, k := range slices.Sorted(maps.Keys(all)) {
		t.Add(k, digits(all[k]))
	}
	d.Sections = append(d.Sections, section{ID: "figures", Title: "All figures", Tables: []table{t}})
}

func (d *document) configuration(x *engine.Result, c *config.Config) {
	s := section{ID: "configuration", Title: "Configuration"}
	if c == nil {
		s.Lead = []string{"This program cannot read the configuration of the report; report.json has it."}
		d.Sections = append(d.Sections, s)
		return
	}
	usual, set := config.Default().Settings(), c.Settings()
	t := newTable("What is not the default", "key", "value", "default")
	for _, k := range slices.Sorted(maps.Keys(set)) {
		if set[k] != usual[k] {
			t.Add(k, set[k], cmp.Or(usual[k], "–"))
		}
	}
	if len(t.Rows) > 0 {
		s.Tables = append(s.Tables, t)
	} else {
		s.Lead = []string{"All settings have their defaults."}
	}
	if y, err := x.Replayable(); err == nil {
		if text, err := y.TOML(); err == nil && len(text) <= maxTOML {
			s.Code = append(s.Code, code{"experiment.toml, every default spelt out", string(text)})
		}
	}
	d.Sections = append(d.Sections, s)
}

// maxTOML bounds the configuration on a page; that of a world that was played is long.
const maxTOML = 32 << 10

func (d *document) again(x *engine.Result) {
	s := section{ID: "again", Title: "How to run it again"}
	s.Code = []code{{"", "tui replay report.json     # once more, and demands the same bytes\ntui run experiment.toml    # without asking\ntui report .               # makes this page anew"}}
	if len(x.Files) > 0 {
		t := newTable("Files that it read", "file", ">bytes", "SHA-256")
		for _, f := range x.Files {
			t.Add(f.Path, digits(float64(f.Bytes)), f.SHA256)
		}
		s.Tables = append(s.Tables, t)
	}
	s.Lead = []string{"Digest of every datagram sent and every frame decoded: " + x.Digest}
	d.Sections = append(d.Sections, s)
}
