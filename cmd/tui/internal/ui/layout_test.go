package ui

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/testkit"

	"wirelab/cmd/tui/internal/labtest"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
)

// checkScreen checks that the view has exactly h lines of exactly w columns.
func checkScreen(t *testing.T, what, view string, w, h int) {
	t.Helper()
	lines := strings.Split(view, "\n")
	if len(lines) != h {
		t.Fatalf("%s at %dx%d: %d lines", what, w, h, len(lines))
	}
	for i, line := range lines {
		if n := ansi.StringWidth(line); n != w {
			t.Fatalf("%s at %dx%d: line %d has %d columns: %q", what, w, h, i+1, n, line)
		}
	}
}

// sizes returns at most so many sizes: the extreme ones, then widths from 1 to 250 and heights from 1 to 80, combined at
// random with a fixed seed.
func sizes(most int) [][2]int {
	rng := rand.New(rand.NewPCG(9, 9))
	list := [][2]int{{1, 1}, {250, 80}, {1, 80}, {250, 1}, {60, 18}, {59, 18}, {60, 17}, {104, 32}, {103, 32}, {104, 31},
		{160, 48}, {80, 24}}
	for range 3 {
		heights := rng.Perm(250)
		for i, w := range rng.Perm(250) {
			list = append(list, [2]int{w + 1, heights[i]%80 + 1})
		}
	}
	return list[:min(most, len(list), testkit.ChooseLong(len(list), 250, 45))]
}

func TestEveryLineFitsEverySize(t *testing.T) {
	for name, renderer := range map[string]Options{"plain": {Renderer: labtest.PlainRenderer()},
		"colour": {Renderer: labtest.ColourRenderer()}, "ascii": {Renderer: labtest.PlainRenderer(), ASCII: true}} {
		m := screen(labtest.NewLab(), 80, 24, renderer)
		for i, s := range sizes(1000) {
			m.Update(tea.WindowSizeMsg{Width: s[0], Height: s[1]})
			checkScreen(t, name, m.View(), s[0], s[1])
			if i%7 == 0 {
				press(m, "tab")
			}
		}
	}
}

func TestOverlaysFitEverySize(t *testing.T) {
	for what, keys := range map[string][]string{
		"help": {"?"}, "encoders": {"enter"}, "profiles": {"p"}, "profiles narrowed to nothing": {"p", "x", "y", "z"},
		"command": {"/"}, "long command": {"/", strings.Repeat("latency 5日 ", 40)}, "mistake": {"/", "los 5%", "enter"},
		"completion":        {"/", "tab", "tab"},
		"settings unfolded": {"/netem delay 50ms 10ms loss 1% 25%", "enter", "/up netem off", "enter", "tab", "up", "d", "right"},
		"all unfolded":      append(toFold(), "right", "down", "down"), "one way": {"d", "d"},
	} {
		m := screen(labtest.NewLab(), 80, 24, Options{Renderer: labtest.ColourRenderer(), Picture: widePicture})
		press(m, keys...)
		for _, s := range sizes(250) {
			m.Update(tea.WindowSizeMsg{Width: s[0], Height: s[1]})
			checkScreen(t, what, m.View(), s[0], s[1])
		}
	}
}

// TestFooterKeepsHelp checks that the footer of each page names the key of the help on the smallest screen.
func TestFooterKeepsHelp(t *testing.T) {
	for _, page := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		m := screen(labtest.NewLab(), 60, 18, Options{})
		press(m, page)
		lines := strings.Split(m.View(), "\n")
		if footer := lines[len(lines)-1]; !strings.Contains(footer, "? help") {
			t.Errorf("page %s: %q", page, footer)
		}
	}
}

// hostileLab returns a lab whose snapshot contains unusual texts, and lists that are empty or
// very long.
func hostileLab() *labtest.Lab {
	lab := labtest.NewLab()
	s := lab.Snap
	s.Config.Data.Source = "file:/tmp/録画\x1b[31m\t\n/" + strings.Repeat("x", 300)
	s.Item = "日本語"
	s.Notice = engine.Notice{ID: 4, Text: "no\nsuch \x1b]0;title\a thing 🙂‍🙂 e\u0301", Bad: true}
	s.Marks = append(s.Marks, engine.Mark{T: 89 * time.Second, Label: "mark 日本\x00", Kind: engine.MarkNote},
		engine.Mark{T: -5}, engine.Mark{T: 1 << 62})
	r := &s.Lanes[0].Recent
	r.PayloadKbps, r.WireKbps, r.BitsPerChanged = 1e300, -1, 1e18
	s.Lanes[0].Packets[590].Outcome = 250
	s.Lanes[0].Packets = append(s.Lanes[0].Packets, packetlog.Record{Seq: 1<<63 + 5})
	return lab
}

func TestHostileSnapshotBreaksNothing(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 80, 24, Options{Renderer: labtest.ColourRenderer()})
	for _, snap := range []*engine.Snapshot{hostileLab().Snap, {Config: config.Default()},
		{Config: config.Default(), Lanes: make([]engine.Lane, 1)}} {
		lab.Snap = snap
		for _, s := range sizes(200) {
			m.Update(tea.WindowSizeMsg{Width: s[0], Height: s[1]})
			m.lab.Ticks = baseTicksPerRedraw - 1
			press(m, "tab", "left")
			checkScreen(t, "hostile", m.View(), s[0], s[1])
		}
	}
	if m.Err() != nil {
		t.Fatal(m.Err())
	}
}

func TestASCIIMeansASCII(t *testing.T) {
	for _, size := range [][2]int{{160, 48}, {80, 24}, {20, 5}} {
		for _, keys := range [][]string{nil, {"?"}, {"enter"}, {"/", "latency 50ms±"}, {"tab", "left"}, {"tab", "tab"},
			{"tab", "tab", "tab"}, {"shift+tab"}} {
			m := screen(hostileLab(), size[0], size[1], Options{ASCII: true})
			press(m, keys...)
			for _, r := range m.View() {
				if r > '~' || r < ' ' && r != '\n' {
					t.Fatalf("%q on the screen at %v after %v:\n%s", r, size, keys, m.View())
				}
			}
		}
	}
}

func TestNoColourMeansNoEscapes(t *testing.T) {
	m := screen(labtest.NewLab(), 160, 48, Options{})
	if strings.Contains(m.View(), "\x1b") {
		t.Error("an escape sequence without colour")
	}
}

func TestSixteenColoursSuffice(t *testing.T) {
	for _, dark := range []bool{true, false} {
		r := labtest.PlainRenderer()
		r.SetColorProfile(termenv.ANSI)
		r.SetHasDarkBackground(dark)
		view := screen(labtest.NewLab(), 160, 48, Options{Renderer: r}).View()
		if strings.Contains(view, "38;5") || strings.Contains(view, "38;2") || !strings.Contains(view, "m") {
			t.Error("a terminal of 16 colours gets others")
		}
	}
}

func TestSplice(t *testing.T) {
	for _, c := range []struct {
		line, piece string
		x, n, w     int
		want        string
	}{
		{"abcdefgh", "XY", 3, 2, 8, "abcXYfgh"},
		{"日本日本", "XY", 3, 2, 8, "日 XY 本"},
		{"\x1b[31mabcdefgh\x1b[0m", "XY", 3, 2, 8, "\x1b[31mabc\x1b[0mXY\x1b[31mfgh\x1b[0m"},
	} {
		got := splice(c.line, c.piece, c.x, c.n, c.w)
		if ansi.Strip(got) != ansi.Strip(c.want) || ansi.StringWidth(got) != c.w {
			t.Errorf("splice(%q) = %q, want %q", c.line, got, c.want)
		}
	}
}

// TestHeaderShortensTheData checks that the header contains encoder, seed and clock for paths of
// any length.
func TestHeaderShortensTheData(t *testing.T) {
	for spec, want := range map[string]string{
		"table:/home/ada/projects/telemetry/schemas/positions-of-all-players.toml,/home/ada/projects/telemetry/day-1.csv.zst": "cubes",
		"file:/home/ada/projects/telemetry/recordings/walk.bin.zst":                                                           "file:walk.bin.zst",
		"text:/home/ada/" + strings.Repeat("x", 90):                                                                           "text:…xxxxxxxxxxxx",
		"files:/a/b/old.bin, /a/b/new.bin":                                                                                    "files:old.bin,new.bin",
	} {
		lab := labtest.NewLab()
		lab.Snap.Config.Data.Source = spec
		for _, w := range []int{100, 160} {
			head, _, _ := strings.Cut(screen(lab, w, 48, Options{}).View(), "\n")
			for _, part := range []string{want, "relative-orientation", "01:30"} {
				if !strings.Contains(head, part) {
					t.Errorf("%d columns, %s: no %q in %q", w, spec, part, head)
				}
			}
			if strings.Contains(head, "/") {
				t.Errorf("folders in %q", head)
			}
		}
	}
}
