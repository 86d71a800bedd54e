package experiment

import "time"

// cadence relates the source's frame counter to the sender's packets. A schema's
// rate and the sender's are configuration that both ends share, so both can say
// of which tick of the source a packet is: encoders that predict motion need to
// know how much time lies between a frame and its reference.
type cadence struct{ tickHz, rateHz int }

// steady is the cadence of a sender that sends every frame.
var steady = cadence{1, 1}

// tick returns the source's frame counter of packet seq.
func (c cadence) tick(seq uint64) uint64 {
	return seq * uint64(c.tickHz) / uint64(c.rateHz)
}

// start returns the tick that the initial state is to have beside packet seq: as
// long before it as the 16 bits of the sequence that travel say. A receiver that
// joins late does not know how often they have wrapped.
func (c cadence) start(seq uint64) uint32 {
	return uint32(c.tick(seq) - c.tick(seq%(1<<16)))
}

// seqAt returns the newest packet whose frame is no newer than time at.
func (c cadence) seqAt(at time.Duration) uint64 {
	return ((tickAt(at, c.tickHz)+1)*uint64(c.rateHz) - 1) / uint64(c.tickHz)
}

// tickTime returns the virtual time of tick n of a clock of hz.
func tickTime(n uint64, hz int) time.Duration {
	return time.Duration(n/uint64(hz))*time.Second + time.Duration(n%uint64(hz))*time.Second/time.Duration(hz)
}
