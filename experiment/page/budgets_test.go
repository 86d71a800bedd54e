package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
)

// A run with shadows that have budgets of their own has a chart of error against kbps: a point with the
// letter of each lane, a line for a policy with several budgets, and the finding as a sentence.
func TestBudgetsOfRun(t *testing.T) {
	dir := saveRun(t, `
duration = "17s"
[sender]
budget = "64kbit"
[[shadow]]
name = "relative-orientation"
priority = "newest-change"
[[shadow]]
name = "relative-orientation"
priority = "newest-change"
budget = "24kbit"
[[shadow]]
name = "relative-orientation"
budget = "off"
`)
	s := sectionOf(loaded(t, dir), "budgets")
	c := chartsOf(s)[0]
	if text := paragraphsOf(s); !strings.Contains(text,
		"At 64 kbit/s, accumulated (lane A) has the least error") || !strings.Contains(text, "(95 % CI ") {
		t.Errorf("the section has no finding: %s", text)
	}
	tags := slices.Sorted(slices.Values(c.Tags))
	if len(c.Lines) != 2 || c.Lines[0].Name != "C B newest-change" || c.Lines[0].Join != "line" ||
		!slices.Equal(tags, []string{"A", "B", "C"}) {
		t.Errorf("points %v, lines %+v", tags, c.Lines)
	}
	if got := fmt.Sprint(columnOf(tablesOf(s)[0], "lane"),
		columnOf(tablesOf(s)[0], "budget, kbps")); got != "[C A B] [24 64 64]" {
		t.Errorf("lanes and budgets are %s", got)
	}
}

// budgetSweep returns a sweep over two budgets and three policies with the given number of seeds. The error
// of a policy is a fixed multiple of one that differs from seed to seed.
func budgetSweep(seeds int) *report.Report {
	r := &report.Report{Sweep: true}
	for _, budget := range []string{"24kbit", "64kbit"} {
		for i, policy := range []string{"unity", "accumulated", "fiedler"} {
			for seed := range seeds {
				x := &engine.Result{Set: map[string]string{"sender.budget": budget,
					"sender.priority": policy, "seed": fmt.Sprint(1 + seed)}}
				x.Seed = uint64(1 + seed)
				e := figures.Known([]float64{2, 1, 1.5}[i] * float64(200+50*seed))
				used := 60.0
				if budget == "24kbit" {
					used, e = 20, e.Times(3)
				}
				x.Totals.View = &figures.View{Policy: policy, UsedKbps: figures.Known(used), MeanErrorMM: &e}
				r.Runs = append(r.Runs, x)
			}
		}
	}
	return r
}

// A sweep over budgets and policies has a line for each policy, with intervals if it has several seeds, and a
// table of the best policy of each budget.
func TestErrorCurvesOfSweep(t *testing.T) {
	for _, seeds := range []int{1, 4} {
		s := sectionOf(sweepDocument(budgetSweep(seeds)), "pareto-view-mean_error_mm")
		best := tablesOf(s)[0]
		if got := fmt.Sprint(columnOf(best, "sender.budget"), columnOf(best, "sender.priority")); got !=
			"[24kbit 64kbit] [accumulated accumulated]" {
			t.Errorf("%d seeds: %s", seeds, got)
		}
		c := chartsOf(s)[0]
		if c.Lines[0].Name != "1 priority unity" || c.Lines[1].Name != "2 priority accumulated" ||
			len(c.X) != 6 || c.Tags[0] != "1" || c.Lines[0].Join != "line" || c.Lines[0].Large != nil {
			t.Errorf("%d seeds: %+v", seeds, c)
		}
		if (c.Lines[0].Lo != nil) != (seeds > 1) || seeds > 1 &&
			!(c.Lines[0].Lo[0] < c.Lines[0].Y[0] && c.Lines[0].Y[0] < c.Lines[0].Hi[0]) {
			t.Errorf("%d seeds: intervals %+v", seeds, c.Lines[0])
		}
	}
}

// A sweep of a crowd shows the errors of the median client and of 95 % of the clients over the kbps of a
// client, and not the error of all clients over the kbps of all.
func TestErrorCurvesOfCrowd(t *testing.T) {
	r := budgetSweep(2)
	for i, x := range r.Runs {
		client := figures.CrowdClient{View: &figures.CrowdClientView{UsedKbps: figures.Known(float64(20 + i)),
			Error: *x.Totals.View.MeanErrorMM}}
		x.Totals.Crowd = &figures.Crowd{P5: client, P50: client, P95: client, Worst: client}
	}
	d := &Document{}
	d.addParetoCharts(newGrid(r.Runs))
	if len(d.Answers) != 2 || d.Answers[0].ID != "pareto-crowd-p50-view-error" ||
		d.Answers[1].ID != "pareto-crowd-p95-view-error" {
		t.Errorf("%+v", d.Answers)
	}
}
