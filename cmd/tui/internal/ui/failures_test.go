package ui

import (
	"strings"
	"testing"

	"wirelab/experiment"
)

// damagedLab is a session without a checksum on a link that damages packets.
func damagedLab() *fakeLab {
	lab := newFakeLab()
	lane := &lab.snap.Lanes[0]
	lane.Totals.Tainted = 41
	for i := range lane.Samples {
		if i >= len(lane.Samples)-4 {
			lane.Samples[i].Outcomes[experiment.Tainted] = 2
		}
	}
	return lab
}

func TestTaintedPacketsAreSeen(t *testing.T) {
	for _, c := range []struct {
		w, h int
		keys []string
		want []string
	}{
		{160, 48, nil, []string{"T tainted  ", "T tainted 4.0", "48 so far", "T 41 tainted"}}, // 7 without a baseline, 41 tainted; 8 of them in 2 s
		{112, 32, nil, []string{"T tainted 4.0"}},
		{80, 24, nil, []string{"failed 48", "T tainted 4.0"}},
		{60, 20, nil, []string{"failed 48", "T tainted 4.0"}},
		{60, 20, []string{"tab", "tab"}, []string{"✕ no base  T tainted"}},
	} {
		m := screen(damagedLab(), c.w, c.h, Options{})
		press(m, c.keys...)
		for _, want := range c.want {
			if !strings.Contains(m.View(), want) {
				t.Errorf("at %dx%d after %v the screen lacks %q:\n%s", c.w, c.h, c.keys, want, m.View())
			}
		}
	}
}

func TestFailuresAreRates(t *testing.T) {
	lane := &damagedLab().snap.Lanes[0]
	for _, f := range failures(lane) {
		n := 0
		for _, s := range lane.Samples[len(lane.Samples)-20:] { // of 100 ms
			n += s.Outcomes[f.outcome]
		}
		if f.rate != float64(n)/2 {
			t.Errorf("%v: %v a second, want %d in 2 s", f.outcome, f.rate, n)
		}
	}
	if got := failures(&experiment.Lane{}); got[0].rate != 0 {
		t.Error("failures before the first sample")
	}
}

func TestVitalsDropWholeFigures(t *testing.T) {
	p := &vitalsPane{}
	p.observe(sightOf(damagedLab().snap))
	for w := 60; w <= 100; w++ {
		c := newCanvas(w, 1)
		p.draw(c, plainTheme(false), false)
		line := c.lines(plainTheme(false))[0]
		if strings.Contains(line, "…") || !strings.Contains(line, "payload 187.3") || !strings.Contains(line, "lost  5%") || !strings.Contains(line, "failed 48") {
			t.Errorf("%d columns: %q", w, line)
		}
		if strings.Contains(line, "bits") != strings.Contains(line, "bits/changed") {
			t.Errorf("%d columns: the unit is cut: %q", w, line)
		}
	}
	p.lane.Totals.Wrong = 2
	c := newCanvas(60, 1)
	p.draw(c, plainTheme(false), false)
	if line := c.lines(plainTheme(false))[0]; !strings.Contains(line, "wrong 2") {
		t.Errorf("wrong data must not go: %q", line)
	}
}

func TestNoTitleIsCutInTwo(t *testing.T) {
	for _, lab := range []*fakeLab{newFakeLab(), damagedLab()} {
		for w := 104; w <= 200; w++ {
			m := screen(lab, w, 40, Options{})
			for _, row := range strings.Split(m.View(), "\n") {
				left, _, _ := strings.Cut(strings.TrimLeft(row, "╭├"), "╮")
				if strings.HasPrefix(row, "╭─ Ba") || strings.HasPrefix(row, "├─") || strings.HasPrefix(row, "╭─ Pa") {
					if strings.Contains(left, "…") {
						t.Errorf("%d columns: %s", w, row)
					}
				}
			}
		}
	}
}

func TestFewChangesLeaveAGap(t *testing.T) {
	snap := newFakeLab().snap
	samples := snap.Lanes[0].Samples
	for i := range samples {
		samples[i].Changed = 4 * int64(samples[i].Sent)
	}
	p := &chartsPane{}
	p.observe(sightOf(snap))
	for i, w := range p.ratio(&theme{}).Series[0].Weights {
		if w != 0 {
			t.Fatalf("sample %d counts, with 4 changed a frame", i)
		}
	}
	samples[7].Changed = 5 * int64(samples[7].Sent)
	if p.ratio(&theme{}).Series[0].Weights[7] == 0 {
		t.Error("5 changed a frame do not count")
	}
}
