package teeworlds

import (
	"encoding/binary"
	"fmt"
	"io"

	"wirelab/internal/unpack"
)

// chunkTick is, of chunks, the mark of a tick.
const chunkTick = 0

// chunk is a piece of a demo.
type chunk struct {
	kind    uint8
	tick    int32  // of a mark
	payload []byte // of others than marks and messages, until the next is read
}

// chunks takes a demo apart.
type chunks struct {
	in      *unpack.Reader
	at      int64 // the place in the file
	number  int   // of the chunk read last, counted from 1, and where it begins
	begin   int64
	tick    int64
	ticking bool // a tick was read
	payload []byte
	small   [4]byte
	waste   [4096]byte
}

// fill reads so many bytes within a chunk.
func (r *chunks) fill(p []byte) error {
	n, err := r.in.Fill(p)
	r.at += int64(n)
	if err == io.EOF {
		return fmt.Errorf("%w: breaks off after %d bytes more", ErrTruncated, r.at-r.begin)
	}
	return err
}

// skip passes over so many bytes.
func (r *chunks) skip(n int64) error {
	for n > 0 {
		k := min(n, int64(len(r.waste)))
		if err := r.fill(r.waste[:k]); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// next reads a chunk; io.EOF if there is no more.
func (r *chunks) next() (chunk, error) {
	n, err := r.in.Fill(r.small[:1])
	if err == io.EOF && n == 0 {
		return chunk{}, io.EOF
	}
	r.number, r.begin = r.number+1, r.at
	r.at += int64(n)
	if err != nil {
		return chunk{}, err
	}
	if b := r.small[0]; b&0x80 != 0 {
		err := r.mark(int64(b & 0x3f))
		return chunk{kind: chunkTick, tick: int32(r.tick)}, err
	}
	kind := r.small[0] >> 5
	size, err := r.size(int64(r.small[0] & 0x1f))
	switch {
	case err != nil:
	case kind == chunkMessage:
		err = r.skip(size)
	case kind == chunkSnapshot || kind == chunkDelta:
		if int64(cap(r.payload)) < size {
			r.payload = make([]byte, size)
		}
		r.payload = r.payload[:size]
		err = r.fill(r.payload)
	default:
		err = fmt.Errorf("%w: of an unknown type, %d", ErrCorrupt, kind)
	}
	return chunk{kind: kind, payload: r.payload}, err
}

// mark reads the mark of a tick so many ticks after the last; 0: it says at which itself.
func (r *chunks) mark(after int64) error {
	switch {
	case after > 0 && !r.ticking:
		return fmt.Errorf("%w: counts ticks from none", ErrCorrupt)
	case after > 0:
		r.tick += after
	default:
		if err := r.fill(r.small[:4]); err != nil {
			return err
		}
		r.tick = int64(int32(binary.BigEndian.Uint32(r.small[:4])))
	}
	if r.ticking = true; r.tick < 0 || r.tick > 1<<31-1 {
		return fmt.Errorf("%w: tick %d", ErrCorrupt, r.tick)
	}
	return nil
}

// size reads how long a chunk is, if its first byte does not tell.
func (r *chunks) size(n int64) (int64, error) {
	if n < 30 {
		return n, nil
	}
	more := r.small[:n-29] // one byte or two, the low one first
	if err := r.fill(more); err != nil {
		return 0, err
	}
	n = int64(more[0])
	if len(more) == 2 {
		n |= int64(more[1]) << 8
	}
	return n, nil
}
