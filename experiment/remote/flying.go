package remote

import "time"

// A datagram is remembered until it is told of, or until maxFlying others left after it, or
// until all that are remembered take more than maxBytes.
const (
	maxFlying = 4096
	maxBytes  = 64 << 20
)

// flight is a datagram that was given to the socket.
type flight struct {
	number  uint32
	left    time.Duration // virtual time
	wall    time.Time
	tag     uint64
	copied  int
	flipped int
	data    []byte
	held    bool // data are there
	arrived bool // it was told of
}

// flying remembers the datagrams that left last, by their numbers.
type flying struct {
	ring  []flight
	next  uint32 // number of the next
	old   uint32 // number of the oldest whose data may be there
	bytes int
	free  [][]byte
}

// add remembers the next datagram.
func (f *flying) add(data []byte) *flight {
	if f.ring == nil {
		f.ring = make([]flight, maxFlying)
	}
	x := &f.ring[f.next%maxFlying]
	f.forget(x)
	*x = flight{number: f.next, held: true}
	if n := len(f.free); n > 0 {
		x.data, f.free = f.free[n-1], f.free[:n-1]
	}
	x.data = append(x.data[:0], data...)
	f.bytes += len(data)
	f.next++
	for ; f.bytes > maxBytes && f.old+1 < f.next; f.old++ {
		if f.next-f.old <= maxFlying {
			f.forget(&f.ring[f.old%maxFlying])
		}
	}
	return x
}

// sent reports whether there was a datagram of that number.
func (f *flying) sent(number uint32) bool { return number < f.next }

// get returns a datagram that is remembered; nil if it is not.
func (f *flying) get(number uint32) *flight {
	if number >= f.next || f.next-number > maxFlying {
		return nil
	}
	if x := &f.ring[number%maxFlying]; x.held || x.arrived {
		return x
	}
	return nil
}

// take returns the data of a datagram, valid until the next is added, and forgets them.
func (f *flying) take(x *flight) []byte {
	data := x.data
	f.forget(x)
	return data
}

// forget gives up the data of a datagram.
func (f *flying) forget(x *flight) {
	if !x.held {
		return
	}
	f.bytes -= len(x.data)
	f.free = append(f.free, x.data)
	x.data, x.held = nil, false
}
