package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
)

// TestTransportWithoutQueue checks that panes and charts without values are one row, which goes to the others.
func TestTransportWithoutQueue(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 160, 48, Options{})
	if strings.Contains(m.View(), "Flow") {
		t.Error("there is a page of flow without anything to show")
	}
	snap := *lab.Snap
	cfg := snap.Config.Clone()
	cfg.Sender.Budget = 64_000
	snap.Config, lab.Snap = cfg, &snap
	m.Update(room.Tick{})
	press(m, "6")
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

// TestQueueByOwner checks that each of a few flows has a line in the chart of the queue, and many have one together.
func TestQueueByOwner(t *testing.T) {
	for n, want := range map[int]string{1: "game     5  ╌╌ cubic    10 ", 3: "game     5  ╌╌ cubic #1    10  ╌╌ cubic #2    20  ╌╌ cubic #3    30 ", 5: "game     5  ╌╌ 5 flows   150 "} {
		snap := transportSnapshot(90 * time.Second)
		lane := &snap.Lanes[0]
		lane.Traffic = nil
		for i := range n {
			lane.Traffic = append(lane.Traffic, figures.Flow{Kind: "cubic rtt=40ms", Label: "cubic"})
			for k := range lane.Samples {
				q := &lane.Samples[k].Queue
				if i == 0 {
					q.Bytes, q.Flows = 5000, nil
				}
				q.Flows = append(q.Flows, int64(i+1)*10_000)
			}
		}
		m := screen(&labtest.Lab{Snap: snap}, 160, 48, Options{})
		press(m, "6")
		if view := m.View(); !strings.Contains(view, want) {
			t.Errorf("with %d flows the page does not contain %q:\n%s", n, want, view)
		}
	}
}

// TestQueueThatDoesNotDrain checks that x names the cause if the session sends more than the line carries.
func TestQueueThatDoesNotDrain(t *testing.T) {
	for kbps, want := range map[float64]bool{400: false, 900: true} {
		snap := transportSnapshot(90 * time.Second)
		snap.Lanes[0].Recent.WireKbps = kbps
		m := screen(&labtest.Lab{Snap: snap}, 200, 48, Options{})
		press(m, "6", "x")
		if view := m.View(); strings.Contains(view, "the session sends 900 kbps") != want {
			t.Errorf("at %g kbps:\n%s", kbps, view)
		}
	}
}

// BenchmarkTransport160x48 draws a frame of the page in which all panes have changed.
func BenchmarkTransport160x48(b *testing.B) {
	for _, shadows := range [][]string{nil, {"rotor"}} {
		snaps := make([]*engine.Snapshot, 100)
		for i := range snaps {
			snaps[i] = labtest.WithShadows(transportSnapshot(90*time.Second+time.Duration(i)*tickEvery), shadows...)
		}
		b.Run(fmt.Sprintf("shadows=%d", len(shadows)), func(b *testing.B) {
			benchmarkFrames(b, snaps, 160, 48, "6")
		})
	}
}
