package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Bounds of a sweep: points of its grid, seeds of each, and runs in all.
const (
	MaxSweep  = 10_000
	maxRepeat = 1000
	maxRuns   = 100_000
)

// maxScripted bounds the changes of all runs together: each is checked before the first
// run begins.
const maxScripted = 1_000_000

// Point is one run of a sweep: the configuration with one value of each axis.
type Point struct {
	Config *Config
	Set    map[string]string
}

// checkSweep counts the points of the grid and tries every value of every axis on a copy.
func (c *Config) checkSweep() error {
	total := 1
	for i := range c.Sweep {
		if err := c.checkAxis(i); err != nil {
			return err
		}
		if c.Sweep[i].Repeat > 0 {
			continue
		}
		total *= len(c.Sweep[i].Values)
		switch key := Indexed("sweep", i) + ".values"; {
		case total > MaxSweep:
			return &Error{Key: key, Problem: fmt.Sprintf("the grid has %d points, and more with what follows", total),
				Expected: fmt.Sprintf("at most %d", MaxSweep)}
		case total*(len(c.At)+len(c.Clients)) > maxScripted:
			return &Error{Key: key, Problem: fmt.Sprintf("%d points with %d scripted changes each are too many", total, len(c.At)+len(c.Clients)),
				Expected: fmt.Sprintf("at most %d changes in all", maxScripted)}
		}
	}
	if runs := total * c.Repeat(); runs > maxRuns {
		return &Error{Key: "sweep", Problem: fmt.Sprintf("%d points with %d seeds each are %d runs", total, c.Repeat(), runs),
			Expected: fmt.Sprintf("at most %d", maxRuns)}
	}
	for i := range c.Sweep {
		for j := range c.Sweep[i].Values {
			if err := c.checkValue(i, j); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkAxis looks at what is swept.
func (c *Config) checkAxis(i int) error {
	axis, key := &c.Sweep[i], Indexed("sweep", i)
	if axis.Repeat > 0 {
		return c.checkRepeat(i)
	}
	if axis.Key == "" || len(axis.Values) == 0 {
		return &Error{Key: key, Problem: "key or values missing", Expected: lists()["sweep"].expected}
	}
	head, _, _ := strings.Cut(axis.Key, ".")
	if name, _, _ := cutIndex(head); name == "sweep" || name == "assert" {
		return &Error{Key: key + ".key", Problem: quoted(axis.Key) + " cannot be swept", Expected: `a key such as "down.loss"`}
	}
	for _, before := range c.Sweep[:i] {
		if before.Key == axis.Key {
			return &Error{Key: key + ".key", Problem: quoted(axis.Key) + " is swept already", Expected: "each key once"}
		}
	}
	return nil
}

// checkRepeat looks at an entry that says with how many seeds every point is run.
func (c *Config) checkRepeat(i int) error {
	key := Indexed("sweep", i)
	if axis := &c.Sweep[i]; axis.Key != "" || axis.Values != nil {
		return &Error{Key: key + ".repeat", Problem: "it stands for the whole grid, not for " + quoted(axis.Key),
			Expected: "an entry of its own: [[sweep]], and repeat = " + fmt.Sprint(axis.Repeat)}
	}
	for j, other := range c.Sweep {
		switch {
		case other.Key == "seed":
			return &Error{Key: Indexed("sweep", j) + ".key", Problem: "repeat chooses the seeds already", Expected: "another key, or no repeat"}
		case j < i && other.Repeat > 0:
			return &Error{Key: key + ".repeat", Problem: "the seeds were counted before", Expected: "repeat once"}
		}
	}
	return nil
}

// Repeat returns with how many seeds every point of the grid is run: 1 unless the sweep
// says so.
func (c *Config) Repeat() int {
	for _, axis := range c.Sweep {
		if axis.Repeat > 0 {
			return axis.Repeat
		}
	}
	return 1
}

// Axes returns the axes of the grid, the first outermost.
func (c *Config) Axes() []Axis {
	return slices.DeleteFunc(slices.Clone(c.Sweep), func(a Axis) bool { return a.Repeat > 0 })
}

// Seeded returns the point with the r-th seed from its own on, r from 0: the same seeds at
// every point, so that points are compared under the same luck.
func (p *Point) Seeded(r int) Point {
	q := Point{Config: p.Config.Clone(), Set: maps.Clone(p.Set)}
	q.Config.Seed += uint64(r)
	q.Set["seed"] = fmt.Sprint(q.Config.Seed)
	return q
}

// sweepTable rewrites [sweep], with repeat and [[sweep.axis]], to the list of tables that
// it is short for.
func sweepTable(tree map[string]any, keys []string, lines map[string]int) ([]string, map[string]int, error) {
	table, isTable := tree["sweep"].(map[string]any)
	if !isTable {
		return keys, lines, nil
	}
	list, isList := table["axis"].([]any)
	if table["axis"] != nil && !isList {
		return keys, lines, &Error{Key: "sweep.axis", Problem: "it is no list of tables", Expected: "[[sweep.axis]], with " + lists()["sweep"].expected}
	}
	list = slices.Clip(list)
	for _, name := range sortedKeys(table) {
		switch name {
		case "axis":
		case "repeat":
			list = append(list, map[string]any{"repeat": table["repeat"]})
		default:
			return keys, lines, Unknown("sweep."+name, "key", name, []string{"repeat", "axis"})
		}
	}
	tree["sweep"] = list
	rename := func(key string) string {
		switch rest, isAxis := strings.CutPrefix(key, "sweep.axis"); {
		case isAxis:
			return "sweep" + rest
		case key == "sweep.repeat":
			return Indexed("sweep", len(list)-1) + ".repeat"
		}
		return key
	}
	renamed := make([]string, len(keys))
	for i, key := range keys {
		renamed[i] = rename(key)
	}
	found := make(map[string]int, len(lines))
	for key, line := range lines {
		found[rename(key)] = line
	}
	return renamed, found, nil
}

// checkValue tries one value of one axis by itself.
func (c *Config) checkValue(i, j int) error {
	axis := &c.Sweep[i]
	err := c.tryValue(axis.Key, axis.Values[j])
	if err == nil {
		return nil
	}
	key := Indexed(Indexed("sweep", i)+".values", j)
	return elsewhere(key, axis.Key+" = "+show(axis.Values[j]), axis.Key, err)
}

// tryValue says why a key cannot be set to a value, whatever else is swept or searched.
func (c *Config) tryValue(key string, value any) error {
	d := c.Clone()
	d.Sweep, d.Search = nil, Search{}
	if !strings.HasPrefix(key, "at[") {
		d.At = nil
	}
	if !strings.HasPrefix(key, "client[") {
		d.Clients = nil
	}
	if err := d.Set(key, value); err != nil {
		return err
	}
	return d.validate()
}

// elsewhere puts an error under the key that brought it about: where says in words what
// was tried, and shown is the key that these words name already.
func elsewhere(key, where, shown string, err error) error {
	var ce *Error
	if !errors.As(err, &ce) {
		return &Error{Key: key, Problem: where + ": " + err.Error(), Cause: err}
	}
	out := *ce
	out.Key, out.Problem = key, ce.Problem
	if ce.Key != shown && ce.Key != "" {
		out.Problem = ce.Key + ": " + out.Problem
	}
	out.Problem = where + ": " + out.Problem
	out.File, out.Line, out.Cause = "", 0, err
	return &out
}

// Points lists the grid in the order of a nested loop, the first axis outermost; each point
// once, whatever Repeat is.
func (c *Config) Points() ([]Point, error) {
	if err := c.Locate(c.checkSweep()); err != nil {
		return nil, err
	}
	base := c.Clone()
	base.Sweep, base.Search = nil, Search{}
	grid := []Point{{Config: base, Set: map[string]string{}}}
	for _, axis := range c.Axes() {
		var next []Point
		for _, p := range grid {
			for _, v := range axis.Values {
				q := Point{Config: p.Config.Clone(), Set: map[string]string{axis.Key: fmt.Sprint(v)}}
				for k, old := range p.Set {
					q.Set[k] = old
				}
				if err := q.Config.Set(axis.Key, v); err != nil {
					return nil, c.AtPoint(&q, err)
				}
				next = append(next, q)
			}
		}
		grid = next
	}
	for i := range grid {
		if err := grid[i].Config.validate(); err != nil {
			return nil, c.AtPoint(&grid[i], err)
		}
	}
	return grid, nil
}

// AtPoint says at which point of the grid of c something is wrong, under the axis that
// sets the key, or under the last.
func (c *Config) AtPoint(p *Point, err error) error {
	if err == nil || len(c.Sweep) == 0 {
		return err
	}
	var ce *Error
	var words []string
	last := len(c.Sweep) - 1
	for i, axis := range c.Sweep {
		if axis.Repeat > 0 {
			continue
		}
		if value, set := p.Set[axis.Key]; set {
			words = append(words, axis.Key+" = "+brief(value))
		}
		if errors.As(err, &ce) && (ce.Key == axis.Key || strings.HasPrefix(ce.Key, axis.Key+".")) {
			last = i
		}
	}
	return c.Locate(elsewhere(Indexed("sweep", last)+".values", "at the point "+strings.Join(words, ", "), "", err))
}
