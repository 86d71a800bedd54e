package netem

import (
	"strings"
)

// form is an option, or a variant of one, with the values that follow it.
type form struct {
	keywords   []string // words that precede the values, such as "loss", "state"
	values     []value
	required   int // Parse requires this number of values
	minWritten int // String writes at least this number of values
}

// value is one value of a form.
type value struct {
	read     func(word string) bool // stores the value of a word; false if it has none
	text     func() string          // formats the value
	isUnset  func() bool            // reports whether the value has its default; trailing defaults are not written
	signed   bool                   // the value may be negative
	expected string                 // what error messages expect, such as "a percentage"
}

// syntax describes how values of type T are read from a word and written.
type syntax[T comparable] struct {
	read     func(word string) (T, bool)
	write    func(T) string
	signed   bool
	expected string
}

// forField returns a value with this syntax that is read into a field and written from it. A field that
// equals defaultValue counts as unset.
func (s syntax[T]) forField(field *T, defaultValue T) value {
	return value{
		read: func(word string) bool {
			v, ok := s.read(word)
			if ok {
				*field = v
			}
			return ok
		},
		text:     func() string { return s.write(*field) },
		isUnset:  func() bool { return *field == defaultValue },
		signed:   s.signed,
		expected: s.expected,
	}
}

// The methods below return the forms of the options. Reading a form stores values in the receiver, and
// writing formats them.

func (p *Params) delayForm() form {
	d := &p.Delay
	return form{keywords: []string{"delay"}, required: 1, values: []value{
		delayTimes.forField(&d.Latency, 0), delayTimes.forField(&d.Jitter, 0), percentages.forField(&d.Corr, 0)}}
}

// form returns the form of an option with a probability and a correlation. words are its keywords;
// none if the form is only read, because keywords are read before.
func (c *event) form(words ...string) form {
	return form{keywords: words, required: 1, values: []value{percentages.forField(&c.Probability, 0),
		percentages.forField(&c.Corr, 0)}}
}

// stateForm returns the form of "loss state" with the probabilities p13, p31, p32, p23 and p14. Only p13 is
// required. Reading it sets the defaults of the others: p31 = 1-p13, p32 = 0, p23 = 1 and p14 = 0.
func (l *lossParams) stateForm() form {
	first := percentages.forField(&l.P13, 0)
	first.read = func(word string) bool {
		p, ok := parsePercentage(word)
		l.P13, l.P31, l.P32, l.P23, l.P14 = newProbability(p), newProbability(1-p), 0, always, 0
		return ok
	}
	f := form{keywords: []string{"loss", "state"}, required: 1, minWritten: 2, values: []value{
		first, percentages.forField(&l.P31, 0), percentages.forField(&l.P32, 0),
		percentages.forField(&l.P23, always), percentages.forField(&l.P14, 0)}}
	if l.P32 != 0 || l.P23 != always || l.P14 != 0 { // if one value differs from its default, all are written
		f.minWritten = len(f.values)
	}
	return f
}

// gemodelForm returns the form of "loss gemodel". The third probability on the line is that of a
// loss in the bad state, 1-H.
func (l *lossParams) gemodelForm() form {
	first, third := percentages.forField(&l.P, 0), percentages.forField(&l.H, 0)
	first.read = func(word string) bool { // P also sets the defaults of the others
		p, ok := parsePercentage(word)
		l.P, l.R, l.H, l.K1 = newProbability(p), newProbability(1-p), 0, 0
		return ok
	}
	third.read = func(word string) bool {
		lost, ok := readPercentage(word)
		l.H = always - lost
		return ok
	}
	third.text = func() string { return (always - l.H).String() }
	return form{keywords: []string{"loss", "gemodel"}, required: 1, minWritten: 2, values: []value{
		first, percentages.forField(&l.R, 0), third, percentages.forField(&l.K1, 0)}}
}

func (p *Params) gapForm() form {
	return form{keywords: []string{"gap"}, required: 1, values: []value{counts.forField(&p.Gap, 1)}}
}

func (p *Params) rateForm() form {
	r := &p.Rate
	return form{keywords: []string{"rate"}, required: 1, values: []value{
		rates.forField(&r.Bytes, 0), integers.forField(&r.Overhead, 0), counts.forField(&r.CellSize, 0),
		integers.forField(&r.CellOverhead, 0)}}
}

func (p *Params) limitForm() form {
	return form{keywords: []string{"limit"}, required: 1, values: []value{sizes.forField(&p.Limit, defaultLimit)}}
}

func (p *Params) seedForm() form {
	return form{keywords: []string{"seed"}, required: 1, values: []value{seeds.forField(&p.Seed, 0)}}
}

// boundsForm returns the form of "slot" with a minimum and a maximum, which defaults to the minimum.
func (s *slot) boundsForm() form {
	return form{keywords: []string{"slot"}, required: 1, values: []value{
		slotTimes.forField(&s.Min, 0), slotTimes.forField(&s.Max, s.Min)}}
}

func (s *slot) distributionForm() form {
	return form{keywords: []string{"slot", "distribution", s.Distribution.String()}, required: 2, values: []value{
		slotTimes.forField(&s.Delay, 0), slotTimes.forField(&s.Jitter, 0)}}
}

// packetsForm returns the form of "packets", the limit of packets per slot.
func (s *slot) packetsForm() form {
	return form{keywords: []string{"packets"}, required: 1, values: []value{positives.forField(&s.Packets, 0)}}
}

// bytesForm returns the form of "bytes", the limit of bytes per slot.
func (s *slot) bytesForm() form {
	return form{keywords: []string{"bytes"}, required: 1, values: []value{slotBytes.forField(&s.Bytes, 0)}}
}

// String returns the options as a netem line without values that have their defaults, such as
// "delay 50ms loss 1%". Parse converts the line back to equal Params. Without a netem stage (On is
// false), the result is "off".
func (p Params) String() string {
	if !p.On {
		return "off"
	}
	var b lineWriter
	b.addIf(p.Delay.Latency|p.Delay.Jitter != 0, p.delayForm())
	b.addIf(p.Delay.Jitter != 0 && p.Delay.Distribution != uniform,
		form{keywords: []string{"distribution", p.Delay.Distribution.String()}})
	switch p.Loss.Model {
	case fourState:
		b.add(p.Loss.stateForm())
	case gilbertElliott:
		b.add(p.Loss.gemodelForm())
	default:
		b.addIf(p.Loss.Probability > 0, p.Loss.form("loss"))
	}
	b.addIf(p.Loss.ECN, form{keywords: []string{"ecn"}})
	b.addIf(p.Duplicate.Probability > 0, p.Duplicate.form("duplicate"))
	corrupt := p.Corrupt.form("corrupt")
	if p.Duplicate.Corr > 0 && !p.DuplicateCorrUnsent && p.Delay.Corr|p.Loss.Corr|p.Reorder.Corr|p.Corrupt.Corr == 0 {
		// tc passes correlations to the kernel only if an option other than duplicate has one. So "corrupt" is
		// written with a correlation of 0; without it, tc would ignore the correlation of duplicates.
		corrupt.minWritten = 2
	}
	b.addIf(p.Corrupt.Probability > 0 || corrupt.minWritten == 2, corrupt)
	b.addIf(p.Reorder.Probability > 0, p.Reorder.form("reorder"))
	b.addIf(p.Gap > 1, p.gapForm())
	b.addIf(p.Rate.Bytes > 0, p.rateForm())
	b.slot(&p.Slot)
	b.addIf(p.Limit != defaultLimit || len(b) == 0, p.limitForm()) // len(b) == 0: a line needs at least one option
	b.addIf(p.Seeded, p.seedForm())
	return strings.Join(b, " ")
}

// lineWriter is the list of words written so far.
type lineWriter []string

// addIf writes a form if condition is true.
func (b *lineWriter) addIf(condition bool, f form) {
	if condition {
		b.add(f)
	}
}

// add writes the keywords of a form and its values, without trailing values that have their defaults.
func (b *lineWriter) add(f form) {
	n := len(f.values)
	for n > max(f.required, f.minWritten) && f.values[n-1].isUnset() {
		n--
	}
	*b = append(*b, f.keywords...)
	for _, v := range f.values[:n] {
		*b = append(*b, v.text())
	}
}

// slot writes the options of a slot; nothing if slots are not used. Bounds and distribution are both
// written if both were given, because Params stores both.
func (b *lineWriter) slot(s *slot) {
	if !s.on() {
		return
	}
	b.addIf(s.Min|s.Max != 0 || s.Distribution == uniform, s.boundsForm())
	b.addIf(s.Distribution != uniform, s.distributionForm())
	b.addIf(s.Packets > 0, s.packetsForm())
	b.addIf(s.Bytes > 0, s.bytesForm())
}
