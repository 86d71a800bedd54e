package endpoint

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// sealBytes is the size of a seal.
const sealBytes = 4

// seal ends what stands in b from start on, a datagram or an ack of a delivery, with
// its CRC-32 (IEEE 802.3), little endian. A snapshot that was damaged is made good by the next one, while a block is
// kept for good, and so is what an ack says of it: where UDP's checksum is off, a
// single bit would spoil the whole file, or leave a gap that nobody fills.
func seal(b []byte, start int) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start:]))
}

// unseal returns what was sealed, or refuses it.
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
