// Package unpack reads files that may be compressed with zstd or gzip, in bounded memory:
// whatever the header of a file declares, a Reader takes at most a window of 128 MB and about a
// megabyte for buffers.
package unpack

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

// MaxWindow is the largest zstd window that is accepted, that of `zstd --long=27`. It bounds the
// memory that a compressed file takes, apart from buffers.
const MaxWindow = 1 << 27

// Packing is how the bytes of a file are compressed.
type Packing uint8

// The packings.
const (
	None Packing = iota
	Zstd
	Gzip
)

// String returns the packing's name.
func (p Packing) String() string { return [...]string{"none", "zstd", "gzip"}[p] }

// Errors are the errors that a Reader wraps, so that each kind of file has its own.
type Errors struct {
	Format    error // the file is of another format
	Truncated error // the file ends early
}

// Of determines the packing from the first bytes of a file. None of these magic numbers can begin
// a walk-off recording, whose first value is 0..3, or a text.
func Of(head []byte) Packing {
	switch {
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return Zstd
	case len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18}):
		return Zstd // a skippable frame, such as pzstd and seekable writers put first
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return Gzip
	}
	return None
}

// Named returns the packing that the extension of a path stands for.
func Named(path string) Packing {
	switch {
	case strings.HasSuffix(path, ".zst"):
		return Zstd
	case strings.HasSuffix(path, ".gz"):
		return Gzip
	}
	return None
}

// Reader reads a file through its decompressor. It can rewind if the file can seek.
type Reader struct {
	file io.Reader
	buf  *bufio.Reader // of the file
	how  Packing
	errs Errors
	zst  *zstd.Decoder
	gz   *gzip.Reader
	in   io.Reader // the uncompressed bytes
}

// New returns a Reader of file. If the extension of path stands for a packing, the file must have
// it; a compressed file without the extension is accepted. An empty file is an error.
func New(file io.Reader, path string, errs Errors) (*Reader, error) {
	u := &Reader{file: file, buf: bufio.NewReaderSize(file, 1<<16), errs: errs}
	head, err := u.buf.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if len(head) == 0 {
		return nil, fmt.Errorf("%w: the file is empty", errs.Format)
	}
	u.how = Of(head)
	if want := Named(path); want != None && want != u.how {
		return nil, fmt.Errorf("%w: its name promises %v, but it begins with % x", errs.Format, want, head)
	}
	return u, u.start()
}

// start sets up the decompressor over u.buf.
func (u *Reader) start() (err error) {
	switch u.how {
	case Zstd:
		if u.zst == nil {
			// One at a time: no goroutines, nothing to race with, and fast enough.
			u.zst, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
				zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(MaxWindow))
		}
		if err == nil {
			err = u.zst.Reset(u.buf)
		}
		u.in = u.zst
	case Gzip:
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

// Packing returns how the file is compressed.
func (u *Reader) Packing() Packing { return u.how }

// Rewind continues at the beginning.
func (u *Reader) Rewind() error {
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

// Read implements io.Reader.
func (u *Reader) Read(p []byte) (n int, err error) {
	n, err = u.in.Read(p)
	if err != nil && err != io.EOF {
		err = u.explain(err)
	}
	return n, err
}

// Fill reads until p is full. It returns the number of bytes and, if that is less than len(p), the
// reason: io.EOF at the end of the data.
func (u *Reader) Fill(p []byte) (n int, err error) {
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

// explain wraps an error of the decompressor.
func (u *Reader) explain(err error) error {
	switch {
	case u.how == None:
		return err // the file system's: it names the path
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("%w: the zstd window is larger than %d MB, the most that is read, or too small for its own blocks",
			u.errs.Format, MaxWindow>>20)
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		return fmt.Errorf("%w: the compressed data breaks off", u.errs.Truncated)
	}
	return fmt.Errorf("%w: the compressed data is damaged: %v", u.errs.Format, err)
}

// Close releases the decompressor's memory; the file is the caller's.
func (u *Reader) Close() {
	if u.zst != nil {
		u.zst.Close()
	}
}
