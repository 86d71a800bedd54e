package endpoint

import (
	"encoding/binary"
	"hash/crc32"

	"wirelab/dataset/frame"
)

// MaxDigestBits is the size of the longest digest of a frame, in bits.
const MaxDigestBits = 32

// castagnoli is the table of CRC-32C (RFC 3720, section 12.1), for which processors have an
// instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// digester computes the digest of a frame: the low bytes of the CRC-32C of the values as little-endian
// uint32, the body and the sequence number as little-endian uint64. The receiver sends the digest in
// each ack, and the sender compares it with the digest of its own frame. The digest covers the sequence
// number because the ack contains only 16 bits of it: so a receiver whose sequence number is wrong by a
// multiple of 65,536 is detected too.
type digester struct {
	bytes     int    // size of a digest; 0 means no digests
	coversSeq bool   // the digest covers the sequence number, and some packets contain all 48 bits of it
	buf       []byte // bytes to hash, reused
}

// newDigester returns the digester for an endpoint with the given options.
func newDigester(opt *Options) digester {
	return digester{bytes: opt.DigestBits / 8, coversSeq: opt.DigestBits > 0}
}

// appendDigest appends the digest of the frame in history entry e to dst: the first d.bytes bytes of its CRC-32C,
// little endian. It appends nothing if digests are off (0 bytes).
func (d *digester) appendDigest(dst []byte, e *frame.Entry) []byte {
	if d.bytes == 0 {
		return dst
	}
	d.buf = d.buf[:0]
	for _, v := range e.Frame.Table {
		d.buf = binary.LittleEndian.AppendUint32(d.buf, uint32(v))
	}
	sum := crc32.Update(crc32.Checksum(d.buf, castagnoli), castagnoli, e.Frame.Body)
	if d.coversSeq {
		d.buf = binary.LittleEndian.AppendUint64(d.buf[:0], e.Seq)
		sum = crc32.Update(sum, castagnoli, d.buf)
	}
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], sum)
	return append(dst, b[:d.bytes]...)
}
