package command

import (
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/config"
	"wirelab/lossmodel"
)

// millis is the unit of every time that is typed without one.
const millis = "ms"

// unitOf is what a bare number typed for a setting of a link means: percent and
// milliseconds, or what the control shows, and where that is none what it would show at
// its least. "" where a number needs no unit.
func unitOf(k lossmodel.KeyInfo, spec *lossmodel.Spec) string {
	probe := lossmodel.DefaultSpec()
	if len(k.Ladder) == 0 || len(k.Choices) > 0 || probe.Set(k.Key, "2") == nil {
		return ""
	}
	if k.Unit == "%" || k.Unit == millis {
		return k.Unit
	}
	now, _ := spec.Get(k.Key)
	for _, text := range append([]string{now}, k.Ladder...) {
		if number, unit := look.SplitUnit(text); number != "" && unit != "" && probe.Set(k.Key, "2"+unit) == nil {
			return unit
		}
	}
	return ""
}

// withUnit puts a unit behind a bare number.
func withUnit(text, unit string) string {
	if number, rest := look.SplitUnit(text); number != "" && rest == "" {
		return text + unit
	}
	return text
}

// withUnits makes the value that was typed for a setting of a link: numbers get the unit
// that they lack, those of a model each its own. The error is about the link at hand, so
// that a value that neither link takes is refused once.
func withUnits(k lossmodel.KeyInfo, spec *lossmodel.Spec, args []string) (string, error) {
	unit, model := unitOf(k, spec), modelOf(k, args[0])
	words := make([]string, len(args))
	for i, word := range args {
		parts := strings.Split(word, "±") // a latency and its jitter
		for j := range parts {
			parts[j] = withUnit(parts[j], unit)
		}
		words[i] = strings.Join(parts, "±")
		for _, p := range model.Params {
			if value, ok := strings.CutPrefix(word, p.Name+"="); ok && p.Unit == "%" {
				words[i] = p.Name + "=" + withUnit(value, p.Unit)
			}
		}
	}
	text, probe := strings.Join(words, " "), *spec
	return text, config.ErrorAt(k.Key, probe.Set(k.Key, text))
}
