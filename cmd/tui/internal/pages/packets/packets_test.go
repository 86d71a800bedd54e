package packets

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/inspector"
)

// Each filter takes what it says, and f goes round those that take any.
func TestFilters(t *testing.T) {
	lab := labtest.NewPackets()
	page := New()
	m := labtest.NewStage(page, labtest.Opening{Lab: lab}, 160, 46)
	p := page.list
	seen := map[room.Filter]int{}
	for range 12 {
		n := 0
		for i := range lab.Snap.Lanes[0].Packets {
			if p.filter.Takes(&lab.Snap.Lanes[0].Packets[i]) {
				n++
			}
		}
		if got := len(p.shown()); got != n || n == 0 {
			t.Errorf("filter %v shows %d of %d", p.filter, got, n)
		}
		seen[p.filter] = n
		m.Press("f")
	}
	// all, trouble, in flight, ok, late, lost, no baseline; duplicate if there is one
	if seen[room.FilterAll] != len(lab.Snap.Lanes[0].Packets) || len(seen) != 7 {
		if len(seen) != 8 {
			t.Errorf("seen %v", seen)
		}
	}
}

// The arrows open packets: each wish reaches the lab, the answer shows, also while
// time stands still; left and right go from failure to failure, enter to the baseline.
func TestArrowsOpenPackets(t *testing.T) {
	lab := labtest.Opening{Lab: labtest.NewPackets()}
	lab.Snap.State = engine.Paused
	page := New()
	m := labtest.NewStage(page, lab, 160, 46)
	m.Press("left")
	p := page.list
	first := *p.record(p.chosen)
	if !room.Troubled(&first) || lab.Got[len(lab.Got)-1].Open == nil || *lab.Got[len(lab.Got)-1].Open != p.chosen {
		t.Fatalf("left chose %+v, the lab was asked %v", first, lab.Got)
	}
	for i := range p.all { // none newer
		if r := &p.all[i]; r.Seq > first.Seq && room.Troubled(r) {
			t.Fatalf("%d is a newer failure than %d", r.Seq, first.Seq)
		}
	}
	view := m.View()
	if !strings.Contains(view, "Packet "+strconv.FormatUint(first.Seq, 10)) ||
		!strings.Contains(view, "packet "+strconv.FormatUint(first.Seq, 10)+" ") || !strings.Contains(view, "orientation") {
		t.Errorf("the opened packet is not shown:\n%s", view)
	}
	m.Press("enter")
	if p.chosen.Seq != first.Seq-uint64(first.Baseline) {
		t.Errorf("enter went from %d to %d, its baseline is %d back", first.Seq, p.chosen.Seq, first.Baseline)
	}
	m.Press("up")
	if r := p.record(p.chosen); r == nil || r.Seq > first.Seq-uint64(first.Baseline) {
		t.Errorf("up went to %+v", p.chosen)
	}
	m.Click(20, 2+3)
	clicked := p.all[p.shown()[p.first]].Seq // the list may have moved to have it in the middle
	if o := lab.Got[len(lab.Got)-1].Open; o == nil || *o != p.chosen || p.chosen.Seq < clicked {
		t.Errorf("a click chose %v, the lab was asked for %v", p.chosen, o)
	}
	m.Press("esc")
	if p.choosing || !strings.Contains(m.View(), "The last trouble") {
		t.Error("esc lets nothing go")
	}
}

// Whoever comes back to the page after a while sees the trouble that was the last one, and
// not the one that was when they left.
func TestLastTroubleIsTheLast(t *testing.T) {
	lab := labtest.NewPackets()
	page := New()
	m := labtest.NewStage(page, lab, 160, 46)
	was := lab.Snap.Lanes[0].Troubles[0].Opened.ID
	for _, c := range []struct {
		away time.Duration
		same bool // it is held for long enough to be read
	}{{time.Second, true}, {29 * time.Second, false}} {
		snap := *lab.Snap
		snap.Now += c.away
		snap.Lanes = slices.Clone(snap.Lanes)
		next := snap.Lanes[0].Troubles[0]
		next.T, next.Opened.ID.Seq = snap.Now, next.Opened.ID.Seq+100
		snap.Lanes[0].Troubles = append([]inspector.Incident{next}, snap.Lanes[0].Troubles...)
		lab.Snap = &snap
		m.Tick(false)
		if got := page.inside.opened.ID; (got == was) != c.same || !c.same && got != next.Opened.ID {
			t.Errorf("after %v packet %v is shown, the newest trouble is %v", c.away, got, next.Opened.ID)
		}
	}
}
