package probe

import (
	"context"
	"math"
	"time"

	"wirelab/experiment/remote/channel"
)

// endpoint is one side of a measurement. It sends probes when they are due and records those that
// arrive.
type endpoint struct {
	session *channel.Session
	plan    Plan
	size    int // UDP payload of sent datagrams in bytes

	isResponder bool

	start            time.Time       // origin of all times of the endpoint
	nextDue          time.Time       // when the next probe is due
	sentAt           []time.Duration // send times of the own probes, by seq
	arrivals         []arrival       // received probes, in the order of arrival
	copies           []uint8         // by seq: how often the probe arrived
	peerSentAt       []time.Duration // by seq: send time by the peer's clock; 0 if the probe did not arrive
	newestReceived   timestamps      // received probe with the highest seq
	newestReceivedAt time.Duration   // when newestReceived arrived
	hasReceived      bool            // newestReceived is valid
	roundTrips       []time.Duration // measured round-trip times
	droppedCopies    int             // number of arrivals that were not stored: beyond maxArrivals
	out              []byte          // buffer for datagrams to send
	in               []byte          // buffer for received datagrams
}

// newEndpoint returns an endpoint that sends datagrams of size bytes. It makes s deliver duplicates,
// which are part of the measurement.
func newEndpoint(s *channel.Session, p Plan, size int) *endpoint {
	s.DeliverDuplicates(true)
	now := time.Now()
	return &endpoint{session: s, plan: p, size: size, start: now, nextDue: now, copies: make([]uint8, p.Packets()),
		peerSentAt: make([]time.Duration, p.Packets()), in: make([]byte, channel.MaxPayload)}
}

// maxCatchUp is the longest delay that the schedule catches up by sending several probes at once.
// After a longer delay the remaining schedule is shifted.
const maxCatchUp = 20 * time.Millisecond

// sendDue sends all probes that are due at now. next is the time at which the following probe is due.
// more is false if all probes of the plan have been sent, or sending failed.
func (e *endpoint) sendDue(now time.Time) (next time.Time, more bool, err error) {
	for len(e.sentAt) < e.plan.Packets() {
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

// send sends the next probe, padded to the size of the plan. It echoes the send time of the newest
// probe received, so that the peer can measure the round-trip time.
func (e *endpoint) send() error {
	s := timestamps{seq: uint32(len(e.sentAt)), echoSent: -1} // -1: nothing to echo
	s.sent = time.Since(e.start)
	if e.hasReceived {
		s.echoSent, s.echoDelay = e.newestReceived.sent, s.sent-e.newestReceivedAt
	}
	e.out = s.append(e.out[:0])
	if e.size < minSize {
		e.out = e.out[:seqBytes]
	}
	e.out = append(e.out, make([]byte, e.size-channel.Overhead-len(e.out))...)
	e.sentAt = append(e.sentAt, s.sent)
	return e.session.Send(streamProbe, e.out)
}

// recordArrival stores the arrival of a probe. A probe contains an echo: the send time of the probe that its
// sender received last, and how long ago that was. Unless the probe is a duplicate, recordArrival measures the
// round-trip time with it. Invalid probes are ignored.
func (e *endpoint) recordArrival(d *channel.Datagram) {
	parse, sendTimesKnown := parseTimestamps, true
	if e.isResponder && e.plan.short() {
		parse, sendTimesKnown = parseShort, false
	}
	s, ok := parse(d.Data)
	if !ok || s.seq >= uint32(e.plan.Packets()) {
		return
	}
	at := d.At.Sub(e.start)
	if len(e.arrivals) >= maxArrivals(e.plan.Packets()) || e.copies[s.seq] == math.MaxUint8 {
		e.droppedCopies++
		return
	}
	delay := at
	if sendTimesKnown {
		delay -= s.sent
	}
	e.arrivals = append(e.arrivals, arrival{s.seq, e.copies[s.seq], delay})
	e.copies[s.seq]++
	e.peerSentAt[s.seq] = s.sent
	if d.Duplicate {
		return
	}
	if e.plan.short() && s.echoSent >= 0 { // it is a seq
		if s.echoSent >= time.Duration(len(e.sentAt)) {
			return
		}
		s.echoSent = e.sentAt[s.echoSent]
	}
	if s.echoSent >= 0 { // negative without an echo
		if trip := at - s.echoSent - s.echoDelay; trip >= 0 && len(e.roundTrips) < e.plan.Packets() {
			e.roundTrips = append(e.roundTrips, trip)
		}
	}
	if !e.hasReceived || s.seq > e.newestReceived.seq {
		e.newestReceived, e.newestReceivedAt, e.hasReceived = s, at, true
	}
}

// Arguments for the parameter sending of endpoint.run.
const (
	sendProbes  = true
	onlyReceive = false
)

// run receives until the deadline or until done returns true. It records probes, passes other
// datagrams to handle, and sends due probes if sending is true. handle and done may be nil.
func (e *endpoint) run(ctx context.Context, deadline time.Time, sending bool, handle func(d *channel.Datagram), done func() bool) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		for d, ok := e.session.Poll(e.in); ok; d, ok = e.session.Poll(e.in) {
			if d.Stream == streamProbe {
				e.recordArrival(&d)
			} else if handle != nil && !d.Duplicate {
				handle(&d)
			}
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
		case <-e.session.Ready():
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-e.session.Done():
			return e.session.Err()
		}
	}
}
