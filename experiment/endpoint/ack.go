package endpoint

import (
	"encoding/binary"
	"fmt"
)

// ackBytes is the size of an ack without a codec's report: newest decoded
// sequence (16 bits), mask of the 32 before it, epoch (8).
const ackBytes = 7

// ack is what a receiver sends back after each packet.
type ack struct {
	newest uint16
	mask   uint32 // bit i: newest-1-i was decoded
	epoch  uint8  // the newest epoch it has a decoder for
	digest []byte // of the newest frame, if both ends are set to it; aliases the datagram
	report []byte // of a codec with feedback; aliases the datagram
}

func (a *ack) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, a.newest)
	dst = binary.LittleEndian.AppendUint32(dst, a.mask)
	dst = append(dst, a.epoch)
	dst = append(dst, a.digest...)
	return append(dst, a.report...)
}

// parseAck reads an ack that has a digest of digestBytes bytes.
func parseAck(src []byte, digestBytes int) (ack, error) {
	if len(src) < ackBytes+digestBytes {
		return ack{}, fmt.Errorf("%w: ack of %d bytes", ErrMalformed, len(src))
	}
	return ack{newest: binary.LittleEndian.Uint16(src), mask: binary.LittleEndian.Uint32(src[2:]), epoch: src[6],
		digest: src[ackBytes:][:digestBytes], report: src[ackBytes+digestBytes:]}, nil
}

// ackWindow records which packets a receiver has decoded: the newest and the 32
// before it.
type ackWindow struct {
	newest uint64
	mask   uint32
	any    bool
}

// note records that seq was decoded.
func (w *ackWindow) note(seq uint64) {
	switch {
	case !w.any:
		w.newest, w.any = seq, true
	case seq > w.newest:
		shift := seq - w.newest
		if shift <= 32 {
			w.mask = uint32(uint64(w.mask)<<shift | 1<<(shift-1))
		} else {
			w.mask = 0
		}
		w.newest = seq
	case seq < w.newest && w.newest-seq <= 32:
		w.mask |= 1 << (w.newest - seq - 1)
	}
}
