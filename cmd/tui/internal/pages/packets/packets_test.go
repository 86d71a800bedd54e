package packets

import (
	"strconv"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/packetfilter"
	"wirelab/experiment/engine"
)

// TestFilters: each filter lists the packets it names, and f cycles through filters that match any.
func TestFilters(t *testing.T) {
	lab := labtest.NewPackets()
	page := New()
	m := labtest.NewStage(page, labtest.Opening{Lab: lab}, 160, 46)
	p := labtest.Pane[*packets](page)
	seen := map[string]int{}
	for range 12 {
		n := 0
		for i := range lab.Snap.Lanes[0].Packets {
			if p.filter.Matches(&p.env, &lab.Snap.Lanes[0].Packets[i]) {
				n++
			}
		}
		if got := p.length(); got != n || n == 0 {
			t.Errorf("filter %v shows %d of %d", p.filter, got, n)
		}
		seen[p.filter.String()] = n
		m.Press("f")
	}
	// all, trouble, in flight, ok, late, lost, no baseline; duplicate if there is one
	if seen["all"] != len(lab.Snap.Lanes[0].Packets) || len(seen) != 7 {
		if len(seen) != 8 {
			t.Errorf("seen %v", seen)
		}
	}
}

// TestArrowsOpenPackets: the arrows request packets from the lab, and the answer is shown, also while
// the time stands still; left and right move between failures, enter shows the bits, and there moves to the baseline.
func TestArrowsOpenPackets(t *testing.T) {
	lab := labtest.Opening{Lab: labtest.NewPackets()}
	lab.Snap.State = engine.Paused
	page := New()
	m := labtest.NewStage(page, lab, 160, 46)
	m.Press("left")
	p := labtest.Pane[*packets](page)
	first := *p.selectedRecord()
	if !packetfilter.IsFailure(&first) || lab.Got[len(lab.Got)-1].Open == nil || *lab.Got[len(lab.Got)-1].Open != p.selected {
		t.Fatalf("left chose %+v, the lab was asked %v", first, lab.Got)
	}
	for i := range lab.Snap.Lanes[0].Packets { // none newer
		if r := &lab.Snap.Lanes[0].Packets[i]; r.Seq > first.Seq && packetfilter.IsFailure(r) {
			t.Fatalf("%d is a newer failure than %d", r.Seq, first.Seq)
		}
	}
	view := m.View()
	if !strings.Contains(view, "Packet "+strconv.FormatUint(first.Seq, 10)) ||
		!strings.Contains(view, "packet "+strconv.FormatUint(first.Seq, 10)+" ") || !strings.Contains(view, "orientation") {
		t.Errorf("the opened packet is not shown:\n%s", view)
	}
	m.Press("enter", "enter")
	if p.selected.Seq != first.Seq-uint64(first.Baseline) {
		t.Errorf("enter went from %d to %d, its baseline is %d packets older", first.Seq, p.selected.Seq, first.Baseline)
	}
	m.Press("esc", "up")
	if r := p.selectedRecord(); r == nil || r.Seq > first.Seq-uint64(first.Baseline) {
		t.Errorf("up went to %+v", p.selected)
	}
	m.Click(20, 2+3)
	clicked := p.record(p.table.First).Seq // the list may have moved to have it in the middle
	if o := lab.Got[len(lab.Got)-1].Open; o == nil || *o != p.selected || p.selected.Seq < clicked {
		t.Errorf("a click chose %v, the lab was asked for %v", p.selected, o)
	}
	m.Press("esc")
	if p.hasSelection || !strings.Contains(m.View(), "Last problem") {
		t.Error("esc does not clear the selection")
	}
}
