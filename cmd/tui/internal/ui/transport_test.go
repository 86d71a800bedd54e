package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/experiment/engine"
	"wirelab/lossmodel"
)

// TestTransportWithoutQueue checks that only what is set has a chart, a row or a pane, and that one line names the rest.
func TestTransportWithoutQueue(t *testing.T) {
	lab := labtest.NewLab()
	m := large(lab)
	checkLacking(t, m, "Flow")
	snap := *lab.Snap
	cfg := snap.Config.Clone()
	cfg.Sender.Budget = 64_000
	snap.Config, lab.Snap = cfg, &snap
	tick(m, 1)
	press(m, "6")
	view := m.View()
	for _, lacking := range []string{"Queue KB", "Messages", "Playout policies", "none:"} {
		if strings.Contains(view, lacking) {
			t.Errorf("the page contains %q:\n%s", lacking, view)
		}
	}
	for _, want := range []string{"Round trip and baseline, ms, 2 s mean", "not set: /down rate 500kbit, /traffic 1 cubic,"} {
		if !strings.Contains(view, want) {
			t.Errorf("the page does not contain %q:\n%s", want, view)
		}
	}
}

// TestQueueByOwner checks that the chart of the queue has a line for the game and one for all other traffic.
func TestQueueByOwner(t *testing.T) {
	snap := transportSnapshot(90 * time.Second)
	samples := snap.Lanes[0].Samples
	for i := range samples {
		q := &samples[i].Queue
		q.Bytes, q.Flows = 5000, []int64{10_000, 20_000}
	}
	m := large(&labtest.Lab{Snap: snap})
	press(m, "6")
	checkShown(t, m, "game     5  ╌╌ other traffic    30 ")
}

// TestVerdictOfFlow checks that pane and box say first what limits the flow, with the losses of the last two seconds.
func TestVerdictOfFlow(t *testing.T) {
	for want, c := range map[string]struct {
		kbps        float64
		delay       time.Duration
		held        int
		budget      int64
		game, flows int64
	}{
		"the line":                  {kbps: 401, delay: 4800 * time.Millisecond, game: 9},
		"nothing":                   {kbps: 400},
		"the line ":                 {kbps: 900, held: 3},
		"the send-rate control gcc": {kbps: 400, held: 3},
		"the budget of the sender":  {kbps: 100, budget: 10_000},
		"the line: other traffic fills its queue": {kbps: 100, delay: time.Second, game: 1, flows: 9},
	} {
		snap := transportSnapshot(90 * time.Second)
		cfg := snap.Config.Clone()
		cfg.Sender.Budget = c.budget
		snap.Config = cfg
		lane := &snap.Lanes[0]
		lane.Recent.WireKbps = c.kbps
		newest := &lane.Samples[len(lane.Samples)-1]
		newest.Queue.Delay, newest.Queue.Bytes, newest.Queue.Flows = c.delay, c.game, []int64{c.flows}
		newest.Held, newest.Lost, newest.LostBy[lossmodel.Queue] = c.held, newest.Lost+1, 1
		m := screen(&labtest.Lab{Snap: snap}, 200, 48)
		press(m, "6")
		for _, texts := range [][]string{{"target now 600 kbps"}, {"Flow at 01:30.0", "Its newest cut: 01:00.2 rate cut from 600 to 300 kbps"}} {
			checkShown(t, m, append(texts, "Limited by: "+strings.TrimSpace(want), fmt.Sprintf("%.0f of 500", c.kbps))...)
			press(m, "x")
		}
	}
}

// BenchmarkTransport160x48 draws a frame of the page in which all panes have changed.
func BenchmarkTransport160x48(b *testing.B) {
	for _, shadows := range [][]string{nil, {"rotor"}} {
		snaps := make([]*engine.Snapshot, 100)
		for i := range snaps {
			snaps[i] = transportSnapshot(90*time.Second + time.Duration(i)*tickEvery)
			for _, name := range shadows {
				shadow := snaps[i].Lanes[0]
				shadow.Encoder = name
				snaps[i].Lanes = append(snaps[i].Lanes, shadow)
			}
		}
		b.Run(fmt.Sprintf("shadows=%d", len(shadows)), func(b *testing.B) {
			benchmarkFrames(b, snaps, 160, 48, "6")
		})
	}
}
