package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine"
)

// TestCrowdSelectsClients checks that keys select clients in the order of the list, and request their packets.
func TestCrowdSelectsClients(t *testing.T) {
	lab := newCrowdLab(1000)
	m := large(lab)
	selected := func(want int, keys string) {
		t.Helper()
		lab.Got = nil
		press(m, keys)
		if len(lab.Got) != 1 || lab.Got[0].Client != want {
			t.Errorf("%v: commands %+v, want client %d", keys, lab.Got, want)
		}
	}
	checkShown(t, m, "▾trip ms") // the longest first; those with equal ones by number
	selected(996, "g")
	selected(997, "down")
	selected(6, "G")
	selected(6, "down")
	press(m, "tab")
	selected(8, "left") // 1000 clients in 100 columns
	press(m, "tab tab tab enter")
	checkShown(t, m, "Packet 5063")
}

// TestCrowdOmitsClientsThatLeft checks that the strip and the explanation have only the clients in the game.
func TestCrowdOmitsClientsThatLeft(t *testing.T) {
	lab := newCrowdLab(1000)
	m := large(lab)
	lab.Snap = crowdSnapshot(1000, 91*time.Second)
	x := lab.Snap.Crowd
	clear(x.Clients[50:])
	x.Recent.Clients = 50
	for i := range x.Samples {
		x.Samples[i].Packets = 50 * x.Samples[i].Ticks
	}
	redraw(m)
	press(m, "x")
	checkShown(t, m, "last 2 s  50 clients", "a bar for each client", "headers of 50 clients")
	press(m, "esc G")
	if n := len(lab.Got); n == 0 || lab.Got[n-1].Client < 1 || lab.Got[n-1].Client > 50 {
		t.Errorf("key G: commands %+v, want one of 50 clients", lab.Got)
	}
}

// TestCrowdCrosshair checks that the legends of the charts have the means of the two seconds before the crosshair, computed
// here from the samples, and that the footer omits the keys that a crowd refuses.
func TestCrowdCrosshair(t *testing.T) {
	lab := newCrowdLab(200)
	m := large(lab)
	checkLacking(t, m, "tour")
	press(m, "( ( (")
	if now := lab.Snap.Now; m.crosshair == 0 || m.crosshair >= now {
		t.Fatalf("the crosshair is at %v, now is %v", m.crosshair, now)
	}
	encode := func(until time.Duration) (us int64) {
		ticks := int64(0)
		for _, s := range lab.Snap.Crowd.Samples {
			if s.T > until-2*time.Second && s.T <= until {
				us, ticks = us+s.CPU.Encode/1000, ticks+int64(s.Ticks)
			}
		}
		return (us + ticks/2) / ticks
	}
	want := fmt.Sprintf("encode %5d", encode(m.crosshair))
	if want == fmt.Sprintf("encode %5d", encode(lab.Snap.Now)) {
		t.Fatal("the mean does not change with time, so that the test is of no use")
	}
	if view := after(m); !strings.Contains(view, look.FormatTime(m.crosshair)) || !strings.Contains(view, want) {
		t.Errorf("the charts lack %s or %q:\n%s", look.FormatTime(m.crosshair), want, view)
	}
}

// TestCrowdPages checks that a crowd has only the pages that have something to show, those of the selected client only if
// it is repeated, and that the keys which need a single receiver refuse.
func TestCrowdPages(t *testing.T) {
	open := func() *dashboard { return large(newCrowdLab(200)) }
	lab := newCrowdLab(200)
	m := large(lab)
	checkShown(t, m, "[1 Crowd] 2 Bits  3 Packets  4 World  5 Compare ")
	checkLacking(t, m, "Live ")
	for key, want := range map[string]string{"1": "Clients, last 2 s", "2": "Bit budget", "3": "Packets filter all", "4": "Sender", "5": "a crowd of 200 clients: the page Crowd has its figures", "6": "no such key here",
		"/tour": "the tour needs snapshots of cubes and one receiver", "<": "1.0 s AGO"} {
		m := open()
		press(m, "1", key)
		if view := oneLine(m.View()); !strings.Contains(view, want) {
			t.Errorf("key %s does not show %q:\n%s", key, want, m.View())
		}
	}
	press(m, "3 ]")
	if got := m.lab.Snap.Crowd; len(lab.Got) != 1 || lab.Got[0].Client < 1 || lab.Got[0].Client == got.Selected {
		t.Errorf("the key for the next client sends %+v", lab.Got)
	}
	lab.Snap = crowdSnapshot(200, 91*time.Second)
	lab.Snap.Crowd.Client, lab.Snap.Crowd.NoClient = nil, "client 7 joins later"
	tick(m, 1)
	checkShown(t, m, "client 7 joins later", "[3 Packets]")
	press(m, "1")
	tick(m, 1)
	checkShown(t, m, "[1 Crowd] 2 Compare ")
	press(m, "2 x")
	checkShown(t, m, "x explains a crowd on the page Crowd")
	press(m, "1 x")
	checkShown(t, m, "A tick costs the server 386 µs of one core", "6.3 encodings")
}

// TestOtherClient checks that pages of a client show nothing of the one selected before, also while time stands still.
func TestOtherClient(t *testing.T) {
	lab := newCrowdLab(200)
	now := lab.Snap.Now
	m := large(lab)
	show := func(client *engine.Snapshot) {
		press(m, "1")
		lab.Snap = crowdSnapshot(200, now)
		lab.Snap.State, lab.Snap.Crowd.Selected, lab.Snap.Crowd.Client = engine.Paused, 20, client
		tick(m, 1)
	}
	show(lab.Snap.Crowd.Client)
	press(m, "2 3")
	checkShown(t, m, "5401 of 5401")
	show(&engine.Snapshot{Now: now, Config: lab.Snap.Config, Schema: lab.Snap.Schema, Past: &engine.Past{To: now, Reached: 4 * time.Second}})
	for _, page := range []string{"2", "3", "4"} {
		press(m, page)
		checkShown(t, m, "The run is being repeated up to 01:30.0: reached 00:04.0. ")
	}
	other := labtest.Snapshot(now - 30*time.Second)
	other.Now, other.Client = now, 20
	show(other)
	press(m, "3")
	checkShown(t, m, "3601 of 3601")
	checkLacking(t, m, "5401 of 5401")
	press(m, "2")
	checkLacking(t, m, "repeated", "press v")
}

// BenchmarkCrowd160x48 draws a frame of the page in which all panes have changed.
func BenchmarkCrowd160x48(b *testing.B) {
	for _, clients := range []int{200, 10_000} {
		snaps := make([]*engine.Snapshot, 50)
		for i := range snaps {
			snaps[i] = crowdSnapshot(clients, 90*time.Second+time.Duration(i)*tickEvery)
		}
		b.Run(fmt.Sprint(clients), func(b *testing.B) {
			lab := &labtest.Lab{Snap: snaps[0]}
			m := screen(lab, 160, 48, Options{Renderer: labtest.ColourRenderer()})
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				lab.Snap = snaps[i%len(snaps)]
				redraw(m)
				_ = m.View()
			}
		})
	}
}
