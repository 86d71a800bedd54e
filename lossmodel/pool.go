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
// It holds the books of what was once in flight at one time; of buffers, those in
// flight and at most maxKept bytes, and a short packet keeps no long buffer: what a
// link takes is bounded by the bytes in flight, whatever came before.
type pool struct {
	flights []flight
	free    []int32
	kept    int // bytes of the buffers of free slots
}

const (
	maxKept = 1 << 20 // bytes of buffers that wait for packets
	maxIdle = 2048    // bytes that a buffer may have beyond what its packet needs
)

// take returns a slot for a packet of so many bytes.
func (p *pool) take(size int) int32 {
	n := len(p.free)
	if n == 0 {
		p.flights = append(p.flights, flight{})
		return int32(len(p.flights) - 1)
	}
	slot := p.free[n-1]
	p.free = p.free[:n-1]
	data := &p.flights[slot].data
	p.kept -= cap(*data)
	if cap(*data) > size+maxIdle {
		*data = nil
	}
	return slot
}

func (p *pool) put(slot int32) {
	data := &p.flights[slot].data
	if p.kept+cap(*data) > maxKept {
		*data = nil
	}
	p.kept += cap(*data)
	p.free = append(p.free, slot)
}
