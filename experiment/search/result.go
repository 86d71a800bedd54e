package search

import (
	"cmp"
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
	Minimise string  `json:"minimise"`         // name of the figure
	Settings float64 `json:"settings"`         // number of settings in the whole grid
	Drawn    int     `json:"drawn"`            // settings drawn at random; 0 means that the whole grid was run
	Tried    int     `json:"tried"`            // settings that were run
	Runs     int     `json:"runs"`             // cost of the search
	Seeds    int     `json:"seeds"`            // seeds with which the best was run; 1 if the seed has no effect
	Bounds   string  `json:"bounds,omitempty"` // config.MeanOfSeeds or config.EachSeed: what the bounds apply to; "" without bounds

	// Best is the best setting that keeps the bounds or, if none does, the one that violates them least:
	// see Keeps. It is nil if no setting could be run and measured.
	Best *Candidate `json:"best"`

	// Rivals lists the other settings that were run with all seeds, and the neighbours of the best that
	// were run, by their ratios to the best.
	Rivals []rival `json:"near"`

	// RatioToOwn is the ratio of the best's figure to that of the configuration itself, paired by seed; nil
	// if the configuration itself is none of the settings.
	RatioToOwn *figures.Mean `json:"ratio_to_own,omitempty"`

	Confidence  []string        `json:"sure"`                  // sentences about the confidence in the best
	Interrupted bool            `json:"interrupted,omitempty"` // the search was interrupted; Best is that so far
	Trace       []tracedSetting `json:"trace"`                 // all settings that were run, in the order of their first runs
}

// Candidate is a setting with the means of its figures over the seeds with which it was run.
type Candidate struct {
	Set        map[string]any          `json:"set"`              // values by configuration key
	Text       string                  `json:"words"`            // Set as KEY=VALUE, separated by spaces
	Figures    map[string]figures.Mean `json:"figures"`          // the minimised one and page.SearchTiles, by name; without those that are not finite
	Seeds      int                     `json:"seeds"`            // number of seeds with which it was run
	Bounds     []boundResult           `json:"bounds,omitempty"` // in the order of the configuration
	Violations string                  `json:"breaks,omitempty"` // violated bounds, or why it has no figures; empty if it keeps all bounds

	// RunsAs is encoders.Plugin.Runs if a plugin influenced times among the figures, otherwise empty.
	RunsAs string `json:"runs_as,omitempty"`

	at setting
}

// Keeps reports whether the candidate could be run and keeps all bounds.
func (c *Candidate) Keeps() bool { return c != nil && c.Violations == "" }

// A rival is a setting with the ratio of its figure to the best's, paired by seed.
type rival struct {
	Candidate
	Ratio figures.Mean `json:"ratio"`
}

// A tracedSetting is a setting that was run, and why it is not the best.
type tracedSetting struct {
	Setting string       `json:"setting"` // as KEY=VALUE
	Seeds   int          `json:"seeds"`
	Figure  figures.Mean `json:"figure"`
	Outcome string       `json:"fate"`
}

// describe returns a setting with the means of its figures and the bounds that it violates.
func (s *search) describe(t *trial) Candidate {
	c := Candidate{at: t.at, Set: map[string]any{}, Text: settingText(s.spec.Over, t.at), Figures: map[string]figures.Mean{}, Seeds: len(t.runs),
		RunsAs: t.runs[0].RunsAs}
	for d, valueIndex := range t.at {
		c.Set[s.spec.Over[d].Key] = s.spec.Over[d].Values[valueIndex]
	}
	c.Bounds, c.Violations = s.boundResults(t)
	if t.problem() != "" {
		return c
	}
	for i, name := range page.SearchTiles() {
		var values []float64
		for _, r := range t.runs {
			if i < len(r.Shown) && !math.IsNaN(r.Shown[i]) {
				values = append(values, r.Shown[i])
			}
		}
		if len(values) == len(t.runs) {
			c.Figures[name] = figures.MeanOf(name, values)
		}
	}
	c.Figures[s.spec.Minimise] = figures.MeanOf(s.spec.Minimise, t.figures(len(t.runs)))
	return c
}

// ratio returns the ratio of the figure of a to that of b, paired by seed. N is 0 if one of them has no
// figure.
func (s *search) ratio(a, b *trial) figures.Mean {
	if a.problem() != "" || b.problem() != "" {
		return figures.Mean{}
	}
	n := min(len(a.runs), len(b.runs))
	return figures.RatioOf(s.spec.Minimise, a.figures(n), b.figures(n))
}

// isDistinct reports whether the figures of a and b differ: the 95 % interval of the difference, paired
// by seed, does not contain 0. Unlike a ratio, the difference exists if a figure is 0.
func isDistinct(a, b *trial) bool {
	n := min(len(a.runs), len(b.runs))
	differences := make([]float64, n)
	for seed := range differences {
		differences[seed] = a.runs[seed].Figure - b.runs[seed].Figure
	}
	m := figures.EstimateMean(differences)
	isKnown := m.Lo != nil // both bounds are nil with fewer than two seeds
	return isKnown && (*m.Lo > 0 || *m.Hi < 0)
}

// summarize returns the result of the search. own is the configuration's own setting, nil if it is none
// of the settings.
func (s *search) summarize(own setting) *Result {
	result := &Result{Minimise: s.spec.Minimise, Settings: countSettings(s.spec.Over), Drawn: s.drawn, Tried: len(s.trials), Runs: s.spent,
		Rivals: []rival{}, Trace: []tracedSetting{}}
	if len(s.spec.Subject) > 0 {
		result.Bounds = cmp.Or(s.spec.Bounds, config.MeanOfSeeds)
	}
	best := s.best()
	if best == nil || best.problem() != "" {
		sentence := "No setting that was tried could be run and measured."
		if best != nil {
			sentence += fmt.Sprintf(" With %s: %s.", settingText(s.spec.Over, best.at), best.problem())
		}
		result.Confidence = []string{sentence}
		return result
	}
	chosen := s.describe(best)
	result.Best, result.Seeds = &chosen, len(best.runs)
	near := map[string]bool{}
	for _, x := range around(s.spec.Over, best.at, 1) {
		near[x.key()] = true
	}
	for _, t := range s.trials {
		c := s.describe(t)
		step := tracedSetting{c.Text, c.Seeds, c.Figures[s.spec.Minimise], "the best"}
		if t != best {
			r := rival{c, s.ratio(t, best)}
			if c.Seeds > 1 && c.Seeds == s.seeds || near[t.at.key()] {
				result.Rivals = append(result.Rivals, r)
			}
			step.Outcome = "not better than the best with the same seeds"
			if c.Violations != "" {
				step.Outcome = c.Violations
			}
		}
		result.Trace = append(result.Trace, step)
	}
	slices.SortStableFunc(result.Rivals, func(a, b rival) int { // rivals without a ratio come last
		return cmp.Or(cmp.Compare(min(b.Ratio.N, 1), min(a.Ratio.N, 1)), cmp.Compare(a.Ratio.Mean, b.Ratio.Mean))
	})
	if t := s.byKey[own.key()]; t != nil && t.problem() == "" {
		ratio := s.ratio(best, t)
		result.RatioToOwn = &ratio
	}
	s.addConfidence(result, best)
	s.addBounds(result)
	return result
}

// addConfidence adds sentences to result.Confidence that describe how certain it is that best is the
// best setting.
func (s *search) addConfidence(result *Result, best *trial) {
	addf := func(format string, args ...any) {
		result.Confidence = append(result.Confidence, fmt.Sprintf(format, args...))
	}
	switch isWhole := float64(result.Tried) >= result.Settings; {
	case isWhole && s.seeds == 1:
		addf("All %.0f settings were run: no other setting is better on these frames.", result.Settings)
	case isWhole:
		addf("All %.0f settings were run with the first seed, and those that may be the best with up to %d seeds.", result.Settings, s.seeds)
	}
	ran, lowest := 0, math.Inf(1) // lowest is the lowest figure of the neighbours that violate the bounds as much as best
	neighbours := around(s.spec.Over, best.at, 1)
	for _, x := range neighbours {
		if t := s.byKey[x.key()]; t != nil {
			ran++
			if s.violation(t) == s.violation(best) {
				lowest = min(lowest, t.runs[0].Figure)
			}
		}
	}
	if !math.IsInf(lowest, 1) {
		addf("Of the %d neighbours of the best setting, %d were run on the same frames. With the first seed, the lowest figure of a neighbour is %s.",
			len(neighbours), ran, compareText(lowest, best.runs[0].Figure))
	}
	equal := 0 // settings that cannot be distinguished from the best
	for _, t := range s.trials {
		if t != best && len(t.runs) == s.seeds && s.violation(t) == s.violation(best) && !isDistinct(t, best) {
			equal++
		}
	}
	if equal > 0 && s.seeds > 1 {
		addf("With %d seeds, %s cannot be distinguished from it.", s.seeds, words.Count(equal, "other setting"))
	}
	if s.seeds > 1 && result.Best.Seeds < s.seeds {
		addf("The limit of %d runs did not allow for all %d seeds.", s.spec.Runs, s.seeds)
	}
}

// addBounds adds sentences to result.Confidence that describe whether the best setting keeps the bounds.
// The last of them is the reason if it does not.
func (s *search) addBounds(result *Result) {
	if len(s.spec.Subject) == 0 {
		return
	}
	addf := func(format string, args ...any) {
		result.Confidence = append(result.Confidence, fmt.Sprintf(format, args...))
	}
	seeds := words.Count(result.Best.Seeds, "seed")
	if !result.Best.Keeps() {
		addf("No setting that was tried keeps all bounds. With the one that is closest, %s, over %s.", result.Best.Violations, seeds)
		return
	}
	switch {
	case s.seeds == 1:
		addf("It keeps all bounds, with every seed, because the seed has no effect.")
	case s.spec.Bounds == config.EachSeed:
		addf("It keeps all bounds, with each of %s.", seeds)
	default:
		addf("It keeps all bounds, on the mean of %s.", seeds)
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
