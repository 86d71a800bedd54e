package teeworlds

import (
	"encoding/binary"
	"fmt"
	"io"

	"wirelab/internal/unpack"
)

// chunks reads the chunks of a demo.
type chunks struct {
	in      *unpack.Reader
	at      int64 // bytes read
	number  int   // of the last chunk, from 1
	begin   int64 // where it begins
	tick    int64 // the last that was marked
	marked  bool  // a tick was marked
	payload []byte
	small   [4]byte
	waste   [4096]byte
}

// fill reads len(p) bytes within a chunk.
func (r *chunks) fill(p []byte) error {
	n, err := r.in.Fill(p)
	r.at += int64(n)
	if err == io.EOF {
		return fmt.Errorf("%w: breaks off after %d bytes more", errTruncated, r.at-r.begin)
	}
	return err
}

// skip reads n bytes and drops them.
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

// next reads a chunk; io.EOF at the end. The payload of a snapshot or a delta is valid until the
// next call.
func (r *chunks) next() (kind, error) {
	n, err := r.in.Fill(r.small[:1])
	if err == io.EOF && n == 0 {
		return 0, io.EOF
	}
	r.number, r.begin = r.number+1, r.at
	r.at += int64(n)
	if err != nil {
		return 0, err
	}
	if b := r.small[0]; b&0x80 != 0 {
		return same, r.mark(int64(b & 0x3f))
	}
	kind := kind(r.small[0] >> 5)
	size, err := r.size(int64(r.small[0] & 0x1f))
	switch {
	case err != nil:
	case kind == message:
		err = r.skip(size)
	case kind == whole || kind == delta:
		if int64(cap(r.payload)) < size {
			r.payload = make([]byte, size)
		}
		r.payload = r.payload[:size]
		err = r.fill(r.payload)
	default:
		err = fmt.Errorf("%w: of an unknown type, %d", errCorrupt, kind)
	}
	return kind, err
}

// mark reads the mark of a tick. after is the tick delta; a delta of 0 is followed by the absolute
// tick.
func (r *chunks) mark(after int64) error {
	switch {
	case after > 0 && !r.marked:
		return fmt.Errorf("%w: counts ticks from none", errCorrupt)
	case after > 0:
		r.tick += after
	default:
		if err := r.fill(r.small[:4]); err != nil {
			return err
		}
		r.tick = int64(int32(binary.BigEndian.Uint32(r.small[:4])))
	}
	r.marked = true
	if r.tick < 0 || r.tick > 1<<31-1 {
		return fmt.Errorf("%w: tick %d", errCorrupt, r.tick)
	}
	return nil
}

// size returns the size of a chunk's payload: n, which its first byte holds, or the bytes that follow
// if n is 30 or 31.
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
