package netem

import (
	"strings"
)

// form is an option, or one of its variants, with the values that follow.
type form struct {
	words  []string // in front of the values
	values []value
	needed int // Parse demands that many values
	least  int // String writes at least that many, and needed ones
}

// value is a number or a time of a form.
type value struct {
	read     func(word string) bool // stores the value of a word; false if it has none
	text     func() string
	isUnset  func() bool // String leaves it out if all after it are left out as well
	signed   bool        // it may be below zero
	expected string      // what an error message expects in its place
}

// syntax is how values of one type are written on a line.
type syntax[T comparable] struct {
	read     func(word string) (T, bool)
	write    func(T) string
	signed   bool
	expected string
}

// at returns the value that is kept in a field and is left out if it is unset.
func (s syntax[T]) at(field *T, unset T) value {
	return value{
		read: func(word string) bool {
			v, ok := s.read(word)
			if ok {
				*field = v
			}
			return ok
		},
		text:     func() string { return s.write(*field) },
		isUnset:  func() bool { return *field == unset },
		signed:   s.signed,
		expected: s.expected,
	}
}

// The forms of each option. Reading stores in p, writing takes from p.

func (p *Params) delayForm() form {
	d := &p.Delay
	return form{words: []string{"delay"}, needed: 1, values: []value{
		delayTimes.at(&d.Latency, 0), delayTimes.at(&d.Jitter, 0), shares.at(&d.Corr, 0)}}
}

func (c *chance) form(words ...string) form {
	return form{words: words, needed: 1, values: []value{shares.at(&c.Share, 0), shares.at(&c.Corr, 0)}}
}

// stateForm: the first probability sets the defaults of the others.
func (l *lossParams) stateForm() form {
	first := shares.at(&l.P13, 0)
	first.read = func(word string) bool {
		p, ok := readProbability(word)
		l.P13, l.P31, l.P32, l.P23, l.P14 = shareOf(p), shareOf(1-p), 0, always, 0
		return ok
	}
	f := form{words: []string{"loss", "state"}, needed: 1, least: 2, values: []value{
		first, shares.at(&l.P31, 0), shares.at(&l.P32, 0), shares.at(&l.P23, always), shares.at(&l.P14, 0)}}
	if l.P32 != 0 || l.P23 != always || l.P14 != 0 {
		f.least = len(f.values)
	}
	return f
}

// gemodelForm: on the line the third probability is that of a loss in the bad state.
func (l *lossParams) gemodelForm() form {
	first, third := shares.at(&l.P, 0), shares.at(&l.H, 0)
	first.read = func(word string) bool {
		p, ok := readProbability(word)
		l.P, l.R, l.H, l.K1 = shareOf(p), shareOf(1-p), 0, 0
		return ok
	}
	third.read = func(word string) bool {
		lost, ok := readShare(word)
		l.H = always - lost
		return ok
	}
	third.text = func() string { return (always - l.H).String() }
	return form{words: []string{"loss", "gemodel"}, needed: 1, least: 2, values: []value{
		first, shares.at(&l.R, 0), third, shares.at(&l.K1, 0)}}
}

func (p *Params) gapForm() form {
	return form{words: []string{"gap"}, needed: 1, values: []value{counts.at(&p.Gap, 1)}}
}

func (p *Params) rateForm() form {
	r := &p.Rate
	return form{words: []string{"rate"}, needed: 1, values: []value{
		rates.at(&r.Bytes, 0), integers.at(&r.Overhead, 0), counts.at(&r.CellSize, 0), integers.at(&r.CellOverhead, 0)}}
}

func (p *Params) limitForm() form {
	return form{words: []string{"limit"}, needed: 1, values: []value{sizes.at(&p.Limit, defaultLimit)}}
}

func (p *Params) seedForm() form {
	return form{words: []string{"seed"}, needed: 1, values: []value{seeds.at(&p.Seed, 0)}}
}

func (s *slot) boundsForm() form {
	return form{words: []string{"slot"}, needed: 1, values: []value{
		slotTimes.at(&s.Min, 0), slotTimes.at(&s.Max, s.Min)}}
}

func (s *slot) distributionForm() form {
	return form{words: []string{"slot", "distribution", s.Distribution.String()}, needed: 2, values: []value{
		slotTimes.at(&s.Delay, 0), slotTimes.at(&s.Jitter, 0)}}
}

func (s *slot) packetsForm() form {
	return form{words: []string{"packets"}, needed: 1, values: []value{positives.at(&s.Packets, 0)}}
}

func (s *slot) bytesForm() form {
	return form{words: []string{"bytes"}, needed: 1, values: []value{slotBytes.at(&s.Bytes, 0)}}
}

// String writes the options of the line so that Parse reads equal Params, each in
// its shortest form. Without a line it is "off".
func (p Params) String() string {
	if !p.On {
		return "off"
	}
	var b line
	b.addIf(p.Delay.Latency|p.Delay.Jitter != 0, p.delayForm())
	b.addIf(p.Delay.Jitter != 0 && p.Delay.Distribution != uniform,
		form{words: []string{"distribution", p.Delay.Distribution.String()}})
	switch p.Loss.Model {
	case fourState:
		b.add(p.Loss.stateForm())
	case gilbertElliott:
		b.add(p.Loss.gemodelForm())
	default:
		b.addIf(p.Loss.Share > 0, p.Loss.form("loss"))
	}
	b.addIf(p.Loss.ECN, form{words: []string{"ecn"}})
	b.addIf(p.Duplicate.Share > 0, p.Duplicate.form("duplicate"))
	corrupt := p.Corrupt.form("corrupt")
	if p.Duplicate.Corr > 0 && !p.DuplicateCorrUnsent && p.Delay.Corr|p.Loss.Corr|p.Reorder.Corr|p.Corrupt.Corr == 0 {
		corrupt.least = 2 // any other correlation makes tc pass on that of duplicates
	}
	b.addIf(p.Corrupt.Share > 0 || corrupt.least == 2, corrupt)
	b.addIf(p.Reorder.Share > 0, p.Reorder.form("reorder"))
	b.addIf(p.Gap > 1, p.gapForm())
	b.addIf(p.Rate.Bytes > 0, p.rateForm())
	b.slot(&p.Slot)
	b.addIf(p.Limit != defaultLimit || len(b) == 0, p.limitForm())
	b.addIf(p.Seeded, p.seedForm())
	return strings.Join(b, " ")
}

// line is the words that String has written.
type line []string

func (b *line) addIf(given bool, f form) {
	if given {
		b.add(f)
	}
}

// add writes a form without the unset values at its end.
func (b *line) add(f form) {
	n := len(f.values)
	for n > max(f.needed, f.least) && f.values[n-1].isUnset() {
		n--
	}
	*b = append(*b, f.words...)
	for _, v := range f.values[:n] {
		*b = append(*b, v.text())
	}
}

// slot writes bounds and distribution if both were given, since Params keeps both.
func (b *line) slot(s *slot) {
	if !s.on() {
		return
	}
	b.addIf(s.Min|s.Max != 0 || s.Distribution == uniform, s.boundsForm())
	b.addIf(s.Distribution != uniform, s.distributionForm())
	b.addIf(s.Packets > 0, s.packetsForm())
	b.addIf(s.Bytes > 0, s.bytesForm())
}
