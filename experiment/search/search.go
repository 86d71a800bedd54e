package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/experiment/sweep"
	"wirelab/internal/units"
)

// job is one run that a search asks for.
type job struct {
	Setting setting
	Seed    int // how many seeds after the first
	Share   int // of the duration: 1/Share
}

// outcome is what a run came to: the figures to minimise, and by how much it breaks the bounds.
type outcome struct {
	Figures   []float64
	Violation float64 // 0 if all hold; +Inf if the setting cannot be run
	Why       string  // in words, if it is not 0
	RunsAs    string  // what times among the figures are of, if an encoder from outside had a part in them
}

// compare orders by the bounds first, then by the first figure.
func (v outcome) compare(w outcome) int {
	return cmp.Or(cmp.Compare(v.Violation, w.Violation), cmp.Compare(v.Figures[0], w.Figures[0]))
}

// dominates reports whether v is nowhere worse than w and somewhere better.
func (v outcome) dominates(w outcome) bool {
	if v.Violation != w.Violation {
		return v.Violation < w.Violation
	}
	better := false
	for i := range v.Figures {
		if v.Figures[i] > w.Figures[i] {
			return false
		}
		better = better || v.Figures[i] < w.Figures[i]
	}
	return better
}

// evaluate runs jobs, side by side if it likes, and returns their values in order.
type evaluate func(ctx context.Context, jobs []job) ([]outcome, error)

// step is one line of what was tried.
type step struct {
	Setting string    `json:"setting"`
	Phase   string    `json:"phase"` // drawn, walk, race
	Share   float64   `json:"share"` // of the duration
	Seed    int       `json:"seed"`
	Figures []float64 `json:"figures"`
	Fate    string    `json:"fate"` // kept, dropped, better, ...; and why
}

// maxTrace bounds the steps that are kept.
const maxTrace = 10_000

// search is a search under way.
type search struct {
	spec config.Search
	rand *rand.Rand
	eval evaluate
	tell func(done, total float64)

	memo  map[string]outcome
	spent float64 // runs of the whole duration
	tried map[string]setting
	trace []step
	walk  int // seeds on which a step of the walk is judged
	drawn []setting
	ahead int // of those drawn, that were better than the best over an eighth of the duration; -1: unknown
	first int // settings that were drawn
	raced int // seeds on which the last were compared
}

// drawShare is how much of the budget goes into the settings that are drawn.
const drawShare = 0.2

// shares are the rungs of successive halving: 1/8 of the duration, and so on.
var shares = []int{8, 4, 2, 1}

// value returns what a job came to, which was run before.
func (s *search) value(j job) outcome { return s.memo[memoKey(j)] }

func memoKey(j job) string { return fmt.Sprintf("%s %d %d", j.Setting.key(), j.Seed, j.Share) }

// errSpent ends a walk: what is left of the budget is for the last race.
var errSpent = errors.New("the budget is spent")

// run runs the jobs that were not run before.
func (s *search) run(ctx context.Context, phase string, jobs []job) error {
	var fresh []job
	known := map[string]bool{}
	for _, j := range jobs {
		key := memoKey(j)
		if _, done := s.memo[key]; !done && !known[key] {
			known[key] = true
			fresh = append(fresh, j)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if phase == "walk" && s.fresh(fresh) > s.left() {
		return errSpent
	}
	values, err := s.eval(ctx, fresh)
	if err != nil && ctx.Err() == nil {
		return err
	}
	for i, j := range fresh {
		if i >= len(values) || values[i].Figures == nil {
			continue // it was interrupted
		}
		s.memo[memoKey(j)] = values[i]
		s.spent += 1 / float64(j.Share)
		if j.Share == 1 {
			s.tried[j.Setting.key()] = j.Setting
		}
		s.note(phase, j, values[i].Why)
	}
	if s.tell != nil {
		s.tell(s.spent, float64(s.spec.Runs))
	}
	return err
}

// fresh returns what jobs would cost that were not run before.
func (s *search) fresh(jobs []job) (cost float64) {
	for _, j := range jobs {
		if _, done := s.memo[memoKey(j)]; !done {
			cost += 1 / float64(j.Share)
		}
	}
	return cost
}

func (s *search) note(phase string, j job, fate string) {
	if len(s.trace) < maxTrace {
		s.trace = append(s.trace, step{words(s.spec.Over, j.Setting), phase, 1 / float64(j.Share), j.Seed, finite(s.value(j).Figures), fate})
	}
}

// finite leaves out what JSON cannot say.
func finite(list []float64) []float64 {
	if slices.ContainsFunc(list, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		return nil
	}
	return list
}

// left is how many runs may still be spent, beside those that the last race needs.
func (s *search) left() float64 {
	if s.walk == 1 {
		return float64(s.spec.Runs) - s.spent
	}
	return float64(s.spec.Runs) - s.spent - min(float64(3*(s.spec.Seeds-1)), 0.3*float64(s.spec.Runs))
}

// begin draws settings and halves them until few are left, the best first. A grid that is
// no larger than the budget is run whole.
func (s *search) begin(ctx context.Context, own setting) ([]setting, error) {
	var list []setting
	rungs := shares
	if size(s.spec.Over) <= s.left() {
		list, rungs = all(s.spec.Over), []int{1}
	} else {
		n := max(int(2*drawShare*float64(s.spec.Runs)), 8)
		list = draw(s.spec.Over, n, s.rand)
		s.first, s.drawn = n, slices.Clone(list)
	}
	if own != nil {
		list = append(list, own)
	}
	seen := map[string]bool{}
	list = slices.DeleteFunc(list, func(x setting) bool {
		twice := seen[x.key()]
		seen[x.key()] = true
		return twice
	})
	for _, share := range rungs {
		jobs := make([]job, len(list))
		for i, x := range list {
			jobs[i] = job{x, 0, share}
		}
		if err := s.run(ctx, "drawn", jobs); err != nil {
			return nil, err
		}
		s.rank(list, share)
		if share > 1 {
			keep := (len(list) + 1) / 2
			for _, x := range list[keep:] {
				s.note("drawn", job{x, 0, share}, fmt.Sprintf("dropped: not among the better half of %d", len(list)))
			}
			list = list[:keep]
		}
	}
	return list, nil
}

// all lists every setting.
func all(over []config.Range) []setting {
	list := []setting{{}}
	for _, r := range over {
		var next []setting
		for _, s := range list {
			for v := range r.Values {
				next = append(next, append(append(setting{}, s...), v))
			}
		}
		list = next
	}
	return list
}

// rank sorts settings by what they came to at a share of the duration, the best first: by
// the figure, or by how many others dominate them.
func (s *search) rank(list []setting, share int) {
	type placed struct {
		at     setting
		value  outcome
		beaten int
	}
	places := make([]placed, len(list))
	for i, x := range list {
		places[i] = placed{at: x, value: s.value(job{x, 0, share})}
	}
	if len(s.spec.Minimise) > 1 {
		for i := range places {
			for j := range places {
				if places[j].value.dominates(places[i].value) {
					places[i].beaten++
				}
			}
		}
	}
	slices.SortStableFunc(places, func(x, y placed) int {
		return cmp.Or(cmp.Compare(x.beaten, y.beaten), x.value.compare(y.value))
	})
	for i := range places {
		list[i] = places[i].at
	}
}

// descend walks from a setting to better neighbours until none is better, range by range.
func (s *search) descend(ctx context.Context, at setting) (setting, error) {
	for moved := true; moved && s.left() > 0; {
		moved = false
		for _, d := range s.rand.Perm(len(at)) {
			next, err := s.line(ctx, at, d)
			if err != nil {
				return at, err
			}
			moved = moved || next.key() != at.key()
			at = next
		}
	}
	return at, nil
}

// diagonals looks, with what is left, at the settings one place off the best in two ranges
// at once: a walk along the ranges ends in valleys that lie across them.
func (s *search) diagonals(ctx context.Context) error {
	for s.left() >= 1 && len(s.tried) > 0 {
		at := s.leaders(1)[0]
		var list []setting
		for d := range at {
			for e := range d {
				for _, by := range [][2]int{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}} {
					x, ok := s.moved(at, d, by[0])
					if ok {
						x, ok = s.moved(x, e, by[1])
					}
					if ok && s.tried[x.key()] == nil {
						list = append(list, x)
					}
				}
			}
		}
		s.rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		next, err := s.best(ctx, at, list[:min(len(list), 4, int(s.left()))])
		if err == nil && next.key() != at.key() {
			_, err = s.descend(ctx, next)
		}
		if err != nil || len(list) == 0 {
			return err
		}
	}
	return nil
}

// line looks along one range for the best value: by steps that grow while they help where
// it is ordered, else at every value.
func (s *search) line(ctx context.Context, at setting, d int) (setting, error) {
	if !s.spec.Over[d].Ordered {
		var list []setting
		for _, n := range neighbours(s.spec.Over, at) {
			if n[d] != at[d] {
				list = append(list, n)
			}
		}
		return s.best(ctx, at, list)
	}
	for _, step := range []int{1, 2} { // past one bad value, too
		var list []setting
		for _, by := range []int{-step, step} {
			if n, ok := s.moved(at, d, by); ok {
				list = append(list, n)
			}
		}
		next, err := s.best(ctx, at, list)
		if err != nil || next.key() == at.key() {
			if err != nil {
				return at, err
			}
			continue
		}
		by := next[d] - at[d]
		for at = next; s.left() > 0; at = next {
			by *= 2
			n, ok := s.moved(at, d, by)
			if !ok {
				break
			}
			if next, err = s.best(ctx, at, []setting{n}); err != nil || next.key() == at.key() {
				break
			}
		}
		return at, err
	}
	return at, nil
}

func (s *search) moved(at setting, d, by int) (setting, bool) {
	v := at[d] + by
	if v < 0 || v >= len(s.spec.Over[d].Values) {
		return nil, false
	}
	n := append(setting{}, at...)
	n[d] = v
	return n, true
}

// best returns the best of a setting and others, judged on the same seeds; what is clearly
// worse on the first is not run on the others.
func (s *search) best(ctx context.Context, at setting, others []setting) (setting, error) {
	var jobs []job
	for _, x := range append([]setting{at}, others...) {
		jobs = append(jobs, job{x, 0, 1})
	}
	if err := s.run(ctx, "walk", jobs); err != nil {
		return at, err
	}
	for _, x := range others {
		better, err := s.better(ctx, x, at)
		if err != nil {
			return at, err
		}
		if better {
			s.note("walk", job{x, 0, 1}, "better: the walk goes on from here")
			at = x
		}
	}
	return at, nil
}

// better reports whether x is better than y, on the seeds of the walk.
func (s *search) better(ctx context.Context, x, y setting) (bool, error) {
	a, b := s.value(job{x, 0, 1}), s.value(job{y, 0, 1})
	if a.Violation != b.Violation {
		return a.Violation < b.Violation, nil
	}
	if s.walk == 1 || a.Figures[0] > b.Figures[0]*1.05 {
		return a.Figures[0] < b.Figures[0], nil
	}
	var diff float64
	for seed := range s.walk {
		if err := s.run(ctx, "walk", []job{{x, seed, 1}, {y, seed, 1}}); err != nil {
			return false, err
		}
		a, b := s.value(job{x, seed, 1}), s.value(job{y, seed, 1})
		if a.Violation != b.Violation {
			return a.Violation < b.Violation, nil
		}
		diff += a.Figures[0] - b.Figures[0]
	}
	return diff < 0, nil
}

// noisy finds out whether a seed changes anything, for the first of a list or, as that may
// be nothing with every seed, the last: then a step of the walk is judged on three.
func (s *search) noisy(ctx context.Context, list []setting) error {
	s.walk = 1
	if s.spec.Seeds < 2 {
		return nil
	}
	for _, x := range []setting{list[0], list[len(list)-1]} {
		if s.walk > 1 || s.fresh([]job{{x, 1, 1}})+s.spent > float64(s.spec.Runs) {
			break
		}
		if err := s.run(ctx, "race", []job{{x, 1, 1}}); err != nil {
			return err
		}
		if !slices.Equal(s.value(job{x, 0, 1}).Figures, s.value(job{x, 1, 1}).Figures) {
			s.walk = min(3, s.spec.Seeds)
		}
	}
	return nil
}

// race runs the best with all seeds, one after the other, and drops who is worse than the
// leader beyond chance. It returns those that are left, the best first.
func (s *search) race(ctx context.Context, list []setting) ([]setting, error) {
	if s.walk == 1 {
		return list, nil // a seed changes nothing
	}
	for seed := range s.spec.Seeds {
		if paid, err := s.round(ctx, list, seed); err != nil {
			return nil, err
		} else if !paid {
			break
		}
		slices.SortStableFunc(list, func(x, y setting) int {
			return cmp.Or(cmp.Compare(s.violation(x, seed+1), s.violation(y, seed+1)), cmp.Compare(s.mean(x, 0, seed+1), s.mean(y, 0, seed+1)))
		})
		if seed < 2 {
			continue
		}
		kept := list[:1]
		for _, x := range list[1:] {
			if by := s.above(x, list[0], seed+1); by.Lo != nil && *by.Lo > 0 {
				s.note("race", job{x, seed, 1}, fmt.Sprintf("dropped: %s above the leader, at least %s, over %d seeds",
					units.Significant(by.Mean, 4), units.Significant(*by.Lo, 4), seed+1))
				continue
			}
			kept = append(kept, x)
		}
		list = kept
	}
	return list, nil
}

// round runs settings with one more seed; false if the budget has no room for that.
func (s *search) round(ctx context.Context, list []setting, seed int) (paid bool, err error) {
	var jobs []job
	for _, x := range list {
		jobs = append(jobs, job{x, seed, 1})
	}
	if s.fresh(jobs)+s.spent > float64(s.spec.Runs) {
		return false, nil
	}
	s.raced = seed + 1
	return true, s.run(ctx, "race", jobs)
}

// column returns figure f of a setting over the first seeds.
func (s *search) column(x setting, f, seeds int) (list []float64) {
	for seed := range seeds {
		if v, ok := s.memo[memoKey(job{x, seed, 1})]; ok {
			list = append(list, v.Figures[f])
		}
	}
	return list
}

func (s *search) mean(x setting, f, seeds int) float64 {
	return sweep.MeanOf(s.column(x, f, seeds)).Mean
}

func (s *search) violation(x setting, seeds int) (worst float64) {
	for seed := range seeds {
		worst = max(worst, s.memo[memoKey(job{x, seed, 1})].Violation)
	}
	return worst
}

// ratio returns figure f of x over that of y, paired by seed.
func (s *search) ratio(x, y setting, f, seeds int) figures.Mean {
	a, b := s.column(x, f, seeds), s.column(y, f, seeds)
	n := min(len(a), len(b))
	return sweep.RatioOf(a[:n], b[:n])
}

// above is how much the first figure of x is above that of y, paired by seed: it says so
// where the best is 0, too, and has no ratio.
func (s *search) above(x, y setting, seeds int) figures.Mean {
	a, b := s.column(x, 0, seeds), s.column(y, 0, seeds)
	diff := make([]float64, min(len(a), len(b)))
	for i := range diff {
		diff[i] = a[i] - b[i]
	}
	return sweep.MeanOf(diff)
}

// leaders returns the best settings that were run for the whole duration, at most n.
func (s *search) leaders(n int) []setting {
	list := make([]setting, 0, len(s.tried))
	for _, x := range s.tried {
		if _, ok := s.memo[memoKey(job{x, 0, 1})]; ok {
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(x, y setting) int { return slices.Compare(x, y) })
	s.rank(list, 1)
	return list[:min(n, len(list))]
}

// optimum finds the setting that makes one figure smallest, and those that may be as good.
func (s *search) optimum(ctx context.Context, own setting) ([]setting, error) {
	list, err := s.begin(ctx, own)
	if err == nil && len(list) > 0 {
		err = s.noisy(ctx, list)
	}
	if err != nil {
		return nil, err
	}
	for _, start := range list[:min(3, len(list))] {
		if s.left() <= 0 {
			break
		}
		if _, err := s.descend(ctx, start); err != nil && !errors.Is(err, errSpent) {
			return nil, err
		}
	}
	if err := s.diagonals(ctx); err != nil && !errors.Is(err, errSpent) {
		return nil, err
	}
	return s.race(ctx, s.leaders(4))
}

// maxFront bounds the settings of a front.
const maxFront = 16

// front finds the settings that no other betters in both figures.
func (s *search) front(ctx context.Context, own setting) ([]setting, error) {
	list, err := s.begin(ctx, own)
	if err == nil && len(list) > 0 {
		err = s.noisy(ctx, list)
	}
	if err != nil {
		return nil, err
	}
	expanded := map[string]bool{}
	for s.left() > 0 {
		front := s.undominated()
		i := slices.IndexFunc(front, func(x setting) bool { return !expanded[x.key()] })
		if i < 0 {
			break
		}
		expanded[front[i].key()] = true
		var jobs []job
		for _, n := range neighbours(s.spec.Over, front[i]) {
			jobs = append(jobs, job{n, 0, 1})
		}
		s.rand.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
		if err := s.run(ctx, "walk", jobs[:min(len(jobs), max(int(s.left()), 1))]); err != nil {
			if errors.Is(err, errSpent) {
				break
			}
			return nil, err
		}
	}
	front := thin(s.undominated(), maxFront)
	if s.walk > 1 {
		for seed := range s.spec.Seeds {
			if paid, err := s.round(ctx, front, seed); err != nil {
				return nil, err
			} else if !paid {
				break
			}
		}
	}
	return front, nil
}

// undominated lists the settings run for the whole duration that no other betters, by the
// first figure.
func (s *search) undominated() (front []setting) {
	type placed struct {
		at    setting
		value outcome
	}
	var list []placed
	for _, x := range s.tried {
		if v, ok := s.memo[memoKey(job{x, 0, 1})]; ok {
			list = append(list, placed{x, v})
		}
	}
	slices.SortFunc(list, func(x, y placed) int { // whoever betters one stands before it
		return cmp.Or(cmp.Compare(x.value.Violation, y.value.Violation), slices.Compare(x.value.Figures, y.value.Figures), slices.Compare(x.at, y.at))
	})
	for _, x := range list {
		if x.value.Violation > list[0].value.Violation {
			break
		}
		if last := len(front) - 1; last < 0 || !s.value(job{front[last], 0, 1}).dominates(x.value) {
			front = append(front, x.at)
		}
	}
	return front
}

// thin keeps n of a front, both ends and the rest evenly between.
func thin(front []setting, n int) []setting {
	if len(front) <= n {
		return front
	}
	out := make([]setting, n)
	for i := range out {
		out[i] = front[i*(len(front)-1)/(n-1)]
	}
	return out
}
