package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// interruptedText describes a search that ended early.
const interruptedText = "The search was interrupted before it was complete."

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
	c := Candidate{at: t.at, Set: map[string]any{}, Text: settingText(s.spec.Over, t.at),
		Figures: map[string]figures.Mean{}, Seeds: len(t.runs), RunsAs: t.runs[0].RunsAs}
	for d, valueIndex := range t.at {
		c.Set[s.spec.Over[d].Key] = s.spec.Over[d].Values[valueIndex]
	}
	c.Bounds, c.Violations = s.boundResults(t)
	if t.problem() != "" {
		return c
	}
	names := figureNames(s.spec)
	for i := range t.runs[0].Figures {
		if values := t.values(i); !slices.ContainsFunc(values, math.IsNaN) {
			c.Figures[names[i]] = figures.MeanOf(names[i], values)
		}
	}
	return c
}

// ratio returns the ratio of the figure of a to that of b, paired by seed. N is 0 if one of them has no
// figure.
func (s *search) ratio(a, b *trial) figures.Mean {
	if a.problem() != "" || b.problem() != "" {
		return figures.Mean{}
	}
	n := min(len(a.runs), len(b.runs))
	return figures.RatioOf(s.spec.Minimise, a.values(toMinimise)[:n], b.values(toMinimise)[:n])
}

// isDistinct reports whether the figures of a and b differ: the 95 % interval of the difference, paired
// by seed, does not contain 0. Unlike a ratio, the difference exists if a figure is 0.
func isDistinct(a, b *trial) bool {
	differences := make([]float64, min(len(a.runs), len(b.runs)))
	for seed := range differences {
		differences[seed] = a.runs[seed].Figures[toMinimise] - b.runs[seed].Figures[toMinimise]
	}
	m := figures.EstimateMean(differences)
	isKnown := m.Lo != nil // both bounds are nil with fewer than two seeds
	return isKnown && (*m.Lo > 0 || *m.Hi < 0)
}

// summarize returns the result of the search. own is the configuration's own setting, nil if it is none
// of the settings.
func (s *search) summarize(own setting) *Result {
	result := &Result{Minimise: s.spec.Minimise, Settings: countSettings(s.spec.Over), Drawn: s.drawn,
		Tried: len(s.trials), Runs: s.spent,
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
	result.Best = &chosen
	result.Seeds = len(best.runs)
	if t := s.byKey[own.key()]; t != nil && t.problem() == "" {
		ratio := s.ratio(best, t)
		result.RatioToOwn = &ratio
	}
	if result.Tried == int(result.Settings) {
		result.addf("The whole grid of %s was run.", words.Count(result.Tried, "setting"))
	}
	if s.isSeedless() {
		if result.Bounds == "" || !chosen.Keeps() { // otherwise addBounds adds the reason
			result.addf("The seed has no effect.")
		}
	} else if len(best.runs) < s.seeds {
		result.addf("The limit of %d runs did not allow for all %d seeds.", s.spec.Runs, s.seeds)
	}
	s.addOthers(result, best)
	s.addBounds(result)
	return result
}

// addf adds a sentence to r.Confidence.
func (r *Result) addf(format string, args ...any) {
	r.Confidence = append(r.Confidence, fmt.Sprintf(format, args...))
}

// addOthers adds the settings that were run to result and, if best keeps the bounds, compares them with it.
func (s *search) addOthers(result *Result, best *trial) {
	near := map[string]bool{}
	for _, x := range around(s.spec.Over, best.at, 1) {
		near[x.key()] = true
	}
	var firstFigures []float64 // of the neighbours that keep the bounds, with the first seed
	ran := 0                   // number of neighbours that were run
	equal := 0                 // number of settings that cannot be distinguished from the best
	for _, t := range s.trials {
		c := s.describe(t)
		step := tracedSetting{c.Text, c.Seeds, c.Figures[s.spec.Minimise], cmp.Or(c.Violations,
			"not better than the best with the same seeds")}
		hasAllSeeds, isNear := c.Seeds == s.seeds, near[t.at.key()]
		switch {
		case t != best:
			if hasAllSeeds && s.seeds > 1 || isNear {
				result.Rivals = append(result.Rivals, rival{c, s.ratio(t, best)})
			}
		case c.Keeps():
			step.Outcome = "the best"
		default:
			step.Outcome = "the closest: " + c.Violations
		}
		result.Trace = append(result.Trace, step)
		if isNear {
			ran++
		}
		isRival := t != best && s.violation(t) == s.violation(best)
		if isRival && isNear {
			firstFigures = append(firstFigures, t.runs[0].Figures[toMinimise])
		}
		if isRival && hasAllSeeds && s.seeds > 1 && !isDistinct(t, best) {
			equal++
		}
	}
	slices.SortStableFunc(result.Rivals, func(a, b rival) int { // rivals without a ratio come last
		return cmp.Or(cmp.Compare(min(b.Ratio.N, 1), min(a.Ratio.N, 1)), cmp.Compare(a.Ratio.Mean,
			b.Ratio.Mean))
	})
	if !result.Best.Keeps() {
		return
	}
	if len(firstFigures) > 0 {
		result.addf("%d of %s of the best setting ran on the same frames: with the first seed, their lowest %s is %s, that of the best %s.",
			ran, words.Count(len(near), "neighbour"), s.spec.Minimise,
			units.Significant(slices.Min(firstFigures), 4),
			units.Significant(best.runs[0].Figures[toMinimise], 4))
	}
	if equal > 0 {
		result.addf("With %d seeds, %s cannot be distinguished from it.", s.seeds, words.Count(equal,
			"other setting"))
	}
}

// addBounds adds sentences about whether the best setting keeps the bounds. The last of them is the reason if
// it does not.
func (s *search) addBounds(result *Result) {
	best := result.Best
	seeds := words.Count(best.Seeds, "seed")
	switch {
	case !best.Keeps():
		result.addf("No setting that was tried keeps all bounds. The closest, with %s, is %s: %s.", seeds,
			best.Text, best.Violations)
	case result.Bounds != "" && s.isSeedless():
		result.addf("It keeps all bounds, with every seed, because the seed has no effect.")
	case result.Bounds == config.EachSeed:
		result.addf("It keeps all bounds, with every seed of %s.", seeds)
	case result.Bounds == config.MeanOfSeeds:
		result.addf("It keeps all bounds, on the mean of %s.", seeds)
	}
	for _, b := range best.Bounds {
		if b.Close && best.Keeps() {
			lo, hi, _ := b.Measured.Bounds()
			what := "95 % interval"
			if b.Measured.Range != nil {
				what = "range over the seeds"
			}
			result.addf("The %s of %s, %s to %s, contains the bound %s: more seeds may change the answer.",
				what, b.Figure,
				units.Significant(lo, 3), units.Significant(hi, 3), b.Bound)
		}
	}
}
