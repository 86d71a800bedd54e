package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/experiment/page"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// Result is the result of a search.
type Result struct {
	Minimise []string `json:"minimise"`         // names of the figures
	Settings float64  `json:"settings"`         // number of settings in the whole grid
	Drawn    int      `json:"drawn"`            // settings drawn at random; 0 means that the whole grid was run
	Tried    int      `json:"tried"`            // settings that were run for the whole duration
	Runs     float64  `json:"runs"`             // cost of the search, in runs of the whole duration
	Seeds    int      `json:"seeds"`            // seeds with which the best were compared; 1 if the seed has no effect
	Bounds   string   `json:"bounds,omitempty"` // config.MeanOfSeeds or config.EachSeed: what the bounds apply to; "" without bounds

	// Best is the best setting that keeps the bounds or, if none does, the one that violates them least: see Keeps. It
	// is nil if no setting could be run and measured.
	Best *Candidate `json:"best"`

	// Front lists the Pareto front of two figures, by the first: settings for which no other setting is
	// better in one figure and not worse in the other. It is empty if one figure is minimised.
	Front []Candidate `json:"front,omitempty"`

	// Rivals lists settings that may be as good as the best, those that the race dropped because they break the bounds,
	// and the neighbours of the best that were run.
	Rivals []rival `json:"near"`

	// RatioToOwn is the ratio of the best's first figure to that of the configuration itself, paired by seed;
	// nil if the configuration itself is none of the settings.
	RatioToOwn *figures.Mean `json:"ratio_to_own,omitempty"`

	Own         []float64   `json:"own"`                   // figures of the configuration itself; null if not finite
	Confidence  []string    `json:"sure"`                  // sentences about the confidence in the best
	Interrupted bool        `json:"interrupted,omitempty"` // the search was interrupted; Best is that so far
	Trace       []traceStep `json:"trace"`
}

// Candidate is a setting with the means of its figures over the seeds with which it was run.
type Candidate struct {
	Set        map[string]any          `json:"set"`              // values by configuration key
	Text       string                  `json:"words"`            // Set as KEY=VALUE, separated by spaces
	Figures    map[string]figures.Mean `json:"figures"`          // those to minimise and of page.SearchTiles, by name; without those that are not finite
	Seeds      int                     `json:"seeds"`            // number of seeds with which it was run
	Bounds     []boundResult           `json:"bounds,omitempty"` // in the order of the configuration
	Violations string                  `json:"breaks,omitempty"` // violated bounds; empty if none

	// RunsAs is encoders.Plugin.Runs if a plugin influenced times among the figures, otherwise empty.
	RunsAs string `json:"runs_as,omitempty"`
}

// Keeps reports whether the candidate could be run and keeps all bounds.
func (c *Candidate) Keeps() bool { return c != nil && c.Violations == "" }

// A rival is a setting with the ratio of its first figure to the best's, paired by seed.
type rival struct {
	Candidate
	Ratio figures.Mean `json:"ratio"`
}

// describe returns setting x with the means of its figures and the bounds that it violates.
func (s *search) describe(x setting) Candidate {
	c := Candidate{Set: map[string]any{}, Text: settingText(s.spec.Over, x), Figures: map[string]figures.Mean{},
		Seeds: len(s.figureBySeed(x, 0, s.spec.Seeds)), Bounds: s.boundResults(x), Violations: s.violationText(x),
		RunsAs: s.outcomeOf(completeRun(x, 0)).RunsAs}
	for d, valueIndex := range x {
		c.Set[s.spec.Over[d].Key] = s.spec.Over[d].Values[valueIndex]
	}
	for i, name := range page.SearchTiles() {
		var values []float64
		for seed := range s.spec.Seeds {
			if v := s.outcomeOf(completeRun(x, seed)); i < len(v.Shown) {
				values = append(values, v.Shown[i])
			}
		}
		c.addFigure(name, values)
	}
	for f, name := range s.spec.Minimise {
		c.addFigure(name, s.figureBySeed(x, f, s.spec.Seeds))
	}
	return c
}

// addFigure sets a figure to the mean of values, one for each seed, unless values is empty or one is not finite.
func (c *Candidate) addFigure(name string, values []float64) {
	if len(values) == 0 || finiteOrNil(values) == nil {
		return
	}
	c.Figures[name] = figures.MeanOf(name, values)
}

// countDrawnAhead sets s.drawnAhead to the number of settings drawn at random that are better than the best
// setting, list[0], in runs of 1/8 of the duration (divisors[0] is 8). All drawn settings have been run that long;
// countDrawnAhead runs the best one that long if necessary. drawnAhead stays -1 if the limit of runs does not
// allow that, if nothing was drawn, or if two figures are minimised.
func (s *search) countDrawnAhead(ctx context.Context, list []setting) {
	if s.nDrawn == 0 || len(list) == 0 || len(s.spec.Minimise) > 1 {
		return
	}
	j := job{Setting: list[0], Divisor: divisors[0]}
	if s.spentRuns+s.newCost([]job{j}) > float64(s.spec.Runs) || s.runJobs(ctx, "race", []job{j}) != nil {
		return // the result is complete without this number
	}
	best := s.outcomeOf(j)
	s.drawnAhead = 0
	for _, x := range s.drawn {
		if s.outcomeOf(job{Setting: x, Divisor: divisors[0]}).compare(best) < 0 {
			s.drawnAhead++
		}
	}
}

// summarize returns the result of the search. list are the best settings, the best first. own is the
// configuration's own setting, nil if it is none of the settings; ownOutcome is its outcome.
func (s *search) summarize(list []setting, own setting, ownOutcome outcome) *Result {
	result := &Result{Minimise: s.spec.Minimise, Settings: countSettings(s.spec.Over), Drawn: s.nDrawn, Tried: len(s.tried),
		Runs: s.spentRuns, Trace: s.trace, Own: finiteOrNil(ownOutcome.Figures), Seeds: 1, Rivals: []rival{}}
	if s.walkSeeds > 1 {
		result.Seeds = s.racedSeeds
	}
	if len(s.spec.Subject) > 0 {
		result.Bounds = cmp.Or(s.spec.Bounds, config.MeanOfSeeds)
	}
	if len(list) == 0 || math.IsInf(s.outcomeOf(completeRun(list[0], 0)).Violation, 1) {
		sentence := "No setting that was tried could be run and measured."
		if len(list) > 0 {
			sentence += fmt.Sprintf(" With %s: %s.", settingText(s.spec.Over, list[0]), s.outcomeOf(completeRun(list[0], 0)).Reason)
		}
		result.Confidence = []string{sentence}
		return result
	}
	best := list[0]
	chosen := s.describe(best)
	result.Best = &chosen
	if len(s.spec.Minimise) > 1 {
		for _, x := range list {
			result.Front = append(result.Front, s.describe(x))
		}
	}
	if own != nil {
		if ratio := s.pairedRatio(best, own, s.spec.Seeds); ratio.N > 0 {
			result.RatioToOwn = &ratio
		}
	}
	listed := map[string]bool{best.key(): true}
	for _, x := range slices.Concat(list[1:], s.broken) {
		if !listed[x.key()] {
			listed[x.key()] = true
			result.Rivals = append(result.Rivals, rival{s.describe(x), s.pairedRatio(x, best, s.spec.Seeds)})
		}
	}
	if len(s.spec.Minimise) == 1 {
		s.addConfidence(result, listed, best)
	} else {
		result.Confidence = append(result.Confidence, fmt.Sprintf("%d settings were run for the whole duration, "+
			"and none is better than one of the front in both figures.", result.Tried))
	}
	s.addBounds(result)
	return result
}

// addBounds adds sentences to result.Confidence that describe whether the best setting keeps the bounds. The last of
// them is the reason if it does not.
func (s *search) addBounds(result *Result) {
	if len(s.spec.Subject) == 0 {
		return
	}
	addf := func(format string, args ...any) {
		result.Confidence = append(result.Confidence, fmt.Sprintf(format, args...))
	}
	over := fmt.Sprintf("on the mean of %s", words.Count(result.Best.Seeds, "seed"))
	if s.walkSeeds == 1 {
		over = "with every seed, because the seed has no effect"
	} else if s.spec.Bounds == config.EachSeed {
		over = fmt.Sprintf("with each of %s", words.Count(result.Best.Seeds, "seed"))
	}
	if !result.Best.Keeps() {
		if s.walkSeeds != 1 {
			over = "over " + words.Count(result.Best.Seeds, "seed") // the violations tell means from single seeds
		}
		addf("No setting that was tried keeps all bounds. With the one that is closest, %s, %s.", result.Best.Violations, over)
		return
	}
	addf("It keeps all bounds, %s.", over)
	if s.walkSeeds > 1 && result.Best.Seeds < s.spec.Seeds {
		addf("The limit of %d runs did not allow for all %d seeds.", s.spec.Runs, s.spec.Seeds)
	}
	for _, b := range result.Best.Bounds {
		if b.Close {
			lo, hi, _ := b.Measured.Bounds()
			what := "95 % interval"
			if b.Measured.Range != nil {
				what = "range over the seeds"
			}
			addf("The %s of %s, %s to %s, contains the bound %s: more seeds may change the answer.", what, b.Figure,
				units.Significant(lo, 3), units.Significant(hi, 3), b.Bound)
		}
	}
}

// addConfidence adds sentences to result.Confidence that describe how certain it is that best is the best setting.
// listed has best and the keys of the settings in result.Rivals. addConfidence also adds the neighbours of best that
// were run to result.Rivals, and sorts that list by the ratio to best.
func (s *search) addConfidence(result *Result, listed map[string]bool, best setting) {
	addf := func(format string, args ...any) {
		result.Confidence = append(result.Confidence, fmt.Sprintf(format, args...))
	}
	rivals := 0 // settings that the race could not distinguish from best
	for i := range result.Rivals {
		if result.Rivals[i].Keeps() == result.Best.Keeps() {
			rivals++
		}
	}
	if float64(result.Tried) >= result.Settings && s.walkSeeds <= 1 {
		addf("All %.0f settings were run: no other setting is better on these frames.", result.Settings)
	} else if float64(result.Tried) >= result.Settings {
		addf("All %.0f settings were run with the first seed, and the best four of them with up to %d seeds.", result.Settings, max(s.racedSeeds, 1))
	}
	bestFigure, bestViolation := s.outcomeOf(completeRun(best, 0)).Figures[0], s.violation(best, s.spec.Seeds)
	ran, lowest := 0, math.Inf(1) // lowest is the lowest first figure of the neighbours that violate the bounds as much as best
	neighbourList := neighbours(s.spec.Over, best)
	for _, neighbour := range neighbourList {
		if neighbourOutcome, ok := s.outcomes[jobKey(completeRun(neighbour, 0))]; ok {
			ran++
			if s.violation(neighbour, s.spec.Seeds) == bestViolation {
				lowest = min(lowest, neighbourOutcome.Figures[0])
			}
			if !listed[neighbour.key()] {
				result.Rivals = append(result.Rivals, rival{s.describe(neighbour), s.pairedRatio(neighbour, best, s.spec.Seeds)})
			}
		}
	}
	slices.SortStableFunc(result.Rivals, func(a, b rival) int { // rivals without a ratio come last
		return cmp.Or(cmp.Compare(min(b.Ratio.N, 1), min(a.Ratio.N, 1)), cmp.Compare(a.Ratio.Mean, b.Ratio.Mean))
	})
	if !math.IsInf(lowest, 1) {
		addf("Of the %d neighbours of the best setting, %d were run on the same frames. With the first seed, the lowest figure of a neighbour is %s.",
			len(neighbourList), ran, compareText(lowest, bestFigure))
	}
	// If a fraction p of all settings is better than a given setting, the probability that none of n settings
	// drawn at random is better is (1-p)^n. For p = 1 - 0.05^(1/n) it is 5 %.
	if result.Drawn > 0 && float64(result.Tried) < result.Settings {
		switch {
		case s.drawnAhead == 0:
			addf("In runs of 1/8 of the duration, none of %d settings drawn at random is better than the best setting. "+
				"With 95 %% confidence, at most %.1f %% of all settings are better in such runs.",
				result.Drawn, 100*(1-math.Pow(0.05, 1/float64(result.Drawn))))
		case s.drawnAhead > 0:
			addf("In runs of 1/8 of the duration, %d of %d settings drawn at random are better than the best setting; "+
				"how many are better in complete runs is unknown.",
				s.drawnAhead, result.Drawn)
		}
	}
	if rivals > 0 && s.walkSeeds > 1 {
		addf("With %d seeds, %s cannot be distinguished from it.", s.racedSeeds, words.Count(rivals, "other setting"))
	}
}

// compareText describes how a figure x differs from that of the best setting.
func compareText(x, best float64) string {
	switch percent := 100 * (x/best - 1); {
	case x == best:
		return "equal"
	case best == 0 || percent-percent != 0: // percent is not finite
		return fmt.Sprintf("%s (best: %s)", units.Significant(x, 4), units.Significant(best, 4))
	case percent < 0:
		return fmt.Sprintf("%.2f %% lower", -percent)
	default:
		return fmt.Sprintf("%.2f %% higher", percent)
	}
}
