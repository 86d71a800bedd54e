package endpoint

import "time"

// Cadence relates sequence numbers to ticks of the source. Both endpoints are configured with the
// same rates, so both can compute the tick of a packet. Encoders that predict motion need the time
// between a frame and its reference.
type Cadence struct {
	TickHz int   // ticks of the source per second
	RateHz int   // packets per second
	Times  times // times of the ticks; nil if they are evenly spaced
}

// times provides the times of ticks that are not evenly spaced. Encoding and decoding do not depend on
// it.
type times interface {
	// TickTime returns the time of tick n.
	TickTime(n uint64) time.Duration
	// TickAt returns the newest tick at or before time at.
	TickAt(at time.Duration) uint64
}

// sendEveryFrame is the cadence of a sender that sends a packet for every tick.
var sendEveryFrame = Cadence{TickHz: 1, RateHz: 1}

// TickTime returns the time of the source's tick n.
func (c Cadence) TickTime(n uint64) time.Duration {
	if c.Times != nil {
		return c.Times.TickTime(n)
	}
	return TickTime(n, c.TickHz)
}

// SeqTime returns when packet seq is due.
func (c Cadence) SeqTime(seq uint64) time.Duration {
	if c.Times != nil {
		return c.Times.TickTime(seq)
	}
	return TickTime(seq, c.RateHz)
}

// Tick returns the source's tick of packet seq: the newest tick when the packet is due.
func (c Cadence) Tick(seq uint64) uint64 {
	return seq * uint64(c.TickHz) / uint64(c.RateHz)
}

// InitialTick returns the tick that the initial state has as the baseline of packet seq. Its distance
// from the packet's tick depends only on the low 16 bits of seq, which are in the header, because a
// receiver that joins late cannot compute the other bits.
func (c Cadence) InitialTick(seq uint64) uint32 {
	return uint32(c.Tick(seq) - c.Tick(seq%(1<<16)))
}

// SeqAt returns the sequence number of the newest packet whose frame has a time of at most at: the largest
// seq with Tick(seq) of at most the tick at that time.
func (c Cadence) SeqAt(at time.Duration) uint64 {
	if c.Times != nil {
		return c.Times.TickAt(max(0, at))
	}
	tick := TickAt(at, c.TickHz)
	// Tick rounds down, so Tick(seq) <= tick is the same as seq*TickHz < (tick+1)*RateHz.
	return ((tick+1)*uint64(c.RateHz) - 1) / uint64(c.TickHz)
}

// TickTime returns the time of tick n of a clock with hz ticks per second, rounded down to a
// nanosecond.
func TickTime(n uint64, hz int) time.Duration {
	return time.Duration(n/uint64(hz))*time.Second + time.Duration(n%uint64(hz))*time.Second/time.Duration(hz)
}

// TickAt returns the newest tick n for which TickTime(n, hz) is at most at. It computes the ticks of the
// whole seconds and of the rest separately, because the product of at and hz could overflow.
func TickAt(at time.Duration, hz int) uint64 {
	n := uint64(at/time.Second)*uint64(hz) + uint64(at%time.Second)*uint64(hz)/uint64(time.Second)
	if TickTime(n+1, hz) <= at { // TickTime rounds down, so tick n+1 may be due up to 1 ns before its exact time
		n++
	}
	return n
}
