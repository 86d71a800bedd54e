package command

import (
	"strings"
)

// completions returns the part of a typed line before its last word, and the words that may
// replace the last word.
func completions(env Context, line string) (stem string, words []string) {
	cut := strings.LastIndexByte(line, ' ') + 1
	stem, last := line[:cut], strings.ToLower(line[cut:])
	before := strings.Fields(stem)
	var candidates []string
	if len(before) == 0 { // the names of all commands
		_, candidates, _ = env.findVerb("")
	} else if v, _, ok := env.findVerb(before[0]); ok {
		candidates = v.nextWords(before[1:])
	}
	for _, w := range candidates {
		isTypedParam := w == last && strings.HasSuffix(w, "=") // "NAME=" is typed: only its value is missing
		if strings.HasPrefix(strings.ToLower(w), last) && !isTypedParam {
			words = append(words, w)
		}
	}
	return stem, words
}

// nextWords returns the words that may follow the arguments before, the ones typed so far; nil if
// any word may follow, or none.
func (v *Verb) nextWords(before []string) []string {
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

// usage returns the name, the arguments and the help of a command in one line.
func (v *Verb) usage() string {
	text := strings.TrimSpace(v.Name+" "+v.Args) + ": " + v.Help
	if v.Note != "" {
		text += "; " + v.Note
	}
	return text
}
