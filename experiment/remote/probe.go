package remote

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// arrival is a received probe.
type arrival struct {
	Seq  uint32
	Copy uint8         // 0 for the first arrival of this Seq, 1 and up for duplicates
	At   time.Duration // since the start of the side that received it
}

// maxArrivals is how many arrivals a side stores: each datagram and one copy of it on average.
func maxArrivals(packets int) int { return 2 * packets }

// probeResults are what one side of a measurement knows: when it sent its probes, and which probes of the
// other side arrived. Times are by its own clock, since its start.
type probeResults struct {
	SentAt   []time.Duration // by seq
	Arrivals []arrival       // in the order of arrival
}

// maxTime limits received times so that sums cannot overflow.
const maxTime = 30 * 24 * time.Hour

// check returns an errProtocol unless the results belong to a measurement in which peerSent probes were
// sent to this side, and at most packets in either direction.
func (r *probeResults) check(peerSent, packets int) error {
	isValid := len(r.Arrivals) <= maxArrivals(packets) && len(r.SentAt) <= packets
	for _, t := range r.SentAt {
		isValid = isValid && t >= 0 && t < maxTime
	}
	for i := range r.Arrivals {
		x := &r.Arrivals[i]
		isValid = isValid && int64(x.Seq) < int64(peerSent) && x.At >= 0 && x.At < maxTime
	}
	if !isValid {
		return fmt.Errorf("%w: results of the measurement", errProtocol)
	}
	return nil
}

// seqBytes is the size of the sequence number at the start of a probe, big endian. The other bytes are
// padding.
const seqBytes = 4

// prober is one side of a measurement. It sends probes when they are due and records those that
// arrive.
type prober struct {
	conn          *Conn
	plan          Plan
	size          int       // UDP payload of sent datagrams in bytes
	start         time.Time // origin of all times
	nextDue       time.Time // when the next probe is due
	copies        []uint8   // by seq: how often the probe arrived
	droppedCopies int       // number of arrivals that were not stored: beyond maxArrivals
	probeResults
}

// newProber returns a prober that sends datagrams of size bytes. It makes c deliver duplicates,
// which are part of the measurement.
func newProber(c *Conn, p Plan, size int) *prober {
	c.deliverDuplicates()
	now := time.Now()
	return &prober{conn: c, plan: p, size: size, start: now, nextDue: now, copies: make([]uint8, p.Packets())}
}

// maxCatchUp is the longest delay that the schedule catches up by sending several probes at once.
// After a longer delay the remaining schedule is shifted.
const maxCatchUp = 20 * time.Millisecond

// sendDue sends all probes that are due at now. next is the time at which the following probe is due.
// more is false if all probes of the plan have been sent, or sending failed.
func (e *prober) sendDue(now time.Time) (next time.Time, more bool, err error) {
	for len(e.SentAt) < e.plan.Packets() {
		if now.Before(e.nextDue) {
			return e.nextDue, true, nil
		}
		if now.Sub(e.nextDue) > maxCatchUp { // too late to catch up: shift the rest of the plan
			e.nextDue = now
		}
		e.nextDue = e.nextDue.Add(e.plan.Interval)
		if err := e.send(); err != nil {
			return e.nextDue, false, err
		}
		now = time.Now()
	}
	return e.nextDue, false, nil
}

// send sends the next probe, padded to the size of the plan.
func (e *prober) send() error {
	b := make([]byte, e.size-Overhead)
	binary.BigEndian.PutUint32(b, uint32(len(e.SentAt)))
	e.SentAt = append(e.SentAt, time.Since(e.start))
	return e.conn.sendDatagram(b)
}

// recordArrival stores the arrival of a probe. Probes that the plan does not contain are ignored.
func (e *prober) recordArrival(x *received) {
	if len(x.data) < seqBytes {
		return
	}
	seq := binary.BigEndian.Uint32(x.data)
	if int64(seq) >= int64(len(e.copies)) {
		return
	}
	if len(e.Arrivals) >= maxArrivals(e.plan.Packets()) || e.copies[seq] == math.MaxUint8 {
		e.droppedCopies++
		return
	}
	e.Arrivals = append(e.Arrivals, arrival{Seq: seq, Copy: e.copies[seq], At: max(0, x.at.Sub(e.start))})
	e.copies[seq]++
}

// Arguments for the parameter sending of prober.run.
const (
	sendProbes  = true
	onlyReceive = false
)

// run receives until the deadline or until done returns true. It records probes, passes messages
// to handle, and sends due probes if sending is true. handle and done may be nil.
func (e *prober) run(ctx context.Context, deadline time.Time, sending bool, handle func(m *message) error, done func() bool) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if err := e.receive(handle); err != nil {
			return err
		}
		now := time.Now()
		if !now.Before(deadline) || done != nil && done() {
			return nil
		}
		wake := deadline
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
		case <-e.conn.ready:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-e.conn.done:
			return errors.Join(e.receive(handle), e.conn.Err())
		}
	}
}

// receive records the queued probes and passes the queued messages to handle.
func (e *prober) receive(handle func(m *message) error) error {
	for x, ok := e.conn.poll(); ok; x, ok = e.conn.poll() {
		if x.message == nil {
			e.recordArrival(&x)
			continue
		}
		if handle == nil {
			continue
		}
		if err := handle(x.message); err != nil {
			return err
		}
	}
	return nil
}
