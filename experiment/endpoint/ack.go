package endpoint

import (
	"encoding/binary"
	"fmt"
)

// An ack consists of, in little-endian order,
//
//	newest  16 bits  low bits of the newest decoded sequence number
//	mask    32 bits  bit i is set if packet newest-1-i was decoded
//	epoch    8 bits  low bits of the newest epoch that the receiver has a decoder for
//	report           report of a decoder that implements encoders.Feedback
//	arrival 16 bits  when frame newest arrived, in arrivalUnit; only in acks of Receiver.AppendAckAt
//
// AckBytes is the size of an ack without report.
const AckBytes = 7

// ack is the receiver's answer to a packet. report aliases the datagram.
type ack struct {
	newest uint16
	mask   uint32
	epoch  uint8
	report []byte
}

func (a *ack) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, a.newest)
	dst = binary.LittleEndian.AppendUint32(dst, a.mask)
	dst = append(dst, a.epoch)
	return append(dst, a.report...)
}

// cutArrival removes the arrival time from the end of an ack.
func cutArrival(src []byte) (ack []byte, arrival uint16, err error) {
	n := len(src) - arrivalBytes
	if n < AckBytes {
		return nil, 0, fmt.Errorf("%w: ack of %d bytes", ErrMalformed, len(src))
	}
	return src[:n], binary.LittleEndian.Uint16(src[n:]), nil
}

// arrivalBytes is the size of the arrival time in an ack.
const arrivalBytes = 2

// parseAck parses an ack.
func parseAck(src []byte) (ack, error) {
	if len(src) < AckBytes {
		return ack{}, fmt.Errorf("%w: ack of %d bytes", ErrMalformed, len(src))
	}
	return ack{newest: binary.LittleEndian.Uint16(src), mask: binary.LittleEndian.Uint32(src[2:]), epoch: src[6],
		report: src[AckBytes:]}, nil
}
