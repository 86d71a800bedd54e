package endpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The packet header: sequence (16 bits), distance to the baseline (8; 0 = the initial
// state), codec (7) and a bit for "params follow", epoch (8). For a codec with two
// references, the distance to the second follows (8; 0 = none). While an epoch is not
// acked, the codec's canonical params follow, prefixed by their length in 8 bits.
//
// Where receivers report digests, 32 more bits of the sequence precede the params of a packet that
// builds on the initial state: the first packets, and those after contact was lost or the sender
// started over. They correct a receiver whose count is wrong.
const (
	headerBytes  = 5
	paramsFollow = 0x80
)

// MaxDatagram is the largest payload of a UDP datagram over IPv4, in bytes.
const MaxDatagram = 65507

// ErrMalformed is returned for bytes that are not a packet, block or ack of this package.
var ErrMalformed = errors.New("endpoint: packet header malformed")

// header is a parsed packet header.
type header struct {
	seq       uint64 // 48 bits if whole, else 16
	whole     bool
	baseline  uint8 // distance; 0 = the initial state
	second    uint8 // distance of the second reference; 0 = none
	codec     uint8
	epoch     uint8
	params    []byte // canonical params, aliasing the packet; nil if absent
	hasParams bool
}

// append writes h; two: the codec takes two references. It writes 48 bits of the sequence if h is
// whole, else 16.
func (h *header) append(dst []byte, two bool) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, uint16(h.seq))
	codec := h.codec
	if h.hasParams {
		codec |= paramsFollow
	}
	dst = append(dst, h.baseline, codec, h.epoch)
	if two {
		dst = append(dst, h.second)
	}
	if h.whole {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(h.seq>>16))
	}
	if h.hasParams {
		dst = append(dst, uint8(len(h.params)))
		dst = append(dst, h.params...)
	}
	return dst
}

// parseHeader reads what append wrote and returns the payload. refs returns how many
// references a codec takes, 0 for an unknown codec. numbered: some packets have their sequence in
// full.
func parseHeader(src []byte, refs func(codec uint8) int, numbered bool) (h header, payload []byte, err error) {
	if len(src) < headerBytes {
		return h, nil, fmt.Errorf("%w: %d bytes", ErrMalformed, len(src))
	}
	h.seq = uint64(binary.LittleEndian.Uint16(src))
	h.baseline, h.epoch = src[2], src[4]
	h.codec, h.hasParams = src[3]&^paramsFollow, src[3]&paramsFollow != 0
	src = src[headerBytes:]
	if refs(h.codec) == 2 {
		if len(src) < 1 {
			return h, nil, fmt.Errorf("%w: second reference missing", ErrMalformed)
		}
		h.second, src = src[0], src[1:]
	}
	if !h.hasParams {
		return h, src, nil
	}
	h.whole = numbered && h.baseline == 0
	if h.whole {
		if len(src) < 4 {
			return h, nil, fmt.Errorf("%w: rest of the sequence missing", ErrMalformed)
		}
		h.seq |= uint64(binary.LittleEndian.Uint32(src)) << 16
		src = src[4:]
	}
	if len(src) < 1 {
		return h, nil, fmt.Errorf("%w: length of the params missing", ErrMalformed)
	}
	n := int(src[0])
	src = src[1:]
	if n > len(src) {
		return h, nil, fmt.Errorf("%w: params of %d bytes in %d", ErrMalformed, n, len(src))
	}
	h.params = src[:n]
	return h, src[n:], nil
}

// unwrap returns the 64-bit sequence whose low 16 bits are seq, near newest. Only the
// lateWindow numbers before newest are read as behind, since no history reaches back
// further. All others are read as ahead. So an endpoint recovers from an outage of up
// to 65,536 - lateWindow packets.
func unwrap(newest uint64, seq uint16) uint64 {
	ahead := seq - uint16(newest) // modulo 65,536
	if ahead >= 1<<16-lateWindow {
		back := uint64(1<<16) - uint64(ahead)
		if back > newest {
			return newest + uint64(ahead) // there are no negative numbers
		}
		return newest - back
	}
	return newest + uint64(ahead)
}

const lateWindow = 4096

// unwrapEpoch does the same for epochs. A receiver keeps the decoders of the last
// KeptEpochs epochs, so anything further behind is read as ahead. An outage may hide
// up to 256 - KeptEpochs epochs.
func unwrapEpoch(newest uint64, epoch uint8) uint64 {
	ahead := epoch - uint8(newest) // modulo 256
	back := uint64(256 - int(ahead))
	if back <= KeptEpochs && back <= newest {
		return newest - back
	}
	return newest + uint64(ahead)
}
