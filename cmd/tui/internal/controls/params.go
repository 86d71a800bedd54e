package controls

import (
	"fmt"
	"math"

	"wirelab/encoders"
	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/internal/units"
)

// paramControls returns a control for every param of the encoder that cfg names.
func (cat *Catalog) paramControls(cfg *config.Config) []control {
	codec := cat.Codec(cfg.Encoder.Name)
	if codec == nil {
		return nil
	}
	var list []control
	for _, info := range codec.ParamInfo() {
		list = append(list, paramControl(info))
	}
	return list
}

func paramControl(info encoders.ParamInfo) control {
	value := func(c *config.Config) any {
		if v, ok := c.Encoder.Params[info.Name]; ok {
			return v
		}
		return info.Default
	}
	c := control{
		label: info.Name, word: "param " + info.Name, nest: "params", help: info.Help,
		value: func(c *config.Config) string {
			text := fmt.Sprint(value(c))
			if text == "" {
				return "none"
			}
			if info.Unit != "" {
				text += " " + info.Unit
			}
			return text
		},
		step: func(c *config.Config, n int) (experiment.Command, bool) {
			now := value(c)
			next := stepParam(info, now, n)
			return ChangeCommand(config.NewChange("encoder.params."+info.Name, next)), next != now
		},
	}
	if info.Type == "string" {
		c.step = nil // it is typed
	}
	if info.Min != nil && info.Max != nil && *info.Max > *info.Min {
		c.level = func(c *config.Config) float64 {
			v, _ := number(value(c))
			return (v - *info.Min) / (*info.Max - *info.Min)
		}
	}
	return c
}

// stepParam moves a param by n steps within its bounds: whole numbers by one, a
// float by a twentieth of its range, a bool to its opposite. Text stays.
func stepParam(info encoders.ParamInfo, now any, n int) any {
	if b, ok := now.(bool); ok {
		return !b
	}
	v, ok := number(now)
	if !ok {
		return now
	}
	step := 1.0
	if info.Type == "float" {
		step = 0.1
		if info.Min != nil && info.Max != nil {
			step = (*info.Max - *info.Min) / 20
		}
	}
	v = units.AddSteps(v, step, n)
	if info.Min != nil {
		v = math.Max(v, *info.Min)
	}
	if info.Max != nil {
		v = math.Min(v, *info.Max)
	}
	if info.Type == "float" {
		return v
	}
	return int64(v)
}

// number reads what a param may hold.
func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}
