package lossmodel

import (
	"time"
)

// parcel is a packet under way, all but its due time.
type parcel struct {
	data    []byte // its capacity outlives the packet
	sent    time.Duration
	tag     uint64
	number  int // 0, or 1.. for a copy
	flipped int
	damaged bool
}

// pool keeps the parcels, addressed by slot. Freed slots are taken again, last
// freed first, with their buffers: a link whose load is steady allocates nothing.
// It never shrinks: it holds what was once in flight at one time.
type pool struct {
	parcels []parcel
	free    []int32
}

func (p *pool) take() int32 {
	if n := len(p.free); n > 0 {
		slot := p.free[n-1]
		p.free = p.free[:n-1]
		return slot
	}
	p.parcels = append(p.parcels, parcel{})
	return int32(len(p.parcels) - 1)
}

func (p *pool) put(slot int32) { p.free = append(p.free, slot) }
