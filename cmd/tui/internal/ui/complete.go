package ui

import (
	"slices"
	"strings"
)

// complete returns the part of a typed line that stays and what may replace the
// rest of it: the words that begin like its last one.
func complete(d desk, line string) (stem string, words []string) {
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
func candidates(d desk, before []string) []string {
	if len(before) == 0 {
		all := d.verbs()
		names := make([]string, len(all))
		for i, v := range all {
			names[i] = v.name
		}
		return names
	}
	if v, ok := d.verb(before[0]); ok && v.complete != nil {
		return v.complete(d, before[1:])
	}
	return nil
}

func (cat *catalog) verb(name string) (verb, bool) {
	all := cat.verbs()
	i := slices.IndexFunc(all, func(v verb) bool { return v.name == strings.ToLower(name) })
	if i < 0 {
		return verb{}, false
	}
	return all[i], true
}

func completeEncoder(d desk, before []string) []string {
	return firstOnly(before, choiceNames(d.encoders(d.schema)))
}

func completeProfile(d desk, before []string) []string {
	return firstOnly(before, choiceNames(d.links()))
}

// firstOnly offers names for the first argument and nothing after it.
func firstOnly(before, names []string) []string {
	if len(before) > 0 {
		return nil
	}
	return names
}

func completeParam(d desk, before []string) []string {
	var names []string
	if codec := d.codec(d.cfg.Encoder.Name); codec != nil {
		for _, info := range codec.ParamInfo() {
			names = append(names, info.Name)
		}
	}
	return firstOnly(before, names)
}

func completeOneWay(d desk, before []string) []string {
	if len(before) == 0 {
		return d.keyNames()
	}
	if k, ok := d.key(before[0]); ok {
		return linkVerb(k, bothDirections).complete(d, before[1:])
	}
	return nil
}

func completeSpeed(_ desk, before []string) []string {
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
// it ends, or what the verb takes and does.
func (cat *catalog) usage(line string) string {
	if hint := cat.hint(line); hint != "" {
		return hint
	}
	words := strings.Fields(strings.TrimPrefix(line, "/"))
	if len(words) == 0 {
		return ""
	}
	if v, ok := cat.verb(words[0]); ok {
		return strings.TrimSpace(v.name+" "+v.args) + ": " + v.help
	}
	return ""
}

// hint says what is to be typed where the line ends, for verbs that can tell.
func (cat *catalog) hint(line string) string {
	words := strings.Fields(strings.TrimPrefix(line, "/"))
	if strings.HasSuffix(line, " ") {
		words = append(words, "")
	}
	if len(words) < 2 {
		return ""
	}
	if v, ok := cat.verb(words[0]); ok && v.hint != nil {
		return v.hint(words[1:])
	}
	return ""
}

// hintOneWay is the hint of the setting that "down" or "up" is followed by.
func (cat *catalog) hintOneWay(args []string) string {
	k, ok := cat.key(args[0])
	if !ok || len(args) < 2 {
		return ""
	}
	if v := linkVerb(k, bothDirections); v.hint != nil {
		return v.hint(args[1:])
	}
	return k.Key + " VALUE: " + k.Help
}
