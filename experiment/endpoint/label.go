package endpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Label precedes a packed file: its length, and the size and hash of the unpacked file.
type Label struct {
	Packed int64 // bytes after the label
	Size   int64 // bytes of the unpacked file
	Hash   [sha256.Size]byte
}

// MinBlock is the minimum size of a block in bytes: the first block contains the whole label.
const MinBlock = 2*binary.MaxVarintLen64 + sha256.Size

// Append appends the label to dst: both sizes as unsigned varints, then the hash.
func (l *Label) Append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(l.Packed))
	dst = binary.AppendUvarint(dst, uint64(l.Size))
	return append(dst, l.Hash[:]...)
}

// parseLabel reads a label from the beginning of src, and returns its length n.
func parseLabel(src []byte) (l Label, n int, err error) {
	for _, v := range []*int64{&l.Packed, &l.Size} {
		u, k := binary.Uvarint(src[n:])
		if k <= 0 || u >= 1<<62 { // incomplete, or so large that sums of sizes could overflow
			return l, 0, fmt.Errorf("%w: the first block does not begin with the sizes of the file", ErrMalformed)
		}
		*v = int64(u)
		n += k
	}
	if copy(l.Hash[:], src[n:]) < len(l.Hash) {
		return l, 0, fmt.Errorf("%w: the first block does not contain the hash of the file", ErrMalformed)
	}
	return l, n + len(l.Hash), nil
}
