package netem

import (
	"math"
	"math/bits"
)

// slots holds packets back until a slot opens. In the kernel this happens when
// packets leave, here when they come, so that their fate is final: they leave in
// the order they came, and a packet that is ready while no slot is open waits for
// one that opens a slot's time later.
type slots struct {
	next    int64 // when the present slot opens or opened
	packets int64 // that may still leave in it
	bytes   int64
	begun   bool
	last    int64 // when a packet last left
}

// open returns when a packet leaves that is ready at a time.
func (s *slots) open(ready int64, wire int, cfg *slot, own *lfsr) int64 {
	if !cfg.on() {
		return ready
	}
	ready = max(ready, s.last)
	if !s.begun || s.next < ready {
		s.begun = true
		s.renew(ready, cfg, own)
	}
	leaves := max(s.next, ready)
	s.packets--
	s.bytes -= int64(wire)
	if s.packets <= 0 || s.bytes <= 0 {
		s.renew(leaves, cfg, own)
	}
	s.last = leaves
	return leaves
}

// renew sets when the next slot opens, and what may leave in it.
func (s *slots) renew(from int64, cfg *slot, own *lfsr) {
	u := own.next()
	if cfg.Distribution == uniform {
		part, _ := bits.Mul64(uint64(cfg.Max-cfg.Min), uint64(u)<<32)
		s.next = from + int64(cfg.Min) + int64(part)
	} else {
		spread := newSpread(int64(cfg.Delay), int64(cfg.Jitter), cfg.Distribution)
		s.next = from + spread.at(u)
	}
	s.packets, s.bytes = int64(cfg.Packets), int64(cfg.Bytes)
	if cfg.Packets == 0 {
		s.packets = math.MaxInt32
	}
	if cfg.Bytes == 0 {
		s.bytes = math.MaxInt32
	}
}
