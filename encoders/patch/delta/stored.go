package delta

import (
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// manyLiterals is the least number of literals in a block of a fast model that are stored
// apart, compressed by zstd if that is shorter. Fewer literals are coded in their places.
const manyLiterals = 1024

// stored are the literals of a block that are stored apart.
type stored struct {
	enc   *zstd.Encoder // nil until needed
	dec   *zstd.Decoder // nil until needed
	bytes []byte        // the literals to come; nil if none are stored
	buf   []byte
}

// append appends the literals of a block to dst. They follow a number: 0 if they are not stored
// apart, otherwise twice their size in dst, plus 1 if they are compressed.
func (s *stored) append(dst, block []byte, ops []Op) ([]byte, error) {
	s.buf = s.buf[:0]
	at := 0
	for _, op := range ops {
		at += op.Copy
		s.buf = append(s.buf, block[at:at+op.Literal]...)
		at += op.Literal
	}
	s.bytes = nil
	if len(s.buf) < manyLiterals {
		return append(dst, 0), nil
	}
	if s.enc == nil {
		var err error
		if s.enc, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1),
			zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(MaxBlock), zstd.WithEncoderCRC(false)); err != nil {
			return dst, err
		}
	}
	s.bytes = s.buf
	size := len(s.buf)
	s.buf = s.enc.EncodeAll(s.buf, s.buf)
	s.bytes = s.buf[:size]
	if packed := s.buf[size:]; len(packed) < size {
		return append(binary.AppendUvarint(dst, uint64(len(packed))<<1|1), packed...), nil
	}
	return append(binary.AppendUvarint(dst, uint64(size)<<1), s.bytes...), nil
}

// read reads the literals at the front of a packet and returns the rest of it.
func (s *stored) read(packet []byte) (rest []byte, err error) {
	head, n := binary.Uvarint(packet)
	if n <= 0 || head>>1 > uint64(len(packet)-n) {
		return nil, fmt.Errorf("%w: literals of more bytes than there are", ErrCorrupt)
	}
	s.bytes, rest = packet[n:n+int(head>>1)], packet[n+int(head>>1):]
	if head == 0 {
		s.bytes = nil
	}
	if head&1 == 0 {
		return rest, nil
	}
	if s.dec == nil {
		if s.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(MaxBlock), zstd.WithDecoderMaxWindow(MaxBlock), zstd.WithDecodeAllCapLimit(true)); err != nil {
			return nil, err
		}
		s.buf = make([]byte, 0, MaxBlock)
	}
	if s.bytes, err = s.dec.DecodeAll(s.bytes, s.buf[:0]); err != nil {
		return nil, fmt.Errorf("%w: literals: %w", ErrCorrupt, err)
	}
	return rest, nil
}

// errLiterals means that a block uses more or fewer literals than were stored apart.
var errLiterals = fmt.Errorf("%w: literals that are too few, or too many", ErrCorrupt)

// storedLiterals reads n bytes of those stored apart.
func (m *Model) storedLiterals(n int) error {
	s := &m.quick.apart
	if n > len(s.bytes) {
		return errLiterals
	}
	copy(m.buf[m.p:], s.bytes[:n])
	s.bytes = s.bytes[n:]
	m.p += n
	return nil
}
