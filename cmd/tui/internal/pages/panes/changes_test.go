package panes

import (
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/dataset/frame"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
)

// tried is a session in which a change at 5 s made every packet six tenths of what the
// setting before it sends for the same frames, while all of it falls to a quarter on the
// way, as a scene that ends does.
func tried(now time.Duration, done bool) *engine.Snapshot {
	const at = 5 * time.Second
	snap := labtest.Snapshot(now)
	snap.Marks = []engine.Mark{{T: 2 * time.Second, Label: "loss 5%"}, {T: at, Label: "encoder rotor"}}
	snap.Effects, snap.Trying = nil, at
	if done {
		e := engine.Effect{T: at, Until: at + 5*time.Second}
		for t := at + 1100*time.Millisecond; t <= e.Until; t += meters.SamplePeriod {
			s := meters.Sample{T: t, Sent: 6, Changed: 60, PayloadBits: 10_000}
			if t > 8*time.Second {
				s.PayloadBits = 2_500
			}
			e.Before = append(e.Before, s)
			s.PayloadBits = s.PayloadBits * 6 / 10
			e.After = append(e.After, s)
		}
		e.Before[3].Across, e.Before[3].PayloadBits = 6, 1<<40 // a seam
		snap.Effects, snap.Trying = []engine.Effect{e}, 0
	}
	return snap
}

// A change is measured against the setting before it on the same frames: whatever the data
// do, six tenths are six tenths. What nothing ran beside, a link, tells nothing.
func TestChangesTellWhatTheyDid(t *testing.T) {
	for w, want := range map[int]string{100: " 102.6 → 61.5 bits/changed  62 → 37 kbps  −40.0 % ± 0.0 │", 72: " 62 → 37 kbps  −40.0 % ± 0.0 │",
		48: " −40.0 % ± 0.0 │", 40: " −40.0 % │"} {
		rows := labtest.Draw(&Changes{}, labtest.ViewOf(tried(20*time.Second, true)), w, 5)
		if !strings.Contains(rows[1], want) || !strings.Contains(rows[2], " - │") {
			t.Errorf("%d columns:\n%s\n%s\nwant %q", w, rows[1], rows[2], want)
		}
	}
	p := &Changes{}
	if rows := labtest.Draw(p, labtest.ViewOf(tried(6*time.Second, false)), 80, 5); !strings.Contains(rows[1], "measuring against") {
		t.Errorf("on the way: %q", rows[1])
	}
	if p.Observe(labtest.ViewOf(tried(7*time.Second, false))) || !p.Observe(labtest.ViewOf(tried(10*time.Second, true))) {
		t.Error("it is not drawn anew when the effect is known, and only then")
	}
	snap := tried(20*time.Second, true)
	snap.Item, snap.Schema = "byte", fileSchema()
	if rows := labtest.Draw(&Changes{}, labtest.ViewOf(snap), 100, 5); strings.Contains(strings.Join(rows, ""), "changed") {
		t.Errorf("of bytes: %q", rows)
	}
}

// What is told of a change is what was measured last: also once as many effects are kept as
// there may be, so that their number stands still, and where a run went back and something else
// was changed at the same moment.
func TestNewEffectsAreToldHoweverManyThereAre(t *testing.T) {
	const kept = 100
	model := tried(20*time.Second, true).Effects[0]
	effect := func(at time.Duration, tenths int64) engine.Effect {
		e := engine.Effect{T: at, Until: at + 6*time.Second, Before: model.Before}
		for _, s := range model.Before {
			s.PayloadBits = s.PayloadBits * tenths / 10
			e.After = append(e.After, s)
		}
		return e
	}
	snap := labtest.Snapshot(2 * time.Second)
	snap.Marks, snap.Effects, snap.Trying = nil, nil, 0
	at := func(i int) time.Duration { return time.Duration(i) * 10 * time.Second }
	for i := range kept + 1 {
		snap.Marks = append(snap.Marks, engine.Mark{T: at(i + 1), Label: "encoder rotor"})
		snap.Effects = append(snap.Effects, effect(at(i+1), 8))
	}
	before, after, back := *snap, *snap, *snap
	before.Effects, after.Effects = snap.Effects[:kept], snap.Effects[1:]
	back.Effects = append(snap.Effects[1:kept:kept], effect(at(kept+1), 5))
	p := &Changes{}
	for i, c := range []struct {
		snap *engine.Snapshot
		want [2]string // of the newest change, and of the one before
	}{{&before, [2]string{" - │", "−20"}}, {&after, [2]string{"−20", "−20"}}, {&back, [2]string{"−50", "−20"}}} {
		if rows := labtest.Draw(p, labtest.ViewOf(c.snap), 48, 5); !strings.Contains(rows[1], c.want[0]) || !strings.Contains(rows[2], c.want[1]) {
			t.Errorf("snapshot %d: want %q in\n%s", i, c.want, strings.Join(rows, "\n"))
		}
	}
	if p.Observe(labtest.ViewOf(&back)) {
		t.Error("it is drawn anew though nothing came")
	}
}

func TestDraggedControlIsMeasuredFromItsFirstRung(t *testing.T) {
	mark := func(ms int, label string) engine.Mark {
		return engine.Mark{T: time.Duration(ms) * time.Millisecond, Label: label}
	}
	got := entries([]engine.Mark{mark(5000, "loss 1%"), mark(5800, "loss 2%"), mark(6600, "loss 5%")})
	if len(got) != 1 || got[0].began != 5*time.Second || got[0].T != 6600*time.Millisecond {
		t.Errorf("%+v", got)
	}
}

func TestMarksSayWhatTheyAre(t *testing.T) {
	snap := labtest.Snapshot(90 * time.Second)
	snap.Marks = append(snap.Marks, engine.Mark{T: 88 * time.Second, Label: "undo loss 5%", Kind: engine.MarkUndo})
	rows := labtest.Draw(&Changes{}, labtest.ViewOf(snap), 60, 8)
	if !strings.Contains(rows[1], "↶ undo loss 5%") || !strings.Contains(rows[2], "↻ seam: the recording begins anew") {
		t.Errorf("%q", rows)
	}
	snap.Schema = fileSchema()
	if rows = labtest.Draw(&Changes{}, labtest.ViewOf(snap), 60, 8); !strings.Contains(rows[2], "↻ seam: the file is sent anew") {
		t.Errorf("of files: %q", rows)
	}
}

func TestDraggedControlMakesOneMark(t *testing.T) {
	mark := func(ms int, label string) engine.Mark {
		return engine.Mark{T: time.Duration(ms) * time.Millisecond, Label: label}
	}
	got := entries([]engine.Mark{mark(0, "loss 1%"), mark(100, "loss 2%"), mark(900, "loss 5%"), mark(950, "latency 5ms"),
		mark(5000, "latency 9ms"),
		{T: 5100 * time.Millisecond, Label: "mark 1", Kind: engine.MarkNote},
		{T: 5200 * time.Millisecond, Label: "mark 2", Kind: engine.MarkNote}})
	var labels []string
	for _, m := range got {
		labels = append(labels, m.Label)
	}
	if s := strings.Join(labels, ", "); s != "loss 5%, latency 5ms, latency 9ms, mark 1, mark 2" {
		t.Errorf("left are %s", s)
	}
}

// fileSchema is that of a file in blocks.
func fileSchema() *frame.Schema {
	return &frame.Schema{Name: "files", Item: "byte", Delivery: frame.Every, TickHz: 1000}
}
