package ui

import (
	"fmt"
	"strings"

	"wirelab/experiment"
)

// shadowVerb is the command that lets shadows join and leave.
func shadowVerb() verb {
	return verb{name: "shadow", args: "[off] NAME", help: "run another encoder beside, on the same frames and losses",
		parse: parseShadow, complete: completeShadow}
}

// parseShadow reads "shadow NAME [PARAM=VALUE]...", and "shadow off NAME...".
func parseShadow(args []string) (order, error) {
	if len(args) == 0 || args[0] == "off" && len(args) == 1 {
		return order{}, errUsage
	}
	if args[0] == "off" {
		return changeOrder(experiment.Change{ShadowOff: args[1:]}), nil
	}
	e := experiment.EncoderConfig{Name: args[0]}
	for _, pair := range args[1:] {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return order{}, fmt.Errorf("expected a parameter as NAME=VALUE, not %q", pair)
		}
		if e.Params == nil {
			e.Params = map[string]any{}
		}
		e.Params[name] = value
	}
	return changeOrder(experiment.Change{Shadow: []experiment.EncoderConfig{e}}), nil
}

func completeShadow(d desk, before []string) []string {
	switch {
	case len(before) == 0:
		return append([]string{"off"}, choiceNames(d.encoders(d.schema))...)
	case before[0] == "off":
		return shadowNames(d.cfg)
	}
	return nil
}
