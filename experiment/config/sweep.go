package config

import (
	"errors"
	"fmt"
	"strings"
)

// MaxSweep bounds how many runs one configuration may ask for.
const MaxSweep = 10_000

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
		total *= len(c.Sweep[i].Values)
		switch key := Indexed("sweep", i) + ".values"; {
		case total > MaxSweep:
			return &Error{Key: key, Problem: fmt.Sprintf("the grid has %d points, and more with what follows", total),
				Expected: fmt.Sprintf("at most %d", MaxSweep)}
		case total*len(c.At) > maxScripted:
			return &Error{Key: key, Problem: fmt.Sprintf("%d points with %d scripted changes each are too many", total, len(c.At)),
				Expected: fmt.Sprintf("at most %d changes in all", maxScripted)}
		}
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
	if axis.Key == "" || len(axis.Values) == 0 {
		return &Error{Key: key, Problem: "key or values missing", Expected: lists["sweep"]}
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

// checkValue tries one value of one axis by itself.
func (c *Config) checkValue(i, j int) error {
	axis := &c.Sweep[i]
	d := c.Clone()
	d.Sweep = nil
	if !strings.HasPrefix(axis.Key, "at[") {
		d.At = nil
	}
	err := d.Set(axis.Key, axis.Values[j])
	if err == nil {
		err = d.validate()
	}
	if err == nil {
		return nil
	}
	key := Indexed(Indexed("sweep", i)+".values", j)
	return elsewhere(key, axis.Key+" = "+show(axis.Values[j]), axis.Key, err)
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

// Points lists the grid in the order of a nested loop, the first axis outermost.
func (c *Config) Points() ([]Point, error) {
	if err := c.Locate(c.checkSweep()); err != nil {
		return nil, err
	}
	base := c.Clone()
	base.Sweep = nil
	grid := []Point{{Config: base, Set: map[string]string{}}}
	for _, axis := range c.Sweep {
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
		if value, set := p.Set[axis.Key]; set {
			words = append(words, axis.Key+" = "+brief(value))
		}
		if errors.As(err, &ce) && (ce.Key == axis.Key || strings.HasPrefix(ce.Key, axis.Key+".")) {
			last = i
		}
	}
	return c.Locate(elsewhere(Indexed("sweep", last)+".values", "at the point "+strings.Join(words, ", "), "", err))
}
