package panes

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
)

// tried returns the snapshot of a session in which a change at 5 s reduced every packet to 60 % of
// the packet with the previous setting. At 8 s both fall to a quarter, as at the end of a scene.
// measured is the duration of the effect's samples; 0 means that there is no result yet.
func tried(now, measured time.Duration) *engine.Snapshot {
	const at = 5 * time.Second
	snap := labtest.Snapshot(now)
	snap.Marks = []engine.Mark{{T: 2 * time.Second, Label: "loss 5%"}, {T: at, Label: "encoder rotor"}}
	snap.Effects, snap.TrialAt = nil, at
	if measured > 0 {
		e := engine.Effect{T: at, Until: at + time.Second + measured}
		for t := at + 1100*time.Millisecond; t <= e.Until; t += meters.SamplePeriod {
			s := meters.Sample{T: t, Counts: figures.Counts{Sent: 6}, Sizes: meters.Sizes{Changed: 60, PayloadBits: 10_000}}
			if t > 8*time.Second {
				s.PayloadBits = 2_500
			}
			e.Before = append(e.Before, s)
			s.PayloadBits = s.PayloadBits * 6 / 10
			e.After = append(e.After, s)
		}
		e.Before[3].CrossingLoop, e.Before[3].PayloadBits = 6, 1<<40 // a loop point
		snap.Effects, snap.TrialAt = []engine.Effect{e}, 0
	}
	return snap
}

// TestChangesShowTheirEffects: an effect compares both settings on the same frames, so it does not
// depend on the data.
func TestChangesShowTheirEffects(t *testing.T) {
	for w, want := range map[int]string{72: " 34 → 20 kbps  −40.0 % ± 0.0 │",
		48: " −40.0 % ± 0.0 │", 40: " −40.0 % │"} {
		rows := labtest.Draw(&Changes{}, labtest.NewView(tried(30*time.Second, 16*time.Second)), w, 5)
		if !strings.Contains(rows[1], want) {
			t.Errorf("%d columns:\n%s\nwant %q", w, rows[1], want)
		}
	}
	for w, want := range map[int]string{100: " 62 → 37 kbps  −40 % over 4 s │", 48: " −40 % over 4 s │", 40: " −40 % │"} {
		if rows := labtest.Draw(&Changes{}, labtest.NewView(tried(10*time.Second, 4*time.Second)), w, 5); !strings.Contains(rows[1], want) {
			t.Errorf("after 4 s, %d columns: %s\nwant %q", w, rows[1], want)
		}
	}
	snap := tried(30*time.Second, 16*time.Second)
	for i := range snap.Effects[0].After {
		if i%20 < 10 {
			snap.Effects[0].After[i].PayloadBits *= 3
		}
	}
	if rows := labtest.Draw(&Changes{}, labtest.NewView(snap), 100, 5); !regexp.MustCompile(` % \([−+]\d+ to \+\d+\) │`).MatchString(rows[1]) {
		t.Errorf("a wide interval: %s", rows[1])
	}
	p := &Changes{}
	if rows := labtest.Draw(p, labtest.NewView(tried(6*time.Second, 0)), 80, 5); !strings.Contains(rows[1], "measuring against") {
		t.Errorf("while measuring: %q", rows[1])
	}
	if p.Observe(labtest.NewView(tried(7*time.Second, 0))) || !p.Observe(labtest.NewView(tried(10*time.Second, 4*time.Second))) {
		t.Error("not redrawn exactly when the effect is known")
	}
}

// mark returns a mark of a change.
func mark(ms int, label string) engine.Mark {
	return engine.Mark{T: time.Duration(ms) * time.Millisecond, Label: label}
}

// TestChangesOfTheLinkShowFigures: a change of the link shows the figures of the ten seconds before it and of those
// after it without the first. Another change ends these periods.
func TestChangesOfTheLinkShowFigures(t *testing.T) {
	view := func(now time.Duration, marks ...engine.Mark) room.View {
		snap := labtest.Snapshot(now)
		snap.Marks, snap.Effects, snap.TrialAt = marks, nil, 0
		list := snap.Lanes[0].Samples
		for i := range list {
			s := &list[i]
			s.Sent, s.Lost, s.PayloadBits, s.Aged, s.Age, s.Failures = 10, 0, 10_000, 6, 600*time.Millisecond, figures.Failures{}
			s.Starved, s.Displayed = 1, 20
			switch {
			case s.T > 52*time.Second:
				s.Lost, s.PayloadBits, s.Age, s.Failures.NoBaseline = 5, 99_000, 6*time.Second, 9
			case s.T > 31*time.Second:
				s.Lost, s.PayloadBits, s.Age, s.Failures.NoBaseline = 2, 12_000, 720*time.Millisecond, 1
			case s.T > 30*time.Second:
				s.PayloadBits = 1 << 40
			}
		}
		return labtest.NewView(snap)
	}
	loss, profile, playout, budget := mark(30_000, "loss 20%"), mark(52_000, "profile wifi"), mark(30_000, "playout 35ms"), mark(30_000, "budget 128kbit")
	for _, c := range []struct {
		now   time.Duration
		marks []engine.Mark
		w     int
		want  string
	}{
		{50 * time.Second, []engine.Mark{loss}, 100, "loss 20% loss 0.0 → 20.0 % starved 5.00 → 5.00 % failed 0 → 600/min │"},
		{50 * time.Second, []engine.Mark{playout}, 100, "playout 35ms starved 5.00 → 5.00 % age 100 → 120 ms │"},
		{50 * time.Second, []engine.Mark{mark(27_400, "mtu 600"), mark(29_000, "autopilot on"), playout}, 100, "playout 35ms starved 5.00 → 5.00 % age 100 → 120 ms │"},
		{50 * time.Second, []engine.Mark{budget}, 130, " 100 → 120 kbps loss 0.0 → 20.0 % starved 5.00 → 5.00 % age 100 → 120 ms failed 0 → 600/min │"},
		{80 * time.Second, []engine.Mark{loss, profile}, 45, "loss 20% loss 0.0 → 20.0 % │"},
		{31500 * time.Millisecond, []engine.Mark{loss}, 80, "% measuring │"},
		{50 * time.Second, []engine.Mark{loss, mark(31_500, "rtt 1ms")}, 80, "% - │"},
		{50 * time.Second, []engine.Mark{loss, mark(31_500, "shadow raw")}, 60, "loss 0.0 → 20.0 % │"},
	} {
		p := &Changes{}
		v := view(c.now, c.marks...)
		rows := strings.Join(strings.Fields(strings.Join(labtest.Draw(p, v, c.w, 5), " ")), " ")
		if !strings.Contains(rows, c.want) {
			t.Errorf("at %v with %d marks: %q, want %q", c.now, len(c.marks), rows, c.want)
		}
		isMeasuring := strings.Contains(rows, "measuring")
		if p.Observe(v) != isMeasuring {
			t.Errorf("at %v with %d marks: redrawn %v", c.now, len(c.marks), !isMeasuring)
		}
	}
}

// TestNewEffectsReplaceOldOnes: each change shows its newest effect, also when the number of effects
// is at its limit and no longer changes, and when a run was rewound and changed again at the same
// time.
func TestNewEffectsReplaceOldOnes(t *testing.T) {
	const maxEffects = 100
	model := tried(30*time.Second, 16*time.Second).Effects[0]
	effect := func(at time.Duration, tenths int64) engine.Effect {
		e := engine.Effect{T: at, Until: at + 6*time.Second, Before: model.Before}
		for _, s := range model.Before {
			s.PayloadBits = s.PayloadBits * tenths / 10
			e.After = append(e.After, s)
		}
		return e
	}
	snap := labtest.Snapshot(2 * time.Second)
	snap.Marks, snap.Effects, snap.TrialAt = nil, nil, 0
	snap.Now = time.Hour
	at := func(i int) time.Duration { return time.Duration(i) * 10 * time.Second }
	for i := range maxEffects + 1 {
		snap.Marks = append(snap.Marks, engine.Mark{T: at(i + 1), Label: "encoder rotor"})
		snap.Effects = append(snap.Effects, effect(at(i+1), 8))
	}
	before, after, back := *snap, *snap, *snap
	before.Effects, after.Effects = snap.Effects[:maxEffects], snap.Effects[1:]
	back.Effects = append(snap.Effects[1:maxEffects:maxEffects], effect(at(maxEffects+1), 5))
	p := &Changes{}
	for i, c := range []struct {
		snap *engine.Snapshot
		want [2]string // of the newest change and of the one before
	}{{&before, [2]string{" - │", "−20"}}, {&after, [2]string{"−20", "−20"}}, {&back, [2]string{"−50", "−20"}}} {
		if rows := labtest.Draw(p, labtest.NewView(c.snap), 48, 5); !strings.Contains(rows[1], c.want[0]) || !strings.Contains(rows[2], c.want[1]) {
			t.Errorf("snapshot %d: want %q in\n%s", i, c.want, strings.Join(rows, "\n"))
		}
	}
	if p.Observe(labtest.NewView(&back)) {
		t.Error("redrawn without a change")
	}
}

// TestMarksHaveLabels: marks of the user have rows; loop points have none.
func TestMarksHaveLabels(t *testing.T) {
	snap := labtest.Snapshot(90 * time.Second)
	snap.Marks = append(snap.Marks, engine.Mark{T: 88 * time.Second, Label: "undo loss 5%", Kind: engine.MarkUndo})
	rows := labtest.Draw(&Changes{}, labtest.NewView(snap), 60, 8)
	if !strings.Contains(rows[1], "↶ undo loss 5%") || strings.Contains(strings.Join(rows, ""), "loop") {
		t.Errorf("%q", rows)
	}
}

// TestDraggedControlMakesOneMark: the steps of a drag are one entry, which begins with the first step.
func TestDraggedControlMakesOneMark(t *testing.T) {
	got := groupMarks([]engine.Mark{mark(0, "loss 1%"), mark(100, "loss 2%"), mark(900, "loss 5%"), mark(950, "latency 5ms"),
		mark(5000, "latency 9ms"),
		{T: 5100 * time.Millisecond, Label: "mark 1", Kind: engine.MarkNote},
		{T: 5200 * time.Millisecond, Label: "mark 2", Kind: engine.MarkNote}})
	var labels []string
	for _, m := range got {
		labels = append(labels, m.Label)
	}
	if s := strings.Join(labels, ", "); s != "loss 5%, latency 5ms, latency 9ms, mark 1, mark 2" {
		t.Errorf("entries %s", s)
	}
	got = groupMarks([]engine.Mark{mark(5000, "loss 1%"), mark(5800, "loss 2%"), mark(6600, "loss 5%")})
	if len(got) != 1 || got[0].firstStep != 5*time.Second || got[0].T != 6600*time.Millisecond {
		t.Errorf("%+v", got)
	}
}

// TestNoChanges: without changes the pane has whole sentences at any size, and no tab.
func TestNoChanges(t *testing.T) {
	snap := labtest.NewLab().Snap
	snap.Marks = nil
	for _, size := range [][2]int{{80, 12}, {53, 4}, {50, 4}, {50, 3}} {
		p := &Changes{}
		text := strings.Join(labtest.Draw(p, labtest.NewView(snap), size[0], size[1]), "\n")
		if isWhole := strings.Contains(text, "undoes it.") || strings.Contains(text, "effects."); !isWhole || !p.Absent() {
			t.Errorf("%v, absent %v:\n%s", size, p.Absent(), text)
		}
	}
}
