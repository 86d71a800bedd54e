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
)

// ChanceBytes is what one opportunity of a Mahimahi trace delivers.
const ChanceBytes = 1504

// chances is a trace in Mahimahi's format: the milliseconds at which the line could
// deliver ChanceBytes. It repeats after the last of them.
type chances struct {
	at     []time.Duration // never decreasing, the last above 0
	period time.Duration
}

// readChances reads a trace: one whole number of milliseconds a line.
func readChances(data []byte) (*chances, error) {
	c := &chances{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		ms, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("line %d is %s, expected a whole number of milliseconds", n, show(text))
		}
		at := time.Duration(ms) * time.Millisecond
		if at < c.period {
			return nil, fmt.Errorf("line %d goes back from %d ms to %d ms, expected times that never decrease", n, c.period/time.Millisecond, ms)
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

// when returns the time of opportunity i, counted on through the repetitions.
func (c *chances) when(i int64) time.Duration {
	n := int64(len(c.at))
	return time.Duration(i/n)*c.period + c.at[i%n]
}

// from returns the first opportunity at or after now.
func (c *chances) from(now time.Duration) int64 {
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
	chances *chances
	next    int64         // the opportunity in use
	at      time.Duration // when that is
	left    int64         // bytes that it can still take
}

func (l *tracedLine) leaves(now time.Duration, wire int64) (at time.Duration, ok bool) {
	next, left := l.next, l.left
	if l.at < now || left == 0 {
		if l.at < now {
			next = l.chances.from(now)
		} else {
			next++
		}
		left = ChanceBytes
	}
	more := max(0, wire-left+ChanceBytes-1) / ChanceBytes // opportunities beyond this one
	next, left = next+more, left+more*ChanceBytes-wire
	if at = l.chances.when(next); at-now > MaxWait {
		return 0, false
	}
	l.next, l.left, l.at = next, left, at
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
