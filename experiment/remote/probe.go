package remote

import (
	"context"
	"encoding/binary"
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
	plan          Plan                // zero until the responder receives it
	progress      func(share float64) // receives the fraction of the plan that was sent; may be nil
	size          int                 // UDP payload of sent datagrams in bytes
	start         time.Time           // origin of all times
	nextDue       time.Time           // when the next probe is due
	due           <-chan time.Time    // has a value then; nil if none is due
	end           <-chan time.Time    // has a value when run ends; nil for no limit
	copies        map[uint32]uint8    // by seq: how often the probe arrived
	droppedCopies int                 // number of arrivals that were not stored: beyond maxArrivals
	probeResults
}

// newProber returns a prober without a plan.
func newProber(c *Conn) *prober {
	return &prober{conn: c, start: time.Now(), copies: map[uint32]uint8{}}
}

// startSending makes run send the probes of the plan as datagrams of size bytes.
func (p *prober) startSending(size int) {
	p.size = size
	p.nextDue = time.Now()
	p.due = time.After(0)
}

// maxCatchUp is the longest delay that the schedule catches up by sending several probes at once.
// After a longer delay the remaining schedule is shifted.
const maxCatchUp = 20 * time.Millisecond

// send sends the next probe, padded to the size of the plan, and schedules the one after it.
func (p *prober) send() error {
	b := make([]byte, p.size-Overhead)
	binary.BigEndian.PutUint32(b, uint32(len(p.SentAt)))
	now := time.Now()
	p.SentAt = append(p.SentAt, now.Sub(p.start))
	if now.Sub(p.nextDue) > maxCatchUp {
		p.nextDue = now
	}
	p.nextDue = p.nextDue.Add(p.plan.Interval)
	p.due = nil
	if len(p.SentAt) < p.plan.Packets() {
		p.due = time.After(time.Until(p.nextDue))
	}
	if p.progress != nil {
		p.progress(float64(len(p.SentAt)) / float64(p.plan.Packets()))
	}
	return p.conn.sendDatagram(b)
}

// recordArrival stores the arrival of a probe. Probes that the plan does not contain are ignored.
func (p *prober) recordArrival(x *datagram) {
	if len(x.data) < seqBytes || p.plan.Interval == 0 {
		return
	}
	seq := binary.BigEndian.Uint32(x.data)
	if int64(seq) >= int64(p.plan.Packets()) {
		return
	}
	if len(p.Arrivals) >= maxArrivals(p.plan.Packets()) || p.copies[seq] == math.MaxUint8 {
		p.droppedCopies++
		return
	}
	p.Arrivals = append(p.Arrivals, arrival{Seq: seq, Copy: p.copies[seq], At: max(0, x.at.Sub(p.start))})
	p.copies[seq]++
}

// run sends the due probes, and records those that arrive, until isLast returns true for a message, or p.end.
// It returns an error if ctx or the connection ends before.
func (p *prober) run(ctx context.Context, isLast func(*message) bool) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.conn.open.Done():
			return p.conn.Err()
		case <-p.end:
			return nil
		case <-p.due:
			if err := p.send(); err != nil {
				return err
			}
		case x := <-p.conn.datagrams:
			p.recordArrival(&x)
		case m := <-p.conn.inbox:
			if isLast(m) {
				return nil
			}
		}
	}
}
