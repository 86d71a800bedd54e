package remote

import (
	"slices"
	"time"
)

// Limits of the datagrams that are stored until the receiver reports their arrival. Beyond either limit the
// oldest are dropped.
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
	data       []byte        // bytes of the datagram; nil once its arrival was reported
	reported   bool
	acked      bool
}

// inFlight stores the newest sent datagrams.
type inFlight struct {
	sent  []sentDatagram // with consecutive numbers, oldest first
	next  uint32         // number of the next datagram
	bytes int            // of the stored data
}

// add stores a datagram with a copy of its data, and returns its number.
func (f *inFlight) add(d sentDatagram) uint32 {
	d.number = f.next
	d.data = slices.Clone(d.data)
	f.next++
	f.bytes += len(d.data)
	f.sent = append(f.sent, d)
	for len(f.sent) > maxInFlight || f.bytes > maxInFlightBytes && len(f.sent) > 1 {
		f.bytes -= len(f.sent[0].data)
		f.sent = f.sent[1:]
	}
	return d.number
}

// lookup returns a datagram; nil if it was dropped, or never sent. It is valid until the next add.
func (f *inFlight) lookup(number uint32) *sentDatagram {
	fromNewest := int64(f.next) - int64(number)
	if fromNewest < 1 || fromNewest > int64(len(f.sent)) {
		return nil
	}
	return &f.sent[len(f.sent)-int(fromNewest)]
}

// takeData returns the data of a datagram, which are no longer stored then.
func (f *inFlight) takeData(d *sentDatagram) []byte {
	data := d.data
	f.bytes -= len(data)
	d.data = nil
	return data
}
