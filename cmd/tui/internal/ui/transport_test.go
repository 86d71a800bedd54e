package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/lossmodel"
)

// TestTransportWithoutQueue checks that only what is set has a chart, a row or a pane.
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
	for _, lacking := range []string{"Queue KB", "Messages", "Playout policies", "queue droptail"} {
		if strings.Contains(view, lacking) {
			t.Errorf("the page contains %q:\n%s", lacking, view)
		}
	}
	checkShown(t, m, "Round trip and baseline, ms, 2 s mean")
}

// TestVerdictOfFlow checks that pane and box say first what limits the flow of each lane, with means of the last two seconds,
// and that advice names nothing that is in force.
func TestVerdictOfFlow(t *testing.T) {
	for want, c := range map[string]struct {
		kbps        float64
		delay       time.Duration
		held        int
		budget      int64
		game, flows int64
		lanes       int
		config      []any
		lacking     string
	}{
		"Limited by: the link":                                {kbps: 401, delay: 4800 * time.Millisecond, game: 9000, lacking: "/control off"},
		"Limited by: nothing":                                 {kbps: 400, lacking: "fq_codel keeps"},
		"Limited by: the link ":                               {kbps: 900, held: 3},
		"Limited by: the send-rate control gcc":               {kbps: 400, held: 3, lacking: "fq_codel"},
		"Limited by: the budget of the sender":                {kbps: 100, budget: 10_000},
		"Limited by: the link: other traffic fills its queue": {kbps: 100, delay: time.Second, game: 1000, flows: 9000},
		"Lane A, relative-orientation, limited":               {kbps: 100, delay: time.Second, flows: 9000, lanes: 1, config: []any{"down.queue_discipline", "fq_codel"}, lacking: "fq_codel keeps"},
	} {
		snap := transportSnapshot(90 * time.Second)
		cfg := snap.Config.Clone()
		if err := cfg.Apply(config.NewChange(c.config...)); err != nil {
			t.Fatal(err)
		}
		snap.Config = cfg
		lane := &snap.Lanes[0]
		lane.Budget.Bps = c.budget
		for i := range lane.Samples {
			s := &lane.Samples[i]
			s.WireBits = int64(100 * c.kbps)
			s.Queue.Delay, s.Queue.Bytes, s.Queue.Flows = c.delay, c.game, []int64{c.flows}
		}
		newest := &lane.Samples[len(lane.Samples)-1]
		newest.Starved, newest.Displayed = 3, 12
		newest.Held, newest.Lost, newest.LostBy[lossmodel.Queue] = c.held, newest.Lost+1, 1
		for range c.lanes {
			snap.Lanes = append(snap.Lanes, engine.Lane{Letter: "B", Encoder: "rotor", Samples: lane.Samples[:0]})
		}
		m := screen(&labtest.Lab{Snap: snap}, 200, 48)
		press(m, "6")
		shown := []string{strings.TrimSpace(want), "target, kbps"}
		if c.lanes > 0 {
			shown = append(shown, "○ offered B")
		} else {
			shown = append(shown, fmt.Sprintf("offered %5.0f ", c.kbps), fmt.Sprintf("game %5d  ╌╌ other traffic %5d", c.game/1000, c.flows/1000))
		}
		checkShown(t, m, shown...)
		press(m, "x")
		checkShown(t, m, strings.TrimSpace(want), "Flow at 01:30.0, last 2 s unless stated", "found no newer snapshot for 3 of")
		if c.lacking != "" && strings.Contains(m.View(), c.lacking) {
			t.Errorf("%s: the box has %q:\n%s", want, c.lacking, m.View())
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
