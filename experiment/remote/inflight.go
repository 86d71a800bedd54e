package remote

import "time"

// Limits of the datagrams whose data are stored until the receiver reports their arrival. Beyond
// either limit the data of the oldest datagrams are dropped.
const (
	maxInFlight      = 4096     // datagrams
	maxInFlightBytes = 64 << 20 // of data
)

// sentDatagram is a datagram that was written to the socket.
type sentDatagram struct {
	number      uint32        // position in the sequence of written datagrams
	sentAt      time.Duration // virtual time
	sentWall    time.Time     // wall time
	tag         uint64        // of the lossmodel.Delivery
	copyNumber  int           // 0 for the original, 1 and up for duplicates made by the loss model
	flippedBits int           // bits that the loss model flipped
	data        []byte
	hasData     bool // data is valid
	delivered   bool // its arrival was reported and passed to the local receiver
}

// inFlight stores the most recently sent datagrams by number. The zero value is empty and ready
// to use.
type inFlight struct {
	ring        []sentDatagram // maxInFlight entries, indexed by number modulo the length; nil until the first add
	nextNumber  uint32         // number of the next datagram
	oldest      uint32         // lowest number whose data may still be stored
	dataBytes   int            // total size of the stored data
	freeBuffers [][]byte       // for reuse
}

// add stores a copy of data as the next datagram and returns its entry, whose remaining fields
// the caller sets.
func (f *inFlight) add(data []byte) *sentDatagram {
	if f.ring == nil {
		f.ring = make([]sentDatagram, maxInFlight)
	}
	x := &f.ring[f.nextNumber%maxInFlight]
	f.releaseData(x)
	*x = sentDatagram{number: f.nextNumber, hasData: true}
	if n := len(f.freeBuffers); n > 0 {
		x.data, f.freeBuffers = f.freeBuffers[n-1], f.freeBuffers[:n-1]
	}
	x.data = append(x.data[:0], data...)
	f.dataBytes += len(data)
	f.nextNumber++
	for ; f.dataBytes > maxInFlightBytes && f.oldest+1 < f.nextNumber; f.oldest++ {
		if f.nextNumber-f.oldest <= maxInFlight {
			f.releaseData(&f.ring[f.oldest%maxInFlight])
		}
	}
	return x
}

// wasSent reports whether a datagram with this number was sent.
func (f *inFlight) wasSent(number uint32) bool { return number < f.nextNumber }

// lookup returns the entry of a datagram, or nil if it was never sent or its entry was reused or
// dropped.
func (f *inFlight) lookup(number uint32) *sentDatagram {
	if number >= f.nextNumber || f.nextNumber-number > maxInFlight {
		return nil
	}
	if x := &f.ring[number%maxInFlight]; x.hasData || x.delivered {
		return x
	}
	return nil
}

// takeData returns the data of a datagram and releases the buffer. The data are valid until the
// next add.
func (f *inFlight) takeData(x *sentDatagram) []byte {
	data := x.data
	f.releaseData(x)
	return data
}

// releaseData moves the data buffer of a datagram to the free list.
func (f *inFlight) releaseData(x *sentDatagram) {
	if !x.hasData {
		return
	}
	f.dataBytes -= len(x.data)
	f.freeBuffers = append(f.freeBuffers, x.data)
	x.data, x.hasData = nil, false
}
