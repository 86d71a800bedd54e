package channel

import (
	"encoding/binary"
	"time"
)

// queue keeps datagrams until they are read, in a ring of bytes that never grows.
type queue struct {
	ring       []byte
	head, used int
}

// entryBytes is what an entry takes beside its payload: length, stream, flag, sequence,
// time.
const entryBytes = 4 + 1 + 1 + 4 + 8

// put keeps a datagram; false if there is no room for it.
func (q *queue) put(d *Datagram, at time.Duration) bool {
	if q.used+entryBytes+len(d.Data) > len(q.ring) {
		return false
	}
	var e [entryBytes]byte
	binary.LittleEndian.PutUint32(e[0:], uint32(len(d.Data)))
	e[4] = d.Stream
	if d.Again {
		e[5] = 1
	}
	binary.LittleEndian.PutUint32(e[6:], d.Seq)
	binary.LittleEndian.PutUint64(e[10:], uint64(at))
	q.write(e[:])
	q.write(d.Data)
	return true
}

// get takes the oldest one out, its payload over buf.
func (q *queue) get(buf []byte) (d Datagram, at time.Duration, ok bool) {
	if q.used == 0 {
		return d, 0, false
	}
	var e [entryBytes]byte
	q.read(e[:])
	n := int(binary.LittleEndian.Uint32(e[0:]))
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	d = Datagram{Data: buf[:n], Stream: e[4], Again: e[5] != 0, Seq: binary.LittleEndian.Uint32(e[6:])}
	q.read(d.Data)
	return d, time.Duration(binary.LittleEndian.Uint64(e[10:])), true
}

func (q *queue) write(b []byte) {
	at := (q.head + q.used) % len(q.ring)
	n := copy(q.ring[at:], b)
	copy(q.ring, b[n:])
	q.used += len(b)
}

func (q *queue) read(b []byte) {
	n := copy(b, q.ring[q.head:])
	copy(b[n:], q.ring)
	q.head = (q.head + len(b)) % len(q.ring)
	q.used -= len(b)
}
