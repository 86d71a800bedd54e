package probe

import (
	"encoding/binary"
	"time"
)

// row is a datagram that came.
type row struct {
	seq  uint32
	copy uint8
	took time.Duration // from sending to arrival, by two clocks
}

// A block is an answer to who wants to know what came.
//
//	block, blocks (2 bytes each), how many were sent the other way (4), rows
const (
	blockHeader = 2 + 2 + 4
	rowBytes    = 4 + 1 + 8
	blockRows   = 80
)

// blocksOf returns how many blocks so many rows take; the first always exists.
func blocksOf(rows int) int { return max(1, (rows+blockRows-1)/blockRows) }

// block is one part of all rows.
type block struct {
	number, blocks int
	sent           uint32
	rows           []row
}

// appendBlock writes block number of rows.
func appendBlock(dst []byte, number int, sent uint32, rows []row) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(number))
	dst = binary.BigEndian.AppendUint16(dst, uint16(blocksOf(len(rows))))
	dst = binary.BigEndian.AppendUint32(dst, sent)
	for _, r := range rows[number*blockRows : min(len(rows), (number+1)*blockRows)] {
		dst = binary.BigEndian.AppendUint32(dst, r.seq)
		dst = append(dst, r.copy)
		dst = binary.BigEndian.AppendUint64(dst, uint64(r.took))
	}
	return dst
}

// parseBlock reads a block of a measurement of so many datagrams.
func parseBlock(b []byte, packets int) (k block, ok bool) {
	if len(b) < blockHeader || (len(b)-blockHeader)%rowBytes != 0 || len(b) > blockHeader+blockRows*rowBytes {
		return k, false
	}
	k.number, k.blocks = int(binary.BigEndian.Uint16(b)), int(binary.BigEndian.Uint16(b[2:]))
	k.sent = binary.BigEndian.Uint32(b[4:])
	if k.number >= k.blocks || k.blocks > blocksOf(mostRows(packets)) || k.sent > uint32(packets) {
		return k, false
	}
	for b = b[blockHeader:]; len(b) > 0; b = b[rowBytes:] {
		r := row{binary.BigEndian.Uint32(b), b[4], time.Duration(binary.BigEndian.Uint64(b[5:]))}
		if r.seq >= uint32(packets) || r.took >= longest || r.took <= -longest {
			return k, false
		}
		k.rows = append(k.rows, r)
	}
	return k, true
}

// mostRows is how many arrivals are kept: each datagram, and as many copies.
func mostRows(packets int) int { return 2 * packets }
