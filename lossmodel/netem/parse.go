package netem

import (
	"fmt"
	"slices"
	"strings"
)

// maxLineBytes is the largest length of a netem line in bytes.
const maxLineBytes = 4096

// Parse parses the options of a netem line as tc does, or a complete command from "tc qdisc add"
// on. As in tc, options may be abbreviated; the first option in tc's order that begins with the
// word is used ("del" is delay, "r" is reorder). Options may come in any order, and the last one
// of a kind counts. The error is a *SyntaxError.
func Parse(line string) (Params, error) {
	if len(line) > maxLineBytes {
		return Params{}, &SyntaxError{Word: line, Expected: "a line of at most 4096 characters"}
	}
	r := &reader{words: strings.Fields(line), params: Params{On: true, Limit: defaultLimit}}
	if err := r.skipPreamble(); err != nil {
		return Params{}, err
	}
	for r.pos < len(r.words) {
		if err := r.readOption(); err != nil {
			return Params{}, err
		}
	}
	if err := r.checkCombinations(); err != nil {
		return Params{}, err
	}
	r.normalize()
	return r.params, nil
}

// reader parses the words of a line.
type reader struct {
	words  []string
	pos    int // index of the next word
	params Params

	hasCorrelation  bool // a correlation was given that makes tc pass on all correlations
	lossGiven       bool // a loss option was given, so another one is an error
	hasDistribution bool // the option distribution was given
}

// option is an option with the function that reads the words after its name.
type option struct {
	name string
	read func(*reader) error
}

// options returns all options in the order in which tc compares them, which decides the meaning
// of abbreviations.
func options() []option {
	return []option{
		{"limit", func(r *reader) error { return r.readValues(r.params.limitForm()) }},
		{"latency", (*reader).readDelay},
		{"delay", (*reader).readDelay},
		{"loss", (*reader).readLoss},
		{"drop", (*reader).readLoss},
		{"seed", func(r *reader) error { r.params.Seeded = true; return r.readValues(r.params.seedForm()) }},
		{"ecn", func(r *reader) error { r.params.Loss.ECN = true; return nil }},
		{"reorder", func(r *reader) error { return r.readEvent(&r.params.Reorder) }},
		{"corrupt", func(r *reader) error { return r.readEvent(&r.params.Corrupt) }},
		{"gap", func(r *reader) error { return r.readValues(r.params.gapForm()) }},
		// tc passes correlations to the kernel if any option but duplicate has one. So this option is read
		// without readCorrelated, which would record that a correlation was given.
		{"duplicate", func(r *reader) error { return r.readValues(r.params.Duplicate.form()) }},
		{"distribution", func(r *reader) error {
			r.hasDistribution = true
			return r.readDistribution(&r.params.Delay.Distribution)
		}},
		{"rate", (*reader).readRate},
		{"slot", (*reader).readSlot},
	}
}

// readOption reads one option with its values. The first option that begins with the word counts.
func (r *reader) readOption() error {
	word := r.words[r.pos]
	known := options()
	names := make([]string, len(known))
	for i, o := range known {
		if strings.HasPrefix(o.name, word) {
			r.pos++
			return o.read(r)
		}
		names[i] = o.name
	}
	return r.errorAt(word, "one of "+strings.Join(names, ", "), names)
}

// errorAt returns the error for a word at the current position. known lists the valid names, nil
// if a value was expected.
func (r *reader) errorAt(word, expected string, known []string) error {
	e := &SyntaxError{Word: word, Expected: expected, Known: known}
	if r.pos > 0 {
		e.After = r.words[r.pos-1]
	}
	return e
}

// hasOptionalValue reports whether the next word is a value: it starts with a digit, or with a
// minus sign if signed is true.
func (r *reader) hasOptionalValue(signed bool) bool {
	word := r.peek()
	return word != "" && (word[0] >= '0' && word[0] <= '9' || signed && word[0] == '-')
}

// readValues reads the values that follow the keywords of an option, and stores them in the fields to which
// f.values point. The first f.required values must be present. The fields of optional values that are missing
// are not changed.
func (r *reader) readValues(f form) error {
	for i, v := range f.values {
		if i >= f.required && !r.hasOptionalValue(v.signed) {
			continue
		}
		if word := r.peek(); word == "" || !v.read(word) {
			return r.errorAt(word, v.expected, nil)
		}
		r.pos++
	}
	return nil
}

// readCorrelated reads the values of a form whose last value is a correlation, and records
// whether it was given.
func (r *reader) readCorrelated(f form) error {
	from := r.pos
	err := r.readValues(f)
	r.hasCorrelation = r.hasCorrelation || r.pos-from == len(f.values)
	return err
}

// readDelay and readEvent read the values of "delay" and of an option with a probability.
func (r *reader) readDelay() error         { return r.readCorrelated(r.params.delayForm()) }
func (r *reader) readEvent(c *event) error { return r.readCorrelated(c.form()) }

// readLoss reads the words after loss: a percentage, random, state or gemodel, and the values of that model.
func (r *reader) readLoss() error {
	if r.lossGiven {
		r.pos-- // the error is about the word loss
		return r.errorAt(r.peek(), "only one loss option", nil)
	}
	l := &r.params.Loss
	switch word := r.peek(); {
	case r.hasOptionalValue(false): // a percentage follows directly
	case word == "random":
		r.pos++
	case word == "state":
		r.pos++
		l.Model, r.lossGiven = fourState, true
		return r.readValues(l.stateForm())
	case word == "gemodel":
		r.pos++
		l.Model, r.lossGiven = gilbertElliott, true
		return r.readValues(l.gemodelForm())
	default:
		return r.errorAt(word, `a percentage such as "5%", or random, state or gemodel`, []string{"random", "state", "gemodel"})
	}
	err := r.readEvent(&l.event)
	r.lossGiven = l.Probability > 0 // tc too accepts another loss option after a loss of 0%
	return err
}

// readDistribution reads the name of a distribution that has a table, and stores the distribution in into.
func (r *reader) readDistribution(into *distribution) error {
	names := []string{normal.String(), pareto.String(), paretoNormal.String()}
	word := r.peek()
	i := slices.Index(names, word)
	if i < 0 {
		expected := strings.Join(names, ", ")
		switch word {
		case uniform.String():
			expected += " (uniform has no table: omit the word distribution)"
		case "experimental":
			expected += " (the table experimental is measured and not available here)"
		}
		return r.errorAt(word, expected, names)
	}
	*into = normal + distribution(i)
	r.pos++
	return nil
}

// readRate reads a rate. tc's percentages of the device's speed are not supported.
func (r *reader) readRate() error {
	if strings.Contains(r.peek(), "%") {
		return r.errorAt(r.peek(), fmt.Sprintf("%s; percentages of the device speed are not supported", rates.expected), nil)
	}
	return r.readValues(r.params.rateForm())
}

// readSlot reads the times and the optional limits of slots, packets and bytes, in this order.
func (r *reader) readSlot() error {
	s := &r.params.Slot
	var err error
	switch {
	case r.hasOptionalValue(false):
		err = r.readSlotBounds(s)
	case r.skip("distribution"):
		err = r.readSlotDistribution(s)
	default:
		return r.errorAt(r.peek(), `a time such as "20ms", or distribution`, []string{"distribution"})
	}
	for _, limit := range []form{s.packetsForm(), s.bytesForm()} {
		word := r.peek()
		if err != nil || word == "" || !strings.HasPrefix(limit.keywords[0], word) { // keywords may be abbreviated
			continue
		}
		r.pos++
		err = r.readValues(limit)
	}
	return err
}

// readSlotBounds reads one or two times; with one, Min and Max are equal.
func (r *reader) readSlotBounds(s *slot) error {
	from := r.pos
	if err := r.readValues(s.boundsForm()); err != nil {
		return err
	}
	if r.pos == from+1 { // one time was read
		s.Max = s.Min
	}
	if s.Max < s.Min {
		r.pos-- // the error is about the maximum
		return r.errorAt(r.peek(), fmt.Sprintf("a maximum of at least %s", r.words[r.pos-1]), nil)
	}
	return nil
}

// readSlotDistribution reads the distribution of slot intervals: its name, the delay and the jitter.
func (r *reader) readSlotDistribution(s *slot) error {
	if err := r.readDistribution(&s.Distribution); err != nil {
		return err
	}
	err := r.readValues(s.distributionForm())
	if err == nil && s.Jitter == 0 {
		r.pos-- // the error is about the last value
		return r.errorAt(r.peek(), "a jitter above 0", nil)
	}
	return err
}

// skipPreamble skips the words before the options: the word netem, or a complete tc command, also
// after sudo.
func (r *reader) skipPreamble() error {
	r.skip("sudo")
	if word := r.peek(); word == "tc" || strings.HasSuffix(word, "/tc") {
		r.pos++
		return r.skipCommand()
	}
	r.skip("netem")
	return nil
}

// skip skips the next word if it is equal to want, and reports whether it was.
func (r *reader) skip(want string) bool {
	if r.pos < len(r.words) && r.words[r.pos] == want {
		r.pos++
		return true
	}
	return false
}

// skipCommand skips tc's flags, the command and the device, up to and including the word netem.
func (r *reader) skipCommand() error {
	for r.pos < len(r.words) && strings.HasPrefix(r.words[r.pos], "-") {
		if strings.HasPrefix("-netns", r.words[r.pos]) && r.words[r.pos] != "-" { // the flag -netns, or an abbreviation of it
			r.pos++ // skips the flag; the name of a namespace follows
		}
		r.pos = min(r.pos+1, len(r.words))
	}
	if err := r.expectOneOf("qdisc"); err != nil {
		return err
	}
	if err := r.expectOneOf("add", "change", "replace", "link"); err != nil {
		return err
	}
	for !r.skip("netem") {
		switch word := r.peek(); word {
		case "dev", "parent", "handle":
			r.pos++
			if r.peek() == "" {
				return r.errorAt("", "a name", nil)
			}
			r.pos++
		case "root":
			r.pos++
		default:
			return r.errorAt(word, "dev NAME, root, parent ID, handle ID or netem", nil)
		}
	}
	return nil
}

// peek returns the next word without consuming it; "" at the end.
func (r *reader) peek() string {
	if r.pos < len(r.words) {
		return r.words[r.pos]
	}
	return ""
}

// expectOneOf skips the next word, which must be one of names or, as in tc, an abbreviation of one.
func (r *reader) expectOneOf(names ...string) error {
	word := r.peek()
	if word == "" || !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, word) }) {
		return r.errorAt(word, strings.Join(names, " or "), nil)
	}
	r.pos++
	return nil
}

// checkCombinations returns an error if an option requires another one that is missing. tc checks
// this after the last option too.
func (r *reader) checkCombinations() error {
	p := &r.params
	missing := func(after, expected string) error { return &SyntaxError{Word: after, Expected: expected} }
	switch {
	case p.Reorder.Probability > 0 && p.Delay.Latency == 0:
		return missing("reorder", `a delay too, such as "delay 10ms"`)
	case p.Reorder.Probability == 0 && p.Gap > 0:
		return missing("gap", `a reorder option too, such as "reorder 25%"`)
	case p.Loss.ECN && p.Loss.Probability == 0 && p.Loss.Model == randomLoss:
		return missing("ecn", `a loss option too, such as "loss 1%"`)
	case r.hasDistribution && (p.Delay.Latency == 0 || p.Delay.Jitter == 0):
		return missing("distribution", `a delay and a jitter too, such as "delay 50ms 10ms"`)
	}
	return nil
}

// normalize resets values without effect, so that lines with the same meaning have equal Params.
func (r *reader) normalize() {
	p := &r.params
	for _, c := range []struct {
		used bool // the correlation has an effect
		corr *probability
	}{
		{p.Delay.Jitter > 0, &p.Delay.Corr}, {p.Loss.Probability > 0 && p.Loss.Model == randomLoss, &p.Loss.Corr},
		{p.Duplicate.Probability > 0, &p.Duplicate.Corr},
		{p.Reorder.Probability > 0, &p.Reorder.Corr}, {p.Corrupt.Probability > 0, &p.Corrupt.Corr},
	} {
		if !c.used {
			*c.corr = 0
		}
	}
	p.DuplicateCorrUnsent = p.Duplicate.Corr > 0 && !r.hasCorrelation
	if p.Reorder.Probability > 0 && p.Gap == 0 {
		p.Gap = 1 // every packet may be reordered
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
