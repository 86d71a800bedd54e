package engine

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
	"wirelab/experiment/view"
	"wirelab/internal/testkit"
)

// A shadow with its own budget and policy sends exactly what the active encoder of another run with
// these settings does, and the active encoder what it does without shadows.
func TestShadowWithOwnBudgetIsLikeItsOwnRun(t *testing.T) {
	run := func(budget, priority string, shadows ...config.Encoder) *Result {
		c := config.Default()
		c.Duration, c.Shadows = 8*time.Second, shadows
		testkit.Set(t, c, "link.latency", "40ms", "link.jitter", "10ms", "link.loss", "5%", "sender.budget", budget, "sender.priority", priority)
		return runCubes(t, c)
	}
	type lane struct{ budget, priority string }
	var shadows []config.Encoder
	var lanes []lane
	for i, policy := range view.Policies.Names() {
		lanes = append(lanes, lane{[]string{"16kbit", "24kbit", "64kbit"}[i%3], policy})
		shadows = append(shadows, config.Encoder{Name: "relative-orientation", Own: own(lanes[i].budget, policy)})
	}
	lanes = append(lanes, lane{"off", "accumulated"})
	shadows = append(shadows, config.Encoder{Name: "relative-orientation", Own: own("off", "")})
	together := run("32kbit", "unity", shadows...)
	if alone := run("32kbit", "unity"); together.Digest != alone.Digest {
		t.Error("shadows with budgets changed what the active encoder sends")
	}
	for i, l := range lanes {
		alone, shadow := run(l.budget, l.priority), &together.Shadows[i]
		if shadow.Digest != alone.Digest || shadow.Totals.Wrong != 0 || shadow.Totals.Sent != alone.Totals.Sent {
			t.Errorf("%v: digest %s as a shadow, %s alone", l, shadow.Digest, alone.Digest)
		}
		if (shadow.Totals.View == nil) != (l.budget == "off") {
			t.Errorf("%v: figures of a budget: %v", l, shadow.Totals.View)
		} else if shadow.Totals.View != nil && *shadow.Totals.View.MeanErrorMM != *alone.Totals.View.MeanErrorMM {
			t.Errorf("%v: mean error %v, alone %v", l, *shadow.Totals.View.MeanErrorMM, *alone.Totals.View.MeanErrorMM)
		}
	}
}

// While shadows with random budgets and policies join and leave, and the settings of all lanes change,
// no budget is exceeded and nothing is wrong. The session replays to the same digests, and every change
// can be undone.
func TestOwnBudgetsChange(t *testing.T) {
	encoders := []string{"relative-orientation", "adaptive", "delta-adaptive"}
	for seed := range uint64(testkit.Choose(12, 2)) {
		r := rand.New(rand.NewPCG(seed, 7))
		pick := func(list []string) string { return list[r.IntN(len(list))] }
		c := config.Default()
		c.Seed, c.Duration = seed, time.Minute
		if err := c.Set("link.loss", "10%"); err != nil {
			t.Fatal(err)
		}
		s := mustOpen(t, c, labtest.NewCubeSource(30, 10, -1, 3), Options{})
		for range 30 {
			e := config.Encoder{Name: pick(encoders), Own: own(pick([]string{"", "off", "24kbit", "64kbit"}), pick(append(view.Policies.Names(), "")))}
			ch := config.NewChange("shadow", []config.Encoder{e})
			switch r.IntN(8) {
			case 0, 5, 6:
				ch = config.NewChange("shadow_off", pick(encoders))
			case 1:
				ch = config.NewChange("budget", pick([]string{"off", "32kbit", "64kbit"}))
			case 2:
				ch = config.NewChange("priority", pick(view.Policies.Names()))
			case 3:
				ch = config.NewChange("encoder", pick(encoders))
			case 4:
				ch = config.NewChange("down.loss", pick([]string{"0%", "10%", "60%"}))
			}
			_ = s.Change(ch) // a shadow may exist already, or not exist
			if r.IntN(8) == 0 {
				_, _ = s.Undo()
			}
			advance(t, s, time.Duration(r.IntN(800))*time.Millisecond)
		}
		s.Interrupt()
		want := s.Result()
		if want.Totals.Wrong != 0 || len(want.Shadows) == 0 {
			t.Errorf("seed %d: %d wrong, %d shadows", seed, want.Totals.Wrong, len(want.Shadows))
		}
		for _, x := range want.Shadows {
			if x.Totals.Wrong != 0 || x.Totals.Failures.Corrupt != 0 {
				t.Errorf("seed %d, lane %s: %d wrong, %d corrupt", seed, x.Lane, x.Totals.Wrong, x.Totals.Failures.Corrupt)
			}
		}
		replayed, err := want.Replayable()
		if err != nil {
			t.Fatal(err)
		}
		again := mustOpen(t, replayed, labtest.NewCubeSource(30, 10, -1, 3), Options{})
		mustRun(t, again, replayed.Duration)
		if got := again.Result().Digests(); got != want.Digests() {
			t.Errorf("seed %d: the replay has other digests", seed)
		}
	}
}

// own returns settings of a shadow's own; "" means that of all lanes.
func own(budget, priority string) map[string]string {
	all := map[string]string{"budget": budget, "priority": priority}
	maps.DeleteFunc(all, func(_, text string) bool { return text == "" })
	return all
}

// The names of shadows contain their own budgets and policies.
func TestNamesOfOwnBudgets(t *testing.T) {
	s := budgetSession(t, 1, time.Minute)
	for _, shadow := range []config.Encoder{{Name: "relative-orientation", Own: own("", "fiedler")}, {Name: "relative-orientation", Own: own("24kbit", "unity min=2")},
		{Name: "relative-orientation", Own: own("off", "")}, {Name: "adaptive", Own: own("", "unity")}} {
		mustChange(t, s, config.NewChange("shadow", []config.Encoder{shadow}))
	}
	var names []string
	for _, l := range s.View(0).Lanes {
		names = append(names, l.Name())
	}
	want := "[relative-orientation relative-orientation priority=fiedler relative-orientation budget=24kbit priority=unity min=2 relative-orientation budget=off adaptive priority=unity]"
	if got := fmt.Sprint(names); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
