package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"wirelab/experiment/figures"
	"wirelab/experiment/sweep"
	"wirelab/internal/units"
)

// Found is what a search came to.
type Found struct {
	Minimise []string `json:"minimise"`
	Settings float64  `json:"settings"` // in the whole grid
	Drawn    int      `json:"drawn"`    // at random, to begin with; 0: the whole grid was run
	Tried    int      `json:"tried"`    // for the whole duration
	Runs     float64  `json:"runs"`     // of the whole duration, in sum: what it cost
	Seeds    int      `json:"seeds"`    // on which the last were compared; 1: a seed changes nothing
	Best     *Chosen  `json:"best"`     // nil if nothing keeps the bounds
	// Front lists settings that no other betters in both figures, by the first one.
	Front []Chosen `json:"front,omitempty"`
	// Near lists those that may be as good as the best, and its neighbours.
	Near []rival `json:"near"`
	// OfOwn is the first figure of the best against that of the configuration itself.
	OfOwn       *figures.Mean `json:"ratio_to_own,omitempty"`
	Own         []float64     `json:"own"`                   // figures of the configuration itself
	Sure        []string      `json:"sure"`                  // how sure that is, in sentences
	Interrupted bool          `json:"interrupted,omitempty"` // before its end: the best until then
	Trace       []step        `json:"trace"`
}

// Chosen is a setting with its figures over the seeds that it was run with.
type Chosen struct {
	Set     map[string]any          `json:"set"`
	Words   string                  `json:"words"`
	Figures map[string]figures.Mean `json:"figures"`
	Breaks  string                  `json:"breaks,omitempty"` // bounds that it does not keep
	// RunsAs says what times among the figures are of if an encoder from outside had a part in them.
	RunsAs string `json:"runs_as,omitempty"`
}

// rival is a setting against the best: the ratio of their first figures, paired by seed.
type rival struct {
	Chosen
	Ratio figures.Mean `json:"ratio"`
}

func (s *search) chosen(x setting) Chosen {
	c := Chosen{Set: map[string]any{}, Words: words(s.spec.Over, x), Figures: map[string]figures.Mean{}, Breaks: s.breaks(x),
		RunsAs: s.value(job{x, 0, 1}).RunsAs}
	for d, v := range x {
		c.Set[s.spec.Over[d].Key] = s.spec.Over[d].Values[v]
	}
	for f, name := range s.spec.Minimise {
		if v := s.column(x, f, s.spec.Seeds); len(v) > 0 && finite(v) != nil {
			c.Figures[name] = sweep.MeanOf(v)
		}
	}
	return c
}

// breaks says which bounds a setting does not keep, on the seed on which it is furthest from them.
func (s *search) breaks(x setting) string {
	var worst outcome
	for seed := range s.spec.Seeds {
		if v := s.value(job{x, seed, 1}); v.Violation > worst.Violation {
			worst = v
		}
	}
	return worst.Why
}

// standing finds out how many of the settings that were drawn were ahead of the best where
// all of them were run: over an eighth of the duration.
func (s *search) standing(ctx context.Context, list []setting) {
	if s.first == 0 || len(list) == 0 || len(s.spec.Minimise) > 1 {
		return
	}
	j := job{list[0], 0, shares[0]}
	if s.spent+s.fresh([]job{j}) > float64(s.spec.Runs) || s.run(ctx, "race", []job{j}) != nil {
		return
	}
	best := s.value(j)
	s.ahead = 0
	for _, x := range s.drawn {
		if s.value(job{x, 0, shares[0]}).compare(best) < 0 {
			s.ahead++
		}
	}
}

// found sums up: list is what the search ended with, the best first.
func (s *search) found(list []setting, at setting, own outcome) *Found {
	f := &Found{Minimise: s.spec.Minimise, Settings: size(s.spec.Over), Drawn: s.first, Tried: len(s.tried), Runs: s.spent, Trace: s.trace,
		Own: finite(own.Figures), Seeds: 1, Near: []rival{}}
	if s.walk > 1 {
		f.Seeds = s.raced
	}
	if len(list) == 0 || math.IsInf(s.value(job{list[0], 0, 1}).Violation, 1) {
		f.Sure = []string{"No setting that was tried could be run and measured."}
		return f
	}
	best := list[0]
	chosen := s.chosen(best)
	f.Best = &chosen
	if len(s.spec.Minimise) > 1 {
		for _, x := range list {
			f.Front = append(f.Front, s.chosen(x))
		}
	}
	if at != nil {
		if r := s.ratio(best, at, 0, s.spec.Seeds); r.N > 0 {
			f.OfOwn = &r
		}
	}
	for _, x := range list[1:] {
		f.Near = append(f.Near, rival{s.chosen(x), s.ratio(x, best, 0, s.spec.Seeds)})
	}
	if len(s.spec.Minimise) == 1 {
		s.sure(f, list, best)
	} else {
		f.Sure = append(f.Sure, fmt.Sprintf("%d settings were run for the whole duration, and none betters one of the front in both figures.", f.Tried))
	}
	if f.Best.Breaks != "" {
		why := "Nothing that was tried keeps all bounds: "
		if s.value(job{best, 0, 1}).Violation == 0 {
			why = "The best four do not keep all bounds with every seed; of the best "
		}
		f.Sure = append(f.Sure, why+f.Best.Breaks+".")
	}
	return f
}

// sure says how far the best can be trusted.
func (s *search) sure(f *Found, list []setting, best setting) {
	say := func(format string, args ...any) { f.Sure = append(f.Sure, fmt.Sprintf(format, args...)) }
	if float64(f.Tried) >= f.Settings && s.walk <= 1 {
		say("All %.0f settings were run: on these frames there is no better one.", f.Settings)
	} else if float64(f.Tried) >= f.Settings {
		say("All %.0f settings were run with the first seed, and the best four of them with up to %d.", f.Settings, max(s.raced, 1))
	}
	own := s.value(job{best, 0, 1})
	ran, closest := 0, math.Inf(1)
	near := neighbours(s.spec.Over, best)
	for _, n := range near {
		if v, ok := s.memo[memoKey(job{n, 0, 1})]; ok {
			ran++
			if v.Violation == own.Violation {
				closest = min(closest, v.Figures[0])
			}
			if !slices.ContainsFunc(list, func(x setting) bool { return x.key() == n.key() }) {
				f.Near = append(f.Near, rival{s.chosen(n), s.ratio(n, best, 0, s.spec.Seeds)})
			}
		}
	}
	slices.SortStableFunc(f.Near, func(a, b rival) int { // those that cannot be compared come last
		return cmp.Or(cmp.Compare(min(b.Ratio.N, 1), min(a.Ratio.N, 1)), cmp.Compare(a.Ratio.Mean, b.Ratio.Mean))
	})
	if !math.IsInf(closest, 1) {
		say("Of its %d neighbours %d were run on the same frames; the closest is %s with the first seed.",
			len(near), ran, against(closest, own.Figures[0]))
	}
	// What n settings drawn at random do not better, more than a share p of all settings betters with a chance of at
	// most (1-p)^n: so it is for the best of the n, and what is no worse than that is bettered by no more.
	if f.Drawn > 0 && float64(f.Tried) < f.Settings {
		switch {
		case s.ahead == 0:
			say("Over an eighth of the duration, none of %d settings drawn at random beat it: with 95 %% confidence at most %.1f %% of all would.",
				f.Drawn, 100*(1-math.Pow(0.05, 1/float64(f.Drawn))))
		case s.ahead > 0:
			say("Over an eighth of the duration %d of %d settings drawn at random were ahead of it; how many would be over the whole is not known.",
				s.ahead, f.Drawn)
		}
	}
	if rivals := len(list) - 1; rivals > 0 && s.walk > 1 {
		say("%d others cannot be told from it with %d seeds.", rivals, s.raced)
	}
}

// against writes a figure against that of the best.
func against(x, best float64) string {
	switch by := 100 * (x/best - 1); {
	case x == best:
		return "as good"
	case best == 0 || by-by != 0:
		return fmt.Sprintf("%s, against %s,", units.Significant(x, 4), units.Significant(best, 4))
	case by < 0:
		return fmt.Sprintf("%.2f %% below it", -by)
	default:
		return fmt.Sprintf("%.2f %% above it", by)
	}
}
