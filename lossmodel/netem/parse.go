package netem

import (
	"slices"
	"strings"
)

// longest is the maximum length of a line, in bytes.
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
	if err := r.checkCombinations(); err != nil {
		return Params{}, err
	}
	r.tidy()
	return r.p, nil
}

// reader parses the words of a line.
type reader struct {
	words []string
	at    int // the next word
	p     Params

	correlations bool // a correlation was given that makes tc send all correlations
	lossGiven    bool // a second loss is refused
	distribution bool
}

// option is the name of an option and what reads the words after it. All names are
// tried in this order, which decides what an abbreviation means.
type option struct {
	name string
	read func(*reader) error
}

func options() []option {
	return []option{
		{"limit", func(r *reader) error { return r.values(r.p.limitForm()) }},
		{"latency", (*reader).delay},
		{"delay", (*reader).delay},
		{"loss", (*reader).loss},
		{"drop", (*reader).loss},
		{"seed", func(r *reader) error { r.p.Seeded = true; return r.values(r.p.seedForm()) }},
		{"ecn", func(r *reader) error { r.p.Loss.ECN = true; return nil }},
		{"reorder", func(r *reader) error { return r.chance(&r.p.Reorder) }},
		{"corrupt", func(r *reader) error { return r.chance(&r.p.Corrupt) }},
		{"gap", func(r *reader) error { return r.values(r.p.gapForm()) }},
		{"duplicate", func(r *reader) error { return r.values(r.p.Duplicate.form()) }}, // tc does not note its correlation
		{"distribution", func(r *reader) error { r.distribution = true; return r.table(&r.p.Delay.Distribution) }},
		{"rate", (*reader).rate},
		{"slot", (*reader).slot},
	}
}

func (r *reader) option() error {
	word := r.words[r.at]
	known := options()
	names := make([]string, len(known))
	for i, o := range known {
		if strings.HasPrefix(o.name, word) {
			r.at++
			return o.read(r)
		}
		names[i] = o.name
	}
	return r.errorAt(word, "one of "+strings.Join(names, ", "), names)
}

// errorAt returns the error for a word at the current position.
func (r *reader) errorAt(word, expected string, known []string) error {
	e := &SyntaxError{Word: word, Expected: expected, Known: known}
	if r.at > 0 {
		e.After = r.words[r.at-1]
	}
	return e
}

// follows reports whether the next word is an optional value: it begins with a
// digit, or with a minus sign if it may be below zero.
func (r *reader) follows(signed bool) bool {
	word := r.peek()
	return word != "" && (word[0] >= '0' && word[0] <= '9' || signed && word[0] == '-')
}

// values reads the values of a form.
func (r *reader) values(f form) error {
	for i, v := range f.values {
		if i >= f.needed && !r.follows(v.signed) {
			continue
		}
		if word := r.peek(); word == "" || !v.read(word) {
			return r.errorAt(word, v.expected, nil)
		}
		r.at++
	}
	return nil
}

// correlated reads the values of a form and records whether the last one, a correlation, was given.
func (r *reader) correlated(f form) error {
	from := r.at
	err := r.values(f)
	r.correlations = r.correlations || r.at-from == len(f.values)
	return err
}

func (r *reader) delay() error           { return r.correlated(r.p.delayForm()) }
func (r *reader) chance(c *chance) error { return r.correlated(c.form()) }

func (r *reader) loss() error {
	if r.lossGiven {
		r.at--
		return r.errorAt(r.peek(), "no second loss: netem loses packets in one way only", nil)
	}
	l := &r.p.Loss
	switch word := r.peek(); {
	case r.follows(false):
	case word == "random":
		r.at++
	case word == "state":
		r.at++
		l.Model, r.lossGiven = fourState, true
		return r.values(l.stateForm())
	case word == "gemodel":
		r.at++
		l.Model, r.lossGiven = gilbertElliott, true
		return r.values(l.gemodelForm())
	default:
		return r.errorAt(word, `a percentage such as "5%", or random, state or gemodel`, []string{"random", "state", "gemodel"})
	}
	err := r.chance(&l.chance)
	r.lossGiven = l.Share > 0 // as in tc, a loss of 0% may be followed by another
	return err
}

// table reads the name of a distribution.
func (r *reader) table(into *distribution) error {
	names := []string{normal.String(), pareto.String(), paretoNormal.String()}
	word := r.peek()
	i := slices.Index(names, word)
	if i < 0 {
		expected := strings.Join(names, ", ")
		switch word {
		case uniform.String():
			expected += " (tc has no such table: it is uniform without the word distribution)"
		case "experimental":
			expected += " (that table was measured, so it is not made here)"
		}
		return r.errorAt(word, expected, names)
	}
	*into = normal + distribution(i)
	r.at++
	return nil
}

func (r *reader) rate() error {
	if strings.Contains(r.peek(), "%") {
		return r.errorAt(r.peek(), rates.expected+"; a share would be of a device's speed, and there is no device", nil)
	}
	return r.values(r.p.rateForm())
}

func (r *reader) slot() error {
	s := &r.p.Slot
	var err error
	switch {
	case r.follows(false):
		err = r.slotBounds(s)
	case r.skip("distribution"):
		err = r.slotDistribution(s)
	default:
		return r.errorAt(r.peek(), `a time such as "20ms", or distribution`, []string{"distribution"})
	}
	for _, limit := range []form{s.packetsForm(), s.bytesForm()} {
		word := r.peek()
		if err != nil || word == "" || !strings.HasPrefix(limit.words[0], word) {
			continue
		}
		r.at++
		err = r.values(limit)
	}
	return err
}

func (r *reader) slotBounds(s *slot) error {
	from := r.at
	if err := r.values(s.boundsForm()); err != nil {
		return err
	}
	if r.at == from+1 {
		s.Max = s.Min
	}
	if s.Max < s.Min {
		r.at--
		return r.errorAt(r.peek(), "a time not below the least, "+r.words[r.at-1], nil)
	}
	return nil
}

func (r *reader) slotDistribution(s *slot) error {
	if err := r.table(&s.Distribution); err != nil {
		return err
	}
	err := r.values(s.distributionForm())
	if err == nil && s.Jitter == 0 {
		r.at--
		return r.errorAt(r.peek(), "a jitter above 0", nil)
	}
	return err
}

// preamble skips the words before the options in a whole line.
func (r *reader) preamble() error {
	r.skip("sudo")
	if word := r.peek(); word == "tc" || strings.HasSuffix(word, "/tc") {
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

// command skips tc's flags, the verb and the place, up to and including the word netem.
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
		switch word := r.peek(); word {
		case "dev", "parent", "handle":
			r.at++
			if r.peek() == "" {
				return r.errorAt("", "a name", nil)
			}
			r.at++
		case "root":
			r.at++
		default:
			return r.errorAt(word, "dev NAME, root, parent ID, handle ID or netem", nil)
		}
	}
	return nil
}

// peek returns the next word without consuming it, "" at the end.
func (r *reader) peek() string {
	if r.at < len(r.words) {
		return r.words[r.at]
	}
	return ""
}

// oneOf skips the next word, which must be one of names or the beginning of one.
func (r *reader) oneOf(names ...string) error {
	word := r.peek()
	if word == "" || !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, word) }) {
		return r.errorAt(word, strings.Join(names, " or "), nil)
	}
	r.at++
	return nil
}

// checkCombinations returns an error if an option needs another one that is missing, as tc does at the
// end.
func (r *reader) checkCombinations() error {
	p := &r.p
	missing := func(after, expected string) error { return &SyntaxError{Word: after, Expected: expected} }
	switch {
	case p.Reorder.Share > 0 && p.Delay.Latency == 0:
		return missing("reorder", `a delay with it, such as "delay 10ms": otherwise there is nothing to overtake`)
	case p.Reorder.Share == 0 && p.Gap > 0:
		return missing("gap", `a share to reorder with it, such as "reorder 25%"`)
	case p.Loss.ECN && p.Loss.Share == 0 && p.Loss.Model == randomLoss:
		return missing("ecn", `a loss with it, such as "loss 1%"`)
	case r.distribution && (p.Delay.Latency == 0 || p.Delay.Jitter == 0):
		return missing("distribution", `a delay and a jitter with it, such as "delay 50ms 10ms"`)
	}
	return nil
}

// tidy resets values without effect, so that lines with the same meaning have equal Params.
func (r *reader) tidy() {
	p := &r.p
	for _, c := range []struct {
		of   bool
		corr *share
	}{
		{p.Delay.Jitter > 0, &p.Delay.Corr}, {p.Loss.Share > 0 && p.Loss.Model == randomLoss, &p.Loss.Corr}, {p.Duplicate.Share > 0, &p.Duplicate.Corr},
		{p.Reorder.Share > 0, &p.Reorder.Corr}, {p.Corrupt.Share > 0, &p.Corrupt.Corr},
	} {
		if !c.of {
			*c.corr = 0
		}
	}
	p.DuplicateCorrUnsent = p.Duplicate.Corr > 0 && !r.correlations
	if p.Reorder.Share > 0 && p.Gap == 0 {
		p.Gap = 1
	}
	if p.Rate.CellSize == 0 {
		p.Rate.CellOverhead = 0
	}
	if p.Rate.Bytes == 0 {
		p.Rate = rate{}
	}
	if !p.Slot.on() {
		p.Slot = slot{}
	}
}
