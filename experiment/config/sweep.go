package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Limits of a sweep.
const (
	MaxSweep  = 10_000  // points of the grid
	maxRepeat = 1000    // seeds of each point
	maxRuns   = 100_000 // points times seeds
)

// maxScripted is the maximum number of scripted changes in all points, because each is checked before the
// first run.
const maxScripted = 1_000_000

// A Point is one point of a sweep's grid: the configuration with one value of each axis.
type Point struct {
	Config *Config
	Set    map[string]string // the values as text, by key
}

// checkSweep checks the numbers of points, scripted changes and runs of the grid. Then it checks that
// each value of each axis can be set, on a copy of the configuration.
func (c *Config) checkSweep() error {
	total := 1
	for i := range c.Sweep {
		if err := c.checkAxis(i); err != nil {
			return err
		}
		if c.Sweep[i].Repeat > 0 {
			continue // repeat adds seeds to each point, no points
		}
		total *= len(c.Sweep[i].Values)
		switch key := Indexed("sweep", i) + ".values"; {
		case total > MaxSweep:
			return refuse(key, fmt.Sprintf("the grid has at least %d points", total),
				fmt.Sprintf("at most %d", MaxSweep))
		case total*(len(c.At)+len(c.Clients)) > maxScripted:
			return refuse(key, fmt.Sprintf("%d points with %d scripted changes each are too many", total, len(c.At)+len(c.Clients)),
				fmt.Sprintf("at most %d scripted changes in all points together", maxScripted))
		}
	}
	if runs := total * c.Repeat(); runs > maxRuns {
		return refuse("sweep", fmt.Sprintf("%d points with %d seeds each are %d runs", total, c.Repeat(), runs),
			fmt.Sprintf("at most %d", maxRuns))
	}
	for i, axis := range c.Sweep {
		if err := c.checkValues(Indexed("sweep", i)+".values", axis.Key, axis.Values); err != nil {
			return err
		}
	}
	return nil
}

// checkAxis checks axis i: a key that can be swept and is swept once, and values.
func (c *Config) checkAxis(i int) error {
	axis, key := &c.Sweep[i], Indexed("sweep", i)
	if axis.Repeat > 0 {
		return c.checkRepeat(i)
	}
	if axis.Key == "" || len(axis.Values) == 0 {
		return refuse(key, "key or values missing", tableLists()["sweep"].expected)
	}
	head, _, _ := strings.Cut(axis.Key, ".")
	if name, _, _ := cutIndex(head); name == "sweep" || name == "assert" {
		return refuse(key+".key", quote(axis.Key)+" cannot be swept", `a key such as "down.loss"`)
	}
	for _, before := range c.Sweep[:i] {
		if before.Key == axis.Key {
			return refuse(key+".key", quote(axis.Key)+" is swept twice", "each key once")
		}
	}
	return nil
}

// checkRepeat checks [[sweep]] entry i, which sets the number of seeds per point instead of the values
// of a key.
func (c *Config) checkRepeat(i int) error {
	key := Indexed("sweep", i)
	if axis := &c.Sweep[i]; axis.Key != "" || axis.Values != nil {
		return refuse(key+".repeat", "repeat applies to the whole grid, not to "+quote(axis.Key),
			"an entry of its own: [[sweep]] with repeat = "+fmt.Sprint(axis.Repeat))
	}
	for j, other := range c.Sweep {
		switch {
		case other.Key == "seed":
			return refuse(Indexed("sweep", j)+".key", "seed cannot be swept with repeat, which sets the seeds",
				"another key, or no repeat")
		case j < i && other.Repeat > 0:
			return refuse(key+".repeat", "repeat is set twice", "one entry with repeat")
		}
	}
	return nil
}

// Repeat returns the number of seeds of each point, 1 if the sweep has no repeat.
func (c *Config) Repeat() int {
	for _, axis := range c.Sweep {
		if axis.Repeat > 0 {
			return axis.Repeat
		}
	}
	return 1
}

// Axes returns the axes of the grid, the outermost first.
func (c *Config) Axes() []Axis {
	return slices.DeleteFunc(slices.Clone(c.Sweep), func(a Axis) bool { return a.Repeat > 0 })
}

// Seeded returns a copy of the point whose seed is increased by repetition, from 0. All points are run with
// the same seeds, so that random effects are the same.
func (p *Point) Seeded(repetition int) Point {
	q := Point{Config: p.Config.Clone(), Set: maps.Clone(p.Set)}
	q.Config.Seed += uint64(repetition)
	q.Set["seed"] = fmt.Sprint(q.Config.Seed)
	return q
}

// sweepTable converts a sweep in the form of a table [sweep], with repeat and [[sweep.axis]], to the
// equivalent list [[sweep]]. It modifies tree, the tables of the file, and adds the keys of the list to
// lines, such as "sweep[0].key" with the line of "sweep.axis[0].key".
func sweepTable(tree map[string]any, lines map[string]int) error {
	table, isTable := tree["sweep"].(map[string]any)
	if !isTable {
		return nil
	}
	list, isList := table["axis"].([]any)
	if table["axis"] != nil && !isList {
		return refuse("sweep.axis", "is not a list of tables", "[[sweep.axis]], with "+tableLists()["sweep"].expected)
	}
	for _, name := range sortedKeys(table) {
		if name != "axis" && name != "repeat" {
			return Unknown("sweep."+name, "key", name, []string{"repeat", "axis"})
		}
	}
	if table["repeat"] != nil {
		lines[Indexed("sweep", len(list))+".repeat"] = lines["sweep.repeat"]
		list = append(slices.Clip(list), map[string]any{"repeat": table["repeat"]})
	}
	tree["sweep"] = list
	for key, line := range maps.Clone(lines) {
		if rest, isAxis := strings.CutPrefix(key, "sweep.axis"); isAxis {
			lines["sweep"+rest] = line
		}
	}
	return nil
}

// checkValues returns an error if key cannot be set to one of values, the list of a sweep or a search
// whose key in the file is listKey.
func (c *Config) checkValues(listKey, key string, values []any) error {
	for i, value := range values {
		if err := c.checkSetting(key, value); err != nil {
			return errorElsewhere(Indexed(listKey, i), key+" = "+quoteValue(value), key, err)
		}
	}
	return nil
}

// checkSetting returns an error if key cannot be set to value. It tries this in a copy of c without
// sweep and search, so that values of other axes do not matter. The script and the clients are left out
// of the copy too, unless key is a key of them.
func (c *Config) checkSetting(key string, value any) error {
	trial := c.Clone()
	trial.Sweep, trial.Search = nil, Search{}
	if !strings.HasPrefix(key, "at[") {
		trial.At = nil
	}
	if !strings.HasPrefix(key, "client[") {
		trial.Clients = nil
	}
	if err := trial.Set(key, value); err != nil {
		return err
	}
	return trial.validate()
}

// errorElsewhere converts err, which the value of a sweep or search caused, into an *Error about key,
// the key of this value in the file. tried describes the setting that was tried, such as "down.loss =
// 5%"; triedKey is its key, here "down.loss". If err is about another key, this is added to the problem.
func errorElsewhere(key, tried, triedKey string, err error) error {
	var ce *Error
	if !errors.As(err, &ce) {
		return &Error{Key: key, Problem: tried + ": " + err.Error(), Cause: err}
	}
	out := *ce
	out.Key, out.Problem = key, ce.Problem
	if ce.Key != triedKey && ce.Key != "" {
		out.Problem = ce.Key + ": " + out.Problem
	}
	out.Problem = tried + ": " + out.Problem
	out.File, out.Line, out.Cause = "", 0, err
	return &out
}

// Points returns the points of the grid in the order of nested loops, the first axis outermost. Repeat does
// not multiply them.
func (c *Config) Points() ([]Point, error) {
	if err := c.Locate(c.checkSweep()); err != nil {
		return nil, err
	}
	base := c.Clone()
	base.Sweep, base.Search = nil, Search{}
	for _, axis := range c.Axes() {
		base.varied = append(base.varied, axis.Key)
	}
	grid := []Point{{Config: base, Set: map[string]string{}}}
	for _, axis := range c.Axes() {
		var next []Point
		for _, p := range grid {
			for _, v := range axis.Values {
				q := Point{Config: p.Config.Clone(), Set: maps.Clone(p.Set)}
				q.Set[axis.Key] = fmt.Sprint(v)
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

// AtPoint converts err, an error about the configuration of point p, into an *Error about the axis that
// sets the key of err, or about the last axis if none does. The error lists the values of the point. nil
// remains nil.
func (c *Config) AtPoint(p *Point, err error) error {
	if err == nil || len(c.Sweep) == 0 {
		return err
	}
	var ce *Error
	var values []string
	axisIndex := len(c.Sweep) - 1
	for i, axis := range c.Sweep {
		if axis.Repeat > 0 {
			continue
		}
		if value, set := p.Set[axis.Key]; set {
			values = append(values, axis.Key+" = "+truncate(value))
		}
		if errors.As(err, &ce) && (ce.Key == axis.Key || strings.HasPrefix(ce.Key, axis.Key+".")) {
			axisIndex = i
		}
	}
	const triedKey = "" // the problem always names the key of err, since the error lists several keys
	return c.Locate(errorElsewhere(Indexed("sweep", axisIndex)+".values", "at the point "+strings.Join(values, ", "), triedKey, err))
}
