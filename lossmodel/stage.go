package lossmodel

import "time"

// MaxCopies is the most copies the duplicate stage makes of one datagram.
const MaxCopies = 8

// Fate is what has been decided so far about one datagram, or about one copy of
// it, on its way through the stages. A link reuses its fates; a stage must not
// keep one.
type Fate struct {
	Copy      int             // which copy this is: 0 for the datagram itself
	Fragments int             // as IP cuts it: fixed before the first stage
	Lost      Cause           // the first cause stands
	Bad       bool            // the loss model is in its bad state, whether this packet was lost or not
	Delay     time.Duration   // since sending
	Copies    []time.Duration // one per copy to be made: its extra delay
	Corrupt   []int           // positions of flipped bits, bit 0 the lowest of byte 0
}

// lose ends the packet unless it was lost before.
func (f *Fate) lose(c Cause) {
	if f.Lost == None {
		f.Lost = c
	}
}

// reset makes f the fate of a packet about which nothing has been decided.
func (f *Fate) reset(number, fragments int) {
	*f = Fate{Copy: number, Fragments: fragments, Copies: f.Copies[:0], Corrupt: f.Corrupt[:0]}
}

// Stage is one thing that happens to packets. It owns its seeded stream and is
// called once for each datagram sent, in order of time, then once for each copy
// of that datagram. It draws for lost packets too. size is the UDP payload in
// bytes.
type Stage interface {
	Apply(now time.Duration, size int, f *Fate)
}
