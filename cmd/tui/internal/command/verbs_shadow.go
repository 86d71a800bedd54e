package command

import (
	"fmt"
	"strings"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/experiment/config"
)

// shadowVerb is the command that lets shadows join and leave.
func shadowVerb() Verb {
	return Verb{Name: "shadow", Args: "[off] NAME", Help: "run another encoder beside, on the same frames and losses",
		parse: parseShadow, complete: completeShadow}
}

// parseShadow reads "shadow NAME [PARAM=VALUE]...", and "shadow off NAME...".
func parseShadow(args []string) (Order, error) {
	if len(args) == 0 || args[0] == "off" && len(args) == 1 {
		return Order{}, errUsage
	}
	if args[0] == "off" {
		return changeOrder(config.NewChange("shadow_off", args[1:])), nil
	}
	e := config.Encoder{Name: args[0]}
	for _, pair := range args[1:] {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return Order{}, fmt.Errorf("expected a parameter as NAME=VALUE, not %q", pair)
		}
		if e.Params == nil {
			e.Params = map[string]any{}
		}
		e.Params[name] = value
	}
	return changeOrder(config.NewChange("shadow", []config.Encoder{e})), nil
}

func completeShadow(d Context, before []string) []string {
	switch {
	case len(before) == 0:
		return append([]string{"off"}, controls.ChoiceNames(d.Encoders(d.Schema))...)
	case before[0] == "off":
		return controls.ShadowNames(d.Config)
	}
	return nil
}
