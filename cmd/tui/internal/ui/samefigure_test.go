package ui

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/internal/units"
)

// TestSameFigureOnAllPages runs a session, and compares the payload of the last two seconds, which is the sum over its
// packets, and the share of starved display ticks of the run with what each page shows.
func TestSameFigureOnAllPages(t *testing.T) {
	cfg := config.Default()
	cfg.Data.Loop = true
	if err := cfg.Apply(config.NewChange("down.loss", "5%", "down.rate", "400kbit")); err != nil {
		t.Fatal(err)
	}
	s, err := engine.NewSession(t.Context(), cfg, engine.Options{Endless: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RunUntil(12 * time.Second); err != nil {
		t.Fatal(err)
	}
	snap := s.View(600)
	bits := 0
	for _, r := range snap.Lanes[0].Packets {
		if r.Copy == 0 && r.Sent >= snap.Now-2*time.Second && r.Sent < snap.Now {
			bits += 8 * r.Payload
		}
	}
	payload := units.Fixed(float64(bits)/2000, 1)
	starved := units.Fixed(100*snap.Lanes[0].Totals.Playout.StarvedRatio.Or(-1), 2)
	for _, c := range []struct{ page, figure, want string }{
		{"1", `payload +([\d.]+)`, payload},
		{"1", `payload, kbps +([\d.]+)`, payload},
		{"1", `display starved, % +[\d.]+ +([\d.]+)`, starved},
		{"2", `now ([\d.]+) kbps`, payload},
		{"2", `payload +([\d.]+) +100.0`, payload},
		{"5", `payload +([\d.]+)`, payload},
		{"6", `display starved, % +[\d.]+ +([\d.]+)`, starved},
	} {
		m := large(&labtest.Lab{Snap: snap})
		press(m, c.page)
		found := regexp.MustCompile(c.figure).FindStringSubmatch(m.View())
		if found == nil || found[1] != c.want {
			t.Errorf("page %s, %s: %q, want %s\n%s", c.page, strconv.Quote(c.figure), found, c.want, m.View())
		}
	}
}
