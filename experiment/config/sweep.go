package config

import "fmt"

// MaxSweep bounds how many runs one configuration may ask for.
const MaxSweep = 10_000

// point is one run of a sweep: the configuration with one value of each axis.
type Point struct {
	Config *Config
	Set    map[string]string
}

// points lists the grid in the order of a nested loop, the first axis outermost.
func (c *Config) Points() ([]Point, error) {
	total := 1
	for _, axis := range c.Sweep {
		if total *= len(axis.Values); total > MaxSweep {
			return nil, &Error{Key: "sweep", Problem: "more runs than anyone can wait for", Expected: fmt.Sprintf("at most %d points in the grid", MaxSweep)}
		}
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
					return nil, ErrorAt("sweep", err)
				}
				next = append(next, q)
			}
		}
		grid = next
	}
	for _, p := range grid {
		if err := p.Config.Validate(); err != nil {
			return nil, ErrorAt("sweep", err)
		}
	}
	return grid, nil
}
