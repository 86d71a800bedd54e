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
	"wirelab/lossmodel"
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

// TestVerdictOfFlow checks that x says first what limits the flow, with the losses of the last two seconds.
func TestVerdictOfFlow(t *testing.T) {
	for want, c := range map[string]struct {
		kbps   float64
		held   int
		budget int64
	}{
		"Limited by the line: its queue delays packets by 4800 ms.":                                                                       {401, 0, 0},
		"Nothing limits the flow now.":                                                                                                    {400, 0, 0},
		"Limited by the line: the session sends 900 kbps on a line of 500, so the queue does not drain.":                                  {900, 3, 0},
		"Limited by the send-rate control gcc, which held back 3 snapshots (01:00.2 rate cut from 600 to 300 kbps: 3 % of the packets we": {400, 3, 0},
		"Limited by the budget of the sender: 400 of 410 kbps are used.":                                                                  {400, 0, 410_000},
	} {
		snap := transportSnapshot(90 * time.Second)
		cfg := snap.Config.Clone()
		cfg.Sender.Budget = c.budget
		snap.Config = cfg
		lane := &snap.Lanes[0]
		lane.Recent.WireKbps = c.kbps
		newest := &lane.Samples[len(lane.Samples)-1]
		if c.kbps == 400 {
			newest.Queue.Delay = 0
		}
		newest.Held, newest.Lost, newest.LostBy[lossmodel.Queue] = c.held, newest.Lost+1, 1
		m := screen(&labtest.Lab{Snap: snap}, 200, 48, Options{})
		press(m, "6", "x")
		view := m.View()
		for _, text := range []string{want[:min(len(want), 70)], "the queue dropped 1 packet.", "target now 600 kbps"} {
			if !strings.Contains(view, text) {
				t.Errorf("lacks %q:\n%s", text, view)
			}
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
