package view

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// An ack consists of, in little-endian order,
//
//	number  16 bits  low bits of the number of the ack, from 1
//	newest  16 bits  low bits of the newest packet decoded
//	length   8 bits  of the mask in bytes; gapFollows is added if the gap follows
//	gap     16 bits  from the newest packet to the first packet of the mask; a multiple of 8, 0 if absent
//	mask             bit i is set if the display contains rows of packet newest-gap-i
//
// The mask contains every packet with rows that was applied since the ack named by the newest packet.
const (
	ackHeader  = 5
	gapFollows = 0x80
	maxMask    = 127 // bytes: more than (maxSpan+7)/8
)

// ErrMalformed is wrapped by errors about bytes that are not an ack.
var ErrMalformed = errors.New("view: malformed ack")

// ack is a parsed ack. mask aliases the datagram.
type ack struct {
	number, newest uint16
	gap            uint16
	mask           []byte
}

// append appends the bytes of the ack to dst.
func (a *ack) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, a.number)
	dst = binary.LittleEndian.AppendUint16(dst, a.newest)
	if a.gap == 0 {
		dst = append(dst, uint8(len(a.mask)))
	} else {
		dst = append(dst, uint8(len(a.mask))|gapFollows)
		dst = binary.LittleEndian.AppendUint16(dst, a.gap)
	}
	return append(dst, a.mask...)
}

// parseAck parses the ack at the beginning of src, and returns it with the bytes after it.
func parseAck(src []byte) (a ack, rest []byte, err error) {
	if len(src) < ackHeader {
		return a, nil, fmt.Errorf("%w: %d bytes", ErrMalformed, len(src))
	}
	a.number, a.newest = binary.LittleEndian.Uint16(src), binary.LittleEndian.Uint16(src[2:])
	length := int(src[4] &^ gapFollows)
	hasGap := src[4]&gapFollows != 0
	src = src[ackHeader:]
	if hasGap {
		if len(src) < 2 {
			return a, nil, fmt.Errorf("%w: it ends before the gap", ErrMalformed)
		}
		a.gap, src = binary.LittleEndian.Uint16(src), src[2:]
	}
	if length > len(src) {
		return a, nil, fmt.Errorf("%w: mask of %d bytes, but only %d bytes follow", ErrMalformed, length, len(src))
	}
	a.mask = src[:length]
	return a, src[length:], nil
}

// has reports whether the mask contains the packet that is behind packets older than the newest.
func (a *ack) has(behind uint64) bool {
	i := behind - uint64(a.gap)
	return behind >= uint64(a.gap) && i < uint64(8*len(a.mask)) && a.mask[i/8]>>(i%8)&1 == 1
}

// nameOf returns the byte by which a packet names ack number n: 1 to 255, or 0 for n = 0, the initial state.
func nameOf(n uint64) uint8 {
	if n == 0 {
		return 0
	}
	return uint8(1 + (n-1)%255)
}
