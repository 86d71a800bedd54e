package capture

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrSequence means that the sequence numbers do not count packets.
var ErrSequence = errors.New("invalid sequence numbers")

// Datagram is one datagram of a capture with its copies.
type Datagram struct {
	Seq     uint64          // sequence number
	Sent    time.Duration   // send time by the sender's clock
	Lost    bool            // the original did not arrive; copies may have
	Missing bool            // there was no row for this number; counts as lost
	Took    time.Duration   // delay of the original; 0 if lost
	Copies  []time.Duration // delays of the copies that arrived
}

// Sequence is a capture with one entry for every number from the first to the last.
type Sequence struct {
	Datagrams []Datagram
	Missing   int // numbers without a row: counted as lost, send time interpolated
	Repeated  int // rows with the same number and copy as another: counted as further copies
}

// Sequence orders the rows by sequence number. Numbers without a row count as lost, so a capture
// may list only what arrived. The error wraps ErrSequence if the numbers are too sparse to count
// packets.
func (c *Capture) Sequence() (*Sequence, error) {
	rows := slices.Clone(c.Packets)
	if len(rows) == 0 {
		return nil, errEmpty
	}
	slices.SortStableFunc(rows, func(a, b Packet) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Copy, b.Copy))
	})
	first, last := rows[0].Seq, rows[len(rows)-1].Seq
	const maxGap = 64 // sequence numbers for each row, on average
	if span := last - first; span/maxGap > uint64(len(rows)) || span >= MaxRows {
		return nil, fmt.Errorf("%w: %d to %d with only %d rows, expected seq to count packets", ErrSequence, first,
			last, len(rows))
	}
	s := &Sequence{Datagrams: make([]Datagram, 0, last-first+1)}
	for i := 0; i < len(rows); {
		for next := first + uint64(len(s.Datagrams)); next < rows[i].Seq; next++ {
			s.Datagrams = append(s.Datagrams, Datagram{Seq: next, Lost: true, Missing: true})
			s.Missing++
		}
		n := i + 1 // rows[i:n] have the same number
		for n < len(rows) && rows[n].Seq == rows[i].Seq {
			n++
		}
		s.addDatagram(rows[i:n])
		i = n
	}
	s.interpolate()
	return s, nil
}

// addDatagram adds one datagram. rows are all rows with its sequence number, ordered by copy number: 0 is the
// datagram itself, 1 and up are its copies. Copies that did not arrive are dropped. A second arrival with copy
// number 0 counts as a copy.
func (s *Sequence) addDatagram(rows []Packet) {
	d := Datagram{Seq: rows[0].Seq, Sent: rows[0].Sent, Lost: true}
	for i := range rows {
		r := &rows[i]
		repeated := i > 0 && r.Copy == rows[i-1].Copy
		if repeated {
			s.Repeated++
		}
		switch {
		case r.Lost: // nothing arrived
		case r.Copy == 0 && d.Lost:
			d.Lost, d.Took = false, r.Took
		default:
			d.Copies = append(d.Copies, r.Took)
		}
	}
	s.Datagrams = append(s.Datagrams, d)
}

// interpolate sets the send times of missing datagrams. They are spaced evenly between the send time of the
// datagram before the gap and the send time of the datagram after it. The first and the last datagram are
// never missing.
func (s *Sequence) interpolate() {
	datagrams := s.Datagrams
	for i := 0; i < len(datagrams); i++ {
		if !datagrams[i].Missing {
			continue
		}
		next := i // the first datagram after the gap
		for datagrams[next].Missing {
			next++
		}
		from, to := datagrams[i-1].Sent, datagrams[next].Sent
		for k := i; k < next; k++ {
			datagrams[k].Sent = from + (to-from)/time.Duration(next-i+1)*time.Duration(k-i+1)
		}
		i = next
	}
}

// Packet is one row of a capture: a datagram or a copy of it.
type Packet struct {
	Seq  uint64
	Copy int           // 0 for the datagram, 1 and up for copies
	Sent time.Duration // send time by the sender's clock; 0 without a column send_us
	Took time.Duration // delay; negative if the clocks differ; 0 if lost
	Lost bool
}

// Arrived returns the time of arrival by the receiver's clock.
func (p *Packet) Arrived() time.Duration { return p.Sent + p.Took }

// Capture is the content of a capture file.
type Capture struct {
	Packets    []Packet // rows in the order of the file
	Unfinished int      // rows of packets in flight at the end, which are not in Packets
	HasSent    bool     // the file has send times
	HasDelay   bool     // the file has delays or arrival times
}
