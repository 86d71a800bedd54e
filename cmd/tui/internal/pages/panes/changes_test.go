package panes

import (
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
)

// steps is a session that sends 100 kbit a second until a moment and 60 after it,
// always for 10 changed items in each of 6 packets a sample; of its samples the
// first few are forgotten.
func steps(at, now time.Duration, forgotten int) *engine.Snapshot {
	snap := labtest.Snapshot(now)
	var samples []engine.Sample
	for t := engine.SamplePeriod; t <= now; t += engine.SamplePeriod {
		s := engine.Sample{T: t, Sent: 6, Changed: 60, PayloadBits: 10_000}
		if t > at {
			s.PayloadBits = 6_000
		}
		samples = append(samples, s)
	}
	snap.Lanes[0].Samples = samples[forgotten:]
	snap.Marks = []engine.Mark{{T: at, Label: "encoder rotor"}}
	return snap
}

func TestChangesTellWhatTheyDid(t *testing.T) {
	const at = 5 * time.Second
	for _, c := range []struct {
		now       time.Duration
		forgotten int
		known     bool
	}{{6900 * time.Millisecond, 0, false}, {7 * time.Second, 0, true}, {30 * time.Second, 30, true}, {30 * time.Second, 31, false}} {
		p := &Changes{}
		p.Observe(labtest.ViewOf(steps(at, c.now, c.forgotten)))
		if e := p.effects[0]; (e != nil) != c.known {
			t.Errorf("at %v without %d samples: %v", c.now, c.forgotten, e)
		} else if e != nil && *e != (effect{cost{100, 10_000. / 60}, cost{60, 100}}) {
			t.Errorf("at %v: %+v", c.now, *e)
		}
	}
	p := &Changes{}
	for now := at; now < 2*at; now += engine.SamplePeriod { // as it comes
		if changed := p.Observe(labtest.ViewOf(steps(at, now, 0))); changed != (now == at || now == at+room.RecentSpan) {
			t.Errorf("at %v: drawn anew: %v", now, changed)
		}
	}
	if p.Observe(labtest.ViewOf(steps(at, time.Minute, 100))) || p.effects[0] == nil {
		t.Error("what is known was forgotten with its samples")
	}
	for w, want := range map[int]string{80: " 100 → 60 kbps  166.7 → 100.0  (−40 %) │", 58: " 166.7 → 100.0  (−40 %) │", 42: " (−40 %) │"} {
		if got := labtest.Draw(p, labtest.ViewOf(steps(at, 2*at, 0)), w, 4)[1]; !strings.Contains(got, want) {
			t.Errorf("%d columns: %q", w, got)
		}
	}
}

func TestChangesTooCloseTellNothing(t *testing.T) {
	snap := steps(5*time.Second, 20*time.Second, 0)
	for _, c := range []struct {
		other engine.Mark
		known bool
	}{
		{engine.Mark{T: 6 * time.Second, Label: "loss 5%"}, false},
		{engine.Mark{T: 6 * time.Second, Label: "mark 1", Kind: engine.MarkNote}, true},
		{engine.Mark{T: 6 * time.Second, Label: "shadow rotor on"}, true},
		{engine.Mark{T: 6 * time.Second, Label: "seam", Kind: engine.MarkSeam}, false},
		{engine.Mark{T: 7 * time.Second, Label: "loss 5%"}, true},
		{engine.Mark{T: 1<<63 - 1, Label: "never"}, true},
	} {
		snap.Marks = []engine.Mark{{T: 5 * time.Second, Label: "encoder rotor"}, c.other}
		p := &Changes{}
		if p.Observe(labtest.ViewOf(snap)); (p.effects[0] != nil) != c.known {
			t.Errorf("beside %+v: %v", c.other, p.effects)
		}
		if rows := labtest.Draw(p, labtest.ViewOf(snap), 80, 5); strings.Contains(rows[2], "too close") == c.known {
			t.Errorf("beside %+v: %q", c.other, rows[2])
		}
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
	snap.Schema = labtest.FileSnapshot(2).Schema
	if rows = labtest.Draw(&Changes{}, labtest.ViewOf(snap), 60, 8); !strings.Contains(rows[2], "↻ seam: the file is sent anew") {
		t.Errorf("of files: %q", rows)
	}
}

func TestDraggedControlMakesOneMark(t *testing.T) {
	mark := func(ms int, label string) engine.Mark {
		return engine.Mark{T: time.Duration(ms) * time.Millisecond, Label: label}
	}
	got := DistinctMarks([]engine.Mark{mark(0, "loss 1%"), mark(100, "loss 2%"), mark(900, "loss 5%"), mark(950, "latency 5ms"),
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
