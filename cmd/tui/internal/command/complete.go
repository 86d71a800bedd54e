package command

import (
	"strings"

	"wirelab/cmd/tui/internal/controls"
)

// complete returns the part of a typed line that stays and what may replace the
// rest of it: the words that begin like its last one.
func complete(d Context, line string) (stem string, words []string) {
	cut := strings.LastIndexByte(line, ' ') + 1
	stem, last := line[:cut], strings.ToLower(line[cut:])
	for _, w := range candidates(d, strings.Fields(stem)) {
		if strings.HasPrefix(strings.ToLower(w), last) && !(w == last && strings.HasSuffix(w, "=")) {
			words = append(words, w)
		}
	}
	return stem, words
}

// candidates lists the words that may come after those typed so far.
func candidates(d Context, before []string) []string {
	if len(before) == 0 {
		_, names, _ := d.verb("")
		return names
	}
	if v, _, ok := d.verb(before[0]); ok && v.complete != nil {
		return v.complete(d, before[1:])
	}
	return nil
}

func completeEncoder(d Context, before []string) []string {
	return firstOnly(before, controls.ChoiceNames(d.Encoders(d.Schema)))
}

func completeProfile(d Context, before []string) []string {
	return firstOnly(before, controls.ChoiceNames(d.Links()))
}

// firstOnly offers names for the first argument and nothing after it.
func firstOnly(before, names []string) []string {
	if len(before) > 0 {
		return nil
	}
	return names
}

func completeParam(d Context, before []string) []string {
	var names []string
	if codec := d.Codec(d.Config.Encoder.Name); codec != nil {
		for _, info := range codec.ParamInfo() {
			names = append(names, info.Name)
		}
	}
	return firstOnly(before, names)
}

func completeOneWay(d Context, before []string) []string {
	if len(before) == 0 {
		return d.KeyNames()
	}
	if k, ok := d.Key(before[0]); ok {
		return linkVerb(d, k, controls.BothDirections).complete(d, before[1:])
	}
	return nil
}

func completeSpeed(_ Context, before []string) []string {
	return firstOnly(before, []string{"0.1", "0.25", "0.5", "1", "2", "4", "8", "16", "32", "64", "max"})
}

// sharedPrefix returns what all words begin with.
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
	return strings.ToValidUTF8(prefix, "")
}

// usage is what to say below a line that names a verb: what is to be typed where
// it ends, if the verb can tell, or what it takes and does.
func usage(d Context, line string) (text string, hinted bool) {
	words := fields(line)
	if len(words) == 0 {
		return "", false
	}
	v, _, ok := d.verb(words[0])
	if !ok {
		return "", false
	}
	if strings.HasSuffix(line, " ") {
		words = append(words, "")
	}
	if len(words) > 1 && v.hint != nil {
		if text = v.hint(words[1:]); text != "" {
			return text, true
		}
	}
	return v.usage(), false
}

// usage is what a verb takes and does.
func (v *Verb) usage() string {
	text := strings.TrimSpace(v.Name+" "+v.Args) + ": " + v.Help
	if v.Note != "" {
		text += "; " + v.Note
	}
	return text
}

// hintOneWay is the hint of the setting that "down" or "up" is followed by.
func hintOneWay(d Context) func([]string) string {
	return func(args []string) string {
		k, ok := d.Key(args[0])
		if !ok || len(args) < 2 {
			return ""
		}
		v := linkVerb(d, k, controls.BothDirections)
		if v.hint != nil {
			return v.hint(args[1:])
		}
		return v.usage()
	}
}
