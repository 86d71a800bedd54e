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

// tickTime returns the virtual time of tick n of a clock of hz.
func tickTime(n uint64, hz int) time.Duration {
	return time.Duration(n/uint64(hz))*time.Second + time.Duration(n%uint64(hz))*time.Second/time.Duration(hz)
}
