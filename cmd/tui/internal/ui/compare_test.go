package ui

import (
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
)

// compareScreen returns page 5 over a snapshot, with all intervals computed.
func compareScreen(snap *engine.Snapshot, w, h int, opt Options, keys ...string) *dashboard {
	m := screen(&labtest.Lab{Snap: snap}, w, h, opt)
	press(m, append([]string{"5"}, keys...)...)
	for range 6 { // one interval is computed per tick
		m.Update(room.Tick{})
	}
	return m
}

func TestGoldenCompare(t *testing.T) {
	for _, c := range []struct {
		name string
		snap *engine.Snapshot
		w, h int
		keys []string
		opt  Options
	}{
		{name: "compare-160x48", w: 160, h: 48},
		{name: "compare-160x48-ascii", w: 160, h: 48, opt: Options{ASCII: true}},
		{name: "compare-160x48-packets", w: 160, h: 48, keys: []string{"right", "down", "down"}},
		{name: "compare-80x24", w: 80, h: 24},
		{name: "compare-80x24-params", w: 80, h: 24, snap: tuned()},
		{name: "compare-100x30", w: 100, h: 30, snap: tuned()},
		{name: "compare-200x60", w: 200, h: 60, snap: tuned()},
		{name: "compare-80x24-bits", w: 80, h: 24, keys: []string{"right", "right"}},
		{name: "compare-80x24-refuses", w: 80, h: 24, snap: labtest.RefusingSnapshot()},
		{name: "compare-80x24-alone", w: 80, h: 24, snap: labtest.Snapshot(90 * time.Second)},
		{name: "compare-20x5", w: 20, h: 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.snap == nil {
				c.snap = labtest.FourShadows()
			}
			compareGolden(t, c.name, compareScreen(c.snap, c.w, c.h, c.opt, c.keys...).View())
		})
	}
}

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
	if got := spell(lab.Got); got != "shadow quantized off" {
		t.Errorf("sent %s", got)
	}
	press(m, "v")
	if m.overlay == nil || !strings.Contains(m.View(), "Encoder  type to filter") {
		t.Error("v does not open the list of encoders")
	}
}

// BenchmarkComparePage160x48 draws page 5 with four shadows after a complete change.
func BenchmarkComparePage160x48(b *testing.B) { benchmarkShadows(b, "5") }

// BenchmarkLiveShadows160x48 draws page 1 with four shadows after a complete change.
func BenchmarkLiveShadows160x48(b *testing.B) { benchmarkShadows(b, "1") }

func benchmarkShadows(b *testing.B, page string) {
	var snaps []*engine.Snapshot
	for _, s := range recorded(20) {
		snaps = append(snaps, labtest.WithShadows(s, "rotor", "raw", "quantized", "relative-position"))
	}
	benchmarkFrames(b, snaps, 160, 48, page)
}
