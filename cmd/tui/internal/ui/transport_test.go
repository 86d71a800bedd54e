package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
)

func TestGoldenTransport(t *testing.T) {
	for _, c := range []struct {
		name string
		w, h int
		keys []string
		opt  Options
	}{
		{name: "transport-160x48", w: 160, h: 48},
		{name: "transport-120x36-ascii", w: 120, h: 36, opt: Options{ASCII: true}},
		{name: "transport-80x24", w: 80, h: 24},
		{name: "transport-80x24-policies", w: 80, h: 24, keys: []string{"tab"}},
		{name: "transport-80x24-playout", w: 80, h: 24, keys: []string{"tab", "tab"}},
		{name: "transport-80x24-reasons", w: 80, h: 24, keys: []string{"x"}},
		{name: "transport-60x18", w: 60, h: 18},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := screen(labtest.NewTransport(), c.w, c.h, c.opt)
			press(m, append([]string{"7"}, c.keys...)...)
			compareGolden(t, c.name, m.View())
		})
	}
}

// TestTransportWithoutQueue checks that panes and charts without values are one row, which goes to the others.
func TestTransportWithoutQueue(t *testing.T) {
	m := screen(labtest.NewLab(), 160, 48, Options{})
	press(m, "7")
	view := m.View()
	for _, want := range []string{"Queue KB  no bottleneck: /down rate 500kbit sets one", "Messages under way  none: see [messages]", "Round trip and baseline, ms  no ack of a packet has arrived",
		"Playout policies  none: /playout_compare all", "none: /redundancy repeat n=1"} {
		if !strings.Contains(view, want) {
			t.Errorf("the page does not contain %q:\n%s", want, view)
		}
	}
	lines := strings.Split(view, "\n")
	for i, line := range lines {
		if strings.Contains(line, "├─ Queue KB") && !strings.Contains(lines[i+1], "├─ Messages under way") {
			t.Errorf("the chart of the queue has rows:\n%s", view)
		}
	}
}

// BenchmarkTransport160x48 draws a frame of the page in which all panes have changed.
func BenchmarkTransport160x48(b *testing.B) {
	for _, shadows := range [][]string{nil, {"rotor"}} {
		snaps := make([]*engine.Snapshot, 100)
		for i := range snaps {
			snaps[i] = labtest.WithShadows(labtest.TransportSnapshot(90*time.Second+time.Duration(i)*tickEvery), shadows...)
		}
		b.Run(fmt.Sprintf("shadows=%d", len(shadows)), func(b *testing.B) {
			lab := &labtest.Lab{Snap: snaps[0]}
			m := screen(lab, 160, 48, Options{Renderer: labtest.ColourRenderer()})
			press(m, "7")
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				lab.Snap = snaps[i%len(snaps)]
				m.lab.Ticks = baseTicksPerRedraw - 1 // so that the next one redraws the charts
				m.Update(room.Tick{})
				_ = m.View()
			}
		})
	}
}
