package netem

import (
	"math"
	"slices"
	"strings"
)

// One method for each option, called behind its name.

func (r *reader) limit() error { return value(r, &r.p.Limit, readSize, aSize) }

func (r *reader) delay() error {
	if err := value(r, &r.p.Latency, readTime, aTime); err != nil || !r.numberNext() {
		return err
	}
	if err := value(r, &r.p.Jitter, readTime, aTime); err != nil || !r.numberNext() {
		return err
	}
	return r.correlation(&r.p.DelayCorr)
}

// correlation reads one of those that tc hands over together.
func (r *reader) correlation(into *Share) error {
	r.correlations = true
	return value(r, into, readShare, aShare)
}

// shareAndCorrelation reads a share and perhaps its correlation.
func (r *reader) shareAndCorrelation(share, corr *Share) error {
	if err := value(r, share, readShare, aShare); err != nil || !r.numberNext() {
		return err
	}
	return r.correlation(corr)
}

func (r *reader) loss() error {
	if r.lossGiven {
		r.at--
		return r.refuse(r.here(), "no second loss: netem loses packets in one way only", nil)
	}
	switch word := r.here(); {
	case r.numberNext():
	case word == "random":
		r.at++
	case word == "state":
		r.at++
		return r.lossState()
	case word == "gemodel":
		r.at++
		return r.lossGemodel()
	default:
		return r.refuse(word, `a percentage such as "5%", or random, state or gemodel`, []string{"random", "state", "gemodel"})
	}
	err := r.shareAndCorrelation(&r.p.Loss, &r.p.LossCorr)
	r.lossGiven = r.p.Loss > 0 // as in tc, a loss of nothing may be followed by another
	return err
}

// shares reads as many percentages as there are, up to the number of places.
func (r *reader) shares(places ...*Share) error {
	for _, place := range places {
		if !r.numberNext() {
			return nil
		}
		if err := value(r, place, readShare, aShare); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) lossState() error {
	var p13 float64
	if err := value(r, &p13, readProbability, aShare); err != nil {
		return err
	}
	r.p.Model, r.lossGiven = FourState, true
	r.p.P13, r.p.P31, r.p.P32, r.p.P23, r.p.P14 = shareOf(p13), shareOf(1-p13), 0, always, 0
	return r.shares(&r.p.P31, &r.p.P32, &r.p.P23, &r.p.P14)
}

func (r *reader) lossGemodel() error {
	var p float64
	if err := value(r, &p, readProbability, aShare); err != nil {
		return err
	}
	r.p.Model, r.lossGiven = GilbertElliott, true
	lost := always
	r.p.P, r.p.R, r.p.K1 = shareOf(p), shareOf(1-p), 0
	err := r.shares(&r.p.R, &lost, &r.p.K1)
	r.p.H = always - lost
	return err
}

func (r *reader) seed() error {
	r.p.Seeded = true
	return value(r, &r.p.Seed, readSeed, aSeed)
}

func (r *reader) ecn() error {
	r.p.ECN = true
	return nil
}

func (r *reader) reorder() error { return r.shareAndCorrelation(&r.p.Reorder, &r.p.ReorderCorr) }
func (r *reader) corrupt() error { return r.shareAndCorrelation(&r.p.Corrupt, &r.p.CorruptCorr) }
func (r *reader) gap() error     { return value(r, &r.p.Gap, readCount, aCount) }

// duplicate forgets to note that a correlation was given, as tc does.
func (r *reader) duplicate() error {
	if err := value(r, &r.p.Duplicate, readShare, aShare); err != nil || !r.numberNext() {
		return err
	}
	return value(r, &r.p.DuplicateCorr, readShare, aShare)
}

func (r *reader) distributionName() error {
	r.distribution = true
	return r.table(&r.p.Distribution)
}

// table reads the name of a distribution.
func (r *reader) table(into *Distribution) error {
	names := []string{Normal.String(), Pareto.String(), ParetoNormal.String()}
	word := r.here()
	i := slices.Index(names, word)
	if i < 0 {
		expected := strings.Join(names, ", ")
		switch word {
		case Uniform.String():
			expected += " (tc has no such table: it is uniform without the word distribution)"
		case "experimental":
			expected += " (that table was measured, so it is not made here)"
		}
		return r.refuse(word, expected, names)
	}
	*into = Normal + Distribution(i)
	r.at++
	return nil
}

func (r *reader) rate() error {
	if strings.Contains(r.here(), "%") {
		return r.refuse(r.here(), aRate+"; a share would be of a device's speed, and there is no device", nil)
	}
	if err := value(r, &r.p.Rate, readRate, aRate); err != nil {
		return err
	}
	if r.signedNext() {
		if err := value(r, &r.p.Overhead, readSigned, aSigned); err != nil {
			return err
		}
	}
	if r.numberNext() {
		if err := value(r, &r.p.CellSize, readCount, aCount); err != nil {
			return err
		}
	}
	if r.signedNext() {
		return value(r, &r.p.CellOverhead, readSigned, aSigned)
	}
	return nil
}

func (r *reader) slot() error {
	s := &r.p.Slot
	switch {
	case r.numberNext():
		if err := r.slotBounds(s); err != nil {
			return err
		}
	case r.here() == "distribution":
		r.at++
		if err := r.slotDistribution(s); err != nil {
			return err
		}
	default:
		return r.refuse(r.here(), `a time such as "20ms", or distribution`, []string{"distribution"})
	}
	if r.short("packets") {
		if err := value(r, &s.Packets, readPositive, aPositive); err != nil {
			return err
		}
	}
	if r.short("bytes") {
		return value(r, &s.Bytes, readSlotBytes, aPositive)
	}
	return nil
}

func (r *reader) slotBounds(s *Slot) error {
	if err := value(r, &s.Min, readSlotTime, aSlot); err != nil {
		return err
	}
	s.Max = s.Min
	if !r.numberNext() {
		return nil
	}
	if err := value(r, &s.Max, readSlotTime, aSlot); err != nil {
		return err
	}
	if s.Max < s.Min {
		r.at--
		return r.refuse(r.here(), "a time not below the least, "+r.words[r.at-1], nil)
	}
	return nil
}

func (r *reader) slotDistribution(s *Slot) error {
	if err := r.table(&s.Distribution); err != nil {
		return err
	}
	if err := value(r, &s.Delay, readSlotTime, aSlot); err != nil {
		return err
	}
	err := value(r, &s.Jitter, readSlotTime, aSlot)
	if err == nil && s.Jitter == 0 {
		r.at--
		return r.refuse(r.here(), "a jitter above 0", nil)
	}
	return err
}

// short passes a word that may be cut short.
func (r *reader) short(name string) bool {
	if word := r.here(); word == "" || !strings.HasPrefix(name, word) {
		return false
	}
	r.at++
	return true
}

func readPositive(word string) (int32, bool) {
	v, ok := readSigned(word)
	return v, ok && v >= 0
}

func readSlotBytes(word string) (int32, bool) {
	v, ok := readSize(word)
	return int32(v), ok && v <= math.MaxInt32
}

// together looks at what options mean for each other, as tc does at the end.
func (r *reader) together() error {
	p := &r.p
	missing := func(after, expected string) error { return &SyntaxError{Word: after, Expected: expected} }
	switch {
	case p.Reorder > 0 && p.Latency == 0:
		return missing("reorder", `a delay with it, such as "delay 10ms": otherwise there is nothing to overtake`)
	case p.Reorder == 0 && p.Gap > 0:
		return missing("gap", `a share to reorder with it, such as "reorder 25%"`)
	case p.ECN && p.Loss == 0 && p.Model == Random:
		return missing("ecn", `a loss with it, such as "loss 1%"`)
	case r.distribution && (p.Latency == 0 || p.Jitter == 0):
		return missing("distribution", `a delay and a jitter with it, such as "delay 50ms 10ms"`)
	}
	return nil
}

// tidy removes what has no effect, so that lines that mean the same are equal.
func (r *reader) tidy() {
	p := &r.p
	for _, c := range []struct {
		of   bool
		corr *Share
	}{
		{p.Jitter > 0, &p.DelayCorr}, {p.Loss > 0 && p.Model == Random, &p.LossCorr}, {p.Duplicate > 0, &p.DuplicateCorr},
		{p.Reorder > 0, &p.ReorderCorr}, {p.Corrupt > 0, &p.CorruptCorr},
	} {
		if !c.of {
			*c.corr = 0
		}
	}
	p.DuplicateCorrUnsent = p.DuplicateCorr > 0 && !r.correlations
	if p.Reorder > 0 && p.Gap == 0 {
		p.Gap = 1
	}
	if p.CellSize == 0 {
		p.CellOverhead = 0
	}
	if p.Rate == 0 {
		p.Overhead, p.CellSize, p.CellOverhead = 0, 0, 0
	}
	if !p.Slot.on() {
		p.Slot = Slot{}
	}
}
