package search

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"wirelab/encoders"
	"wirelab/experiment/config"
)

// setting is one value for each range: its place among the range's values.
type setting []int

// key identifies a setting.
func (s setting) key() string { return fmt.Sprint([]int(s)) }

// size returns how many settings there are, as a float: it may be huge.
func size(over []config.Range) float64 {
	n := 1.0
	for _, r := range over {
		n *= float64(len(r.Values))
	}
	return n
}

// words writes a setting as KEY=VALUE.
func words(over []config.Range, s setting) string {
	list := make([]string, len(s))
	for i, v := range s {
		list[i] = fmt.Sprintf("%s=%v", over[i].Key, over[i].Values[v])
	}
	return strings.Join(list, " ")
}

// draw draws n settings: of every range each value about equally often, in an order of its
// own (a Latin hypercube).
func draw(over []config.Range, n int, r *rand.Rand) []setting {
	list := make([]setting, n)
	for i := range list {
		list[i] = make(setting, len(over))
	}
	for d := range over {
		for i, place := range r.Perm(n) {
			at := (float64(place) + r.Float64()) / float64(n) // anywhere in its share of the range
			list[i][d] = min(int(at*float64(len(over[d].Values))), len(over[d].Values)-1)
		}
	}
	return list
}

// neighbours lists the settings that differ in one range: by one or two places where it is
// ordered, and otherwise by any value.
func neighbours(over []config.Range, s setting) (list []setting) {
	add := func(d, v int) {
		n := append(setting{}, s...)
		n[d] = v
		list = append(list, n)
	}
	for d := range over {
		for v := range over[d].Values {
			if by := max(v-s[d], s[d]-v); by > 0 && (!over[d].Ordered || by <= 2) {
				add(d, v)
			}
		}
	}
	return list
}

// apply makes the configuration of a setting: the encoder first, whose params the others
// may be. Params that this encoder does not have change nothing and are left out.
func apply(base *config.Config, over []config.Range, s setting) (*config.Config, error) {
	c := base.Clone()
	c.Sweep, c.Search = nil, config.Search{}
	for _, first := range []bool{true, false} {
		for d, r := range over {
			if (r.Key == "encoder.name") != first {
				continue
			}
			v := r.Values[s[d]]
			if first && v != any(c.Encoder.Name) {
				c.Encoder.Params = nil
			}
			if name, isParam := strings.CutPrefix(r.Key, "encoder.params."); isParam && !hasParam(c, name) {
				continue
			}
			if err := c.Set(r.Key, v); err != nil {
				return nil, err
			}
		}
	}
	return c, c.Validate()
}

// hasParam reports whether the encoder of c has a param of that name.
func hasParam(c *config.Config, name string) bool {
	probe := config.Encoder{Name: c.Encoder.Name}
	_, params, err := probe.Resolve("encoder", c.Codecs)
	if err != nil || params == nil {
		return err != nil // let Set say what is wrong
	}
	_, ok := encoders.ParamValue(params, name)
	return ok
}
