package ui

import (
	"strings"
	"testing"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"

	tea "github.com/charmbracelet/bubbletea"
)

// fileScreen is a dashboard over a lab of files.
func fileScreen(lab Lab, w, h int, opt Options) *Model {
	if opt.Renderer == nil {
		opt.Renderer = plainRenderer()
	}
	m := newModel(lab, opt, fileCatalog())
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
			m := fileScreen(newFileLab(c.done), c.w, c.h, c.opt)
			press(m, c.keys...)
			golden(t, c.name, m.View())
		})
	}
}

// Every size shows something that fits, at every stage.
func TestFilePageFits(t *testing.T) {
	for _, done := range []float64{0, 0.01, 0.99, 1, 1.01, 2, 9} {
		for w := 60; w <= 200; w += 14 {
			for h := 20; h <= 60; h += 10 {
				m := fileScreen(newFileLab(done), w, h, Options{})
				for range 6 {
					lines := strings.Split(m.View(), "\n")
					if len(lines) != h {
						t.Fatalf("%v at %d x %d: %d lines", done, w, h, len(lines))
					}
					for i, line := range lines {
						if textWidth(line) > w {
							t.Fatalf("%v at %d x %d: line %d is %d wide:\n%s", done, w, h, i, textWidth(line), line)
						}
					}
					press(m, "tab")
				}
			}
		}
	}
}

// The small screen follows what happens until somebody chooses a pane.
func TestFilePageFollows(t *testing.T) {
	lab := newFileLab(0.5)
	m := fileScreen(lab, 80, 24, Options{})
	shows := func(want string) {
		t.Helper()
		press(m)
		if !strings.Contains(m.View(), want) {
			t.Errorf("%q is not shown:\n%s", want, m.View())
		}
	}
	shows("[Matrix]")
	lab.snap = fileSnapshot(2)
	shows("[Transfer]")
	press(m, "tab", "tab", "tab")
	lab.snap = fileSnapshot(2.5)
	shows("[Rounds]")
}

// The arrows adjust the link on this page, too.
func TestFilePageAdjusts(t *testing.T) {
	lab := newFileLab(2)
	m := fileScreen(lab, 160, 48, Options{})
	press(m, "down", "down", "right")
	if got := spell(lab.got); !strings.Contains(got, "loss") {
		t.Errorf("the arrows sent %q", got)
	}
}

// The figures say what a transfer of so many blocks and seconds must come to.
func TestTransferFigures(t *testing.T) {
	secs := 2.0
	going := &figures.Transfer{Blocks: 100, Delivered: 25, ElapsedS: 3}
	if left, ok := timeLeft(going); !ok || left != 9 {
		t.Errorf("%g s left, expected 9", left)
	}
	p := &transferPane{lanes: []engine.Lane{
		{Encoder: "patch", Totals: figures.Totals{Transfer: &figures.Transfer{Done: true, TimeS: &secs, Blocks: 4, Delivered: 4}}},
		{Encoder: "whole-raw", Totals: figures.Totals{Transfer: &figures.Transfer{Blocks: 7}}},
		{Encoder: "whole-zstd", Totals: figures.Totals{Transfer: going}}}}
	text := ""
	for _, s := range p.verdict(200) {
		text += s.text
	}
	p.back = true
	p.lanes[0].Totals.Transfer.Encoder = "patch-fast"
	if says := p.verdict(200); says[0].text != "patch-fast " {
		t.Errorf("to those who look back the figures of patch-fast are those of %q", says[0].text)
	}
	if says := p.heading(80); len(says) != 1 || !strings.Contains(says[0].text, "at present") {
		t.Errorf("to those who look back it says %v", says)
	}
	p.making = &engine.Making{Encoder: "patch-fast", Done: 1, Total: 4}
	if _, says := p.progress(&p.lanes[0], p.lanes[0].Totals.Transfer); says != "patch-fast being made, 25 %" {
		t.Errorf("of the encoder that takes over it says %q", says)
	}
	if _, says := p.progress(&p.lanes[2], going); says != "25 %, 3.00 s, 9.00 s left" {
		t.Errorf("of one beside it says %q", says)
	}
	if want := "patch 2.00 s, whole-zstd takes 12.0 s, 6.0 times as long, over the same link with the same luck"; text != want {
		t.Errorf("it says %q, expected %q", text, want)
	}
}

// BenchmarkFileFrame draws page 4 on which everything changed: the picture, too.
func BenchmarkFileFrame160x48(b *testing.B) {
	var snaps []*engine.Snapshot
	for i := range 20 {
		snaps = append(snaps, fileSnapshot(0.05*float64(i)))
	}
	lab := &fakeLab{snap: snaps[0]}
	m := fileScreen(lab, 160, 48, Options{Renderer: colourRenderer()})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		lab.snap = snaps[i%len(snaps)]
		m.Update(tickMsg{})
		_ = m.View()
	}
}
