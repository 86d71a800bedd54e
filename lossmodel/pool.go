package lossmodel

import (
	"time"
)

// storedPacket is a packet in flight. Its due time is in Link.inFlight, a heap.
type storedPacket struct {
	data       []byte        // payload; later packets reuse the buffer
	sent       time.Duration // virtual time of Send
	tag        uint64        // the tag that was passed to Send
	copyNumber int           // 0 for the datagram, 1 and up for copies
	flipped    int           // number of bits of data that the corrupt stage flipped
	lost       Cause         // Queue if a queue dropped the packet after Send
	waited     time.Duration // in the queue and on the line, if it waited before a line
	lineTimes
}

// pool stores the packets in flight, addressed by slot. Free slots are reused with their buffers,
// most recently freed first, so that a link with a steady load does not allocate. The number of
// slots is the maximum number of packets ever in flight. Buffers of free slots have at most
// maxFreeBytes in total, and a short packet does not keep a long buffer. Memory is thus bounded
// by the bytes in flight.
type pool struct {
	packets   []storedPacket
	freeSlots []int32
	freeBytes int // total size of the buffers of free slots
}

const (
	maxFreeBytes = 1 << 20
	maxSlack     = 2048 // bytes by which a buffer may exceed its packet
)

// alloc returns a slot for a packet of size bytes. The slot may have a buffer, which the caller
// reuses or replaces.
func (p *pool) alloc(size int) int32 {
	n := len(p.freeSlots)
	if n == 0 {
		p.packets = append(p.packets, storedPacket{})
		return int32(len(p.packets) - 1)
	}
	slot := p.freeSlots[n-1]
	p.freeSlots = p.freeSlots[:n-1]
	data := &p.packets[slot].data
	p.freeBytes -= cap(*data)
	if cap(*data) > size+maxSlack {
		*data = nil // the buffer is too long for this packet
	}
	return slot
}

// free returns a slot to the pool. Its buffer is kept unless maxFreeBytes would be exceeded.
func (p *pool) free(slot int32) {
	data := &p.packets[slot].data
	if p.freeBytes+cap(*data) > maxFreeBytes {
		*data = nil
	}
	p.freeBytes += cap(*data)
	p.freeSlots = append(p.freeSlots, slot)
}
