package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow is the largest zstd window that is accepted, and so the most memory,
// with about a megabyte for buffers, that a compressed file can make us take: it
// is what `zstd --long=27` writes. What lies behind the window is streamed.
const maxWindow = 1 << 27

// packing is how the bytes of a file are compressed.
type packing uint8

const (
	packedNot packing = iota
	packedZstd
	packedGzip
)

// packingOf tells the packing from the first bytes of a file. None of these
// magic numbers can begin raw records, whose first value is 0..3.
func packingOf(head []byte) packing {
	switch {
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return packedZstd
	case len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18}):
		return packedZstd // a skippable frame, such as pzstd and seekable writers put first
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return packedGzip
	}
	return packedNot
}

// packingNamed returns the packing that the ending of a path promises.
func packingNamed(path string) packing {
	switch {
	case strings.HasSuffix(path, ".zst"):
		return packedZstd
	case strings.HasSuffix(path, ".gz"):
		return packedGzip
	}
	return packedNot
}

// unpacker reads a file through its decompressor. It can begin again if the file
// can seek.
type unpacker struct {
	file io.Reader
	buf  *bufio.Reader // of the file
	how  packing
	zst  *zstd.Decoder
	gz   *gzip.Reader
	in   io.Reader // the uncompressed bytes
}

// newUnpacker looks at the first bytes of file. An ending of path that promises
// a packing must be kept; a compressed file without its ending is welcome.
func newUnpacker(file io.Reader, path string) (*unpacker, error) {
	u := &unpacker{file: file, buf: bufio.NewReaderSize(file, 1<<16)}
	head, err := u.buf.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if len(head) == 0 {
		return nil, fmt.Errorf("%w: the file is empty", ErrFormat)
	}
	u.how = packingOf(head)
	if want := packingNamed(path); want != packedNot && want != u.how {
		name := map[packing]string{packedZstd: "zstd", packedGzip: "gzip"}[want]
		return nil, fmt.Errorf("%w: its name promises %s, but it begins with % x", ErrFormat, name, head)
	}
	return u, u.start()
}

// start sets up the decompressor over what u.buf yields.
func (u *unpacker) start() (err error) {
	switch u.how {
	case packedZstd:
		if u.zst == nil {
			// One at a time: no goroutines, nothing to race with, and fast enough.
			u.zst, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
				zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		}
		if err == nil {
			err = u.zst.Reset(u.buf)
		}
		u.in = u.zst
	case packedGzip:
		if u.gz == nil {
			u.gz = new(gzip.Reader)
		}
		err = u.gz.Reset(u.buf)
		u.in = u.gz
	default:
		u.in = u.buf
	}
	if err != nil {
		return u.explain(err)
	}
	return nil
}

// rewind begins again.
func (u *unpacker) rewind() error {
	s, ok := u.file.(io.Seeker)
	if !ok {
		return errors.New("cannot begin again: the input cannot seek")
	}
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("cannot begin again: %w", err)
	}
	u.buf.Reset(u.file)
	return u.start()
}

// fill reads until p is full. It returns how much it read and, if that is not
// all, why: io.EOF for the end of the data, wherever in p it comes.
func (u *unpacker) fill(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var k int
		k, err = u.in.Read(p[n:])
		n += k
	}
	switch {
	case n == len(p):
		return n, nil
	case err == io.EOF:
		return n, io.EOF
	}
	return n, u.explain(err)
}

// explain wraps a decompressor's error in ours.
func (u *unpacker) explain(err error) error {
	switch {
	case u.how == packedNot:
		return err // the file system's: it names the path
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("%w: the zstd window is larger than %d MB, the most that is read, or too small for its own blocks", ErrFormat, maxWindow>>20)
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		return fmt.Errorf("%w: the compressed data breaks off", ErrTruncated)
	}
	return fmt.Errorf("%w: the compressed data is damaged: %v", ErrFormat, err)
}

// close releases the decompressor's memory; the file is the caller's.
func (u *unpacker) close() {
	if u.zst != nil {
		u.zst.Close()
	}
}
