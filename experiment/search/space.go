package search

import (
	"fmt"
	"math/rand/v2"
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

// neighbours returns the settings that differ from s in one range: by one or two positions if the range is
// ordered, otherwise by any value.
func neighbours(over []config.Range, s setting) (list []setting) {
	// add adds s with value index v in range d.
	add := func(d, v int) {
		n := append(setting{}, s...)
		n[d] = v
		list = append(list, n)
	}
	for d := range over {
		for v := range over[d].Values {
			if distance := max(v-s[d], s[d]-v); distance > 0 && (!over[d].Ordered || distance <= 2) {
				add(d, v)
			}
		}
	}
	return list
}

// apply returns the configuration base with the values of a setting. It sets the encoder first, because
// other values may be its parameters. Parameters that the encoder does not have are ignored.
func apply(base *config.Config, over []config.Range, s setting) (*config.Config, error) {
	c := base.Clone()
	c.Sweep, c.Search = nil, config.Search{}
	for _, encoderPass := range []bool{true, false} { // first the encoder, then the other keys
		for d, r := range over {
			if (r.Key == "encoder.name") != encoderPass {
				continue
			}
			v := r.Values[s[d]]
			if encoderPass && v != any(c.Encoder.Name) {
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
