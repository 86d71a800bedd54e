package lossmodel

import (
	"time"
)

// flight is a packet under way, all but its due time.
type flight struct {
	data    []byte // its capacity outlives the packet
	sent    time.Duration
	tag     uint64
	number  int // 0, or 1.. for a copy
	flipped int
	damaged bool
}

// pool keeps the flights, addressed by slot. Freed slots are taken again, last
// freed first, with their buffers: a link whose load is steady allocates nothing.
// It never shrinks: it holds what was once in flight at one time.
type pool struct {
	flights []flight
	free    []int32
}

func (p *pool) take() int32 {
	if n := len(p.free); n > 0 {
		slot := p.free[n-1]
		p.free = p.free[:n-1]
		return slot
	}
	p.flights = append(p.flights, flight{})
	return int32(len(p.flights) - 1)
}

func (p *pool) put(slot int32) { p.free = append(p.free, slot) }
