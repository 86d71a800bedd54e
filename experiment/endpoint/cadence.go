package endpoint

import "time"

// Cadence relates packet numbers to ticks of the source. Both ends are configured
// with both rates, in ticks and packets a second, so both can compute the tick of a
// packet. Encoders that predict motion need the time between a frame and its
// reference.
type Cadence struct {
	TickHz, RateHz int
	Times          Times // nil: ticks are evenly spaced
}

// Times has the times of ticks that are not evenly spaced. Neither end needs it to encode or to
// decode.
type Times interface {
	TickTime(n uint64) time.Duration
	TickAt(at time.Duration) uint64
}

// everyFrame is the cadence of a sender that sends every frame.
var everyFrame = Cadence{TickHz: 1, RateHz: 1}

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

// Tick returns the source's tick of packet seq.
func (c Cadence) Tick(seq uint64) uint64 {
	return seq * uint64(c.TickHz) / uint64(c.RateHz)
}

// start returns the tick of the initial state when packet seq refers to it. Its
// distance from the packet's tick depends only on the 16 bits of the sequence that
// are in the header: a receiver that joins late does not know how often they have
// wrapped.
func (c Cadence) start(seq uint64) uint32 {
	return uint32(c.Tick(seq) - c.Tick(seq%(1<<16)))
}

// SeqAt returns the newest packet whose frame is not newer than time at.
func (c Cadence) SeqAt(at time.Duration) uint64 {
	if c.Times != nil {
		return c.Times.TickAt(max(0, at))
	}
	return ((TickAt(at, c.TickHz)+1)*uint64(c.RateHz) - 1) / uint64(c.TickHz)
}

// TickTime returns the time of tick n of a clock of hz.
func TickTime(n uint64, hz int) time.Duration {
	return time.Duration(n/uint64(hz))*time.Second + time.Duration(n%uint64(hz))*time.Second/time.Duration(hz)
}

// TickAt returns the newest tick of a clock of hz at or before time at.
func TickAt(at time.Duration, hz int) uint64 {
	n := uint64(at/time.Second)*uint64(hz) + uint64(at%time.Second)*uint64(hz)/uint64(time.Second)
	if TickTime(n+1, hz) <= at { // TickTime rounds down to whole nanoseconds
		n++
	}
	return n
}
