package netem

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"wirelab/internal/units"
)

// String writes the options of the line so that Parse reads equal Params, each in
// its shortest form. Without a line it is "off".
func (p Params) String() string {
	if !p.On {
		return "off"
	}
	var b line
	b.delay(&p)
	b.loss(&p)
	if p.ECN {
		b.add("ecn")
	}
	b.share("duplicate", p.Duplicate, p.DuplicateCorr)
	b.corrupt(&p)
	b.share("reorder", p.Reorder, p.ReorderCorr)
	if p.Gap > 1 {
		b.add("gap", strconv.FormatUint(uint64(p.Gap), 10))
	}
	b.rate(&p)
	b.slot(&p.Slot)
	if p.Limit != defaultLimit || len(b) == 0 {
		b.add("limit", strconv.FormatUint(uint64(p.Limit), 10))
	}
	if p.Seeded {
		b.add("seed", strconv.FormatUint(p.Seed, 10))
	}
	return strings.Join(b, " ")
}

// line is the words so far.
type line []string

func (b *line) add(words ...string) { *b = append(*b, words...) }

func (b *line) share(name string, share, corr Share) {
	if share == 0 {
		return
	}
	b.add(name, share.String())
	if corr > 0 {
		b.add(corr.String())
	}
}

func (b *line) delay(p *Params) {
	if p.Latency == 0 && p.Jitter == 0 {
		return
	}
	b.add("delay", timeText(p.Latency))
	if p.Jitter == 0 {
		return
	}
	b.add(timeText(p.Jitter))
	if p.DelayCorr > 0 {
		b.add(p.DelayCorr.String())
	}
	if p.Distribution != Uniform {
		b.add("distribution", p.Distribution.String())
	}
}

func (b *line) loss(p *Params) {
	switch p.Model {
	case FourState:
		b.add("loss", "state", p.P13.String(), p.P31.String())
		if p.P32 != 0 || p.P23 != always || p.P14 != 0 {
			b.add(p.P32.String(), p.P23.String(), p.P14.String())
		}
	case GilbertElliott:
		b.add("loss", "gemodel", p.P.String(), p.R.String())
		if p.H != 0 || p.K1 != 0 {
			b.add((always - p.H).String())
		}
		if p.K1 != 0 {
			b.add(p.K1.String())
		}
	default:
		b.share("loss", p.Loss, p.LossCorr)
	}
}

// corrupt also writes a correlation of 0% if only that makes tc hand over the one
// of duplicates.
func (b *line) corrupt(p *Params) {
	alone := p.DelayCorr|p.LossCorr|p.ReorderCorr|p.CorruptCorr == 0
	if alone && p.DuplicateCorr > 0 && !p.DuplicateCorrUnsent {
		b.add("corrupt", p.Corrupt.String(), "0%")
		return
	}
	b.share("corrupt", p.Corrupt, p.CorruptCorr)
}

func (b *line) rate(p *Params) {
	if p.Rate == 0 {
		return
	}
	b.add("rate", rateText(p.Rate))
	if p.Overhead != 0 || p.CellSize != 0 {
		b.add(fmt.Sprint(p.Overhead))
	}
	if p.CellSize != 0 {
		b.add(fmt.Sprint(p.CellSize))
	}
	if p.CellOverhead != 0 {
		b.add(fmt.Sprint(p.CellOverhead))
	}
}

func (b *line) slot(s *Slot) {
	if !s.on() {
		return
	}
	if s.Min|s.Max != 0 || s.Distribution == Uniform {
		b.add("slot", slotText(s.Min))
		if s.Max != s.Min {
			b.add(slotText(s.Max))
		}
	}
	if s.Distribution != Uniform {
		b.add("slot", "distribution", s.Distribution.String(), slotText(s.Delay), slotText(s.Jitter))
	}
	if s.Packets > 0 {
		b.add("packets", fmt.Sprint(s.Packets))
	}
	if s.Bytes > 0 {
		b.add("bytes", fmt.Sprint(s.Bytes))
	}
}

// timeText writes a time in the largest unit in which it reads the same: tc cuts
// off what floating point leaves below the next microsecond.
func timeText(t time.Duration) string {
	us := float64(t / time.Microsecond)
	for _, u := range []unitOf{{"s", 1e6}, {"ms", 1e3}} {
		text := units.FormatDecimal(us/u.times) + u.name
		if back, ok := readTime(text); us >= u.times && ok && back == t {
			return text
		}
	}
	return units.FormatDecimal(us) + "us"
}

func slotText(t time.Duration) string {
	if t%time.Microsecond == 0 {
		text := timeText(t)
		if back, ok := readSlotTime(text); ok && back == t {
			return text
		}
	}
	return strconv.FormatInt(int64(t), 10) + "ns"
}

// rateText writes a rate in bits, in the largest unit in which it reads the same.
func rateText(bytes uint64) string {
	bits := float64(bytes * 8)
	for _, u := range []unitOf{{"tbit", 1e12}, {"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}} {
		text := units.FormatDecimal(bits/u.times) + u.name
		if back, ok := readRate(text); bits >= u.times && ok && back == bytes {
			return text
		}
	}
	return units.FormatDecimal(bits) + "bit"
}
