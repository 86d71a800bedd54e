package lossmodel

import "time"

// Spec is everything that can be set on a link. It is a plain value: copy it,
// compare it with ==. Start from DefaultSpec; set fields, or use Set, which
// takes what people write.
type Spec struct {
	Loss      LossModel // nil: nothing is lost
	Duplicate Duplicate
	Corrupt   Corruption
	Rate      Rate
	Delay     Delay
	Reorder   Reorder
	MTU       int // bytes of the largest IP packet
}

// Duplicate: with probability P a datagram is followed by Copies copies of it,
// each of which arrives Delay later than it otherwise would.
type Duplicate struct {
	P      float64
	Copies int // 1..MaxCopies
	Delay  time.Duration
}

// Corruption: with probability P, Bits different bits of a datagram are flipped.
type Corruption struct {
	P        float64
	Bits     int  // 1..MaxFlips
	Checksum bool // the receiver's UDP checksum: catches all damage
}

// Rate is the bottleneck: a line and the drop-tail queue before it.
type Rate struct {
	BitsPerSecond int64 // 0: no bottleneck
	Queue         int64 // bytes that wait or are being sent; 0: no limit
}

// Delay is constant latency plus jitter drawn anew for each packet.
type Delay struct {
	Latency      time.Duration
	Jitter       time.Duration // half the width if uniform, standard deviation if normal
	Distribution Distribution
	KeepOrder    bool // a packet leaves no earlier than the one sent before it
}

// Reorder: with probability P a packet is held back by Delay, so that later ones
// overtake it.
type Reorder struct {
	P     float64
	Delay time.Duration
}
