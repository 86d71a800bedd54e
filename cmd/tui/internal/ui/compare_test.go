package ui

import (
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
)

// TestCompareKeys checks that the selected shadow can be made the active encoder, or removed.
func TestCompareKeys(t *testing.T) {
	snap := labtest.FourShadows()
	lab := &labtest.Lab{Snap: snap}
	m := screen(lab, 160, 48, Options{})
	press(m, "5", "enter") // rotor becomes the active encoder
	if got := spell(lab.Got); got != "encoder rotor, shadow rotor off, shadow relative-orientation on" {
		t.Errorf("sent %s", got)
	}
	for range 30 { // the lab ignores the command, so the pending change expires
		m.Update(room.Tick{})
	}
	lab.Got = nil
	press(m, "down", "backspace", "down", "backspace", "enter") // the active encoder cannot be removed
	if got := spell(lab.Got); got != "shadow changed-index off" {
		t.Errorf("sent %s", got)
	}
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
