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

const (
	opportunityBytes = 1504 // bytes that one opportunity of a Mahimahi trace delivers
	tunHeader        = 4    // bytes that Mahimahi counts before each IP packet
)

// opportunities is a trace in Mahimahi's format: the times at which the line can deliver
// opportunityBytes. The trace repeats after its last time.
type opportunities struct {
	times  []time.Duration // times of the opportunities, non-decreasing, the last above 0
	period time.Duration   // length of a round of the trace: the last time
}

// parseOpportunities parses a trace in Mahimahi's format: each line is the time of one opportunity, an integer
// number of milliseconds. The times must not decrease, and the last one must be above 0.
func parseOpportunities(data []byte) (*opportunities, error) {
	o := &opportunities{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		ms, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("line %d is %s, expected an integer number of milliseconds", n, setting.FormatValue(text))
		}
		at := time.Duration(ms) * time.Millisecond
		if at < o.period {
			return nil, fmt.Errorf("line %d decreases from %d ms to %d ms, expected non-decreasing times", n,
				o.period/time.Millisecond, ms)
		}
		o.times, o.period = append(o.times, at), at
	}
	switch {
	case lines.Err() != nil:
		return nil, lines.Err()
	case len(o.times) == 0:
		return nil, errors.New("the trace is empty, expected one time in milliseconds per line")
	case o.period == 0:
		return nil, errors.New("the trace ends at 0 ms, expected a last time above 0, because the trace repeats after it")
	}
	return o, nil
}

// opportunitiesKind reads a file as *opportunities.
var opportunitiesKind = &tracefile.Kind{Read: func(data []byte) (any, error) { return parseOpportunities(data) }}

// timeOf returns the time of opportunity i, counted from 0 through all repetitions of the trace.
func (o *opportunities) timeOf(i int64) time.Duration {
	n := int64(len(o.times))
	return time.Duration(i/n)*o.period + o.times[i%n]
}

// firstAfter returns the number of the first opportunity after now, in the count of timeOf.
func (o *opportunities) firstAfter(now time.Duration) int64 {
	round := now / o.period // number of complete repetitions
	offset := now - round*o.period
	i := sort.Search(len(o.times), func(i int) bool { return o.times[i] > offset })
	return int64(round)*int64(len(o.times)) + int64(i)
}

// tracedLine is a line that follows a trace, as Mahimahi does: an opportunity sends several
// packets if they fit, a packet may need several opportunities, and unused capacity is lost.
type tracedLine struct {
	opportunities *opportunities // the trace; nil means none
	current       time.Duration  // time of the opportunity in use
	bytesLeft     int64          // bytes that the opportunity in use can still send
	next          int64          // index of the opportunity after the one in use
}

// setTrace replaces the trace; nil means none. Packets sent with the old trace keep their
// departures, and later packets do not overtake them.
func (l *tracedLine) setTrace(trace *opportunities) {
	if trace != l.opportunities && trace != nil {
		l.next, l.bytesLeft = trace.firstAfter(l.current), 0
	}
	l.opportunities = trace
}

// departure returns the time at which a packet has left that has the given size on the wire in bytes and can be
// sent after start, and reserves the opportunities that it needs. Mahimahi uses up the opportunities of a time
// before it reads a packet at that time. ok is false, and nothing is reserved, if the packet would leave later
// than latest.
func (l *tracedLine) departure(start, latest time.Duration, wire int64) (at time.Duration, ok bool) {
	at, bytesLeft, next := l.current, l.bytesLeft, l.next
	if at <= start { // the opportunity in use is over; its unused bytes are lost
		bytesLeft, next = 0, l.opportunities.firstAfter(start)
	}
	if wire > bytesLeft {
		extra := (wire - bytesLeft + opportunityBytes - 1) / opportunityBytes // number of opportunities needed beyond the one in use
		next, bytesLeft = next+extra, bytesLeft+extra*opportunityBytes
		at = l.opportunities.timeOf(next - 1)
		if at > latest {
			return 0, false
		}
	}
	l.current, l.bytesLeft, l.next = at, bytesLeft-wire, next
	return at, true
}

// mulDiv returns a*b/c for c > 0, limited to 2^62-1, without overflow of the product.
func mulDiv(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi >= c {
		return 1<<62 - 1
	}
	q, _ := bits.Div64(hi, lo, c)
	return min(q, 1<<62-1)
}
