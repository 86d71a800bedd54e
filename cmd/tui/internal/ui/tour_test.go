package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/experiment/engine"
)

// pass advances virtual time and lets the dashboard observe it.
func pass(m *dashboard, l *labtest.Echo, d time.Duration) {
	l.Pass(d)
	tick(m, baseTicksPerRedraw)
}

// TestTourOpensPages checks that the tour opens the pages that it describes, and finally the page
// on which it started.
func TestTourOpensPages(t *testing.T) {
	lab := labtest.NewEcho()
	m := screen(lab, minWidth, minHeight)
	press(m, "4") // the page of the world
	was := lab.Snap.Config.Clone()
	press(m, "/tour")
	for i, page := range []int{1, 1, 1, 1, 1, 1, 4, 6} {
		if m.open+1 != page {
			t.Errorf("step %d shows page %d, want %d", i+1, m.open+1, page)
		}
		if pass(m, lab, 8*time.Second); !strings.Contains(m.View(), fmt.Sprintf("Tour %d of 8", i+1)) {
			t.Errorf("step %d: no panel:\n%s", i+1, m.View())
		}
		checkView(t, m)
		press(m, []string{"enter", "space"}[i%2])
	}
	if m.tour != nil || !lab.Snap.Config.SameLive(was) || m.open+1 != 4 {
		t.Errorf("after the tour: %v, %s, page %d", m.tour != nil, lab.Snap.Config.Encoder.Name, m.open+1)
	}
	checkShown(t, m, "the tour has ended")
}

// TestTourCanBeLeft checks that leaving the tour, also after changes of settings, restores the
// state before the tour.
func TestTourCanBeLeft(t *testing.T) {
	for _, keys := range []string{
		"esc", "enter esc", "enter enter backspace esc", "backspace esc",
		"/loss 33%; esc", "enter; /encoder rotor; esc",
		"? esc esc", "p esc esc", "/ esc esc",
	} {
		lab := labtest.NewEcho()
		lab.Snap.State = engine.Paused
		m := screen(lab, 80, 24)
		was := lab.Snap.Config.Clone()
		press(m, "/tour")
		if lab.Snap.State != engine.Running {
			t.Error("time is paused in the tour")
		}
		for _, k := range keysOf(keys) {
			pass(m, lab, time.Second)
			pressOnce(m, k)
		}
		if m.tour != nil || !lab.Snap.Config.SameLive(was) || lab.Snap.State != engine.Paused {
			t.Errorf("%v: tour %v, %s, loss %v, paused %v", keys, m.tour != nil, lab.Snap.Config.Encoder.Name,
				lab.Snap.Config.Down, lab.Snap.State == engine.Paused)
		}
	}
}

// TestTourLeftOnFlow checks that the tour returns to the page of flow, which its first steps have no use for.
func TestTourLeftOnFlow(t *testing.T) {
	lab := labtest.NewEcho()
	lab.Snap.Config.Down.Rate.BitsPerSecond = 2_000_000
	m := screen(lab, 120, 36)
	press(m, "6; /tour")
	pass(m, lab, time.Second)
	press(m, "esc")
	if pass(m, lab, time.Second); m.page() != m.flow {
		t.Errorf("after the tour the page is %s", m.page().Name)
	}
}

func TestTourNeedsCubes(t *testing.T) {
	lab := labtest.NewLab()
	lab.Snap.Schema = &frame.Schema{Name: "chat", Item: "byte"}
	m := screen(lab, 80, 24, Options{Tour: true})
	if m.tour != nil || len(lab.Got) > 0 || !strings.Contains(m.View(), "tui tour") {
		t.Errorf("a tour of a chat: %v, %q\n%s", m.tour != nil, spell(lab.Got), m.View())
	}
}

// TestTourIsOffered checks that the first start shows one line about the tour, if the data suit it, and that a key
// dismisses it.
func TestTourIsOffered(t *testing.T) {
	const offer = "/tour shows the ideas"
	m := screen(labtest.NewEcho(), 80, 24, Options{OfferTour: true})
	if m.tour != nil || !strings.Contains(lastRow(m), offer) {
		t.Errorf("the first start shows %q", lastRow(m))
	}
	tick(m, 25)
	press(m, "down")
	checkLacking(t, m, offer)
	for _, lab := range []room.Lab{labtest.NewCalls(), newCrowdLab(200), newFile(3)} {
		if m := screen(lab, 80, 24, Options{OfferTour: true}); strings.Contains(m.View(), offer) {
			t.Errorf("a tour of %s is offered", m.lab.Snap.Config.Data.Source)
		}
	}
}
