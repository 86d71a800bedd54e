package world

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/engine/playout"
	"wirelab/experiment/figures"
	"wirelab/experiment/view"
)

// lit returns the cells of a view that show a cube, as column,row:marker.
func lit(lines []string) string {
	var out []string
	for y, line := range lines {
		for x, r := range []rune(line) {
			if r >= 0x2800 && r < 0x2900 || r >= 0x2580 && r < 0x25a0 {
				out = append(out, strconv.Itoa(x)+","+strconv.Itoa(y)+":"+string(r))
			}
		}
	}
	return strings.Join(out, " ")
}

// TestKnownCubeLightsKnownCells: a cube at a known position sets exactly these cells. The view has 40 by
// 20 cells within its frame: 80 by 80 dots, two per metre. The centre of the world is the corner
// between columns 20 and 21 and between rows 10 and 11; a cell has two by four dots.
func TestKnownCubeLightsKnownCells(t *testing.T) {
	lying := [4]float32{3: 1}
	eighth := [4]float32{2: 0.38268343, 3: 0.92387953} // about the vertical
	far := playout.Pose{X: 500, Y: 500}
	for _, c := range []struct {
		name  string
		poses []playout.Pose
		zoom  int
		want  string
	}{
		// From -1.5 to 1.5 dots, so the middles at -1.5, -0.5, 0.5 and 1.5: two cells each way.
		{"the player in the middle", []playout.Pose{{X: 0, Y: 0, Z: 0.75, Rot: lying}}, 0,
			"20,10:▒ 21,10:▒ 20,11:▒ 21,11:▒"},
		// From 0.6 to 1.4 dots, which has no middle: the dot that its centre lies in.
		{"a cube at rest", []playout.Pose{far, {X: 0.5, Y: 0.5, Z: 0.2, Rot: lying}}, 0, "21,10:⢀"},
		{"one cell farther right and up", []playout.Pose{far, {X: 1.5, Y: 2.5, Z: 0.2, Rot: lying}}, 0, "22,9:⢀"},
		{"one that interacts", []playout.Pose{far, {X: 0.5, Y: 0.5, Z: 0.2, Rot: lying, Interacting: true}},
			0, "21,10:▗"},
		{"one that lies outside", []playout.Pose{far, {X: 25, Y: 0, Z: 0.2, Rot: lying}}, 0, ""},
		// 6.7 m across at 11 dots a metre: 0.4 m are 4.4 dots, the diamond 6.2.
		{"near, lying straight", []playout.Pose{far, {X: 0, Y: 0, Z: 0.2, Rot: lying}}, 4, "20,10:⣤ 21,10:⣤ 20,11:⠛ 21,11:⠛"},
		{"near, turned by an eighth", []playout.Pose{far, {X: 0, Y: 0, Z: 0.2, Rot: eighth}}, 4,
			"19,10:⢀ 20,10:⣴ 21,10:⣦ 22,10:⡀ 19,11:⠈ 20,11:⠻ 21,11:⠟ 22,11:⠁"},
	} {
		p := labtest.Pane[*worldMap](New(nil))
		snap := *labtest.NewLab().Snap
		snap.World = &playout.Picture{Sent: c.poses}
		p.world.Camera.Pan(0, 0) // does not follow the player
		p.world.Camera.Zoom(c.zoom)
		lines := labtest.Draw(p, labtest.NewView(&snap), 84, 22)
		for i, line := range lines {
			lines[i] = string([]rune(line)[:42])
		}
		if got := lit(lines); got != c.want {
			t.Errorf("%s lights %s, want %s\n%s", c.name, got, c.want, strings.Join(lines, "\n"))
		}
	}
}

// TestArrowsPanARecording: in a recording the arrows pan.
func TestArrowsPanARecording(t *testing.T) {
	lab := labtest.NewLab()
	page := New(nil)
	m := labtest.NewStage(page, lab, 80, 22)
	m.Press("left")
	if k := labtest.Pane[*worldMap](page).world.Camera; len(lab.Got) > 0 || k.X >= 0 {
		t.Errorf("sent %d commands, camera %+v", len(lab.Got), k)
	}
}

// TestPriorities: the key x requests the priorities of the cubes, which stand beside maps of errors and ages, and ends
// them again. The lanes with a budget are a figure of the key c.
func TestPriorities(t *testing.T) {
	lab := labtest.NewLab()
	lab.Snap = labtest.Budgets()
	lab.Snap.Config.Sender.Budget = 64_000
	page := New(nil)
	m := labtest.NewStage(page, lab, 160, 30)
	m.Press("x")
	if len(lab.Got) != 1 || lab.Got[0].Priorities == nil || !*lab.Got[0].Priorities {
		t.Errorf("x sends %+v, want a command for priorities", lab.Got)
	}
	snap := *lab.Snap
	n := len(snap.World.Sent)
	rows := make([]view.Reason, n)
	rows[1] = view.Reason{Row: 1, Standing: view.Waiting, Error: 70, Weighted: 140, Constant: 20, Waited: 3, Bits: 61, Priority: 9, Group: 4, Factor: .5}
	snap.Priorities = &engine.Priorities{Policy: "round-robin", Unit: "mm", Rows: rows, Ages: make([]time.Duration, n), Ranked: []int{1}}
	lines := strings.Join(labtest.Draw(labtest.Pane[*worldMap](page), labtest.NewView(&snap), 160, 30), "\n")
	for _, want := range []string{"Error by cube", "Age by cube", "Priorities", "round-robin", "1. cube 1", "70 mm off, waits 3 frames, 61", "mm with weights, + 20 mm constant, × 4", "for its group, × 0.50 for its distance", "1 wait"} {
		if !strings.Contains(lines, want) {
			t.Errorf("no %q:\n%s", want, lines)
		}
	}
	labtest.Pane[*worldMap](page).Observe(labtest.NewView(&snap))
	lab.Snap = &snap
	m.Press("x")
	if len(lab.Got) != 2 || lab.Got[1].Priorities == nil || *lab.Got[1].Priorities {
		t.Errorf("x sends %+v, want a command that ends the priorities", lab.Got)
	}
	if m.Press("c"); len(lab.Got) != 3 || lab.Got[2].Priorities == nil || *lab.Got[2].Priorities {
		t.Errorf("c sends %+v, want a command that ends the priorities", lab.Got[1:])
	}
	const title = "Error against kbps"
	draw := func() string { return strings.Join(page.Lines(labtest.Theme(false), 160, 30), "\n") }
	snap.Priorities = nil
	page.Observe(labtest.NewView(&snap))
	for key, shown := range []bool{true, false, false, false} { // budgets, errors, charts, the world
		m.Press("c")
		if strings.Contains(draw(), title) != shown {
			t.Errorf("after c %d times %s is shown, or not: want %v\n%s", key+1, title, shown, draw())
		}
	}
}

// TestSmoothDelay compares the delay that a starved display needs with a simulation of displays in steps of 1 ms.
func TestSmoothDelay(t *testing.T) {
	const ms, interval = time.Millisecond, 17 * time.Millisecond
	var lane engine.Lane
	for i, transit := range []time.Duration{30, 42, 35, 0, 30, 0, 0, 60, 50, 40, 33, 30} { // 0: lost
		r := packetlog.Record{Seq: uint64(i), Sent: time.Duration(i) * interval, Outcome: packetlog.Lost}
		if transit > 0 {
			r.Arrived, r.Outcome = r.Sent+transit*ms, packetlog.Decoded
		}
		lane.Packets = append(lane.Packets, r)
	}
	const fastest, first, last = 30 * ms, 30 * ms, 11*interval + 30*ms
	starves := func(delay time.Duration) bool {
		for now := first + delay; now < last; now += ms {
			newest := time.Duration(0)
			for _, r := range lane.Packets {
				if r.Outcome == packetlog.Decoded && r.Arrived <= now {
					newest = max(newest, r.Sent)
				}
			}
			if now-fastest-delay > newest {
				return true
			}
		}
		return false
	}
	want := time.Duration(0)
	for starves(want) {
		want += ms
	}
	if got := panes.SmoothDelay(&lane, last, 0); got != want && got != want+ms { // the last moment before an arrival is within a step
		t.Errorf("got %v, a simulation needs %v", got, want)
	}
	if got := panes.SmoothDelay(&engine.Lane{}, last, 0); got != 0 {
		t.Errorf("without packets %v", got)
	}
	lane.Samples = []meters.Sample{{Counts: figures.Counts{Lost: 4}, Shown: meters.Shown{Starved: 3, Displayed: 12, Late: 2}}}
	for delay, want := range map[string]string{"5ms": "the playout delay of 5 ms is less than the 16.7 ms between two snapshots",
		"17ms": "2 snapshots late, 4 packets lost", "age": "2 snapshots late, 4 packets lost"} {
		cfg := config.Default()
		if err := cfg.Set("receiver.playout", delay); err != nil {
			t.Fatal(err)
		}
		want = "In the last 2 s the display found no newer snapshot for 3 of 12 frames: " + want + ". "
		if got, _ := panes.Starvation(&lane, last, cfg); got != want {
			t.Errorf("%s: %s\nwant %s", delay, got, want)
		}
	}
}
