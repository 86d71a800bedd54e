package teeworlds

import (
	"encoding/binary"
	"fmt"
	"io"

	"wirelab/internal/unpack"
)

// chunkReader reads the chunks of a demo. The first byte of a chunk is one of:
//
//	1 K DDDDDD  tick marker; K: a keyframe follows; D: tick delta, or 0 if the absolute tick
//	            follows as 4 bytes, big-endian
//	0 TT SSSSS  type T (see kind) and size S of the payload that follows; S = 30: the size
//	            follows in one byte; S = 31: in two bytes, little-endian
type chunkReader struct {
	in        *unpack.Reader
	offset    int64 // bytes read so far
	number    int   // number of the newest chunk, from 1
	start     int64 // offset of the newest chunk
	tick      int64 // tick of the newest tick marker
	hasTick   bool  // a tick marker was read; tick is valid
	payload   []byte
	buf       [4]byte    // buffer for headers
	discarded [4096]byte // buffer for bytes that are skipped
}

// fill reads len(p) bytes of the current chunk. The end of the file is errTruncated.
func (r *chunkReader) fill(p []byte) error {
	n, err := r.in.Fill(p)
	r.offset += int64(n)
	if err == io.EOF {
		return fmt.Errorf("%w: the file ends after %d bytes of the chunk", errTruncated, r.offset-r.start)
	}
	return err
}

// skip reads n bytes and discards them.
func (r *chunkReader) skip(n int64) error {
	for n > 0 {
		k := min(n, int64(len(r.discarded)))
		if err := r.fill(r.discarded[:k]); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// next reads a chunk and returns its kind, or io.EOF at the end of the file. For a tick marker it
// sets r.tick; for a snapshot r.payload, which is valid until the next call.
func (r *chunkReader) next() (kind, error) {
	n, err := r.in.Fill(r.buf[:1])
	if err == io.EOF && n == 0 {
		return 0, io.EOF
	}
	r.number, r.start = r.number+1, r.offset
	r.offset += int64(n)
	if err != nil {
		return 0, err
	}
	if b := r.buf[0]; b&0x80 != 0 { // a tick marker; its bit for a keyframe is not needed
		return kindTick, r.readTick(int64(b & 0x3f))
	}
	kind := kind(r.buf[0] >> 5)
	size, err := r.readSize(int64(r.buf[0] & 0x1f))
	switch {
	case err != nil: // returned below
	case kind == kindMessage:
		err = r.skip(size)
	case kind == kindFull || kind == kindDelta:
		if int64(cap(r.payload)) < size {
			r.payload = make([]byte, size)
		}
		r.payload = r.payload[:size]
		err = r.fill(r.payload)
	default:
		err = fmt.Errorf("%w: unknown type %d", errCorrupt, kind)
	}
	return kind, err
}

// readTick reads the rest of a tick marker and sets r.tick. delta is the tick delta; a delta of 0 is
// followed by the absolute tick.
func (r *chunkReader) readTick(delta int64) error {
	switch {
	case delta > 0 && !r.hasTick:
		return fmt.Errorf("%w: a tick delta before the first absolute tick", errCorrupt)
	case delta > 0:
		r.tick += delta
	default:
		if err := r.fill(r.buf[:4]); err != nil {
			return err
		}
		r.tick = int64(int32(binary.BigEndian.Uint32(r.buf[:4])))
	}
	r.hasTick = true
	if r.tick < 0 || r.tick > 1<<31-1 {
		return fmt.Errorf("%w: tick %d, expected 0 to 2147483647", errCorrupt, r.tick)
	}
	return nil
}

// readSize returns the size of a chunk's payload. n is the size field of the first byte: the size
// itself below 30; 30 and 31 mean that the size follows in one or two bytes.
func (r *chunkReader) readSize(n int64) (int64, error) {
	if n < 30 {
		return n, nil
	}
	following := r.buf[:n-29] // 1 or 2 bytes, little-endian
	if err := r.fill(following); err != nil {
		return 0, err
	}
	n = int64(following[0])
	if len(following) == 2 {
		n |= int64(following[1]) << 8
	}
	return n, nil
}
