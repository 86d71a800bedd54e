package lossmodel

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirelab/internal/setting"
	"wirelab/internal/suggest"
	"wirelab/internal/units"
	"wirelab/lossmodel/netem"
)

// This file supports values that are typed word by word: optional units, completion and hints.

// BareUnit returns the unit that is assumed for a number typed without one: percent for a fraction,
// milliseconds for a time, otherwise the unit of the current value or, if that has none ("off"), of
// the first value with a unit on the key's ladder. It returns "" if numbers need no unit.
func (s Spec) BareUnit(k KeyInfo) string {
	probe := DefaultSpec() // tries whether the key accepts a number, here 2, with or without a unit
	if len(k.Ladder) == 0 || len(k.Choices) > 0 || probe.Set(k.Key, "2") == nil {
		return ""
	}
	if k.Unit == setting.Percent.Name || k.Unit == setting.Span.Name {
		return k.Unit
	}
	current, _ := s.Get(k.Key)
	for _, text := range append([]string{current}, k.Ladder...) {
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return "" // a key without units, which refused 2 as out of range, such as a bit error rate of 1e-06
		}
		if number, unit := units.Split(text); number != "" && unit != "" && probe.Set(k.Key, "2"+unit) == nil {
			return unit
		}
	}
	return ""
}

// CompleteUnits returns the value for the words typed for a key, of which there must be at least one.
// Numbers without a unit get the unit of the key (see BareUnit), or of the model's parameter. The
// error reports a misspelt model, which would otherwise be reported as an invalid number.
func (s Spec) CompleteUnits(k KeyInfo, words []string) (string, error) {
	unit, model := s.BareUnit(k), k.Model(words[0])
	if model.Name == "" { // the first word is no model of the key
		if near := suggest.Closest(words[0], k.ModelNames()); near != "" {
			return "", fmt.Errorf("%s has no model %q; did you mean %s?", k.Key, words[0], near)
		}
	}
	typed := make([]string, len(words))
	for i, word := range words {
		parts := strings.Split(word, "±") // "50±5" is a latency and its jitter; each of them gets the unit
		for j := range parts {
			parts[j] = units.AppendUnit(parts[j], unit)
		}
		typed[i] = strings.Join(parts, "±")
		for _, p := range model.Params {
			if value, ok := strings.CutPrefix(word, p.Name+"="); ok && p.Unit == setting.Percent.Name {
				typed[i] = p.Name + "=" + units.AppendUnit(value, p.Unit)
			}
		}
	}
	return strings.Join(typed, " "), nil
}

// CompleteWords lists the words that may follow the words in before, which the user typed as the value of key
// k. The first word is a choice, a model or one of the key's usual values (its ladder). The words after a
// model are its parameters that are not given yet.
func CompleteWords(k KeyInfo, before []string) (words []string) {
	switch {
	case k.Key == string(StageNetem):
		return completeNetem(before)
	case len(before) == 0 && len(k.Choices) > 0:
		return k.Choices
	case len(before) == 0:
		return append(k.ModelNames(), k.Ladder...)
	}
	for _, p := range k.Model(before[0]).Params {
		given := slices.ContainsFunc(before[1:], func(w string) bool { return strings.HasPrefix(w, p.Name+"=") })
		if !given {
			words = append(words, p.Name+"=")
		}
	}
	return words
}

// Hint describes the model or parameter that is being typed for a key, or what a netem line
// expects next. words are the words typed, at least one; the last one is "" if a new word begins. The
// result is "" if there is nothing to add to the help of the key.
func Hint(k KeyInfo, words []string) string {
	if k.Key == string(StageNetem) {
		return hintNetem(words)
	}
	m := k.Model(words[0])
	if m.Name == "" {
		return ""
	}
	name, _, _ := strings.Cut(words[len(words)-1], "=")
	for _, p := range m.Params {
		if p.Name != name {
			continue
		}
		text := m.Name + " " + p.Name + ": " + p.Help
		if p.Min != "" {
			text += ", " + p.Min + " to " + p.Max
		}
		if p.Default != "" {
			text += "; default " + p.Default
		}
		return text
	}
	return m.Name + ": " + m.Summary + "; takes " + strings.Join(CompleteWords(k, words[:1]), " ")
}

// invalidWord is invalid everywhere in a netem line. The error about it lists the valid words.
const invalidWord = "?"

// netemExpects returns the parse error of a netem line in which invalidWord follows the words typed so
// far; the error lists what may follow them. isAboutEnd is true if the error is about invalidWord, and
// false if it is about an earlier word. e is nil if the parse error is of another type.
func netemExpects(before []string) (e *KeyError, isAboutEnd bool) {
	_, err := netem.Parse(strings.Join(before, " ") + " " + invalidWord)
	if !errors.As(netemError(err), &e) {
		return nil, false
	}
	return e, strings.HasPrefix(e.Value, strconv.Quote(invalidWord))
}

// completeNetem lists the words that may follow in a netem line, without those that are in the line
// already. It returns nil if a value is expected or an earlier word is invalid.
func completeNetem(before []string) []string {
	e, isAboutEnd := netemExpects(before)
	if !isAboutEnd {
		return nil
	}
	words := slices.DeleteFunc(slices.Clone(e.Known), func(w string) bool { return slices.Contains(before, w) })
	if len(before) == 0 {
		words = append(words, "off")
	}
	return words
}

// hintNetem describes what a netem line expects as its last word, or the error in an earlier word.
// words are the words typed, at least one; the last one is "" if a new word begins.
func hintNetem(words []string) string {
	if len(words) == 1 && words[0] == "" {
		return `parameters of tc's netem, such as delay 50ms 10ms loss 1% seed 1, or a complete tc command, or off`
	}
	e, isAboutEnd := netemExpects(words[:len(words)-1])
	switch {
	case e == nil:
		return ""
	case !isAboutEnd: // an earlier word is invalid
		return e.Error()
	case len(e.Known) > 0 && !strings.Contains(e.Expected, e.Known[0]): // Expected does not list the words
		return "expected " + strings.Join(e.Known, ", ")
	}
	return "expected " + e.Expected
}
