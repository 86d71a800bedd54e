package netem

import (
	"math"
	"math/bits"
)

// slots delays packets until a slot opens. The kernel decides this when a packet leaves; here it
// is decided when a packet arrives, so that its due time is final. Packets leave in order of
// arrival. A packet that is ready while no slot is open waits for a slot that opens one interval
// later.
type slots struct {
	opensAt       int64 // when the current slot opens or opened, in nanoseconds
	packets       int64 // packets that may still leave in the current slot
	bytes         int64
	started       bool  // there is a current slot
	lastDeparture int64 // time at which a packet last left, in nanoseconds
}

// departure returns when a packet leaves that is ready at the given time and has the given size on the wire in
// bytes. It counts the packet in the current slot. If the option "slot" is not set, the packet leaves when it is
// ready. Random intervals between slots are drawn from unseeded.
func (s *slots) departure(ready int64, wire int, cfg *slot, unseeded *lfsr) int64 {
	if !cfg.on() {
		return ready
	}
	ready = max(ready, s.lastDeparture)
	if !s.started || s.opensAt < ready {
		s.started = true
		s.openNext(ready, cfg, unseeded)
	}
	leaves := max(s.opensAt, ready)
	s.packets--
	s.bytes -= int64(wire)
	if s.packets <= 0 || s.bytes <= 0 {
		s.openNext(leaves, cfg, unseeded)
	}
	s.lastDeparture = leaves
	return leaves
}

// openNext starts the slot that opens one interval after the time from. The interval is drawn from
// unseeded. A limit of 0 packets or bytes means no limit; the kernel uses 2^31-1.
func (s *slots) openNext(from int64, cfg *slot, unseeded *lfsr) {
	u := unseeded.next()
	if cfg.Distribution == uniform {
		offset, _ := bits.Mul64(uint64(cfg.Max-cfg.Min), uint64(u)<<32) // (Max-Min) * u/2^32
		s.opensAt = from + int64(cfg.Min) + int64(offset)
	} else {
		interval := newDelayDist(int64(cfg.Delay), int64(cfg.Jitter), cfg.Distribution)
		s.opensAt = from + interval.draw(u)
	}
	s.packets, s.bytes = int64(cfg.Packets), int64(cfg.Bytes)
	if cfg.Packets == 0 {
		s.packets = math.MaxInt32
	}
	if cfg.Bytes == 0 {
		s.bytes = math.MaxInt32
	}
}
