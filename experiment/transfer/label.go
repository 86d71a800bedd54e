package transfer

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Label is what a stream begins with: how long it is, and what must come of it.
type Label struct {
	Packed int64 // bytes that follow the label
	Size   int64 // bytes of the file that they make
	Hash   [sha256.Size]byte
}

// MinBlock is the least size of a block: the first one holds the label.
const MinBlock = 2*binary.MaxVarintLen64 + sha256.Size

// Append writes the label: both sizes as unsigned varints, and the SHA-256 of the
// file.
func (l *Label) Append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(l.Packed))
	dst = binary.AppendUvarint(dst, uint64(l.Size))
	return append(dst, l.Hash[:]...)
}

// parseLabel reads what Append wrote, and returns how many bytes that was.
func parseLabel(src []byte) (l Label, n int, err error) {
	for _, v := range []*int64{&l.Packed, &l.Size} {
		u, k := binary.Uvarint(src[n:])
		if k <= 0 || u >= 1<<62 {
			return l, 0, fmt.Errorf("%w: the first one holds no label", ErrBlock)
		}
		*v = int64(u)
		n += k
	}
	if copy(l.Hash[:], src[n:]) < len(l.Hash) {
		return l, 0, fmt.Errorf("%w: the first one holds no label", ErrBlock)
	}
	return l, n + len(l.Hash), nil
}
