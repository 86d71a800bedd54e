package netem

import (
	"slices"
	"strings"
)

// longest is how many bytes of a line are worth reading.
const longest = 4096

// Parse reads the options of a netem line as tc does, or the whole line from "tc
// qdisc add" on. As there, a word may be cut short as long as no earlier option
// begins alike ("del" is delay, "r" is reorder), options may come in any order,
// and of two of a kind the later counts. The error is a *SyntaxError.
func Parse(line string) (Params, error) {
	if len(line) > longest {
		return Params{}, &SyntaxError{Word: line, Expected: "a line of at most 4096 characters"}
	}
	r := &reader{words: strings.Fields(line), p: Params{On: true, Limit: defaultLimit}}
	if err := r.preamble(); err != nil {
		return Params{}, err
	}
	for r.at < len(r.words) {
		if err := r.option(); err != nil {
			return Params{}, err
		}
	}
	if err := r.together(); err != nil {
		return Params{}, err
	}
	r.tidy()
	return r.p, nil
}

// reader goes along the words of a line.
type reader struct {
	words []string
	at    int // the next word
	p     Params

	correlations bool // one was given that makes tc hand over all three of a kind
	lossGiven    bool // a loss that a second one contradicts
	distribution bool
}

// option is a word that an option begins with. All are tried in this order, which
// decides what a short form means.
type option struct {
	name string
	read func(*reader) error
}

func options() []option {
	return []option{
		{"limit", (*reader).limit},
		{"latency", (*reader).delay},
		{"delay", (*reader).delay},
		{"loss", (*reader).loss},
		{"drop", (*reader).loss},
		{"seed", (*reader).seed},
		{"ecn", (*reader).ecn},
		{"reorder", (*reader).reorder},
		{"corrupt", (*reader).corrupt},
		{"gap", (*reader).gap},
		{"duplicate", (*reader).duplicate},
		{"distribution", (*reader).distributionName},
		{"rate", (*reader).rate},
		{"slot", (*reader).slot},
	}
}

func (r *reader) option() error {
	word := r.words[r.at]
	known := options()
	for _, o := range known {
		if strings.HasPrefix(o.name, word) {
			r.at++
			return o.read(r)
		}
	}
	names := make([]string, len(known))
	for i, o := range known {
		names[i] = o.name
	}
	return r.refuse(word, "one of "+strings.Join(names, ", "), names)
}

// refuse makes the error for a word at the present place.
func (r *reader) refuse(word, expected string, known []string) error {
	e := &SyntaxError{Word: word, Expected: expected, Known: known}
	if r.at > 0 {
		e.After = r.words[r.at-1]
	}
	return e
}

// numberNext reports whether the next word begins with a digit: only then does an
// optional number follow.
func (r *reader) numberNext() bool {
	return r.at < len(r.words) && r.words[r.at][0] >= '0' && r.words[r.at][0] <= '9'
}

// signedNext allows a minus sign as well.
func (r *reader) signedNext() bool {
	return r.numberNext() || r.at < len(r.words) && r.words[r.at][0] == '-'
}

// value reads the next word by read.
func value[T any](r *reader, into *T, read func(string) (T, bool), expected string) error {
	word := ""
	if r.at < len(r.words) {
		word = r.words[r.at]
		if v, ok := read(word); ok {
			*into = v
			r.at++
			return nil
		}
	}
	return r.refuse(word, expected, nil)
}

// What can stand in a value's place.
const (
	aShare    = `a percentage from 0% to 100%, such as "5%"`
	aTime     = `a time from 0 to 274.877906s, such as "50ms" (s, ms, us; a bare number is microseconds)`
	aSlot     = `a time from 0 to 1h, such as "20ms" (s, ms, us, ns; a bare number is nanoseconds)`
	aRate     = `a rate such as "5mbit" or "625kbps" (bit, kbit, mbit, gbit; bps and its kin are bytes; a bare number is bit/s)`
	aSize     = `a whole number from 0 to 4294967295, such as "1000" (k is 1024)`
	aCount    = "a whole number from 0 to 4294967295"
	aSigned   = "a whole number of bytes from -2147483648 to 2147483647"
	aPositive = "a whole number from 0 to 2147483647"
	aSeed     = "a whole number from 0 to 18446744073709551615"
)

// preamble passes what comes before the options in a whole line.
func (r *reader) preamble() error {
	r.skip("sudo")
	if word := r.here(); word == "tc" || strings.HasSuffix(word, "/tc") {
		r.at++
		return r.command()
	}
	r.skip("netem")
	return nil
}

func (r *reader) skip(word string) bool {
	if r.at < len(r.words) && r.words[r.at] == word {
		r.at++
		return true
	}
	return false
}

// command passes tc's flags, the verb and the place, up to the word netem.
func (r *reader) command() error {
	for r.at < len(r.words) && strings.HasPrefix(r.words[r.at], "-") {
		if strings.HasPrefix("-netns", r.words[r.at]) && r.words[r.at] != "-" {
			r.at++ // its name follows
		}
		r.at = min(r.at+1, len(r.words))
	}
	if err := r.oneOf("qdisc"); err != nil {
		return err
	}
	if err := r.oneOf("add", "change", "replace", "link"); err != nil {
		return err
	}
	for !r.skip("netem") {
		switch word := r.here(); word {
		case "dev", "parent", "handle":
			if r.at++; r.here() == "" {
				return r.refuse("", "a name", nil)
			}
			r.at++
		case "root":
			r.at++
		default:
			return r.refuse(word, "dev NAME, root, parent ID, handle ID or netem", nil)
		}
	}
	return nil
}

// here returns the next word, "" at the end.
func (r *reader) here() string {
	if r.at < len(r.words) {
		return r.words[r.at]
	}
	return ""
}

// oneOf passes one of some words, which may be cut short.
func (r *reader) oneOf(names ...string) error {
	word := r.here()
	if word == "" || !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, word) }) {
		return r.refuse(word, strings.Join(names, " or "), nil)
	}
	r.at++
	return nil
}
