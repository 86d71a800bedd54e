package container

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrMalformed is wrapped by errors about bytes that are not a container.
var ErrMalformed = errors.New("container: malformed")

// malformed returns an ErrMalformed with details.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// Parts of a container, as bits.
const (
	hasGroup = 1 << iota
	hasParity
	hasRepeats
	hasMessages
	hasPacket
	allParts = 1<<iota - 1
)

const (
	headerBytes = 4
	partsAt     = 2 // index of the byte in the header that lists the parts
	shardHeader = 4 // number and length

	// maxDatagram is the largest payload of a UDP datagram over IPv4.
	maxDatagram = 65507
	// maxSealed is the largest packet that Seal puts into a container: room is left for the header of every part.
	maxSealed = maxDatagram - packetRoom - 32
)

// Is reports whether a datagram is a container, or a segment of a stream, rather than a packet of package endpoint.
func Is(datagram []byte) bool { return len(datagram) >= headerBytes && datagram[3] == 0 }

// IsSegment reports whether a datagram is a segment of a stream.
func IsSegment(datagram []byte) bool { return Is(datagram) && datagram[partsAt] == hasSegment }

// appendHeader appends the header of a container.
func appendHeader(dst []byte, number uint64, parts byte) []byte {
	return append(binary.LittleEndian.AppendUint16(dst, uint16(number)), parts, 0)
}

// reader reads the fields of a container. After the first field that is missing, it returns zeros and failed is set.
type reader struct {
	rest   []byte
	failed bool
}

// bytes returns the next n bytes.
func (r *reader) bytes(n int) []byte {
	if n > len(r.rest) {
		r.rest, r.failed = nil, true
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// byte returns the next byte.
func (r *reader) byte() int {
	if b := r.bytes(1); b != nil {
		return int(b[0])
	}
	return 0
}

// items skips a count of 8 bits and as many items: each is a head of some bytes, 16 bits length, and as many
// bytes. It returns the encoded items with their count; nil if they are cut off.
func (r *reader) items(head int) []byte {
	all := r.rest
	for range r.byte() {
		r.bytes(head)
		r.bytes(int(r.uint16()))
	}
	if r.failed {
		return nil
	}
	return all[:len(all)-len(r.rest)]
}

// uint16 returns the next 16 bits.
func (r *reader) uint16() uint16 {
	if b := r.bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}
