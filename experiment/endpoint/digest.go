package endpoint

import (
	"encoding/binary"
	"hash/crc32"

	"wirelab/dataset/frame"
)

// MaxDigest is the longest digest of a frame, in bits.
const MaxDigest = 32

// castagnoli is the polynomial of iSCSI (RFC 3720), which processors compute.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// digester computes the digest that a receiver reports of a frame, and that its sender
// compares with its own: CRC-32C of cells and body, cut to so many bytes.
type digester struct {
	bytes int // of a digest; 0: none is reported
	buf   []byte
}

// append appends the digest of f.
func (d *digester) append(dst []byte, f *frame.Frame) []byte {
	if d.bytes == 0 {
		return dst
	}
	d.buf = d.buf[:0]
	for _, v := range f.Table {
		d.buf = binary.LittleEndian.AppendUint32(d.buf, uint32(v))
	}
	sum := crc32.Update(crc32.Checksum(d.buf, castagnoli), castagnoli, f.Body)
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], sum)
	return append(dst, b[:d.bytes]...)
}
