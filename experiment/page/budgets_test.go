package page

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
)

// A run with shadows that have budgets of their own has a chart of error against kbps: a point with the letter of each
// lane, a line for a policy with several budgets, and the finding as a sentence.
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
	page := string(readFile(t, filepath.Join(dir, "report.html")))
	checkHTML(t, "budgets", page)
	section := page[strings.Index(page, `id="budgets"`):]
	section = section[:strings.Index(section, "</section>")]
	for _, want := range []string{"At 64 kbit/s, accumulated (lane A) has the least error", "(95 % CI ", "C B newest-change", ">A</text>", ">B</text>", ">C</text>"} {
		if !strings.Contains(section, want) {
			t.Errorf("the section lacks %q", want)
		}
	}
	if n := strings.Count(section, "<circle"); n != 3 {
		t.Errorf("%d points, want one for each lane with a budget", n)
	}
	if n := strings.Count(section, "<path"); n != 1 {
		t.Errorf("%d lines, want one: of the policy with two budgets", n)
	}
	if markdown := string(readFile(t, filepath.Join(dir, "report.md"))); !strings.Contains(markdown, "| A | accumulated | 64 |") {
		t.Error("report.md lacks the table")
	}
}

// budgetSweep returns a sweep over two budgets and three policies with the given number of seeds. The error of a policy is
// a fixed multiple of one that differs from seed to seed.
func budgetSweep(seeds int) *report.Report {
	r := &report.Report{Sweep: true}
	for _, budget := range []string{"24kbit", "64kbit"} {
		for i, policy := range []string{"unity", "accumulated", "fiedler"} {
			for seed := range seeds {
				x := &engine.Result{Set: map[string]string{"sender.budget": budget, "sender.priority": policy, "seed": fmt.Sprint(1 + seed)}}
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

// A sweep over budgets and policies has a line for each policy. Ratios of errors are by pairs of seeds: they have narrow
// intervals although the errors of seeds differ. With one seed the page says how to get intervals.
func TestErrorCurvesOfSweep(t *testing.T) {
	for seeds, want := range map[int]string{
		1: "With one seed there are no confidence intervals",
		4: "At 2 of them that is more than chance explains, by pairs of 4 seeds.",
	} {
		var b strings.Builder
		if err := writeSweep(&b, budgetSweep(seeds)); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		checkHTML(t, "curves", page)
		for _, text := range []string{want, "Mean error against kbps", "1 priority unity", "2 priority accumulated", "Least error: priority accumulated, at 2 of 2 rows of the table. The next has 1.50 to 1.50 times"} {
			if !strings.Contains(page, text) {
				t.Errorf("%d seeds: the page lacks %q", seeds, text)
			}
		}
		if has := strings.Contains(page, ">1.50 to 1.50<"); has != (seeds > 1) {
			t.Errorf("%d seeds: an interval of the ratio: %v", seeds, has)
		}
	}
}

// Tags of points at the same place do not cover each other, and the whiskers span the interval.
func TestErrorGraphic(t *testing.T) {
	d := &document{}
	d.addErrorCurves(gridPoints(budgetSweep(4).Runs))
	g := d.Answers[0].Graphics[0]
	seen := map[string]bool{}
	for _, text := range g.Texts {
		if regexp.MustCompile(`^[123]$`).MatchString(text.Text) {
			if at := text.X + " " + text.Y; seen[at] {
				t.Errorf("two tags at %s", at)
			} else {
				seen[at] = true
			}
		}
	}
	whiskers := 0
	for _, l := range g.Lines {
		if l.X1 == l.X2 && l.Class != "grid" {
			whiskers++
			if coordinate(l.Y1) <= coordinate(l.Y2) {
				t.Errorf("a whisker from %s up to %s", l.Y1, l.Y2)
			}
		}
	}
	if len(seen) != 6 || whiskers != 6 || len(g.Dots) != 6 || len(g.Paths) != 3 {
		t.Errorf("%d tags, %d whiskers, %d points, %d lines", len(seen), whiskers, len(g.Dots), len(g.Paths))
	}
	equal := errorGraphic([]errorLine{{"a", []errorPoint{{Tag: "A", Used: 10}}}, {"b", []errorPoint{{Tag: "B", Used: 10}}}}, "mm")
	var places []string
	for _, text := range equal.Texts {
		if text.Text == "A" || text.Text == "B" {
			places = append(places, text.X)
		}
	}
	if len(places) != 2 || math.Abs(coordinate(places[0])-coordinate(places[1])) < 10 {
		t.Errorf("tags of equal points at %v", places)
	}
}

// A sweep of a crowd shows the errors of the median client and of 95 % of the clients over the kbps of a client, and not
// the error of all clients over the kbps of all.
func TestErrorCurvesOfCrowd(t *testing.T) {
	r := budgetSweep(2)
	for _, x := range r.Runs {
		client := figures.CrowdClient{View: &figures.CrowdClientView{UsedKbps: figures.Known(20), Error: *x.Totals.View.MeanErrorMM}}
		x.Totals.Crowd = &figures.Crowd{P5: client, P50: client, P95: client, Worst: client}
	}
	d := &document{}
	d.addErrorCurves(gridPoints(r.Runs))
	if len(d.Answers) != 2 || d.Answers[0].Title != "Error of the median client against kbps" || d.Answers[1].Title != "Error, p95 of clients against kbps" {
		t.Fatalf("%d charts", len(d.Answers))
	}
	if heads := d.Answers[0].Tables[0].Heads; heads[2].Text != "error of the median client, mm or steps" {
		t.Errorf("a column is %q", heads[2].Text)
	}
}
