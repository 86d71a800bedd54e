package ui

import (
	"strings"
	"testing"

	"wirelab/experiment/engine"
	"wirelab/internal/testkit"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"

	tea "github.com/charmbracelet/bubbletea"
)

// fileScreen returns a dashboard of a lab that sends files.
func fileScreen(lab room.Lab, w, h int, opt Options) *dashboard {
	if opt.Renderer == nil {
		opt.Renderer = labtest.PlainRenderer()
	}
	m := newDashboardWith(lab, opt, fileCatalog())
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return m
}

func TestGoldenFile(t *testing.T) {
	for _, c := range []struct {
		name string
		w, h int
		done float64
		keys []string
		opt  Options
	}{
		{name: "file-making-160x48", w: 160, h: 48, done: 0.6},
		{name: "file-making-160x48-ascii", w: 160, h: 48, done: 0.6, opt: Options{ASCII: true}},
		{name: "file-making-80x24", w: 80, h: 24, done: 0.3},
		{name: "file-begins-80x24", w: 80, h: 24, done: 1},
		{name: "file-160x48", w: 160, h: 48, done: 3},
		{name: "file-80x24", w: 80, h: 24, done: 2.2},
		{name: "file-80x24-ascii", w: 80, h: 24, done: 7, opt: Options{ASCII: true}},
		{name: "file-80x24-rounds", w: 80, h: 24, done: 7, keys: []string{"shift+tab", "shift+tab"}},
		{name: "file-104x30", w: 104, h: 30, done: 3},
		{name: "file-20x5", w: 20, h: 5, done: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := fileScreen(newFile(c.done), c.w, c.h, c.opt)
			press(m, c.keys...)
			compareGolden(t, c.name, m.View())
		})
	}
}

// TestFilePageFits checks that the page fits on screens of every size at every stage of a
// transfer.
func TestFilePageFits(t *testing.T) {
	step := testkit.ChooseLong(14, 35, 70)
	for _, done := range []float64{0, 0.01, 0.99, 1, 1.01, 2, 9} {
		for w := 60; w <= 200; w += step {
			for h := 20; h <= 60; h += testkit.ChooseLong(10, 20, 20) {
				m := fileScreen(newFile(done), w, h, Options{})
				for range 6 {
					lines := strings.Split(m.View(), "\n")
					if len(lines) != h {
						t.Fatalf("%v at %d x %d: %d lines", done, w, h, len(lines))
					}
					for i, line := range lines {
						if look.TextWidth(line) > w {
							t.Fatalf("%v at %d x %d: line %d is %d wide:\n%s", done, w, h, i, look.TextWidth(line), line)
						}
					}
					press(m, "tab")
				}
			}
		}
	}
}

// TestFilePageAdjusts checks that the arrow keys change the link on this page too.
func TestFilePageAdjusts(t *testing.T) {
	lab := newFile(2)
	m := fileScreen(lab, 160, 48, Options{})
	press(m, "down", "down", "right")
	if got := spell(lab.Got); !strings.Contains(got, "loss") {
		t.Errorf("the arrows sent %q", got)
	}
}

// BenchmarkFileFrame160x48 draws page 4 after a complete change.
func BenchmarkFileFrame160x48(b *testing.B) {
	var snaps []*engine.Snapshot
	for i := range 20 {
		snaps = append(snaps, fileSnapshot(0.05*float64(i)))
	}
	lab := &labtest.Lab{Snap: snaps[0]}
	m := fileScreen(lab, 160, 48, Options{Renderer: labtest.ColourRenderer()})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		lab.Snap = snaps[i%len(snaps)]
		m.Update(room.Tick{})
		_ = m.View()
	}
}
