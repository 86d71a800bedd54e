package ui

import (
	"strings"
	"testing"

	"wirelab/experiment/engine"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
)

// fileScreen returns a dashboard of a lab that sends files.
func fileScreen(lab room.Lab, w, h int, opt Options) *dashboard {
	return screenWith(lab, w, h, opt, fileCatalog())
}

// TestFilePageAdjusts checks that the arrow keys change the link on this page too.
func TestFilePageAdjusts(t *testing.T) {
	lab := newFile(2)
	m := fileScreen(lab, 160, 48, Options{})
	press(m, "down down right")
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
		tick(m, 1)
		_ = m.View()
	}
}
