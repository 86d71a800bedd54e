package ui

import (
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"

	tea "github.com/charmbracelet/bubbletea"
)

func TestKeysPlayTheWorld(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"left"}, "press left"},
		{[]string{"up", "right"}, "press up; press right"},
		{[]string{"down", "down"}, "press down; press down"},
		{[]string{"h", "j", "k", "l"}, "press left; press down; press up; press right"},
		{line("hover"), "hover off"}, // hover is on in the snapshot
		{line("katamari"), "katamari on"},
		{line("autopilot"), "autopilot off"},
		{[]string{"[", "]", "c", "shift+left", "tab", "z", "Z", "enter", "esc"}, ""}, // keys that change only the display
		{[]string{"e", "down", "enter"}, "encoder rotor"},                            // general keys work on this page
		{line("press up left"), "press up left"},
		{line("hover on"), "hover on"},
		{line("katamari OFF"), "katamari off"},
		{line("autopilot on"), "autopilot on"},
		{line("reset"), "reset the world"},
		{[]string{"1", "left", "+"}, "encoder raw; speed 2"},
	} {
		lab := labtest.NewWorld()
		m := screen(lab, 160, 48, Options{})
		press(m, append([]string{"4"}, c.keys...)...)
		if got := spell(lab.Got); got != c.want {
			t.Errorf("%v sent %q, want %q", c.keys, got, c.want)
		}
	}
}

// TestPastShowsNoCurrentWorld checks that a past moment shows no current cubes, but the figures
// of the display of that time.
func TestPastShowsNoCurrentWorld(t *testing.T) {
	lab := labtest.NewWorld()
	m := screen(lab, 160, 48, Options{})
	press(m, "4")
	if !strings.Contains(m.View(), " interact") {
		t.Fatal("no world in the present")
	}
	press(m, "<", "<")
	view := m.View()
	for _, not := range []string{"interact", "ms behind", "autopilot"} {
		if strings.Contains(view, not) {
			t.Errorf("the past has %q", not)
		}
	}
	for _, want := range []string{"the run is being repeated up to this moment", "Starved %"} {
		if !strings.Contains(view, want) {
			t.Errorf("the past lacks %q", want)
		}
	}
	past := *labtest.NewWorld().Snap
	past.Now = m.lab.Past.At
	lab.Snap.Past = &engine.Past{ID: 1, Snap: &past}
	if press(m, "<", ">"); !strings.Contains(m.View(), " interact") {
		t.Error("there is no world in a run that was repeated")
	}
	lab.Snap.Past = nil
	if press(m, "end"); !strings.Contains(m.View(), " interact") {
		t.Error("back in the present there is no world")
	}
}

// TestChartsOfTheDisplay checks that the charts of the display appear if there is room, can be
// switched with their key, and show the chosen time range.
func TestChartsOfTheDisplay(t *testing.T) {
	for _, c := range []struct {
		h    int
		keys []string
		want string // "" for no charts
	}{{48, nil, "30s"}, {48, []string{"c", "c", "c"}, "30s"}, {48, []string{"Z"}, "60s"}, {24, nil, ""}, {24, []string{"c"}, ""},
		{24, []string{"c", "c"}, "30s"}} {
		m := screen(labtest.NewWorld(), 160, c.h, Options{})
		press(m, append([]string{"4"}, c.keys...)...)
		view := m.View()
		if shown := strings.Contains(view, "Starved %"); shown != (c.want != "") || !strings.Contains(view, c.want) {
			t.Errorf("%d rows after %v: charts %v, want %q\n%s", c.h, c.keys, shown, c.want, view)
		}
	}
}

func TestRecordingCannotBePlayed(t *testing.T) {
	for _, keys := range [][]string{line("hover"), line("press left"), line("reset")} {
		lab := labtest.NewLab()
		m := screen(lab, 120, 40, Options{})
		press(m, append([]string{"4"}, keys...)...)
		if len(lab.Got) > 0 || !strings.Contains(m.View(), "demo is a recording and cannot be played; for a live world run tui --data world") {
			t.Errorf("%v sent %q; the last row is %q", keys, spell(lab.Got), lastRow(m))
		}
	}
	lab := labtest.NewLab()
	m := screen(lab, 80, 24, Options{})
	press(m, "4", "left")
	if len(lab.Got) > 0 || !strings.Contains(m.View(), "(fixed)") {
		t.Errorf("an arrow over a recording: sent %q\n%s", spell(lab.Got), m.View())
	}
	for text, want := range map[string]string{"press lefz": "did you mean left?", "press": "expected: press DIRECTION",
		"hover maybe": "on", "reset now": "expected: reset"} {
		m := screen(labtest.NewWorld(), 120, 40, Options{})
		press(m, line(text)...)
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
	m := screen(lab, 160, 48, Options{})
	press(m, "4")
	if strings.Contains(m.View(), "STARVED") {
		t.Error("it starves before it does")
	}
	next := *lab.Snap
	next.Now += 50 * time.Millisecond
	next.World = labtest.World(next.Now).World
	next.Lanes = append([]engine.Lane(nil), next.Lanes...)
	next.Lanes[0].Samples = append([]meters.Sample(nil), next.Lanes[0].Samples...)
	next.Lanes[0].Samples[len(next.Lanes[0].Samples)-2].Starved = 5
	lab.Snap = &next
	press(m)
	if !strings.Contains(m.View(), "STARVED: 5 of 120 frames of the last 2 s found no newer snapshot") {
		t.Error("the starvation is not shown")
	}
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
		m.lab.Ticks = baseTicksPerRedraw - 1
		m.Update(room.Tick{})
		_ = m.View()
	}
}

// BenchmarkTurn160x48 switches between pages.
func BenchmarkTurn160x48(b *testing.B) {
	m := screen(labtest.NewWorld(), 160, 48, Options{Renderer: labtest.ColourRenderer()})
	for i := 0; b.Loop(); i++ {
		m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{rune("41"[i%2])}})
		m.Update(room.Tick{})
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
