package lossmodel

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"sort"
	"strconv"
	"strings"
	"time"

	"wirelab/internal/setting"
	"wirelab/lossmodel/tracefile"
)

// chanceBytes is what one opportunity of a Mahimahi trace delivers.
const chanceBytes = 1504

// opportunities is a trace in Mahimahi's format: the milliseconds at which the line could
// deliver chanceBytes. It repeats after the last of them.
type opportunities struct {
	at     []time.Duration // never decreasing, the last above 0
	period time.Duration
}

// readChances reads a trace: one whole number of milliseconds a line.
func readChances(data []byte) (*opportunities, error) {
	c := &opportunities{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		ms, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("line %d is %s, expected a whole number of milliseconds", n, setting.Show(text))
		}
		at := time.Duration(ms) * time.Millisecond
		if at < c.period {
			return nil, fmt.Errorf("line %d goes back from %d ms to %d ms, expected times that never decrease", n,
				c.period/time.Millisecond, ms)
		}
		c.at, c.period = append(c.at, at), at
	}
	switch {
	case lines.Err() != nil:
		return nil, lines.Err()
	case len(c.at) == 0:
		return nil, errors.New("the trace is empty, expected one millisecond a line")
	case c.period == 0:
		return nil, errors.New("the trace ends at 0 ms, expected a last opportunity later than that, since it repeats from there")
	}
	return c, nil
}

// lineTrace reads a file as *opportunities.
var lineTrace = &tracefile.Kind{Read: func(data []byte) (any, error) { return readChances(data) }}

// when returns the time of opportunity i, counted on through the repetitions.
func (c *opportunities) when(i int64) time.Duration {
	n := int64(len(c.at))
	return time.Duration(i/n)*c.period + c.at[i%n]
}

// from returns the first opportunity at or after now.
func (c *opportunities) from(now time.Duration) int64 {
	// An opportunity at the very end of a period is also the start of the next:
	// look from the period that ended there.
	round := max(0, (now-1)/c.period)
	in := now - round*c.period
	i := sort.Search(len(c.at), func(i int) bool { return c.at[i] >= in })
	return int64(round)*int64(len(c.at)) + int64(i)
}

// tracedLine is a line that follows a trace. A packet takes what it needs of an
// opportunity and leaves the rest to those already waiting; what nobody waits for
// is gone. So it is with Mahimahi.
type tracedLine struct {
	opportunities *opportunities
	at            time.Duration // of the opportunity in use
	left          int64         // bytes that it can still take
	next          int64         // the opportunity after it
}

// set gives the line another trace, or none. What was sent by the old one keeps
// its time, and nothing overtakes it.
func (l *tracedLine) set(c *opportunities) {
	if c != l.opportunities && c != nil {
		l.next, l.left = c.from(l.at), 0
	}
	l.opportunities = c
}

// leaves returns when a packet that could be sent from start on has left, and
// books it; ok is false if that is later than latest.
func (l *tracedLine) leaves(start, latest time.Duration, wire int64) (at time.Duration, ok bool) {
	at, left, next := l.at, l.left, l.next
	if at < start {
		left, next = 0, l.opportunities.from(start)
	}
	if wire > left {
		more := (wire - left + chanceBytes - 1) / chanceBytes // opportunities beyond this one
		next, left = next+more, left+more*chanceBytes
		at = l.opportunities.when(next - 1)
		if at > latest {
			return 0, false
		}
	}
	l.at, l.left, l.next = at, left-wire, next
	return at, true
}

// scaleDown returns a*b/c, or what fits if that is too much; c > 0.
func scaleDown(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi >= c {
		return 1<<62 - 1
	}
	q, _ := bits.Div64(hi, lo, c)
	return min(q, 1<<62-1)
}
