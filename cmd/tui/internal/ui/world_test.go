package ui

import (
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"

	tea "github.com/charmbracelet/bubbletea"
)

func TestKeysPlayTheWorld(t *testing.T) {
	for _, c := range []struct {
		keys string
		want string
	}{
		{"left", "press left"},
		{"up right", "press up; press right"},
		{"down down", "press down; press down"},
		{"h j k l", "press left; press down; press up; press right"},
		{"/hover", "hover off"}, // hover is on in the snapshot
		{"/katamari", "katamari on"},
		{"/autopilot", "autopilot off"},
		{"[ ] pgup pgdown c shift+left tab z Z enter esc", ""}, // keys that change only the display
		{"e down enter", "encoder rotor"},                      // general keys work on this page
		{"/press up left", "press up left"},
		{"/hover on", "hover on"},
		{"/katamari OFF", "katamari off"},
		{"/autopilot on", "autopilot on"},
		{"/reset", "reset the world"},
		{"1 left +", "encoder raw; speed 2"},
	} {
		lab := labtest.NewWorld()
		m := large(lab)
		press(m, "4", c.keys)
		checkSent(t, lab.Got, c.want)
	}
	lab := labtest.NewWorld()
	lab.Snap.State = engine.Paused
	m := large(lab)
	for keys, want := range map[string]string{"4 left": "does not move while time is paused", "4; /hover": "hover off, when time continues"} {
		press(m, keys)
		checkShown(t, m, want)
	}
	checkSent(t, lab.Got, "hover off")
}

// TestPastShowsNoCurrentWorld checks that a past moment shows no current cubes, but the figures
// of the display of that time.
func TestPastShowsNoCurrentWorld(t *testing.T) {
	lab := labtest.NewWorld()
	m := large(lab)
	press(m, "4")
	checkShown(t, m, " interact")
	press(m, "< <")
	view := m.View()
	for _, not := range []string{"interact", "ms behind", "autopilot"} {
		if strings.Contains(view, not) {
			t.Errorf("the past has %q", not)
		}
	}
	for _, want := range []string{"The run is being repeated", "Starved %"} {
		if !strings.Contains(view, want) {
			t.Errorf("the past lacks %q", want)
		}
	}
	past := *labtest.NewWorld().Snap
	past.Now = m.lab.Past.At
	lab.Snap.Past = &engine.Past{ID: 1, Snap: &past}
	press(m, "< >")
	checkShown(t, m, " interact")
	lab.Snap.Past = nil
	press(m, "end")
	checkShown(t, m, " interact")
}

// TestChartsOfTheDisplay checks that the charts of the display appear if there is room, can be
// switched with their key, and show the chosen time range.
func TestChartsOfTheDisplay(t *testing.T) {
	for _, c := range []struct {
		h    int
		keys string
		want string // "" for no charts
	}{{48, "", "30s"}, {48, "c c c", "30s"}, {48, "Z", "60s"}, {24, "", ""}, {24, "c", ""},
		{24, "c c", "30s"}} {
		m := screen(labtest.NewWorld(), 160, c.h)
		press(m, "4", c.keys)
		view := m.View()
		if shown := strings.Contains(view, "Starved %"); shown != (c.want != "") || !strings.Contains(view, c.want) {
			t.Errorf("%d rows after %v: charts %v, want %q\n%s", c.h, c.keys, shown, c.want, view)
		}
	}
}

func TestRecordingCannotBePlayed(t *testing.T) {
	for _, keys := range []string{"/hover", "/press left", "/reset"} {
		lab := labtest.NewLab()
		m := screen(lab, 120, 40)
		press(m, "4", keys)
		if len(lab.Got) > 0 || !strings.Contains(m.View(), "demo is a recording and cannot be played; for a live world run tui --data world") {
			t.Errorf("%v sent %q; the last row is %q", keys, spell(lab.Got), lastRow(m))
		}
	}
	lab := labtest.NewLab()
	m := screen(lab, 80, 24)
	press(m, "4 left")
	if len(lab.Got) > 0 || !strings.Contains(m.View(), "(fixed)") {
		t.Errorf("an arrow over a recording: sent %q\n%s", spell(lab.Got), m.View())
	}
	for text, want := range map[string]string{"press lefz": "did you mean left?", "press": "expected: press DIRECTION",
		"hover maybe": "on", "reset now": "expected: reset"} {
		m := screen(labtest.NewWorld(), 120, 40)
		press(m, "/"+text)
		if !m.line.Open || !strings.Contains(m.line.Err, want) {
			t.Errorf("%q: %q, want an error with %q", text, m.line.Err, want)
		}
	}
}

// TestOutputBudget checks that a world that changes completely is drawn only as often as the
// output budget allows, and one that barely changes at every tick.
func TestOutputBudget(t *testing.T) {
	for _, c := range []struct{ moving, most, least int64 }{{40, 30_000, 25_000}, {1, 30_000, 8_000}} {
		bytes, redraws := int64(0), 0
		purse := outputBudget{written: func() int64 { return bytes }}
		const seconds = 20
		for range 20 * seconds {
			purse.tick()
			if purse.available() {
				bytes += int64(c.moving) * 480
				redraws++
			}
		}
		if rate := bytes / seconds; rate > c.most || rate < c.least {
			t.Errorf("%d moving lines: %d bytes a second in %d redraws, want %d to %d", c.moving, rate, redraws, c.least, c.most)
		}
		if c.moving == 1 && redraws != 20*seconds {
			t.Errorf("a line that moves was redrawn %d times in %d ticks", redraws, 20*seconds)
		}
	}
}

// TestStarvationIsShown checks that starvation of the last two seconds is shown on the receiver's view.
func TestStarvationIsShown(t *testing.T) {
	lab := &labtest.Lab{Snap: labtest.World(33 * time.Second)} // 5 s without starvation
	m := large(lab)
	press(m, "4")
	checkLacking(t, m, "STARVED")
	next := *lab.Snap
	next.Now += 50 * time.Millisecond
	next.World = labtest.World(next.Now).World
	next.Lanes = append([]engine.Lane(nil), next.Lanes...)
	next.Lanes[0].Samples = append([]meters.Sample(nil), next.Lanes[0].Samples...)
	next.Lanes[0].Samples[len(next.Lanes[0].Samples)-2].Starved = 5
	lab.Snap = &next
	press(m)
	checkShown(t, m, "STARVED: 5 of 120 frames of the last 2 s found no newer snapshot")
}

// BenchmarkWorld160x48 draws the page of the world while everything moves.
func BenchmarkWorld160x48(b *testing.B) { benchmarkWorld(b, 160, 48) }

func BenchmarkWorld80x24(b *testing.B) { benchmarkWorld(b, 80, 24) }

func benchmarkWorld(b *testing.B, w, h int) {
	snaps := worldSnapshots(100)
	lab := &labtest.Lab{Snap: snaps[0]}
	m := screen(lab, w, h, Options{Renderer: labtest.ColourRenderer()})
	press(m, "4")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		lab.Snap = snaps[i%len(snaps)]
		redraw(m)
		_ = m.View()
	}
}

// BenchmarkTurn160x48 switches between pages.
func BenchmarkTurn160x48(b *testing.B) {
	m := screen(labtest.NewWorld(), 160, 48, Options{Renderer: labtest.ColourRenderer()})
	for i := 0; b.Loop(); i++ {
		m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{rune("41"[i%2])}})
		tick(m, 1)
		_ = m.View()
	}
}

// worldSnapshots returns the snapshots of a session with a moving world.
func worldSnapshots(n int) []*engine.Snapshot {
	snaps := recorded(n)
	for _, s := range snaps {
		s.World = labtest.World(s.Now).World
	}
	return snaps
}
