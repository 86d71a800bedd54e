package packets

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/packetfilter"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
)

// TestFilters: each filter lists the packets it names, and f cycles through filters that match any.
func TestFilters(t *testing.T) {
	lab := labtest.NewPackets()
	page := New()
	m := labtest.NewStage(page, lab, 160, 46)
	p := labtest.Pane[*packets](page)
	seen := map[string]int{}
	for range 12 {
		n := 0
		for _, r := range lab.Records() {
			if p.filter.Matches(&p.env, &r) {
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
	if seen["all"] != len(lab.Records()) || len(seen) != 7 {
		if len(seen) != 8 {
			t.Errorf("seen %v", seen)
		}
	}
}

// TestArrowsOpenPackets: the arrows request packets from the lab, and the answer is shown, also while
// the time stands still; left and right move between failures, enter shows the bits, and there moves to the baseline.
func TestArrowsOpenPackets(t *testing.T) {
	lab := labtest.NewPackets()
	lab.Snap.State = engine.Paused
	page := New()
	m := labtest.NewStage(page, lab, 160, 46)
	m.Press("left")
	p := labtest.Pane[*packets](page)
	first := *p.selectedRecord()
	if !packetfilter.InTrouble(&first) || lab.Got[len(lab.Got)-1].Open == nil || *lab.Got[len(lab.Got)-1].Open != p.selected {
		t.Fatalf("left chose %+v, the lab was asked %v", first, lab.Got)
	}
	for _, r := range lab.Records() { // none newer
		if r.Seq > first.Seq && packetfilter.InTrouble(&r) {
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
	if m.Press("esc"); p.selected.Seq != first.Seq || !p.bits.on {
		t.Errorf("esc went back to %d, want the bits of %d", p.selected.Seq, first.Seq)
	}
	m.Press("esc", "up")
	if r := p.selectedRecord(); r == nil || r.Seq >= first.Seq {
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

// A filter that does not select the selected packet selects the next one; the packet without a selection is one that the
// filter selects. The details scroll if they do not fit, and say so.
func TestDetailsFollowTheFilter(t *testing.T) {
	lab := labtest.NewPackets()
	lab.Snap.State = engine.Paused
	page := New()
	m := labtest.NewStage(page, lab, 60, 18)
	p := labtest.Pane[*packets](page)
	lost, _ := packetfilter.Parse("lost")
	ok, _ := packetfilter.Parse("ok")
	for _, f := range []packetfilter.Filter{ok, lost} {
		m.Press("up")
		before := p.selected.Seq
		if p.setFilter(f); !f.Matches(&p.env, p.selectedRecord()) {
			t.Errorf("filter %s selects packet %d with the outcome %v", f, p.selected.Seq, p.selectedRecord().Outcome)
		}
		for n := p.run.first(); n < p.run.end(); n++ {
			if r := p.run.at(n); r.Seq >= before && f.Matches(&p.env, r) {
				if p.selected.Seq != r.Seq {
					t.Errorf("filter %s goes from packet %d to %d, want %d", f, before, p.selected.Seq, r.Seq)
				}
				break
			}
		}
	}
	m.Tick(true)
	m.Press("up", "tab")
	if !strings.Contains(m.View(), " more ↓") {
		t.Fatalf("the details fit:\n%s", m.View())
	}
	if m.Move(0, room.ListEnd); !strings.Contains(m.View(), " % ") || labtest.Pane[*details](page).top == 0 {
		t.Errorf("the details do not scroll:\n%s", m.View())
	}
	m.Press("esc")
	p.setFilter(lost)
	m.Tick(true)
	if o := labtest.Pane[*details](page).opened; o == nil || o.Record.Outcome != packetlog.Lost {
		t.Errorf("with the filter lost the details show %+v", o)
	}
}

// While the run is repeated up to a packet, its pane says so.
func TestRepeatingIsShown(t *testing.T) {
	lab := labtest.NewPackets()
	page := New()
	m := labtest.NewStage(page, lab, 160, 46)
	m.Press("up")
	snap := *lab.Snap
	snap.Opened, snap.Past = nil, &engine.Past{ID: 1, To: 12 * time.Second, Reached: 3 * time.Second}
	lab.Snap = &snap
	m.Tick(true)
	for _, want := range []string{"The run is being repeated", "00:12.0", "reached 00:03.0"} {
		if !strings.Contains(m.View(), want) {
			t.Errorf("no %q:\n%s", want, m.View())
		}
	}
}
