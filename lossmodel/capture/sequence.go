package capture

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrSequence: the numbers of the packets do not make a sequence.
var ErrSequence = errors.New("no sequence")

// Datagram is one datagram of a capture with its copies.
type Datagram struct {
	Seq     uint64
	Sent    time.Duration
	Lost    bool            // it never came itself; copies may have
	Missing bool            // it has no row: taken for lost
	Took    time.Duration   // 0 if lost
	Copies  []time.Duration // how long each copy took, those that arrived
}

// Sequence is a capture put in order: one entry for every number from the first
// to the last.
type Sequence struct {
	Datagrams []Datagram
	Missing   int // numbers without a row: taken for lost, their time of sending interpolated
	Repeated  int // rows beyond the first with the same number and copy: taken for further copies
}

// Sequence orders the rows by number. A capture that lists only what arrived is
// completed: a number without a row was lost. ErrSequence if the numbers are
// so sparse that they cannot be counting packets.
func (c *Capture) Sequence() (*Sequence, error) {
	rows := slices.Clone(c.Packets)
	if len(rows) == 0 {
		return nil, errEmpty
	}
	slices.SortStableFunc(rows, func(a, b Packet) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Copy, b.Copy))
	})
	first, last := rows[0].Seq, rows[len(rows)-1].Seq
	if span := last - first; span/64 > uint64(len(rows)) || span >= MaxRows {
		return nil, fmt.Errorf("%w: numbers %d to %d with only %d rows: seq must count packets", ErrSequence, first, last, len(rows))
	}
	s := &Sequence{Datagrams: make([]Datagram, 0, last-first+1)}
	for i := 0; i < len(rows); {
		for next := first + uint64(len(s.Datagrams)); next < rows[i].Seq; next++ {
			s.Datagrams = append(s.Datagrams, Datagram{Seq: next, Lost: true, Missing: true})
			s.Missing++
		}
		n := i + 1
		for n < len(rows) && rows[n].Seq == rows[i].Seq {
			n++
		}
		s.add(rows[i:n])
		i = n
	}
	s.interpolate()
	return s, nil
}

// add puts together the rows of one number, ordered by copy.
func (s *Sequence) add(rows []Packet) {
	d := Datagram{Seq: rows[0].Seq, Sent: rows[0].Sent, Lost: true}
	for i := range rows {
		r := &rows[i]
		repeated := i > 0 && r.Copy == rows[i-1].Copy
		if repeated {
			s.Repeated++
		}
		switch {
		case r.Lost:
		case r.Copy == 0 && d.Lost:
			d.Lost, d.Took = false, r.Took
		default:
			d.Copies = append(d.Copies, r.Took)
		}
	}
	s.Datagrams = append(s.Datagrams, d)
}

// interpolate gives the missing a time of sending between their neighbours.
func (s *Sequence) interpolate() {
	all := s.Datagrams
	for i := 0; i < len(all); i++ {
		if !all[i].Missing {
			continue
		}
		n := i
		for all[n].Missing { // the last number always has a row
			n++
		}
		from, to := all[i-1].Sent, all[n].Sent
		for k := i; k < n; k++ {
			all[k].Sent = from + (to-from)/time.Duration(n-i+1)*time.Duration(k-i+1)
		}
		i = n
	}
}

// Packet is one row: a packet, or one copy of it.
type Packet struct {
	Seq  uint64
	Copy int           // 0, or 1.. for a duplicate
	Sent time.Duration // by the sender's clock; 0 without a column send_us
	Took time.Duration // from sending to arrival; below 0 if the clocks differ; 0 if lost
	Lost bool
}

// Arrived returns when the packet came, by the receiver's clock.
func (p *Packet) Arrived() time.Duration { return p.Sent + p.Took }

// Capture is what a file held.
type Capture struct {
	Packets    []Packet // in the order of the file
	Unfinished int      // rows of packets that were under way when the capture ended
	HasSent    bool     // the file said when packets were sent
	HasDelay   bool     // the file said how long they took
}
