package endpoint

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// sealBytes is the size of a seal.
const sealBytes = 4

// seal appends the CRC-32 (IEEE 802.3, little endian) of b from start on, which is a
// datagram or an ack of a file. The next snapshot repairs a damaged one, but nothing
// repairs a damaged block or ack of a file. With UDP's checksum off, one flipped bit
// would spoil the whole file, or leave a gap that is never filled.
func seal(b []byte, start int) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start:]))
}

// unseal checks the seal and returns the bytes before it.
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
