package probe

import (
	"encoding/binary"
	"time"
)

// arrival is a received datagram.
type arrival struct {
	seq        uint32
	copyNumber uint8         // 0 for the first arrival of this seq, 1 and up for duplicates
	clockDelay time.Duration // arrival by the receiver's clock minus sending by the sender's; may be negative. If the plan is short, a block has the arrival
}

// Layout of a block, big endian: block number (2 bytes), number of blocks (2), number of datagrams
// that the responder sent (4), up to blockArrivals arrivals. An arrival is seq (4), copy number (1),
// clock delay in nanoseconds (8).
const (
	blockHeader   = 2 + 2 + 4
	arrivalBytes  = 4 + 1 + 8
	blockArrivals = 80
)

// blockCount returns the number of blocks for a number of arrivals. Without arrivals it is 1, so that
// the initiator receives sentCount.
func blockCount(arrivals int) int { return max(1, (arrivals+blockArrivals-1)/blockArrivals) }

// block is a part of the responder's arrivals.
type block struct {
	number, blocks int    // index of this block, number of blocks
	sentCount      uint32 // datagrams that the responder sent
	arrivals       []arrival
}

// appendBlock appends the block with the given number to dst, in the layout of blockHeader. arrivals
// are those of all blocks.
func appendBlock(dst []byte, number int, sentCount uint32, arrivals []arrival) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(number))
	dst = binary.BigEndian.AppendUint16(dst, uint16(blockCount(len(arrivals))))
	dst = binary.BigEndian.AppendUint32(dst, sentCount)
	for _, r := range arrivals[number*blockArrivals : min(len(arrivals), (number+1)*blockArrivals)] {
		dst = binary.BigEndian.AppendUint32(dst, r.seq)
		dst = append(dst, r.copyNumber)
		dst = binary.BigEndian.AppendUint64(dst, uint64(r.clockDelay))
	}
	return dst
}

// parseBlock parses a block of a measurement with the given number of packets in each direction.
// Arbitrary input is allowed: ok is false if it is no block of such a measurement.
func parseBlock(b []byte, packets int) (k block, ok bool) {
	if len(b) < blockHeader || (len(b)-blockHeader)%arrivalBytes != 0 || len(b) > blockHeader+blockArrivals*arrivalBytes {
		return k, false
	}
	k.number, k.blocks = int(binary.BigEndian.Uint16(b)), int(binary.BigEndian.Uint16(b[2:]))
	k.sentCount = binary.BigEndian.Uint32(b[4:])
	if k.number >= k.blocks || k.blocks > blockCount(maxArrivals(packets)) || k.sentCount > uint32(packets) {
		return k, false
	}
	for b = b[blockHeader:]; len(b) > 0; b = b[arrivalBytes:] {
		r := arrival{binary.BigEndian.Uint32(b), b[4], time.Duration(binary.BigEndian.Uint64(b[5:]))}
		if r.seq >= uint32(packets) || r.clockDelay >= maxTime || r.clockDelay <= -maxTime {
			return k, false
		}
		k.arrivals = append(k.arrivals, r)
	}
	return k, true
}

// maxArrivals is how many arrivals a side stores: each datagram and one copy of it on average.
func maxArrivals(packets int) int { return 2 * packets }
