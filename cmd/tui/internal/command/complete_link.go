package command

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"wirelab/experiment/config"
	"wirelab/lossmodel"
)

// What may come next in a netem line is asked of the reader of such lines: it is
// given what was typed and a word that is none, and says what it expected.

const noWord = "?"

// netemExpects returns what the reader of netem lines complains of when an
// invalid word follows those typed; inPlace if it complains of that word and not
// of one before it.
func netemExpects(before []string) (e *lossmodel.KeyError, inPlace bool) {
	probe := lossmodel.DefaultSpec()
	if !errors.As(probe.Set("netem", strings.Join(before, " ")+" "+noWord), &e) {
		return nil, false
	}
	return e, strings.HasPrefix(e.Value, strconv.Quote(noWord))
}

// completeNetem offers the words that may follow.
func completeNetem(_ Context, before []string) []string {
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

// hintNetem says what is expected where the line ends, or that an earlier word
// is wrong already.
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

// completeModel offers values and models, and after a model its params.
func completeModel(k lossmodel.KeyInfo, before []string) []string {
	if len(before) == 0 {
		return append(modelNames(k), k.Ladder...)
	}
	var words []string
	for _, p := range modelOf(k, before[0]).Params {
		given := slices.ContainsFunc(before[1:], func(w string) bool { return strings.HasPrefix(w, p.Name+"=") })
		if !given {
			words = append(words, p.Name+"=")
		}
	}
	return words
}

// hintModel says what a model does, and what the param under way is for.
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
	return m.Name + ": " + m.Summary + "; takes " + strings.Join(completeModel(k, args[:1]), " ")
}

func modelNames(k lossmodel.KeyInfo) []string {
	var names []string
	for _, m := range k.Models {
		names = append(names, m.Name)
	}
	return names
}

// modelOf returns the model of that name, one without a name if there is none.
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
