package ui

import (
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"

	"wirelab/cmd/tui/internal/labtest"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
)

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
	s.Lanes[0].Packets[200].Outcome = 250
	s.Lanes[0].Packets = append(s.Lanes[0].Packets, packetlog.Record{Seq: 1<<63 + 5})
	return lab
}

func TestHostileSnapshotBreaksNothing(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 80, 24, Options{Renderer: labtest.ColourRenderer()})
	for _, snap := range []*engine.Snapshot{hostileLab().Snap, {Config: config.Default()},
		{Config: config.Default(), Lanes: make([]engine.Lane, 1)}} {
		lab.Snap = snap
		for _, s := range labtest.Sizes(1) {
			m.Update(tea.WindowSizeMsg{Width: s[0], Height: s[1]})
			m.lab.Ticks = baseTicksPerRedraw - 1
			press(m, "tab left")
			labtest.CheckScreen(t, "hostile", m.View(), s[0], s[1])
		}
	}
	if m.Err() != nil {
		t.Fatal(m.Err())
	}
}

func TestASCIIMeansASCII(t *testing.T) {
	for _, size := range [][2]int{{160, 48}, {80, 24}, {20, 5}} {
		for _, keys := range []string{"", "?", "enter", "/ latency space 50ms±", "tab left", "tab tab",
			"tab tab tab", "shift+tab"} {
			m := screen(hostileLab(), size[0], size[1], Options{ASCII: true})
			press(m, keys)
			for _, r := range m.View() {
				if r > '~' || r < ' ' && r != '\n' {
					t.Fatalf("%q on the screen at %v after %v:\n%s", r, size, keys, m.View())
				}
			}
		}
	}
}

func TestNoColourMeansNoEscapes(t *testing.T) {
	m := large(labtest.NewLab())
	checkLacking(t, m, "\x1b")
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
		"file:/home/ada/projects/telemetry/recordings/walk.bin.zst":                                                           "walk.bin.zst",
		"text:/home/ada/" + strings.Repeat("x", 90):                                                                           "…xxxxxxxxxxxx",
		"files:/a/b/old.bin, /a/b/new.bin":                                                                                    "old.bin,new.bin",
		"/work/data/field/pppoe.pcap":                                                                                         "pppoe.pcap",
	} {
		lab := labtest.NewLab()
		lab.Snap.Config.Data.Source = spec
		for _, w := range []int{100, 160} {
			head, _, _ := strings.Cut(screen(lab, w, 48).View(), "\n")
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
