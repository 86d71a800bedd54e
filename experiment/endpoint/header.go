package endpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A packet consists of a header and the encoder's payload. The header contains, in little-endian
// order,
//
//	sequence  16 bits  low bits of the sequence number
//	baseline   8 bits  distance to the baseline in packets; 0 means the initial state
//	codec      8 bits  Codec.ID; the highest bit is set if parameters follow
//	epoch      8 bits  low bits of the epoch
//	second     8 bits  only for a codec with two references: distance to the second; 0 means none
//
// Until the epoch is acked, the parameters follow:
//
//	length     8 bits  of the parameters
//	params             the canonical parameters, in the format of package encoders, which begin with a letter
//
// In an epoch with a budget, the baseline is the name of the ack whose display is the reference, see
// package view, and the parameters begin with
//
//	zero       8 bits  0
//	stream     8 bits  number of the stream of view frames: each begins when a budget is set, and has its own acks
//	root       8 bits  distance to the frame that the display of the stream begins with; 0 means the initial state
const (
	headerBytes  = 5
	paramsFollow = 0x80
)

// MaxDatagram is the largest payload of a UDP datagram over IPv4, in bytes.
const MaxDatagram = 65507

// ErrMalformed is wrapped by errors about bytes that are not a packet, block or ack of this package.
var ErrMalformed = errors.New("endpoint: malformed datagram")

// header is a parsed packet header.
type header struct {
	seq       uint64 // the low 16 bits are in the header
	baseline  uint8  // distance of the baseline; 0 means the initial state
	second    uint8  // distance of the second reference; 0 means none
	codec     uint8
	epoch     uint8
	params    []byte // canonical parameters, aliasing the packet; nil if none exist
	hasParams bool
	twoRefs   bool // the codec uses two references

	view   bool // the packet contains a view frame; only in packets with parameters
	stream uint8
	root   uint8
}

// viewParamBytes is the size of what precedes the canonical parameters in packets with view frames.
const viewParamBytes = 3

// append appends the bytes of h to dst.
func (h *header) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, uint16(h.seq))
	codec := h.codec
	if h.hasParams {
		codec |= paramsFollow
	}
	dst = append(dst, h.baseline, codec, h.epoch)
	if h.twoRefs {
		dst = append(dst, h.second)
	}
	if !h.hasParams {
		return dst
	}
	if h.view {
		dst = append(dst, uint8(viewParamBytes+len(h.params)), 0, h.stream, h.root)
	} else {
		dst = append(dst, uint8(len(h.params)))
	}
	return append(dst, h.params...)
}

// AppendHeader appends to dst the header of packet seq, for a sender that is not a Sender. baseline is
// the distance of the baseline, 0 means the initial state. withParams adds the parameters of the
// encoding.
func AppendHeader(dst []byte, seq uint64, baseline uint8, e *Encoding, withParams bool) []byte {
	h := e.header(seq, withParams)
	h.baseline = baseline
	return h.append(dst)
}

// header returns the header of packet seq of epoch 0, without the references.
func (e *Encoding) header(seq uint64, withParams bool) header {
	return header{seq: seq, codec: e.Codec.ID, params: e.Canonical, hasParams: withParams, twoRefs: e.Codec.Refs == 2}
}

// parseHeader parses the header of packet src, and returns it with the payload. refCount returns the
// number of references that a codec uses; 0 for an unknown codec.
func parseHeader(src []byte, refCount func(codec uint8) int) (h header, payload []byte, err error) {
	if len(src) < headerBytes {
		return h, nil, fmt.Errorf("%w: %d bytes", ErrMalformed, len(src))
	}
	h.seq = uint64(binary.LittleEndian.Uint16(src))
	h.baseline, h.epoch = src[2], src[4]
	h.codec, h.hasParams = src[3]&^paramsFollow, src[3]&paramsFollow != 0
	src = src[headerBytes:]
	h.twoRefs = refCount(h.codec) == 2
	if h.twoRefs {
		if len(src) < 1 {
			return h, nil, fmt.Errorf("%w: second reference missing", ErrMalformed)
		}
		h.second, src = src[0], src[1:]
	}
	if !h.hasParams {
		return h, src, nil
	}
	if len(src) < 1 {
		return h, nil, fmt.Errorf("%w: length of the parameters missing", ErrMalformed)
	}
	n := int(src[0])
	src = src[1:]
	if n > len(src) {
		return h, nil, fmt.Errorf("%w: parameters of %d bytes, but only %d bytes follow", ErrMalformed, n, len(src))
	}
	h.params, src = src[:n], src[n:]
	if n >= viewParamBytes && h.params[0] == 0 {
		h.view, h.stream, h.root = true, h.params[1], h.params[2]
		h.params = h.params[viewParamBytes:]
	}
	return h, src, nil
}

// unwrap returns the sequence number near newest whose low 16 bits are seq. It is at most maxBehind
// before newest, and otherwise after it. So an endpoint recovers from an outage of up to
// 65,536 - maxBehind packets.
func unwrap(newest uint64, seq uint16) uint64 {
	ahead := seq - uint16(newest) // modulo 65,536
	if ahead >= 1<<16-maxBehind {
		behind := uint64(1<<16) - uint64(ahead)
		if behind > newest { // the number would be negative
			return newest + uint64(ahead)
		}
		return newest - behind
	}
	return newest + uint64(ahead)
}

// maxBehind is how far a sequence number may be behind the newest one: more than any history is long.
const maxBehind = 4096

// unwrapEpoch returns the epoch near newest whose low 8 bits are epoch. It is at most StoredEpochs
// before newest, because the receiver has no older decoders, and otherwise after it. So a receiver
// recovers from an outage during which up to 256 - StoredEpochs epochs began.
func unwrapEpoch(newest uint64, epoch uint8) uint64 {
	ahead := epoch - uint8(newest) // modulo 256
	behind := uint64(256 - int(ahead))
	if behind <= StoredEpochs && behind <= newest {
		return newest - behind
	}
	return newest + uint64(ahead)
}
