package panes

import (
	"math"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
)

func TestFailuresAreRates(t *testing.T) {
	lane := &labtest.NewDamaged().Snap.Lanes[0]
	lane.Totals.Failures.UnknownCodec = 1
	p := &Charts{Lane: *lane, TimeAxis: TimeAxis{End: int64(len(lane.Samples))}}
	k := p.failureChart(labtest.Theme(false))
	for i, outcome := range []packetlog.Outcome{packetlog.NoBaseline, packetlog.Corrupt, packetlog.UnknownCodec} {
		n := int64(0)
		for _, s := range lane.Samples[len(lane.Samples)-20:] { // of 100 ms
			n += *outcome.In(&s.Counts)
		}
		line := &k.Lines[i]
		if got := p.samples().figure(&k, line, lane.Samples); got != units.Fixed(float64(n)/2, 1) {
			t.Errorf("%v: %v a second, want %d in 2 s", outcome, got, n)
		}
	}
	if got := (&Charts{}).samples().figure(&k, &k.Lines[0], nil); got != "" {
		t.Error("failures before the first sample")
	}
}

func TestSummaryLineOmitsWholeFigures(t *testing.T) {
	p := &SummaryLine{}
	p.Observe(labtest.NewView(labtest.NewDamaged().Snap))
	for w := 60; w <= 100; w++ {
		c := look.NewCanvas(w, 1)
		p.Draw(c, labtest.Theme(false), false)
		line := c.Lines(labtest.Theme(false))[0]
		if strings.Contains(line, "…") || !strings.Contains(line, "payload  11.3") || !strings.Contains(line, "loss  8.33 %") ||
			!strings.Contains(line, "run  failed 6") {
			t.Errorf("%d columns: %q", w, line)
		}
		if strings.Contains(line, "per changed") != strings.Contains(line, " bits") {
			t.Errorf("%d columns: the unit is cut: %q", w, line)
		}
	}
	if failed := p.failures(false)[1]; failed.Style != look.Bad {
		t.Errorf("48 failed packets are not red: %+v", failed)
	}
	p.lane.Totals.Wrong = 2
	c := look.NewCanvas(60, 1)
	p.Draw(c, labtest.Theme(false), false)
	if line := c.Lines(labtest.Theme(false))[0]; !strings.Contains(line, "wrong 2") {
		t.Errorf("the wrong count is omitted: %q", line)
	}
}

// TestBitsPerChangedAgree: the line ends at the figure of its legend and of the table, also if few items changed; none
// of them has a value if no item changed.
func TestBitsPerChangedAgree(t *testing.T) {
	for _, changed := range []int64{0, 1, 4, 40} {
		snap := labtest.NewLab().Snap
		lane := &snap.Lanes[0]
		for i := range lane.Samples {
			lane.Samples[i].Changed = changed * int64(lane.Samples[i].Sent)
		}
		lane.Recent = meters.RecentOf(lane.Samples, 60)
		p := &Charts{}
		p.Observe(labtest.NewView(snap))
		k := p.charts(labtest.Theme(false))[ItemChart]
		values := p.samples().Spec(&k, labtest.Theme(false), 100).Series[0]
		n := len(values.Values) - meanWindow
		line := chart.Columns(values.Values[n:], values.Weights[n:], int64(meanWindow), meanWindow, 1, chart.Mean)[0]
		title, table := bitsPerChangedText(lane.Samples[len(lane.Samples)-meanWindow:]), FiguresOf(lane, "cube").Recent("bits_per_changed_cube")
		if want := FormatBitsPerItem(line); title != want || table != want || (want == "-") != (changed == 0) {
			t.Errorf("%d changed: the line ends at %s, the title says %s, the table %s", changed, want, title, table)
		}
	}
}

// TestEnoughChanged: one changed call is enough, because a frame has only one; one cube is not.
func TestEnoughChanged(t *testing.T) {
	for _, c := range []struct {
		s    meters.Sample
		want bool
	}{
		{meters.Sample{Counts: figures.Counts{Sent: 6}, Sizes: meters.Sizes{Items: 6, Changed: 6}}, true},
		{meters.Sample{Counts: figures.Counts{Sent: 6}, Sizes: meters.Sizes{Items: 3000, Changed: 3000}}, true},
		{meters.Sample{Counts: figures.Counts{Sent: 6}, Sizes: meters.Sizes{Items: 6 * 901, Changed: 29}}, false},
		{meters.Sample{Counts: figures.Counts{Sent: 6}, Sizes: meters.Sizes{Items: 6 * 901, Changed: 30}}, true},
		{meters.Sample{}, false},
	} {
		if got := EnoughChanged(&c.s); got != c.want {
			t.Errorf("%+v: %v", c.s, got)
		}
	}
	if got := PerItemShort(PerItemUnit(frame.Cubes(901), "cube")) + " " + PerItemShort(PerItemUnit(&frame.Schema{Rows: 1}, "call")); got != "changed call" {
		t.Errorf("columns are headed %q", got)
	}
}

func TestBudgetSharesAddUp(t *testing.T) {
	p := &Bits{}
	snap := labtest.Snapshot(time.Minute)
	b := &snap.Lanes[0].Recent.Budget
	b.Bits(encoders.FieldSlot(0), 123) // a slot of the schema
	p.Observe(labtest.NewView(snap))
	sum := 0.0
	for _, part := range p.Parts() {
		sum += part.Share
		if part.Name == "" || part.Name == "other" {
			t.Errorf("a slot without a name: %+v", part)
		}
	}
	if math.Abs(sum-1) > 1e-9 || len(p.Parts()) != 7 {
		t.Errorf("%d parts sum to %v", len(p.Parts()), sum)
	}
}

func TestBarIsFullAndInProportion(t *testing.T) {
	p := &Bits{}
	lines := labtest.Draw(p, labtest.NewView(labtest.Snapshot(time.Minute)), 104, 7)
	bar := []rune(lines[1])[2:102]
	counts := map[rune]int{}
	for _, r := range bar {
		counts[r]++
	}
	if counts[' '] > 2*6 { // the spaces around the names
		t.Errorf("the bar has holes: %q", string(bar))
	}
	for slot, want := range map[encoders.Slot]int{encoders.SlotPosition: 43, encoders.SlotOrientation: 42} {
		name := len(slot.Name(nil)) + 2
		if got := counts[look.Shade(int(slot))] + name; got < want-1 || got > want+1 {
			t.Errorf("%s takes %d of 100 columns, want %d", slot.Name(nil), got, want)
		}
	}
}
