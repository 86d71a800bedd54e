package remote

import (
	"slices"
	"time"
)

// Limits of the datagrams whose data are stored until the receiver reports their arrival. Beyond
// either limit the data of the oldest datagrams are dropped.
const (
	maxInFlight      = 4096     // datagrams
	maxInFlightBytes = 64 << 20 // of data
)

// sentDatagram is a datagram that was written to the socket.
type sentDatagram struct {
	number     uint32        // position in the sequence of written datagrams
	sentAt     time.Duration // virtual time
	sentWall   time.Time     // wall time
	tag        uint64        // lossmodel.Delivery.Tag, by which the session recognises the packet
	copyNumber int           // 0 for the original, 1 and up for duplicates made by the loss model
	data       []byte        // bytes of the datagram
	hasData    bool          // data is valid
	delivered  bool          // its arrival was reported and passed to the local receiver
}

// inFlight stores the most recently sent datagrams by number. The zero value is empty and ready
// to use.
type inFlight struct {
	ring       []sentDatagram // maxInFlight entries, indexed by number modulo the length; nil until the first add
	nextNumber uint32         // number of the next datagram
	oldest     uint32         // lowest number whose data may still be stored
	dataBytes  int            // total size of the stored data
}

// add stores a copy of data as the next datagram and returns its entry, whose remaining fields
// the caller sets. If the stored data exceed maxInFlightBytes, add drops the data of the oldest
// datagrams, but never of this one.
func (f *inFlight) add(data []byte) *sentDatagram {
	if f.ring == nil {
		f.ring = make([]sentDatagram, maxInFlight)
	}
	entry := &f.ring[f.nextNumber%maxInFlight]
	f.releaseData(entry)
	*entry = sentDatagram{number: f.nextNumber, hasData: true}
	entry.data = slices.Clone(data)
	f.dataBytes += len(data)
	f.nextNumber++
	for ; f.dataBytes > maxInFlightBytes && f.oldest+1 < f.nextNumber; f.oldest++ {
		if f.nextNumber-f.oldest <= maxInFlight { // otherwise its entry was already reused
			f.releaseData(&f.ring[f.oldest%maxInFlight])
		}
	}
	return entry
}

// wasSent reports whether a datagram with this number was sent.
func (f *inFlight) wasSent(number uint32) bool { return number < f.nextNumber }

// lookup returns the entry of a datagram, or nil if the datagram was never sent, its entry was
// reused, or its data were dropped before it was delivered.
func (f *inFlight) lookup(number uint32) *sentDatagram {
	if number >= f.nextNumber || f.nextNumber-number > maxInFlight {
		return nil
	}
	if entry := &f.ring[number%maxInFlight]; entry.hasData || entry.delivered {
		return entry
	}
	return nil
}

// releaseData drops the data of a datagram.
func (f *inFlight) releaseData(entry *sentDatagram) {
	f.dataBytes -= len(entry.data)
	entry.data, entry.hasData = nil, false
}
