package ui

import (
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/experiment/engine"
)

// TestCompareKeys checks that the selected shadow can be made the active encoder, or removed.
func TestCompareKeys(t *testing.T) {
	snap := labtest.FourShadows()
	lab := &labtest.Lab{Snap: snap}
	m := large(lab)
	press(m, "5 enter") // rotor becomes the active encoder
	checkSent(t, lab.Got, "encoder rotor, shadow rotor off, shadow relative-orientation on")
	tick(m, 30)
	lab.Got = nil
	press(m, "down backspace down backspace enter") // the active encoder cannot be removed
	checkSent(t, lab.Got, "shadow changed-index off")
	press(m, "v")
	if m.overlay == nil || !strings.Contains(m.View(), "Add a shadow") {
		t.Error("v does not open the list of shadows")
	}
}

// BenchmarkComparePage160x48 draws page 5 with four shadows after a complete change.
func BenchmarkComparePage160x48(b *testing.B) { benchmarkShadows(b, "5") }

// BenchmarkLiveShadows160x48 draws page 1 with four shadows after a complete change.
func BenchmarkLiveShadows160x48(b *testing.B) { benchmarkShadows(b, "1") }

func benchmarkShadows(b *testing.B, page string) {
	var snaps []*engine.Snapshot
	for _, s := range recorded(20) {
		snaps = append(snaps, labtest.Shadows(s.Now, "rotor", "raw", "quantized", "changed-index"))
	}
	benchmarkFrames(b, snaps, 160, 48, page)
}
