package experiment

import "fmt"

// MaxSweep bounds how many runs one configuration may ask for.
const MaxSweep = 10_000

// point is one run of a sweep: the configuration with one value of each axis.
type point struct {
	config *Config
	set    map[string]string
}

// points lists the grid in the order of a nested loop, the first axis outermost.
func (c *Config) points() ([]point, error) {
	total := 1
	for _, axis := range c.Sweep {
		if total *= len(axis.Values); total > MaxSweep {
			return nil, &ConfigError{Key: "sweep", Problem: "more runs than anyone can wait for", Expected: fmt.Sprintf("at most %d points in the grid", MaxSweep)}
		}
	}
	base := c.Clone()
	base.Sweep = nil
	grid := []point{{config: base, set: map[string]string{}}}
	for _, axis := range c.Sweep {
		var next []point
		for _, p := range grid {
			for _, v := range axis.Values {
				q := point{config: p.config.Clone(), set: map[string]string{axis.Key: fmt.Sprint(v)}}
				for k, old := range p.set {
					q.set[k] = old
				}
				if err := q.config.Set(axis.Key, v); err != nil {
					return nil, configError("sweep", err)
				}
				next = append(next, q)
			}
		}
		grid = next
	}
	for _, p := range grid {
		if err := p.config.Validate(); err != nil {
			return nil, configError("sweep", err)
		}
	}
	return grid, nil
}
