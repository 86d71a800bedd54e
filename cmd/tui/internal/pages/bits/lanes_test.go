package bits

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/encoders"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/units"
)

// TestSortByCost checks that S lists the fields of wide data by their cost, and back.
func TestSortByCost(t *testing.T) {
	lab := labtest.NewCalls()
	p, m := labtest.NewPaneStage[*table](New(&panes.SelectedShadow{}), lab, 160, 48)
	inOrder := slices.Clone(p.slots)
	if !slices.IsSorted(inOrder) {
		t.Fatal("the fields are not in their order at first")
	}
	sum := func(k encoders.Slot) (units int64) { // what the packets of the samples spent
		for _, l := range lab.Snap.Lanes[:min(2, len(lab.Snap.Lanes))] {
			units += l.Recent.Budget.Units[k]
			for _, s := range meters.Tail(l.Samples, p.axis.Span()) {
				units += s.Budget.Units[k]
			}
		}
		return units
	}
	m.Press("S")
	if !slices.IsSortedFunc(p.slots, func(a, b encoders.Slot) int { return cmp.Compare(sum(b), sum(a)) }) {
		t.Errorf("by cost: %v", p.slots)
	}
	if slices.IsSorted(p.slots) || len(p.slots) != len(inOrder) || !strings.Contains(m.View(), "by cost") {
		t.Errorf("the order did not change:\n%s", m.View())
	}
	m.Press("down")
	if p.selected != int(p.slots[0]) {
		t.Error("down does not select the most expensive field")
	}
	m.Press("S")
	if !slices.Equal(p.slots, inOrder) {
		t.Error("S does not restore the order")
	}
}

// TestSeveralShadows checks the choice of lanes, and the figures of each lane in every unit.
func TestSeveralShadows(t *testing.T) {
	lab := labtest.FourShadows()
	for i := range lab.Lanes {
		lab.Lanes[i].Letter = string(rune('A' + i))
		total := encoders.Budget{}
		total.Bits(encoders.SlotPosition, 600*(i+1))
		total.Bits(encoders.SlotIndex, 400)
		lab.Lanes[i].Recent.Budget = total
		lab.Lanes[i].Recent.PayloadKbps = float64(1000 + 600*i)
	}
	p, m := labtest.NewPaneStage[*table](New(&panes.SelectedShadow{}), &labtest.Lab{Snap: lab}, 160, 48)
	box := p.shadowList()
	for _, k := range []string{"down", "space", "down", "down", "space"} { // the first shadow is selected already: B, C, E
		box.Key(labtest.KeyMsg(k))
	}
	if got := p.shadowChoice.Indices(p.lanes); !slices.Equal(got, []int{1, 2, 4}) {
		t.Fatalf("lanes %v are chosen", got)
	}
	view := m.View()
	row := ""
	for _, line := range strings.Split(view, "\n") {
		if strings.Contains(line, " payload ") && strings.Contains(line, "+600.0") {
			row = line
		}
	}
	for _, want := range []string{"1000.0", "1600.0", "+600.0", "2200.0", "+1200.0", "3400.0", "+2400.0"} {
		if !strings.Contains(row, want) {
			t.Errorf("the sums lack %s: %q\n%s", want, row, view)
		}
	}
	if strings.Contains(row, "2800.0") {
		t.Error("lane D is shown")
	}
	m.Press("right")            // shares
	share := 100 * 1200. / 1600 // of position in lane B
	if !strings.Contains(m.View(), units.Fixed(share, 1)) {
		t.Errorf("the share %g is lacking:\n%s", share, m.View())
	}
	if cheapest := p.cheapestShadow(); cheapest.Letter != "B" || math.IsNaN(cheapest.Recent.PayloadKbps) {
		t.Errorf("the cheapest shadow is %s", cheapest.Letter)
	}
	box.Key(labtest.KeyMsg("space")) // E leaves
	box.Key(labtest.KeyMsg("up"))
	box.Key(labtest.KeyMsg("enter"))
	if got := p.shadowChoice.Indices(p.lanes); !slices.Equal(got, []int{3}) {
		t.Errorf("enter chose %v", got)
	}
	box.Key(labtest.KeyMsg("space")) // the last one stays
	if got := p.shadowChoice.Indices(p.lanes); !slices.Equal(got, []int{3}) {
		t.Errorf("the last lane was removed: %v", got)
	}
}
