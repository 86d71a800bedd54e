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

// Search configures a search for the settings in Over that minimise a figure.
type Search struct {
	Minimise string      // name of the figure
	Subject  []Assertion // bounds that the settings must meet
	Bounds   string      // MeanOfSeeds, EachSeed, or "", which means MeanOfSeeds
	Over     []Range     // settings to vary
	Runs     int         // maximum number of runs; 0 means DefaultSearchRuns
	Seeds    int         // number of seeds for the best settings; 0 means DefaultSearchSeeds
}

// What the bounds of a search apply to.
const (
	MeanOfSeeds = "mean" // the mean of a figure over the seeds
	EachSeed    = "each" // the figure with every seed
)

// Defaults and limits of a search.
const (
	DefaultSearchRuns  = 200
	DefaultSearchSeeds = 8
	maxSearchRuns      = 100_000
	maxRange           = 1000 // values of a key
	maxRanges          = 32
)

// A Range is a key and the values that it may have.
type Range struct {
	Key     string
	Values  []any
	Ordered bool // values increase, so that neighbours are similar
}

// TimingNames returns the names of figures that only searches have: measured CPU times, which differ from run
// to run.
func TimingNames() []string {
	return []string{"encode_us.p50", "encode_us.p95", "encode_us.p99", "decode_us.p50", "decode_us.p95", "decode_us.p99"}
}

// set sets key rest of [search]. key is the full key, for errors. After "over." follows the key that the
// search varies.
func (s *Search) set(key, rest string, value any) error {
	head, varied, _ := strings.Cut(rest, ".")
	switch {
	case head == "over" && slices.Contains([]string{"duration", "seed"}, varied):
		return refuse(key, quote(varied)+" cannot be searched, because settings are compared with equal duration and seeds",
			"another key")
	case rest == "minimise":
		return s.setMinimise(key, value)
	case rest == "subject_to":
		return s.setSubject(key, value)
	case rest == "over":
		return invalid(key, value, `[search.over] with keys and their values, such as "down.loss" = ["1%", "5%"]`)
	case head == "over":
		return s.setRange(key, varied, value)
	}
	if r := findRow(searchRows, rest); r != nil {
		return withKey(key, r.Set(s, value))
	}
	return Unknown(key, "key", rest, []string{"minimise", "subject_to", "bounds", "over", "runs", "seeds"})
}

// searchRows are the keys of [search] that are numbers or texts.
var searchRows = []row[Search]{
	{Key: "bounds", Options: []setting.Option{{Name: MeanOfSeeds}, {Name: EachSeed}}},
	{Key: "runs", Min: 10, Max: maxSearchRuns},
	{Key: "seeds", Min: 1, Max: maxRepeat},
}

// setMinimise sets the figure to minimise.
func (s *Search) setMinimise(key string, value any) error {
	name, ok := value.(string)
	if !ok {
		return invalid(key, value, `a figure such as "payload_kbps"; for two figures, a sweep with its Pareto chart`)
	}
	s.Minimise = name
	return ErrorAt(key, checkFigure(name, searchFigures()))
}

// setSubject sets the bounds that settings must meet, from texts such as "wrong == 0".
func (s *Search) setSubject(key string, value any) error {
	list, ok := parseNames(value)
	if !ok {
		return invalid(key, value, `a list such as ["wrong == 0", "playout.starved_ratio <= 0.1%"]`)
	}
	s.Subject = nil
	for i, text := range list {
		at := strings.IndexAny(text, "<>=!")
		if at < 0 {
			return invalid(Indexed(key, i), text,
				`a figure and a bound, such as "wrong == 0"`)
		}
		a, err := parseAssertion(strings.TrimSpace(text[:at]), text[at:], searchFigures())
		if err != nil {
			return ErrorAt(Indexed(key, i), err)
		}
		s.Subject = append(s.Subject, a)
	}
	return nil
}

// searchFigures returns the figures that a search can minimise and bound.
func searchFigures() []string { return append(figures.Keys(), TimingNames()...) }

// setRange sets the values that a search tries for the key name, such as "down.loss": a list, or the table of
// a range. It adds the key to s.Over if necessary. key is the full key, for errors.
func (s *Search) setRange(key, name string, value any) error {
	i := slices.IndexFunc(s.Over, func(r Range) bool { return r.Key == name })
	if i < 0 {
		if len(s.Over) == maxRanges {
			return refuse(key, "too many keys", fmt.Sprintf("at most %d", maxRanges))
		}
		i = len(s.Over)
		s.Over = append(s.Over, Range{Key: name})
	}
	if table, isTable := value.(map[string]any); isTable {
		values, err := rangeValues(key, table)
		s.Over[i].Values, s.Over[i].Ordered = values, true
		return err
	}
	list, ok := value.([]any)
	if !ok || len(list) == 0 || len(list) > maxRange {
		return invalid(key, value, fmt.Sprintf("a list of at most %d values, or { from = 2, to = 8, step = 1 }", maxRange))
	}
	s.Over[i].Values, s.Over[i].Ordered = list, isOrdered(list)
	return nil
}

// rangeValues returns the numbers of a table { from, to, step }; the step is 1 unless it is given. Whole
// numbers become integers.
func rangeValues(key string, table map[string]any) (values []any, err error) {
	numbers := map[string]float64{"step": 1}
	for _, name := range sortedKeys(table) {
		v, ok := toFloat(table[name])
		if !ok {
			return nil, invalid(key+"."+name, table[name], "a number")
		}
		numbers[name] = v
	}
	from, hasFrom := numbers["from"]
	to, hasTo := numbers["to"]
	step := numbers["step"]
	isComplete := hasFrom && hasTo && len(numbers) == 3
	if !isComplete || step <= 0 || to < from || (to-from)/step >= maxRange {
		return nil, refuse(key, "is not a range",
			fmt.Sprintf("from, to and a step above 0, with at most %d values", maxRange))
	}
	for i := 0; ; i++ {
		v := units.AddSteps(from, step, i)
		switch whole := int64(v); {
		case v > to+step*1e-9: // the tolerance keeps a last value with a rounding error
			return values, nil
		case v == float64(whole):
			values = append(values, whole)
		default:
			values = append(values, v)
		}
	}
}

// toFloat converts a number of TOML; false if v is not a finite number.
func toFloat(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case int:
		return float64(n), true
	case float64:
		return n, n-n == 0 // the difference is NaN if n is infinite or NaN
	}
	return 0, false
}

// isOrdered reports whether all values are numbers or quantities of one unit, and increase. A list with "off"
// is not ordered, because "off" is the smallest value of some keys and the largest of others.
func isOrdered(list []any) bool {
	if slices.ContainsFunc(list, setting.IsOff) {
		return false
	}
	return isRising(list, setting.ParseNumber) || isRisingIn(list, setting.Percent) || isRisingIn(list, setting.Span) ||
		isRisingIn(list, setting.Rate) || isRisingIn(list, setting.Size)
}

// isRisingIn reports whether all values are quantities of a unit, and increase.
func isRisingIn[T cmp.Ordered](list []any, unit setting.Unit[T]) bool {
	return isRising(list, unit.Parse)
}

// isRising reports whether parse accepts every value and each is greater than the one before.
func isRising[T cmp.Ordered](list []any, parse func(any) (T, bool)) bool {
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

// checkSearch checks that each value of the ranges in c.Search can be set, on a copy of the configuration. It returns nil if the configuration has no search.
func (c *Config) checkSearch() error {
	s := &c.Search
	if len(s.Over) == 0 && s.Minimise == "" {
		return nil
	}
	if s.Minimise == "" {
		return refuse("search", "minimise is missing", `a figure such as minimise = "payload_kbps"`)
	}
	if len(s.Over) == 0 {
		return refuse("search", "no keys to vary", "keys with their values under [search.over]")
	}
	if err := c.checkSearchFigures(); err != nil {
		return err
	}
	for i := range s.Over {
		variesEncoder := slices.ContainsFunc(s.Over, func(r Range) bool { return r.Key == "encoder.name" })
		if strings.HasPrefix(s.Over[i].Key, "encoder.params.") && variesEncoder {
			continue // the parameter is one of some encoders only, so each setting is checked when it is run
		}
		if err := c.checkValues("search.over."+s.Over[i].Key, s.Over[i].Key, s.Over[i].Values); err != nil {
			return err
		}
	}
	return nil
}

// checkSearchFigures returns an error if no run of the search has one of its figures.
func (c *Config) checkSearchFigures() error {
	check := func(key, name string) error {
		group, _, _ := strings.Cut(name, ".")
		need := c.unmet(figureNeeds[group])
		if need == "" {
			return nil
		}
		return refuse(key, "no run has the figure "+name, need)
	}
	if err := check("search.minimise", c.Search.Minimise); err != nil {
		return err
	}
	for i, a := range c.Search.Subject {
		if err := check(Indexed("search.subject_to", i), a.Name); err != nil {
			return err
		}
	}
	return nil
}

// values returns the table [search] of a file; nil if there is no search.
func (s *Search) values() map[string]any {
	if len(s.Over) == 0 && s.Minimise == "" {
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
		setNested(over, r.Key, r.Values)
	}
	m["over"] = over
	addRowValues(searchRows, s, m)
	return m
}
