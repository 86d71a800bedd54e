package sweepview

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/ui"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/sweep"
	"wirelab/internal/golden"
)

const three = `
duration = "1s"
encoder.name = "changed-index"
[sweep]
repeat = 8
[[sweep.axis]]
key = "encoder.name"
values = ["changed-index", "zstd-baseline"]
[[sweep.axis]]
key = "down.loss"
values = ["0%", "1%", "5%", "10%", "20%"]
[[sweep.axis]]
key = "sender.every"
values = [1, 2, 3, 4]
`

const one = `
duration = "1s"
[sweep]
repeat = 8
[[sweep.axis]]
key = "down.loss"
values = ["0%", "1%", "5%", "10%", "20%"]
`

// watched returns a sweep with a given number of simulated results.
func watched(t *testing.T, text string, runs int) *sweep.Watch {
	t.Helper()
	c, err := config.Parse("test.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := sweep.NewPlan(t.Context(), c, "v1")
	if err != nil {
		t.Fatal(err)
	}
	w := sweep.NewWatch(p)
	w.SetProgress(sweep.Progress{Planned: p.Runs(), Workers: 3})
	for n := range min(runs, p.Runs()) {
		point, seed := n/p.Repeat, n%p.Repeat
		kbps := 40 + 3*float64(point) + 5*math.Sin(float64(seed*seed+point))
		w.AddResult(sweep.Outcome{Run: n, Result: &engine.Result{Digest: "x", Totals: figures.Totals{Rates: figures.Rates{PayloadKbps: kbps, WireKbps: 2 * kbps}, Counts: figures.Counts{Sent: 60}}}})
	}
	w.SetProgress(sweep.Progress{Planned: p.Runs(), Workers: 3, Runs: runs, Points: runs / p.Repeat})
	return w
}

// screen returns a sweep on a screen of the given size, without colours, after ten seconds.
func screen(w *sweep.Watch, width, height int, ascii bool, keys ...string) *model {
	return screenWith(w, width, height, ui.Options{ASCII: ascii, Renderer: labtest.PlainRenderer()}, keys...)
}

func screenWith(w *sweep.Watch, width, height int, opt ui.Options, keys ...string) *model {
	now := time.Duration(0)
	m := newModel(Sweep{Watch: w, Title: "loss.toml", Dir: "out", Queue: true, Clock: func() time.Duration { return now }}, opt)
	now = 10 * time.Second
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	for _, k := range keys {
		m.Update(labtest.KeyMsg(k))
	}
	for range pollTicks {
		m.Update(room.Tick{})
	}
	return m
}

func TestGoldenScreens(t *testing.T) {
	for _, c := range []struct {
		name, text string
		runs, w, h int
		ascii      bool
		keys       []string
	}{
		{"three-160x48", three, 150, 160, 48, false, []string{"down", "down", "right"}},
		{"three-80x24", three, 150, 80, 24, false, []string{"down", "down", "right"}},
		{"three-80x24-ascii", three, 320, 80, 24, true, []string{"down", "down", "right", "f", "]"}},
		{"turned-80x24", three, 320, 80, 24, false, []string{"x", "down"}},
		{"one-80x24", one, 40, 80, 24, false, []string{"down"}},
		{"one-160x48", one, 28, 160, 48, false, []string{"down", "down", "down"}},
		{"point-80x24", "duration = \"1s\"\n[sweep]\nrepeat = 8\n", 8, 80, 24, false, nil},
		{"nothing-80x24", three, 0, 80, 24, false, nil},
		{"help-80x24", three, 20, 80, 24, false, []string{"?"}},
		{"small-40x10", three, 20, 40, 10, false, nil},
		{"ascii-160x48", three, 320, 160, 48, true, []string{"down", "right", "f", "]"}},
		{"turned-160x48", three, 320, 160, 48, false, []string{"x", "down", "right", "F"}},
		{"help-160x48", three, 150, 160, 48, false, []string{"?"}},
		{"point-160x48", "duration = \"1s\"\n[sweep]\nrepeat = 8\n", 8, 160, 48, false, nil},
		{"nothing-160x48", three, 0, 160, 48, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := screen(watched(t, c.text, c.runs), c.w, c.h, c.ascii, c.keys...).View() + "\n"
			golden.Compare(t, filepath.Join("testdata", c.name+".golden"), got)
			if c.ascii && strings.ContainsFunc(got, func(r rune) bool { return r > 126 }) {
				t.Error("not ASCII alone")
			}
		})
	}
}

// TestGoldenColours compares screens with their escape sequences: a cell of another colour fails.
func TestGoldenColours(t *testing.T) {
	for _, c := range []struct {
		name, text, theme string
		runs, w, h        int
		keys              []string
	}{
		{"colour-three-160x48", three, "dark", 150, 160, 48, []string{"down", "down", "right"}},
		{"colour-three-80x24", three, "light", 150, 80, 24, []string{"down", "down", "right"}},
		{"colour-one-80x24", one, "high-contrast", 40, 80, 24, []string{"down"}},
		{"colour-help-80x24", three, "dark", 20, 80, 24, []string{"?"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			opt := ui.Options{Theme: c.theme, Renderer: labtest.ColourRenderer()}
			got := screenWith(watched(t, c.text, c.runs), c.w, c.h, opt, c.keys...).View() + "\n"
			golden.Compare(t, filepath.Join("testdata", c.name+".golden"), got)
			if !strings.Contains(got, "\x1b[") {
				t.Error("no colour")
			}
		})
	}
}

// TestSizes: at every size and cursor position each line fits the screen and nothing panics.
func TestSizes(t *testing.T) {
	many := "duration = \"1s\"\n[[sweep]]\nkey = \"sender.window\"\nvalues = [" + numbers(90) + "]\n[[sweep]]\nkey = \"sender.history\"\nvalues = [" + numbers(60) + "]\n"
	for _, text := range []string{three, one, many} {
		w := watched(t, text, 100)
		for _, size := range [][2]int{{1, 1}, {20, 5}, {60, 20}, {61, 23}, {80, 24}, {119, 30}, {120, 20}, {200, 60}} {
			m := screen(w, size[0], size[1], false)
			for _, k := range []string{"", "end", "pgdown", "x", "end", "f", "]", "home", "?"} {
				if k != "" {
					m.Update(labtest.KeyMsg(k))
				}
				lines := strings.Split(m.View(), "\n")
				if len(lines) != size[1] {
					t.Fatalf("%v: %d lines: %v", size, len(lines), m.Err())
				}
				for _, line := range lines {
					if look.TextWidth(line) > size[0] {
						t.Fatalf("%v after %q: a line of %d columns", size, k, look.TextWidth(line))
					}
				}
			}
		}
	}
}

func numbers(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(i + 1)
	}
	return strings.Join(list, ", ")
}

// TestKeys: the cursor stays on the grid, keys step through every axis, and q quits.
func TestKeys(t *testing.T) {
	m := screen(watched(t, three, 320), 80, 24, false)
	press := func(keys ...string) {
		for _, k := range keys {
			m.Update(labtest.KeyMsg(k))
		}
	}
	press("left", "up", "[") // the first value: around to the last
	if fmt.Sprint(m.cursor) != "[1 0 0]" {
		t.Errorf("at %v", m.cursor)
	}
	press("]", "end", "pgdown", "right", "down")
	if fmt.Sprint(m.cursor) != "[0 4 3]" {
		t.Errorf("at %v", m.cursor)
	}
	if p := m.watch.PointIndex(m.cursor); p != 19 {
		t.Errorf("point %d, expected 19", p)
	}
	press("f")
	if m.watch.Names[m.figure] != "wire_kbps" {
		t.Errorf("figure %q", m.watch.Names[m.figure])
	}
	press("F", "x", "x", "x")
	if m.watch.Names[m.figure] != "payload_kbps" || fmt.Sprint(m.axisOrder) != "[0 1 2]" {
		t.Errorf("figure %q, axes %v", m.watch.Names[m.figure], m.axisOrder)
	}
	m.Update(room.Tick{})
	press("?")
	if !strings.Contains(m.View(), "esc close") {
		t.Error("no help")
	}
	press("esc")
	press("q")
	m.Update(room.Tick{})
	if !strings.Contains(m.View(), "The sweep has completed") {
		t.Errorf("q does not ask while the sweep runs:\n%s", m.View())
	}
	for _, k := range []string{"d", "ctrl+c"} { // d answers the question
		if _, cmd := m.Update(labtest.KeyMsg(k)); cmd == nil || cmd() != (tea.QuitMsg{}) {
			t.Errorf("%s does not quit", k)
		}
	}
	m.state.Ended = "done"
	if _, cmd := m.Update(labtest.KeyMsg("q")); cmd == nil || cmd() != (tea.QuitMsg{}) {
		t.Error("q asks after the sweep ended")
	}
}
