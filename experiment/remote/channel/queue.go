package channel

import (
	"encoding/binary"
	"time"
)

// queue is a FIFO of datagrams in a ring buffer of fixed size.
type queue struct {
	ring       []byte
	head, used int // offset of the oldest entry, bytes in use
}

// entryBytes is the size of an entry without its payload. Layout: payload length (4), stream (1),
// duplicate flag (1), sequence (4), time (8), payload.
const entryBytes = 4 + 1 + 1 + 4 + 8

// push appends a copy of a datagram. It returns false and appends nothing if there is not enough
// room. d.At is not stored: receivedAt is the time of arrival since the session's start.
func (q *queue) push(d *Datagram, receivedAt time.Duration) bool {
	if q.used+entryBytes+len(d.Data) > len(q.ring) {
		return false
	}
	var e [entryBytes]byte // for the layout see entryBytes
	binary.LittleEndian.PutUint32(e[0:], uint32(len(d.Data)))
	e[4] = d.Stream
	if d.Duplicate {
		e[5] = 1
	}
	binary.LittleEndian.PutUint32(e[6:], d.Seq)
	binary.LittleEndian.PutUint64(e[10:], uint64(receivedAt))
	q.write(e[:])
	q.write(d.Data)
	return true
}

// pop removes the oldest datagram; false if the queue is empty. The payload is copied to buf, or
// to a new buffer if buf is too small.
func (q *queue) pop(buf []byte) (d Datagram, receivedAt time.Duration, ok bool) {
	if q.used == 0 {
		return d, 0, false
	}
	var e [entryBytes]byte // for the layout see entryBytes
	q.read(e[:])
	n := int(binary.LittleEndian.Uint32(e[0:]))
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	d = Datagram{Data: buf[:n], Stream: e[4], Duplicate: e[5] != 0, Seq: binary.LittleEndian.Uint32(e[6:])}
	q.read(d.Data)
	return d, time.Duration(binary.LittleEndian.Uint64(e[10:])), true
}

// write appends b to the ring, whose end continues at its beginning. There must be room.
func (q *queue) write(b []byte) {
	at := (q.head + q.used) % len(q.ring)
	n := copy(q.ring[at:], b)
	copy(q.ring, b[n:])
	q.used += len(b)
}

// read moves the oldest len(b) bytes of the ring to b.
func (q *queue) read(b []byte) {
	n := copy(b, q.ring[q.head:])
	copy(b[n:], q.ring)
	q.head = (q.head + len(b)) % len(q.ring)
	q.used -= len(b)
}
