package bits

import (
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/dataset"
	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/internal/units"
)

// TestVerdict: the verdict has the difference of the bandwidths. TestRowsAddUp checks the sums of the slots.
func TestVerdict(t *testing.T) {
	lab := labtest.NewBits(true)
	a := &budgetModel{shadowChoice: &panes.SelectedShadow{}, selected: -1}
	a.observe(labtest.NewView(lab.Snap))
	text, rest := (&table{budgetModel: a}).verdict()
	got := text + rest
	more := lab.Snap.Lanes[1].Recent.PayloadKbps - lab.Snap.Lanes[0].Recent.PayloadKbps
	if !strings.Contains(got, "changed-index uses "+units.Fixed(more, 1)+" kbps more") || !strings.Contains(got, "mostly on position") {
		t.Errorf("the verdict is %q, the difference is %.1f", got, more)
	}
}

// TestStackAddsUp: in every unit the height of the stack is the cost of the sample.
func TestStackAddsUp(t *testing.T) {
	lab := labtest.NewBits(false)
	a := &budgetModel{shadowChoice: &panes.SelectedShadow{}, selected: -1}
	a.observe(labtest.NewView(lab.Snap))
	p := &stack{budgetModel: a}
	s := &lab.Snap.Lanes[0].Samples[400]
	for unit, want := range map[stackUnit]float64{byKbps: float64(s.PayloadBits) / 100, byShare: 100,
		byChanged: float64(s.PayloadBits) / float64(s.Changed)} {
		a.unit = unit
		sum := 0.0
		for _, k := range p.slotOrder() {
			num, den := p.value(s, []encoders.Slot{k})
			sum += num / den
		}
		if math.Abs(sum-want) > 1e-6*want {
			t.Errorf("unit %d: %g is stacked, %g was spent", unit, sum, want)
		}
	}
}

// TestFillsAreDistinctWithoutColour: without colours each slot of the stack has its own fill.
func TestFillsAreDistinctWithoutColour(t *testing.T) {
	a := &budgetModel{shadowChoice: &panes.SelectedShadow{}, selected: -1}
	a.observe(labtest.NewView(labtest.NewBits(false).Snap))
	th := labtest.Theme(false)
	seen := map[rune]string{}
	samples, k := (&stack{budgetModel: a}).chart(a.active(), th)
	for _, area := range samples.Spec(&k, th, 100).Areas {
		if other, twice := seen[area.Fill]; twice {
			t.Errorf("%s and %s are both filled with %c", area.Name, other, area.Fill)
		}
		seen[area.Fill] = area.Name
	}
	if len(seen) != 6 {
		t.Errorf("%d parts", len(seen))
	}
}

// TestLoopPointNeverSetsTheScale: packets at a loop point are 40 times as large. The axes remain, in both charts and in
// all units, and a symbol marks the values above the chart.
func TestLoopPointNeverSetsTheScale(t *testing.T) {
	axis := regexp.MustCompile(`([0-9.]+)┤`)
	for _, unit := range []stackUnit{byKbps, byShare, byChanged} {
		var labels [2][][]string
		var view string
		for i := range labels {
			lab := labtest.NewBits(true)
			for l := range lab.Snap.Lanes {
				s := &lab.Snap.Lanes[l].Samples[len(lab.Snap.Lanes[l].Samples)-30]
				if i == 1 {
					s.CrossingLoop, s.PayloadBits = 1, 40*s.PayloadBits
					for k := range s.Budget.Units {
						s.Budget.Units[k] *= 40
					}
				}
			}
			p := New(&panes.SelectedShadow{})
			labtest.Pane[*table](p).unit = unit
			view = labtest.NewStage(p, lab, 160, 46).View()
			labels[i] = axis.FindAllStringSubmatch(view, -1)
		}
		if !reflect.DeepEqual(labels[0], labels[1]) {
			t.Errorf("unit %d: the axes are %v, want %v", unit, labels[1], labels[0])
		}
		if loop := string(look.MarkSymbol(engine.MarkLoop)); unit != byShare && strings.Count(view, loop) < 2 {
			t.Errorf("unit %d: no symbol %s above the charts:\n%s", unit, loop, view)
		}
		if strings.Count(view, "2 s mean") < 2 {
			t.Errorf("unit %d: the titles do not name the mean:\n%s", unit, view)
		}
	}
}

// The table describes what rounding loses of the selected field.
func TestRoundingOfSelectedField(t *testing.T) {
	lab := labtest.NewCalls()
	a := &budgetModel{shadowChoice: &panes.SelectedShadow{}, selected: -1}
	maximum, mean := 0.005, 0.0025
	field := labtest.CallFields()[2]
	lab.Snap.Precision = []dataset.Precision{{Field: field, Unit: "m", Scale: 0.01, Max: &maximum, Mean: &mean, P99: &maximum}}
	a.observe(labtest.NewView(lab.Snap))
	p := &table{budgetModel: a}
	if got := p.roundingOfSelected(); got != "" {
		t.Errorf("without a selection: %q", got)
	}
	a.selected = int(encoders.FieldSlot(2))
	if got, want := p.roundingOfSelected(), field+" in steps of 0.01 m: rounding lost at most 0.005 m, 0.0025 on average."; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	lab.Snap.Precision[0].Max = nil
	if got := p.roundingOfSelected(); !strings.HasSuffix(got, "is unknown.") {
		t.Errorf("of an unknown error: %q", got)
	}
}
