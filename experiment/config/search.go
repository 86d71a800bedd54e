package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"wirelab/experiment/figures"
	"wirelab/internal/setting"
	"wirelab/internal/units"
)

// Search says what is looked for: the settings in Over that make figures smallest.
type Search struct {
	Minimise []string    // one figure, or two for a front
	Subject  []Assertion // that must hold
	Over     []Range     // what may be set
	Runs     int         // how many runs of the whole duration it may cost, in sum; 0: DefaultSearchRuns
	Seeds    int         // with how many seeds the best are run; 0: DefaultSearchSeeds
}

// Defaults and bounds of a search.
const (
	DefaultSearchRuns  = 200
	DefaultSearchSeeds = 8
	maxSearchRuns      = 100_000
	maxRange           = 1000 // values of a key
	maxRanges          = 32
)

// Range is a key and what it may be set to. The values of an ordered one go from small to
// large, so that neighbours are alike.
type Range struct {
	Key     string
	Values  []any
	Ordered bool

	from, to, step *float64
}

// TimingNames are the figures of a search that a run's totals do not have: what the work
// costs. They differ from run to run.
func TimingNames() []string {
	return []string{"encode_us.p50", "encode_us.p95", "encode_us.p99", "decode_us.p50", "decode_us.p95", "decode_us.p99"}
}

// set sets a key below "search".
func (s *Search) set(key, rest string, value any) error {
	head, below, _ := strings.Cut(rest, ".")
	switch {
	case head == "over" && slices.Contains([]string{"duration", "seed"}, below):
		return &Error{Key: key, Problem: quoted(below) + " is the search's own", Expected: "another key: settings are compared over the same time and seeds"}
	case rest == "minimise":
		return s.setMinimise(key, value)
	case rest == "subject_to":
		return s.setSubject(key, value)
	case rest == "runs":
		return accept(setInt(&s.Runs, value, 10, maxSearchRuns), key, value, "is no number of runs",
			fmt.Sprintf("10 to %d", maxSearchRuns))
	case rest == "seeds":
		return accept(setInt(&s.Seeds, value, 1, maxRepeat), key, value, "is no number of seeds",
			fmt.Sprintf("1 to %d", maxRepeat))
	case head == "over" && below != "":
		return s.setRange(key, below, value)
	}
	return Unknown(key, "key", rest, []string{"minimise", "subject_to", "over", "runs", "seeds"})
}

func texts(value any) ([]string, bool) {
	if text, ok := value.(string); ok {
		return []string{text}, true
	}
	list, ok := value.([]any)
	var out []string
	for _, v := range list {
		text, isText := v.(string)
		ok = ok && isText
		out = append(out, text)
	}
	return out, ok
}

func (s *Search) setMinimise(key string, value any) error {
	list, ok := texts(value)
	if !ok || len(list) < 1 || len(list) > 2 {
		return &Error{Key: key, Problem: show(value) + " is no figure", Expected: `a figure such as "payload_kbps", or a list of two`}
	}
	known := figures.Names()
	for _, name := range list {
		if !known[name] && !slices.Contains(TimingNames(), name) {
			return Unknown(key, "figure", name, append(sortedKeys(known), TimingNames()...))
		}
	}
	if len(list) == 2 && list[0] == list[1] {
		return &Error{Key: key, Problem: quoted(list[0]) + " is named twice", Expected: "two figures, or one"}
	}
	s.Minimise = list
	return nil
}

func (s *Search) setSubject(key string, value any) error {
	list, ok := texts(value)
	if !ok {
		return &Error{Key: key, Problem: show(value) + " is no bound", Expected: `a list such as ["wrong == 0", "playout.starved_ratio <= 0.1%"]`}
	}
	s.Subject = nil
	for i, text := range list {
		at := strings.IndexAny(text, "<>=!")
		if at < 0 {
			return &Error{Key: Indexed(key, i), Problem: quoted(text) + " is no bound", Expected: `a figure and a bound, such as "wrong == 0"`}
		}
		a, err := parseSubject(strings.TrimSpace(text[:at]), text[at:])
		if err != nil {
			return ErrorAt(Indexed(key, i), err)
		}
		s.Subject = append(s.Subject, a)
	}
	return nil
}

// parseSubject is parseAssertion for all figures of a search.
func parseSubject(name, bound string) (Assertion, error) {
	known := name
	if slices.Contains(TimingNames(), name) {
		known = "wrong" // any that there is: it is the bound that is parsed
	}
	a, err := parseAssertion(known, strings.Replace(bound, "%", "e-2", 1))
	a.Name = name
	return a, err
}

// setRange sets what a key may be: a list, or from, to and step.
func (s *Search) setRange(key, name string, value any) error {
	part := ""
	if head, last := cutLast(name); slices.Contains([]string{"from", "to", "step"}, last) && head != "" {
		name, part = head, last
	}
	i := slices.IndexFunc(s.Over, func(r Range) bool { return r.Key == name })
	if i < 0 {
		if len(s.Over) == maxRanges {
			return &Error{Key: key, Problem: "there are too many keys", Expected: fmt.Sprintf("at most %d", maxRanges)}
		}
		s.Over, i = append(s.Over, Range{Key: name}), len(s.Over)
	}
	r := &s.Over[i]
	if part == "" {
		list, ok := value.([]any)
		if !ok || len(list) == 0 || len(list) > maxRange {
			return &Error{Key: key, Problem: show(value) + " is no range", Expected: "a list of values, or { from = 2, to = 8, step = 1 }"}
		}
		r.Values, r.Ordered = list, ordered(list)
		return nil
	}
	v, ok := toFloat(value)
	if !ok {
		return &Error{Key: key, Problem: show(value) + " is no number", Expected: "a number"}
	}
	*map[string]**float64{"from": &r.from, "to": &r.to, "step": &r.step}[part] = &v
	r.Values = nil // they are spread anew
	return nil
}

// cutLast cuts a dotted key at its last dot.
func cutLast(key string) (head, last string) {
	i := strings.LastIndexByte(key, '.')
	if i < 0 {
		return "", key
	}
	return key[:i], key[i+1:]
}

func toFloat(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case int:
		return float64(n), true
	case float64:
		return n, n-n == 0
	}
	return 0, false
}

// ordered reports whether the values can all be read in one unit and only rise in it. "off" has
// no place among the others: for some keys it is the least value, for others the greatest.
func ordered(list []any) bool {
	if slices.ContainsFunc(list, setting.IsOff) {
		return false
	}
	return rising(list, setting.ParseNumber) || risingIn(list, setting.Percent) || risingIn(list, setting.Span) ||
		risingIn(list, setting.Rate) || risingIn(list, setting.Size)
}

func risingIn[T cmp.Ordered](list []any, unit setting.Unit[T]) bool { return rising(list, unit.Parse) }

// rising reports whether parse reads every value and each is greater than the one before.
func rising[T cmp.Ordered](list []any, parse func(any) (T, bool)) bool {
	var last T
	for i, value := range list {
		x, ok := parse(value)
		if !ok || i > 0 && x <= last {
			return false
		}
		last = x
	}
	return true
}

// checkSearch spreads ranges and tries every value of every key on a copy.
func (c *Config) checkSearch() error {
	s := &c.Search
	if len(s.Over) == 0 && len(s.Minimise) == 0 {
		return nil
	}
	if len(s.Minimise) == 0 {
		return &Error{Key: "search", Problem: "minimise is missing", Expected: `a figure such as minimise = "payload_kbps"`}
	}
	if len(s.Over) == 0 {
		return &Error{Key: "search", Problem: "there is nothing to set", Expected: "keys with their values under [search.over]"}
	}
	for i := range s.Over {
		if err := s.Over[i].spread(); err != nil {
			return err
		}
		if strings.HasPrefix(s.Over[i].Key, "encoder.params.") && slices.ContainsFunc(s.Over, func(r Range) bool { return r.Key == "encoder.name" }) {
			continue // which encoder has it shows at each point
		}
		for j, v := range s.Over[i].Values {
			if err := c.tryValue(s.Over[i].Key, v); err != nil {
				key := "search.over." + s.Over[i].Key
				return elsewhere(Indexed(key, j), s.Over[i].Key+" = "+show(v), s.Over[i].Key, err)
			}
		}
	}
	return nil
}

// spread turns from, to and step into values.
func (r *Range) spread() error {
	if r.from == nil && r.to == nil && r.step == nil || len(r.Values) > 0 {
		return nil
	}
	key := "search.over." + r.Key
	step := 1.0
	if r.step != nil {
		step = *r.step
	}
	if r.from == nil || r.to == nil || !(step > 0) || *r.to < *r.from || (*r.to-*r.from)/step >= maxRange {
		return &Error{Key: key, Problem: "it is no range", Expected: fmt.Sprintf("from, to and a step above 0, with at most %d values", maxRange)}
	}
	for i := 0; ; i++ {
		v := units.AddSteps(*r.from, step, i)
		if v > *r.to+step*1e-9 {
			break
		}
		if v == float64(int64(v)) {
			r.Values = append(r.Values, int64(v))
		} else {
			r.Values = append(r.Values, v)
		}
	}
	r.Ordered = true
	return nil
}

// searchValues is what a file says of the search; nil if nothing.
func (s *Search) values() map[string]any {
	if len(s.Over) == 0 && len(s.Minimise) == 0 {
		return nil
	}
	m := map[string]any{"minimise": s.Minimise}
	if len(s.Subject) > 0 {
		var list []string
		for _, a := range s.Subject {
			list = append(list, a.Name+" "+a.Text())
		}
		m["subject_to"] = list
	}
	over := map[string]any{}
	for _, r := range s.Over {
		putNested(over, r.Key, r.Values)
	}
	m["over"] = over
	if s.Runs > 0 {
		m["runs"] = s.Runs
	}
	if s.Seeds > 0 {
		m["seeds"] = s.Seeds
	}
	return m
}
