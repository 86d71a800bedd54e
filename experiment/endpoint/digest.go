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

// digester computes the digest that a receiver reports of a frame, and that the sender compares
// with its own: CRC-32C of cells, body and sequence, cut to a number of bytes. An ack has only 16
// bits of the sequence, so the digest also reveals a receiver that is off by a multiple of 65,536.
type digester struct {
	bytes    int  // of a digest; 0: none is reported
	numbered bool // it covers the sequence, and packets of a sender that starts over have it in full
	buf      []byte
}

func newDigester(opt *Options) digester {
	return digester{bytes: opt.DigestBits / 8, numbered: opt.DigestBits > 0 && !opt.Trusting}
}

// append appends the digest of e.
func (d *digester) append(dst []byte, e *frame.Entry) []byte {
	if d.bytes == 0 {
		return dst
	}
	d.buf = d.buf[:0]
	for _, v := range e.Frame.Table {
		d.buf = binary.LittleEndian.AppendUint32(d.buf, uint32(v))
	}
	sum := crc32.Update(crc32.Checksum(d.buf, castagnoli), castagnoli, e.Frame.Body)
	if d.numbered {
		d.buf = binary.LittleEndian.AppendUint64(d.buf[:0], e.Seq)
		sum = crc32.Update(sum, castagnoli, d.buf)
	}
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], sum)
	return append(dst, b[:d.bytes]...)
}
