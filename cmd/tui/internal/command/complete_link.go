package command

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"wirelab/experiment/config"
	"wirelab/lossmodel"
)

// The words that may come next in a netem line are found by parsing what was typed with an
// invalid word behind it: the error lists what was expected.

const noWord = "?"

// netemExpects returns the parse error of a netem line when an invalid word follows those
// typed; inPlace if the error is about that word and not about one before it.
func netemExpects(before []string) (e *lossmodel.KeyError, inPlace bool) {
	probe := lossmodel.DefaultSpec()
	if !errors.As(probe.Set("netem", strings.Join(before, " ")+" "+noWord), &e) {
		return nil, false
	}
	return e, strings.HasPrefix(e.Value, strconv.Quote(noWord))
}

// completeNetem offers the words that may follow.
func completeNetem(before []string) []string {
	e, inPlace := netemExpects(before)
	if !inPlace {
		return nil
	}
	words := slices.DeleteFunc(slices.Clone(e.Known), func(w string) bool { return slices.Contains(before, w) })
	if len(before) == 0 {
		words = append(words, "off")
	}
	return words
}

// hintNetem describes what is expected where the line ends, or what is wrong with an
// earlier word.
func hintNetem(args []string) string {
	last := len(args) - 1
	if len(args) == 1 && args[0] == "" {
		return `WORDS as after "netem" in a line of tc: delay 50ms 10ms loss 1% seed 1; a whole line of tc will do; or off`
	}
	e, inPlace := netemExpects(args[:last])
	switch {
	case e == nil:
		return ""
	case !inPlace:
		return e.Error()
	case len(e.Known) > 0 && !strings.Contains(e.Expected, e.Known[0]):
		return "expected " + strings.Join(e.Known, ", ")
	}
	return "expected " + e.Expected
}

// modelParams offers the parameters of a model that were not given yet.
func modelParams(k lossmodel.KeyInfo, before []string) (words []string) {
	for _, p := range modelOf(k, before[0]).Params {
		given := slices.ContainsFunc(before[1:], func(w string) bool { return strings.HasPrefix(w, p.Name+"=") })
		if !given {
			words = append(words, p.Name+"=")
		}
	}
	return words
}

// hintModel describes a model, or the parameter that is being typed.
func hintModel(k lossmodel.KeyInfo, args []string) string {
	m := modelOf(k, args[0])
	if m.Name == "" {
		return ""
	}
	name, _, _ := strings.Cut(args[len(args)-1], "=")
	for _, p := range m.Params {
		if p.Name != name {
			continue
		}
		text := m.Name + " " + p.Name + ": " + p.Help
		if p.Min != "" {
			text += ", " + p.Min + " to " + p.Max
		}
		if p.Default != "" {
			text += "; " + p.Default + " if not given"
		}
		return text
	}
	return m.Name + ": " + m.Summary + "; takes " + strings.Join(modelParams(k, args[:1]), " ")
}

func modelNames(k lossmodel.KeyInfo) []string {
	var names []string
	for _, m := range k.Models {
		names = append(names, m.Name)
	}
	return names
}

// modelOf returns the model of a name; an unknown one has no name.
func modelOf(k lossmodel.KeyInfo, name string) lossmodel.ModelInfo {
	if i := slices.Index(modelNames(k), name); i >= 0 {
		return k.Models[i]
	}
	return lossmodel.ModelInfo{}
}

// checkModel suggests the right name for a misspelt model. Without it the name
// would be reported as a wrong number.
func checkModel(k lossmodel.KeyInfo, word string) error {
	names := modelNames(k)
	if config.Near(word, names) != "" && !slices.Contains(names, word) {
		return unknown("there is no model of "+k.Key+" called", word, names, "")
	}
	return nil
}
