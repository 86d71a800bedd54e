package command

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"wirelab/cmd/tui/internal/fuzzy"
)

// completions returns the part of a typed line before its last word, and the words that may
// replace the last word, best first: see fuzzy.Rank.
func completions(env Context, line string) (stem string, words []string) {
	line = env.expandCommand(line)
	cut := strings.LastIndexByte(line, ' ') + 1
	candidates := env.candidates(strings.Fields(line[:cut]))
	if name, path, ok := strings.Cut(line, " "); ok {
		if v, _, known := env.findVerb(name); known && v.isPath && env.Paths != nil {
			cut = len(name) + 1
			candidates = env.Paths(path)
		}
	}
	stem, last := line[:cut], strings.ToLower(line[cut:])
	for _, i := range fuzzy.Rank(last, candidates) {
		w := candidates[i]
		if w != last || !strings.HasSuffix(w, "=") { // after "NAME=" only the value is missing
			words = append(words, w)
		}
	}
	return stem, words
}

// expandCommand returns a typed line with its first word written out if that is followed by a blank and is the
// beginning of the name of a single command, as in "enc rotor".
func (env Context) expandCommand(line string) string {
	first, rest, ok := strings.Cut(strings.TrimLeft(line, " /"), " ")
	_, names, known := env.findVerb(first)
	if !ok || known || len(first) < 2 {
		return line
	}
	if full, ok := fuzzy.Complete(first, names); ok && strings.HasPrefix(full, strings.ToLower(first)) {
		return full + " " + rest
	}
	return line
}

// candidates returns the words that may follow the words before; without words, the names of all commands.
func (env Context) candidates(before []string) []string {
	if len(before) == 0 {
		_, names, _ := env.findVerb("")
		return names
	}
	if v, _, ok := env.findVerb(before[0]); ok {
		return v.nextWords(before[1:])
	}
	return nil
}

// Expand returns a typed line with its abbreviated words written out, such as "encoder rotor" for "enc rotr". A word
// is written out if it abbreviates a single name, see fuzzy.Complete; the command, which acts, only if the word is its
// beginning. If the line is already valid, or the result is invalid, Expand returns the line unchanged. A command
// without its arguments is written out too. The error lists the names that an abbreviation may stand for.
func Expand(env Context, line string) (expanded string, ambiguous error) {
	words := splitLine(line)
	if len(words) == 0 || viCommands[words[0]] != "" || env.check(line) == nil {
		return line, nil
	}
	for i, word := range words {
		candidates := env.candidates(words[:i])
		full, ok := fuzzy.Complete(word, candidates)
		if ok && (i > 0 || len(word) > 1 && strings.HasPrefix(full, strings.ToLower(word))) {
			words[i] = full
		} else if names := beginning(word, candidates); len(names) > 1 && ambiguous == nil {
			ambiguous = fmt.Errorf("%q may be %s", word, strings.Join(names, ", "))
		}
	}
	expanded = strings.Join(words, " ")
	if err := env.check(expanded); err == nil || len(words) == 1 && ambiguous == nil {
		return expanded, nil
	}
	return line, ambiguous
}

// beginning returns the names that begin with a word but do not equal it.
func beginning(word string, names []string) (list []string) {
	for _, name := range names {
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(word)) && !strings.EqualFold(name, word) {
			list = append(list, name)
		}
	}
	return list
}

// check reports whether a line is a command whose change, if any, the configuration accepts.
func (env Context) check(line string) error {
	o, err := Parse(env, line)
	if err == nil && o.Change != nil && env.Config != nil {
		err = env.Config.Check(*o.Change)
	}
	return err
}

// effect describes what a typed line does if it is run now: its full form with the settings that it replaces, or the
// help of the command. It is "" if the line cannot be run.
func effect(env Context, line string) string {
	line, _ = Expand(env, line)
	line = strings.Join(splitLine(line), " ")
	o, err := Parse(env, line)
	if err != nil || line == "" {
		return ""
	}
	if o.Change == nil || o.Change.Mark() != "" || len(o.Change.Inputs()) > 0 || env.Config == nil {
		name := strings.Fields(cmp.Or(viCommands[line], line))[0]
		v, _, _ := env.findVerb(name)
		return "enter: " + line + ": " + v.Help
	}
	after := env.Config.Clone()
	if err := after.Apply(*o.Change); err != nil {
		return ""
	}
	label := o.Change.Label()
	if now := env.Config.Undo(after); !now.IsZero() {
		return "enter: " + label + "; now " + now.Label()
	}
	return "enter: " + label + " (is set already)"
}

// number is what a number with a unit, or the beginning of one, looks like.
var number = regexp.MustCompile(`^[-+]?[0-9]*[.]?[0-9]*[a-zA-Zµ%/]*(±.*)?$`)

// accepts reports whether a line can become valid by typing on: the value of a setting with a number must begin like a
// number or a word that completes it, and the name of an encoder, a profile or a theme like one that exists.
func (env Context) accepts(line string) bool {
	words := splitLine(line)
	if len(words) != 2 || strings.HasSuffix(line, " ") {
		return true
	}
	v, _, ok := env.findVerb(words[0])
	if !ok || !v.strict || len(fuzzy.Rank(words[1], v.nextWords(nil))) > 0 {
		return true
	}
	return number.MatchString(words[1]) && strings.ContainsAny(words[1][:1], "+-.0123456789")
}

// nextWords returns the words that may follow the arguments before, the ones typed so far; nil if
// any word may follow, or none.
func (v *verb) nextWords(before []string) []string {
	switch {
	case len(before) == 0 && len(v.words) > 0:
		return v.words
	case v.complete != nil:
		return v.complete(before)
	}
	return nil
}

// sharedPrefix returns the longest prefix that all words share.
func sharedPrefix(words []string) string {
	if len(words) == 0 {
		return ""
	}
	prefix := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return strings.ToValidUTF8(prefix, "") // removes half of a character at the end
}

// usage returns the help text for a typed line: the hint for the arguments typed so far if the
// command has one, and then isHint is true, or else the usage of the command. The text is empty if
// the line does not begin with a command.
func usage(env Context, line string) (text string, isHint bool) {
	line = env.expandCommand(line)
	words := splitLine(line)
	if len(words) == 0 {
		return "", false
	}
	v, _, ok := env.findVerb(words[0])
	if !ok {
		return "", false
	}
	if strings.HasSuffix(line, " ") { // the next argument begins
		words = append(words, "")
	}
	if len(words) > 1 && v.hint != nil {
		if text := v.hint(words[1:]); text != "" {
			return text, true
		}
	}
	return v.usage(), false
}

// usage returns the name, the arguments, the present value of a setting with its range, and the help of a command in one
// line.
func (v *verb) usage() string {
	text := strings.TrimSpace(v.Name + " " + v.Args)
	if v.present != "" {
		text += " (" + v.present + ")"
	}
	text += ": " + v.Help
	if v.Note != "" {
		text += "; " + v.Note
	}
	return text
}
