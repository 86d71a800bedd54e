package netem

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wirelab/internal/testkit"
)

// lineBuilder writes a netem line from the choices of a fuzzer. For a line without damaged words, want
// has the values that the line sets.
type lineBuilder struct {
	*testkit.Choices
	words   []string
	damaged bool
	want    struct {
		latency, jitter                   time.Duration
		loss, duplicate, corrupt, reorder probability
		rateBytes, seed                   uint64
		limit                             uint32
		lossModel                         lossModel
	}
	hasLoss bool // the line has a loss option
}

// wordf adds a formatted word.
func (b *lineBuilder) wordf(format string, args ...any) { b.word(fmt.Sprintf(format, args...)) }

// word adds a word. A rare one is replaced by an unsuitable one, omitted or repeated.
func (b *lineBuilder) word(word string) {
	if !b.Rare() {
		b.words = append(b.words, word)
		return
	}
	b.damaged = true
	switch b.IntN(4) {
	case 0:
	case 1:
		b.words = append(b.words, word, word)
	case 2:
		b.words = append(b.words, string(b.Bytes(1+b.IntN(12))))
	default:
		b.words = append(b.words, testkit.Pick(b.Choices, "0", "-1", "1e400", "nan", "inf", "0x", "4294967296", "18446744073709551616", "101%", "1e-300%",
			"274.877907s", "3601s", ".", "+5", "08", "5%5", "limit", "distribution", "normal", "100%", "state"))
	}
}

// percentage adds a percentage with one decimal and returns its value.
func (b *lineBuilder) percentage() probability {
	tenths := b.IntN(1001)
	b.wordf("%d.%d%s", tenths/10, tenths%10, testkit.Pick(b.Choices, "%", ""))
	return newProbability(float64(tenths) / 10 / 100)
}

// optionalPercentages adds up to max percentages.
func (b *lineBuilder) optionalPercentages(max int) {
	for range b.IntN(max + 1) {
		b.percentage()
	}
}

// time adds a time of 1us to 66 s in whole microseconds, and returns it.
func (b *lineBuilder) time(nanoseconds bool) time.Duration {
	n := 1 + b.Uint64(2)
	switch b.IntN(4) {
	case 0:
		b.wordf("%dus", n)
		return time.Duration(n) * time.Microsecond
	case 1:
		b.wordf("%ds", 1+n%60)
		return time.Duration(1+n%60) * time.Second
	case 2:
		if nanoseconds {
			b.wordf("%d000", n)
		} else {
			b.wordf("%d", n)
		}
		return time.Duration(n) * time.Microsecond
	}
	b.wordf("%dms", n)
	return time.Duration(n) * time.Millisecond
}

// breakRule reports, rarely, that the line may break a rule, and marks it as damaged.
func (b *lineBuilder) breakRule() bool {
	broken := b.Rare()
	b.damaged = b.damaged || broken
	return broken
}

// distribution adds the word distribution and the name of one.
func (b *lineBuilder) distribution() {
	b.word("distribution")
	if b.breakRule() {
		b.word(testkit.Pick(b.Choices, "uniform", "experimental", "x"))
		return
	}
	b.word(testkit.Pick(b.Choices, "normal", "pareto", "paretonormal"))
}

// option adds an option with its values.
func (b *lineBuilder) option() {
	w := &b.want
	switch b.IntN(11) {
	case 0:
		w.limit = uint32(b.Uint64(4))
		b.word("limit")
		b.wordf("%d", w.limit)
	case 1:
		b.word(testkit.Pick(b.Choices, "delay", "latency", "de"))
		w.latency = b.time(false)
		if b.IntN(3) > 0 {
			w.jitter = b.time(false)
			b.optionalPercentages(1)
			if b.IntN(2) > 0 {
				b.distribution()
			}
		}
	case 2:
		if b.hasLoss && !b.breakRule() { // a second loss option is an error
			return
		}
		b.hasLoss = true
		b.word(testkit.Pick(b.Choices, "loss", "drop"))
		switch b.IntN(4) {
		case 0:
			b.word("state")
			w.lossModel = fourState
			b.percentage()
			b.optionalPercentages(4)
		case 1:
			b.word("gemodel")
			w.lossModel = gilbertElliott
			b.percentage()
			b.optionalPercentages(3)
		case 2:
			b.word("random")
			fallthrough
		default:
			w.loss = b.percentage()
			b.optionalPercentages(1)
			if w.loss == 0 {
				return
			}
		}
		if b.IntN(4) == 3 {
			b.word("ecn")
		}
	case 3:
		b.word("duplicate")
		w.duplicate = b.percentage()
		b.optionalPercentages(1)
	case 4:
		b.word("corrupt")
		w.corrupt = b.percentage()
		b.optionalPercentages(1)
	case 5:
		if (w.latency == 0 || w.reorder > 0) && !b.breakRule() {
			return // an error without a delay; a second option could set 0%, with which a gap is an error
		}
		b.word("reorder")
		w.reorder = b.percentage()
		b.optionalPercentages(1)
	case 6:
		if w.reorder == 0 && !b.breakRule() { // an error without a reorder option
			return
		}
		b.word("gap")
		b.wordf("%d", 1+b.Uint64(2))
	case 7:
		b.word("rate")
		n := b.Uint64(2)
		unit := b.IntN(3)
		b.wordf("%d%s", n, []string{"bps", "kbps", "mbps"}[unit]) // bytes per second in tc
		w.rateBytes = n * []uint64{1, 1000, 1_000_000}[unit]
		if b.IntN(2) > 0 {
			b.wordf("%d", int16(b.Uint64(2)))
			b.wordf("%d", b.Uint64(1))
			b.wordf("%d", int16(b.Uint64(2)))
		}
	case 8:
		b.word("slot")
		if b.IntN(2) == 0 {
			b.time(true)
			if b.breakRule() { // the maximum may be less than the minimum
				b.time(true)
			}
		} else {
			b.distribution()
			b.time(true)
			b.wordf("%dus", 1+b.Uint64(2)) // a jitter of 0 is an error
		}
		if b.IntN(2) > 0 {
			b.word("packets")
			b.wordf("%d", b.Uint64(2))
			b.word("bytes")
			b.wordf("%d", b.Uint64(3))
		}
	case 9:
		w.seed = b.Uint64(8)
		b.word("seed")
		b.wordf("%d", w.seed)
	case 10:
		b.words = append(b.words, "") // only spaces
	}
}

// check compares parsed parameters with what the line sets.
func (b *lineBuilder) check(t *testing.T, p Params) {
	w := &b.want
	if p.Limit != w.limit || p.Delay.Latency != w.latency || p.Delay.Jitter != w.jitter || p.Loss.Probability != w.loss ||
		p.Loss.Model != w.lossModel || p.Duplicate.Probability != w.duplicate || p.Corrupt.Probability != w.corrupt ||
		p.Reorder.Probability != w.reorder || p.Rate.Bytes != w.rateBytes || p.Seed != w.seed {
		t.Fatalf("%q sets %+v, but %+v was expected", strings.Join(b.words, " "), p, *w)
	}
}

// FuzzLine builds lines from options, values and units, and damages some words. A line without damage must
// be accepted with the values that it sets. An accepted line is formatted so that it parses to equal
// Params, and packets have valid due times.
func FuzzLine(f *testing.F) {
	for option := range byte(11) {
		f.Add([]byte{0, option, 0, 9, 1, 0, 2, 0, 3, 0, 4})
		f.Add([]byte{1, 1, 0, 0, 8, 0, 0, 0, 1, 0, 9, 0, 3, 0, 0, option, 0, 1, 255, 3, option, 7, 0, 3, 2, 1, 0})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b := &lineBuilder{Choices: testkit.NewChoices(data)}
		b.want.limit = defaultLimit
		for word := range strings.FieldsSeq(testkit.Pick(b.Choices, "", "netem", "tc qdisc add dev eth0 root netem",
			"sudo /sbin/tc -s -netns blue qdisc change dev lo parent 1:1 handle 2: netem")) {
			b.word(word)
		}
		for !b.Empty() && len(b.words) < 100 {
			b.option()
		}
		line := strings.Join(b.words, testkit.Pick(b.Choices, " ", "\t", strings.Repeat(" ", 50)))
		p, err := Parse(line)
		if err != nil {
			if p != (Params{}) || !b.damaged && len(line) <= maxLineBytes {
				t.Fatalf("%q: %v, and %+v", line, err, p)
			}
			return
		}
		if !b.damaged {
			b.check(t, p)
		}
		back, err := Parse(p.String())
		if err != nil || back != p || back.String() != p.String() {
			t.Fatalf("%q, formatted as %q, parses as %q, %v", line, p, back, err)
		}
		q := New(p, 1)
		now := int64(0)
		for i := range 50 {
			now += int64(i) * int64(time.Millisecond) / 4
			d := q.Enqueue(now, 42+i*97)
			for _, k := range []Packet{d.Packet, d.Copy} {
				if k.Outcome == passed && k.Due != 0 && (k.Due < now || k.Due-now > horizon) {
					t.Fatalf("%q: at %d due at %d", line, now, k.Due)
				}
			}
		}
		p.Warnings()
	})
}
