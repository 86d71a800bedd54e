package page

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
)

// A run fails if anything failed, and passes if it has assertions.
func TestVerdict(t *testing.T) {
	for _, x := range []struct {
		assertions, failures int
		want                 string
	}{{0, 0, ""}, {0, 1, failedVerdict}, {1, 0, passedVerdict}, {2, 1, failedVerdict}} {
		if got := verdictOf(x.assertions, x.failures); got != x.want {
			t.Errorf("%+v: %q", x, got)
		}
	}
}

// sweepRuns returns runs of two encoders under two losses, for each the wire rate; a rate above 300 fails an
// assertion.
func sweepRuns(rates map[string]float64) *report.Report {
	r := &report.Report{Sweep: true}
	for _, loss := range []string{"1%", "5%"} {
		for _, encoder := range []string{"a", "b"} {
			rate := rates[encoder+" "+loss]
			x := &engine.Result{Set: map[string]string{"encoder.name": encoder, "down.loss": loss}}
			x.Totals.WireKbps, x.Totals.PayloadKbps = rate, rate
			x.Totals.Playout.StarvedRatio = figures.Known(0.01)
			x.Assertions = []engine.AssertionResult{{Name: "bound", Bound: "<= 1", Holds: rate <= 300,
				Got: figures.Known(rate)}}
			r.Runs = append(r.Runs, x)
		}
	}
	return r
}

// A sweep recommends the cheapest point whose runs did not fail, under each condition.
func TestRecommendedPoint(t *testing.T) {
	for _, x := range []struct {
		rates             map[string]float64
		verdict, headline string
		tile              string
	}{
		{map[string]float64{"a 1%": 100, "b 1%": 200, "a 5%": 150, "b 5%": 250}, passedVerdict,
			"encoder a is the cheapest setting to keep the assertions under 2 conditions: 100.0 to 150.0 kbps.", "100.0 to 150.0"},
		{map[string]float64{"a 1%": 100, "b 1%": 90, "a 5%": 150, "b 5%": 250}, passedVerdict,
			"Different settings are the cheapest to keep the assertions under 2 conditions: 90.0 to 150.0 kbps.", "90.0 to 150.0"},
		{map[string]float64{"a 1%": 400, "b 1%": 450, "a 5%": 310, "b 5%": 250}, failedVerdict,
			"encoder b is the cheapest setting to keep the assertions under 1 of 2 conditions: 250.0 kbps; 3 of 4 points failed.", "250.0"},
	} {
		d := sweepDocument(sweepRuns(x.rates))
		if d.Verdict != x.verdict || d.Headline != x.headline || len(d.Tiles) != 2 ||
			d.Tiles[0].Value != x.tile || d.Answers[0].ID != "recommended" {
			t.Errorf("%v: %s: %q, tiles %+v", x.rates, d.Verdict, d.Headline, d.Tiles)
		}
	}
	seeds := sweepRuns(map[string]float64{"a 1%": 100, "b 1%": 200, "a 5%": 150, "b 5%": 250})
	g := newGrid(seeds.Runs)
	for _, p := range g.points { // a seed is no setting that can be recommended
		p.Set["seed"] = p.Set["down.loss"]
		delete(p.Set, "down.loss")
	}
	if list, conditions := cheapest(g.points, &g.choiceMetrics()[0]); conditions != 2 || len(list) != 2 ||
		list[0].settings(isChoice) != "encoder a" {
		t.Errorf("two seeds: %d conditions, %v", conditions, list)
	}
	all := map[string]float64{"a 1%": 400, "b 1%": 400, "a 5%": 400, "b 5%": 400}
	d := sweepDocument(sweepRuns(all))
	if d.Verdict != failedVerdict || len(d.Tiles) != 0 || len(d.Alarms) != maxAlarms+1 ||
		d.Sections[len(d.Sections)-3].ID != "failures" {
		t.Errorf("nothing holds: %s, %+v, %q", d.Verdict, d.Tiles, d.Alarms)
	}
}

// Without assertions, or if none of the settings keeps them, no setting is named best: the headline has the
// cost and the quality of the cheapest and of the costliest setting, over all conditions.
func TestTrade(t *testing.T) {
	list := sweepRuns(map[string]float64{"a 1%": 100, "b 1%": 200, "a 5%": 150, "b 5%": 250})
	for i, r := range list.Runs {
		r.Assertions = nil
		r.Totals.Playout.StarvedRatio = figures.Known([]float64{0.47, 0, 0.55, 0.01}[i])
		r.Totals.Playout.PositionError, r.Totals.Playout.PositionErrorUnit = &figures.Quantiles{P95: float64(4 - i), N: 1}, "cm"
	}
	starved, errors := map[string][]float64{}, map[string][]float64{}
	for _, r := range list.Runs {
		name := r.Set["encoder.name"]
		starved[name] = append(starved[name], 100*r.Totals.Playout.StarvedRatio.Or(0))
		errors[name] = append(errors[name], r.Totals.Playout.PositionError.P95)
	}
	want := ""
	for _, x := range [][2]string{{"a", "100.0 to 150.0"}, {"b", "200.0 to 250.0"}} {
		name := x[0]
		want += fmt.Sprintf("encoder %s: %s kbps %s, %.2f to %.2f %% %s, %.3f to %.3f cm %s; ", name, x[1],
			figures.Find(wireKey).Title,
			slices.Min(starved[name]), slices.Max(starved[name]), figures.Find(starvedKey).Title, slices.Min(errors[name]), slices.Max(errors[name]), figures.Find(errorKey).Title)
	}
	d := sweepDocument(list)
	if got := d.Headline + " "; strings.ReplaceAll(got, ". ", "; ") != want || len(d.Tiles) > 0 ||
		d.Answers[0].ID != "trade" || !strings.Contains(paragraphsOf(d.Answers[0]), "[assert]") {
		t.Errorf("%q, want %q; %+v", d.Headline, want, d.Answers[0])
	}
	if c := chartsOf(sectionOf(d, "lines"))[0]; fmt.Sprint(c.X, c.Axis) != "[1 1 5 5]down.loss, %" {
		t.Errorf("X values %v, %s", c.X, c.Axis)
	}
	for _, s := range d.Answers[1:] {
		c := chartsOf(s)[0]
		for _, name := range []string{c.Axis, c.Unit} {
			if !regexp.MustCompile(`, (kbps|%|cm|mm|ms)$`).MatchString(name) {
				t.Errorf("an axis without a unit: %q", name)
			}
		}
	}
}

// The page of a search that found nothing says so.
func TestEmptySearch(t *testing.T) {
	s := &Search{Minimise: wireKey, Config: config.Default(), Sentences: []string{"No setting was run."}}
	if d := s.Document(); d.Headline != "No setting was run." || d.Verdict != failedVerdict {
		t.Errorf("%+v", d)
	}
}
