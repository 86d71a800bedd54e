package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"wirelab/encoders"
	"wirelab/experiment/config"
)

// A setting holds, for each range of the search, the index of a value.
type setting []int

// key returns a string that identifies a setting.
func (s setting) key() string { return fmt.Sprint([]int(s)) }

// countSettings returns the number of settings in the grid, as a float64 because it may exceed an integer.
func countSettings(over []config.Range) float64 {
	n := 1.0
	for _, r := range over {
		n *= float64(len(r.Values))
	}
	return n
}

// settingText returns a setting as KEY=VALUE, separated by spaces.
func settingText(over []config.Range, s setting) string {
	list := make([]string, len(s))
	for i, v := range s {
		list[i] = fmt.Sprintf("%s=%v", over[i].Key, over[i].Values[v])
	}
	return strings.Join(list, " ")
}

// drawSettings draws n settings at random as a Latin hypercube: each range is divided into n parts of equal
// size, and each part occurs in exactly one setting. So the settings cover every range evenly.
func drawSettings(over []config.Range, n int, r *rand.Rand) []setting {
	list := make([]setting, n)
	for i := range list {
		list[i] = make(setting, len(over))
	}
	for d := range over {
		for i, part := range r.Perm(n) {
			position := (float64(part) + r.Float64()) / float64(n) // anywhere in its part of the range
			list[i][d] = min(int(position*float64(len(over[d].Values))), len(over[d].Values)-1)
		}
	}
	return list
}

// allSettings returns all settings of the grid.
func allSettings(over []config.Range) []setting {
	list := []setting{{}}
	for _, r := range over {
		var next []setting
		for _, s := range list {
			for v := range r.Values {
				next = append(next, append(slices.Clone(s), v))
			}
		}
		list = next
	}
	return list
}

// maxAround is the maximum number of settings that around returns; many ranges have more.
const maxAround = 20_000

// around returns the settings at a distance from s: the sum of the numbers of positions by which they
// differ in ordered ranges, and 1 for each other range in which they differ.
func around(over []config.Range, s setting, distance int) (list []setting) {
	// extend adds the settings that differ from x by rest in the ranges from d on.
	var extend func(x setting, d, rest int)
	extend = func(x setting, d, rest int) {
		if rest == 0 {
			list = append(list, x)
			return
		}
		for ; d < len(over); d++ {
			for v := range over[d].Values {
				step := max(v-s[d], s[d]-v)
				if !over[d].Ordered {
					step = min(step, 1)
				}
				if step > 0 && step <= rest && len(list) < maxAround {
					next := slices.Clone(x)
					next[d] = v
					extend(next, d+1, rest-step)
				}
			}
		}
	}
	extend(s, 0, distance)
	return list
}

// apply returns the configuration base with the values of a setting. It sets the encoder first, because
// other values may be its parameters. Parameters that the encoder does not have are ignored.
func apply(base *config.Config, over []config.Range, s setting) (*config.Config, error) {
	c := base.Clone()
	c.Sweep, c.Search = nil, config.Search{}
	const encoderKey = "encoder.name"
	for d, r := range over {
		if r.Key != encoderKey {
			continue
		}
		name := r.Values[s[d]]
		if name != any(c.Encoder.Name) {
			c.Encoder.Params = nil // those of base belong to another encoder
		}
		if err := c.Set(encoderKey, name); err != nil {
			return nil, err
		}
	}
	for d, r := range over {
		if r.Key == encoderKey {
			continue
		}
		if name, isParam := strings.CutPrefix(r.Key, "encoder.params."); isParam && !hasParam(c, name) {
			continue
		}
		if err := c.Set(r.Key, r.Values[s[d]]); err != nil {
			return nil, err
		}
	}
	return c, c.Validate()
}

// hasParam reports whether the encoder of c has a parameter called name. It also returns true if the encoder
// is unknown, so that the caller's Set returns the error.
func hasParam(c *config.Config, name string) bool {
	probe := config.Encoder{Name: c.Encoder.Name}
	_, params, err := probe.Resolve("encoder", c.Codecs)
	if err != nil || params == nil {
		return err != nil
	}
	_, ok := encoders.ParamValue(params, name)
	return ok
}
