package endpoint

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// sealBytes is the size of a seal, the checksum at the end of a datagram of a file.
const sealBytes = 4

// seal appends a seal to a datagram or an ack of a file: the little-endian CRC-32 (IEEE 802.3) of
// b[start:]. It detects damage that the checksum of UDP misses. Snapshots have no seal, because
// a damaged one is soon replaced by the next. But one flipped bit in a block would damage the file, and one
// in an ack could leave a gap that is never filled.
func seal(b []byte, start int) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start:]))
}

// unseal checks the seal at the end of b and returns the bytes before it.
func unseal(b []byte) ([]byte, error) {
	n := len(b) - sealBytes
	if n < 0 {
		return nil, fmt.Errorf("%w: %d bytes, expected a checksum of %d", ErrMalformed, len(b), sealBytes)
	}
	if got, want := crc32.ChecksumIEEE(b[:n]), binary.LittleEndian.Uint32(b[n:]); got != want {
		return nil, fmt.Errorf("%w: checksum %08x, expected %08x", ErrMalformed, got, want)
	}
	return b[:n], nil
}
