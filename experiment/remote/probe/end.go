package probe

import (
	"context"
	"time"

	"wirelab/experiment/remote/channel"
)

// end is what both ends do: send datagrams when they are due, and keep when others came.
type end struct {
	session *channel.Session
	plan    Plan
	size    int // of what this end sends

	begin  time.Time // of its clock
	next   time.Time // when the next datagram is due
	sent   []time.Duration
	rows   []row
	copies []uint8         // by number: how often each came
	theirs []time.Duration // by number: when it was sent, by the other clock; 0 if it did not come
	newest stamp
	came   time.Duration // when newest came
	any    bool
	trips  []time.Duration // round trips
	over   int             // arrivals that were more than are kept
	out    []byte
	in     []byte
}

func newEnd(s *channel.Session, p Plan, size int) *end {
	s.Repeats(true) // a path that duplicates is to be seen
	now := time.Now()
	return &end{session: s, plan: p, size: size, begin: now, next: now, copies: make([]uint8, p.Packets()),
		theirs: make([]time.Duration, p.Packets()), in: make([]byte, channel.MaxPayload)}
}

// tooLate is by how much the schedule gives way to a machine that was busy: what is
// missed by more is sent later, not at once.
const tooLate = 20 * time.Millisecond

// sendDue sends what is due, and returns when the next one is; false when all are sent.
func (e *end) sendDue(now time.Time) (next time.Time, more bool, err error) {
	for len(e.sent) < e.plan.Packets() {
		if now.Before(e.next) {
			return e.next, true, nil
		}
		if now.Sub(e.next) > tooLate {
			e.next = now
		}
		e.next = e.next.Add(e.plan.Interval)
		if err := e.send(); err != nil {
			return e.next, false, err
		}
		now = time.Now()
	}
	return e.next, false, nil
}

func (e *end) send() error {
	s := stamp{seq: uint32(len(e.sent)), echo: -1}
	s.sent = time.Since(e.begin)
	if e.any {
		s.echo, s.held = e.newest.sent, s.sent-e.came
	}
	e.out = s.append(e.out[:0])
	e.out = append(e.out, make([]byte, e.size-channel.Overhead-len(e.out))...)
	e.sent = append(e.sent, s.sent)
	return e.session.Send(streamProbe, e.out)
}

// record keeps a datagram that came.
func (e *end) record(d *channel.Datagram) {
	s, ok := parseStamp(d.Data)
	if !ok || s.seq >= uint32(e.plan.Packets()) {
		return
	}
	at := d.At.Sub(e.begin)
	if len(e.rows) >= mostRows(e.plan.Packets()) || e.copies[s.seq] == 255 {
		e.over++
		return
	}
	e.rows = append(e.rows, row{s.seq, e.copies[s.seq], at - s.sent})
	e.copies[s.seq]++
	e.theirs[s.seq] = s.sent
	if d.Again {
		return
	}
	if s.echo >= 0 {
		if trip := at - s.echo - s.held; trip >= 0 && len(e.trips) < e.plan.Packets() {
			e.trips = append(e.trips, trip)
		}
	}
	if !e.any || s.seq > e.newest.seq {
		e.newest, e.came, e.any = s, at, true
	}
}

// pump sends what is due, if it is to, and hands on what comes, until a time or until
// enough says so.
func (e *end) pump(ctx context.Context, until time.Time, sending bool, other func(d *channel.Datagram), enough func() bool) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		for d, ok := e.session.Poll(e.in); ok; d, ok = e.session.Poll(e.in) {
			if d.Stream == streamProbe {
				e.record(&d)
			} else if other != nil && !d.Again {
				other(&d)
			}
		}
		now := time.Now()
		if !now.Before(until) || enough != nil && enough() {
			return nil
		}
		wake := until
		if sending {
			next, more, err := e.sendDue(now)
			if err != nil {
				return err
			}
			if more && next.Before(wake) {
				wake = next
			}
		}
		timer.Reset(time.Until(wake))
		select {
		case <-timer.C:
		case <-e.session.Ready():
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-e.session.Done():
			return e.session.Err()
		}
	}
}
