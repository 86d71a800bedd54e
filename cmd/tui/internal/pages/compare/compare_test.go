package compare

import (
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/lockstep"
	"wirelab/internal/units"
)

// stageOf returns the table of a page without reports, and the page on a stage.
func stageOf(lab room.Lab, w, h int) (*table, *labtest.Stage) {
	return labtest.NewPaneStage[*table](New(&panes.SelectedShadow{}, ""), lab, w, h)
}

// viewOf returns the page of a snapshot.
func viewOf(snap *engine.Snapshot, w, h int) string {
	_, m := stageOf(&labtest.Lab{Snap: snap}, w, h)
	return m.View()
}

// TestComparedFigures: the figures are those of the common period, computed here directly from the
// samples; the best entry is first; intervals contain the ratio.
func TestComparedFigures(t *testing.T) {
	snap := labtest.FourShadows()
	p := comparedPane(snap, 160, 48)
	from := snap.Lanes[4].Began + engine.WarmUp // the last lane to start
	if p.data.From != from || p.data.To != snap.Now {
		t.Errorf("compared from %v to %v, want from %v", p.data.From, p.data.To, from)
	}
	before := 0.0
	for at, r := range p.rows {
		bits, changed, n := 0.0, 0.0, 0.0
		for _, s := range snap.Lanes[r.lane].Samples {
			if s.T > from && s.CrossingLoop == 0 {
				bits, changed, n = bits+float64(s.PayloadBits), changed+float64(s.Changed), n+1
			}
		}
		perChanged := bits / changed
		if snap.Lanes[r.lane].Encoder == "quantized" { // it sends all cubes
			perChanged = math.Inf(1)
		}
		if math.Abs(r.figures[figureKbps]-bits/n/100) > 1e-6 || math.Abs(r.figures[figureBits]-perChanged) > 1e-6 {
			t.Errorf("%s: %v kbps, %v bits; want %v, %v", r.name, r.figures[figureKbps], r.figures[figureBits], bits/n/100, perChanged)
		}
		if r.figures[figureKbps] < before {
			t.Errorf("%s with %v is after an entry with %v", r.name, r.figures[figureKbps], before)
		}
		before = r.figures[figureKbps]
		if at == 0 {
			continue
		}
		gap := r.gap
		want := r.figures[figureKbps] / p.rows[0].figures[figureKbps]
		if !gap.significant || math.Abs(gap.estimate-want) > 1e-6 || gap.lo > want || gap.hi < want {
			t.Errorf("%s: %+v, want %v", r.name, gap, want)
		}
	}
}

// crossesLoop reports whether any lane has a packet across a loop point in sample k, counted from the start.
func crossesLoop(snap *engine.Snapshot, k int) bool {
	return slices.ContainsFunc(snap.Lanes, func(l engine.Lane) bool {
		k := k - (len(snap.Lanes[0].Samples) - len(l.Samples))
		return k >= 0 && l.Samples[k].CrossingLoop > 0
	})
}

// TestAgeIsCompared: the age of the displayed data has a column if there is room, and can be sorted
// by. Data that are not displayed have no such column.
func TestAgeIsCompared(t *testing.T) {
	snap := labtest.FourShadows()
	for i := range snap.Lanes {
		for k := range snap.Lanes[i].Samples {
			s := &snap.Lanes[i].Samples[k]
			s.Age, s.Aged = 0, 0
		}
	}
	if view := viewOf(snap, 200, 20); strings.Contains(view, "age ms") {
		t.Errorf("an age without a display:\n%s", view)
	}
	from := snap.Lanes[4].Began + engine.WarmUp
	want := make([]float64, len(snap.Lanes))
	for i := range snap.Lanes {
		sum, n := 0.0, 0.0
		for k := range snap.Lanes[i].Samples {
			s := &snap.Lanes[i].Samples[k]
			s.Aged, s.Age = 1+k%6, time.Duration((1+k%6)*(100+10*i+k%9))*time.Millisecond
			if s.T > from && !crossesLoop(snap, k+len(snap.Lanes[0].Samples)-len(snap.Lanes[i].Samples)) {
				sum, n = sum+s.Age.Seconds()*1000, n+float64(s.Aged)
			}
		}
		want[i] = sum / n
	}
	p := comparedPane(snap, 200, 20)
	for i, r := range p.data.rows {
		if math.Abs(r.figures[figureAge]-want[i]) > 1e-6 {
			t.Errorf("%s: age %v ms, want %v", r.name, r.figures[figureAge], want[i])
		}
	}
	for _, w := range []int{200, 240} {
		if view := viewOf(snap, w, 20); !strings.Contains(view, "age ms") || !strings.Contains(view, units.Fixed(want[4], 1)) {
			t.Errorf("%d columns:\n%s", w, view)
		}
	}
	if view := viewOf(snap, 80, 20); strings.Contains(view, "age ms") {
		t.Errorf("the age replaces other figures:\n%s", view)
	}
}

// TestSmallRatiosAreWritten: small fractions of a bit per byte are not rounded to 0.
func TestSmallRatiosAreWritten(t *testing.T) {
	for v, want := range map[float64]string{0.0214: "0.021", 0.6: "0.600", 3.64: "3.6", 58.8: "58.8"} {
		if got := figureBits.format(v); got != want {
			t.Errorf("%v bits are written as %q, want %q", v, got, want)
		}
	}
}

// busy returns a snapshot of two encoders. One sends 2.9 times as much as the other, while both vary
// fourfold with the data. The shadow started at 10 s.
func busy(now time.Duration) *engine.Snapshot {
	snap := labtest.Shadows(now, "rotor")
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range snap.Lanes[0].Samples {
		a, b := &snap.Lanes[0].Samples[i], &snap.Lanes[1].Samples[i]
		scene := 20_000 * (1 + 0.6*math.Sin(float64(i)/40))
		a.PayloadBits, b.PayloadBits = int64(scene), int64(2.9*scene*(1+0.15*rng.NormFloat64()))
	}
	snap.Lanes[1].Began = 10 * time.Second
	snap.Lanes[1].Samples = snap.Lanes[1].Samples[100:]
	return snap
}

// TestTooEarlyForInterval: the ratio of 2.9 is shown without an interval until the common period is 15 s
// long, which is 16 s after the shadow was added. Then it is significant; ratio and interval are shown at
// every width.
func TestTooEarlyForInterval(t *testing.T) {
	early := regexp.MustCompile(`×[23]\.\d+ `)
	sure := regexp.MustCompile(`×[23]\.\d+  2\.\d+ to [23]\.\d+ `)
	for _, w := range []int{60, 80, 100, 160, 200} {
		for _, now := range []time.Duration{12 * time.Second, 20 * time.Second, 25 * time.Second} {
			lines := labtest.Draw(comparedPane(busy(now), w, 24), labtest.NewView(busy(now)), w, 10)
			text := lines[3]
			if !early.MatchString(text) || strings.Contains(text, "significant") || strings.Contains(text, " to ") || !strings.Contains(text, "too early") ||
				w > 60 && !strings.Contains(strings.Join(lines, "\n"), "95 % CI: from 15.0 s on") {
				t.Errorf("at %v, %d columns: %q", now, w, lines)
			}
		}
		for _, now := range []time.Duration{27 * time.Second, 30 * time.Second} {
			text := labtest.Draw(comparedPane(busy(now), w, 24), labtest.NewView(busy(now)), w, 10)[3]
			hasInterval := sure.MatchString(text) || w == 60
			if !hasInterval || !strings.Contains(text, "worse") || strings.Contains(text, "not significant") {
				t.Errorf("at %v, %d columns: %q", now, w, text)
			}
		}
	}
}

// TestLoopPointsAreLeftOut: the samples at a loop point are in no figure and in no interval, even if
// a lane sends a hundred times as much there.
func TestLoopPointsAreLeftOut(t *testing.T) {
	plain, looped := labtest.FourShadows(), labtest.FourShadows()
	const at, lasts = 80 * time.Second, 300 * time.Millisecond
	for i := range looped.Lanes {
		l := &looped.Lanes[i]
		for k := range l.Samples {
			if s := &l.Samples[k]; s.T > at && s.T <= at+lasts && i == 1 { // of one lane only, but left out of all
				s.PayloadBits, s.CrossingLoop = 100*s.PayloadBits, 6
			}
		}
		for k := range l.Packets {
			if p := &l.Packets[k]; p.Sent >= at && p.Sent < at+lasts && i == 1 {
				p.EncodeNS, p.CrossesLoop = 3.6e12, true
			}
		}
	}
	c, want := compareLanes(looped), compareLanes(plain)
	n := len(want.Lanes[0].Payload)
	if c.LoopSamples != want.LoopSamples+3 || len(c.Lanes[0].Payload) != n-3 {
		t.Errorf("%d samples left out, %d of %d kept", c.LoopSamples, len(c.Lanes[0].Payload), n)
	}
	for i, r := range c.rows {
		from := plain.Lanes[4].Began + engine.WarmUp
		bits, n := 0.0, 0.0
		for _, s := range plain.Lanes[i].Samples {
			if s.T > from && s.CrossingLoop == 0 && (s.T <= at || s.T > at+lasts) {
				bits, n = bits+float64(s.PayloadBits), n+1
			}
		}
		if got := r.figures[figureKbps]; math.Abs(got-bits/n/100) > 1e-6 {
			t.Errorf("%s: %v kbps, want %v", r.name, got, bits/n/100)
		}
		if largest := slices.Max(r.lanes.encode); largest >= 3.6e9 {
			t.Errorf("%s: %v µs of a loop count", r.name, largest)
		}
	}
	if text := strings.Join(labtest.Draw(comparedPane(looped, 160, 48), labtest.NewView(looped), 160, 12), "\n"); !strings.Contains(text,
		"leaving out 0.5 s at loop points") {
		t.Errorf("the footnote does not mention it:\n%s", text)
	}
}

// TestSparklinesShareAScale: an encoder that sends a third as much is a third as high.
func TestSparklinesShareAScale(t *testing.T) {
	snap := labtest.FourShadows()
	for i := range snap.Lanes {
		for k := range snap.Lanes[i].Samples {
			snap.Lanes[i].Samples[k].PayloadBits = []int64{14_700, 43_300, 43_300, 21_650, 5_412}[i]
		}
	}
	want := map[string]string{"●": "▃", "○": "█", "△": "█", "□": "▅", "◇": "▂"} // level 1 + round(7 share of 433)
	lines := strings.Split(viewOf(snap, 200, 46), "\n")
	for sign, level := range want {
		i := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, " "+sign+" ") })
		if i < 0 || !strings.Contains(lines[i], strings.Repeat(level, sparkWidth)) {
			t.Errorf("%s lacks a level chart of %s:\n%s", sign, level, strings.Join(lines[:10], "\n"))
		}
	}
	if !strings.Contains(lines[2], "last minute, 0 to 433 kbps") {
		t.Errorf("the heading lacks the scale: %s", lines[2])
	}
}

// TestChartsBelowTheTable: c selects the chart below the table. The chart of ratios is also shown below it
// if there is room and a shadow.
func TestChartsBelowTheTable(t *testing.T) {
	names := []string{"Payload kbps", "Bits per changed cube", "Decode failures/s", "Payload ratio"}
	for h, want := range map[int][]string{46: {"03", "13", "23", "3", "03"}, 22: {"0", "1", "2", "3", "0"}} {
		_, s := stageOf(&labtest.Lab{Snap: labtest.FourShadows()}, 160, h)
		for i, charts := range want {
			if i > 0 {
				s.Press("c")
			}
			got := ""
			for k, name := range names {
				if strings.Contains(s.View(), name+", 2 s mean") {
					got += strconv.Itoa(k)
				}
			}
			if got != charts {
				t.Errorf("%d rows, c pressed %d times: charts %q, want %q\n%s", h, i, got, charts, s.View())
			}
		}
	}
	_, s := stageOf(labtest.NewLab(), 160, 46)
	for range 4 {
		if s.Press("c"); strings.Contains(s.View(), "Payload ratio") {
			t.Error("a ratio chart without shadows")
		}
	}
}

// TestReference: r compares all lanes with the selected one, with words for better and worse; esc with the
// best.
func TestReference(t *testing.T) {
	p, m := stageOf(&labtest.Lab{Snap: labtest.FourShadows()}, 200, 46)
	m.Press("down", "r")
	lines := strings.Split(m.View(), "\n")
	for i, want := range []string{"vs A relative-orientation", "better by", "reference", "worse by", "worse by", "worse by"} {
		if !strings.Contains(lines[2+i], want) {
			t.Errorf("no %q in %s", want, lines[2+i])
		}
	}
	own := p.rows[1].lanes
	for _, r := range p.data.rows {
		ratio := r.lanes.Kbps().Value() / own.Kbps().Value()
		if g := r.gap; r != p.reference && math.Abs(g.estimate-ratio) > 1e-9 {
			t.Errorf("%s: %v times the reference, want %v", r.name, g.estimate, ratio)
		}
	}
	m.Press("esc")
	if v := m.View(); !strings.Contains(v, "vs best") || strings.Contains(v, "better by") {
		t.Errorf("after esc:\n%s", v)
	}
}

// TestSwapRestartsComparison: a swap of the active encoder or a new shadow restarts the comparison.
func TestSwapRestartsComparison(t *testing.T) {
	snap := labtest.FourShadows()
	snap.Log = []config.StampedChange{
		{T: 60 * time.Second, Change: config.NewChange("encoder.name", "raw")},
		{T: 70 * time.Second, Change: config.NewChange("down.loss", "1%")},
		{T: 80 * time.Second, Change: config.NewChange("encoder.params.x", 1)},
		{T: 95 * time.Second, Change: config.NewChange("encoder.name", "later")}, // after the time cursor
	}
	if got := lockstep.CommonSamples(snap).From; got != 81*time.Second {
		t.Errorf("compared since %v, want 81 s", got)
	}
	snap.Now = 80500 * time.Millisecond
	for i := range snap.Lanes {
		snap.Lanes[i].Samples = meters.Between(snap.Lanes[i].Samples, 0, snap.Now)
	}
	c := compareLanes(snap)
	for _, r := range c.rows {
		r.lanes.gapTo(&c.rows[0].lanes, figureKbps)
		if v := r.figures[figureKbps]; !math.IsNaN(v) {
			t.Errorf("%s has %v kbps without data", r.name, v)
		}
	}
}

// TestFiguresOfOneLane: without shadows and swaps the figures are those of the whole run, as on page Live; while the time
// cursor is in the past they are the means of the samples up to there.
func TestFiguresOfOneLane(t *testing.T) {
	lab := labtest.NewLab()
	lane := &lab.Snap.Lanes[0]
	lane.Totals.Sent, lane.Totals.PayloadKbps = 5400, 77.7
	p, s := stageOf(lab, 160, 46)
	s.Tick(true)
	if got := p.rows[0].figures[figureKbps]; got != 77.7 {
		t.Errorf("%v kbps, want 77.7", got)
	}
	cut := *lab.Snap
	cut.Now, cut.Lanes = 300*time.Millisecond, slices.Clone(cut.Lanes)
	cut.Lanes[0].Samples = lane.Samples[:3]
	p.Observe(room.View{Snap: &cut, Now: lab.Snap, Past: true, Cfg: cut.Config, RedrawDue: true})
	sum := meters.Sum(cut.Lanes[0].Samples)
	if got, want := p.rows[0].figures[figureKbps], float64(sum.PayloadBits)/300; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v kbps of the first 0.3 s, want %v", got, want)
	}
	p.Observe(room.View{Snap: &cut, Past: true, Cfg: cut.Config}) // the run up to there was repeated
	if got := p.rows[0].figures[figureKbps]; got != 77.7 {
		t.Errorf("%v kbps of the repeated run, want 77.7", got)
	}
}

// TestSortByEveryFigure: the cursor stays on its encoder, the figures ascend, and an encoder that
// sends nothing is not the best.
func TestSortByEveryFigure(t *testing.T) {
	p, m := stageOf(&labtest.Lab{Snap: labtest.RefusingSnapshot()}, 160, 46)
	m.Press("down")
	name := p.selected().name
	for range numFigures + 1 {
		m.Press("S")
		before := math.Inf(-1)
		for at, r := range p.rows {
			v := r.figures[p.sortFigure()]
			if math.IsNaN(v) && slices.ContainsFunc(p.rows[at:], func(r *row) bool { return r.figures[p.sortFigure()] < math.Inf(1) }) {
				t.Errorf("by %d: a row without a value has rank %d", p.sortFigure(), at)
			}
			if v < before {
				t.Errorf("by %d: %v after %v", p.sortFigure(), v, before)
			}
			before = v
		}
		if p.selected().name != name {
			t.Errorf("the cursor went from %s to %s", name, p.selected().name)
		}
	}
	if !strings.Contains(m.View(), "packet of 70000 bytes does not fit") {
		t.Error("the error of an encoder that sends nothing is not shown")
	}
}

// comparedPane returns the table of a snapshot.
func comparedPane(snap *engine.Snapshot, w, h int) *table {
	p, _ := stageOf(&labtest.Lab{Snap: snap}, w, h)
	return p
}

// The work of page 5 except drawing: comparing, and one interval for each lane, twice per second, with five
// minutes of samples and ten seconds of packets of five encoders.
func BenchmarkCompareGather(b *testing.B) {
	snap := labtest.Shadows(300*time.Second, "rotor", "raw", "quantized", "changed-index")
	for b.Loop() {
		compareLanes(snap)
	}
}

func BenchmarkCompareInterval(b *testing.B) {
	snap := labtest.Shadows(300*time.Second, "rotor", "raw", "quantized", "changed-index")
	c := compareLanes(snap)
	for f := range numFigures {
		b.Run(f.text("cube").head, func(b *testing.B) {
			for b.Loop() {
				c.rows[1].lanes.gapTo(&c.rows[0].lanes, f)
			}
		})
	}
}
