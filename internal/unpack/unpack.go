// Package unpack reads files that may be compressed with zstd or gzip, in bounded memory: whatever
// the header of a file declares, a Reader takes at most a window of 128 MB and about a megabyte of
// buffers.
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
// memory of a Reader.
const MaxWindow = 1 << 27

// packing is the compression of a file.
type packing uint8

// The compressions.
const (
	None packing = iota
	Zstd
	Gzip
)

// String returns the name of the compression.
func (p packing) String() string { return [...]string{"none", "zstd", "gzip"}[p] }

// Errors are the errors that a Reader wraps. Callers provide them, so that each kind of file has
// its own.
type Errors struct {
	Format    error // the file has another format
	Truncated error // the file ends early
}

// Detect detects the compression from the first bytes of a file. None of these magic numbers can begin
// a text or a walk-off recording, whose first value is 0..3.
func Detect(head []byte) packing {
	switch {
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return Zstd
	case len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18}):
		return Zstd // a skippable frame, which pzstd and seekable writers put first
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return Gzip
	}
	return None
}

// FromPath returns the compression that the extension of a path stands for: .zst or .gz; None for others.
func FromPath(path string) packing {
	switch {
	case strings.HasSuffix(path, ".zst"):
		return Zstd
	case strings.HasSuffix(path, ".gz"):
		return Gzip
	}
	return None
}

// Reader decompresses a file. It can rewind if the file implements io.Seeker.
type Reader struct {
	file         io.Reader
	buffered     *bufio.Reader // buffers file
	packing      packing
	errs         Errors
	zst          *zstd.Decoder
	gz           *gzip.Reader
	decompressed io.Reader // source of decompressed bytes
}

// New returns a Reader of file. If the extension of path stands for a compression, the file must
// have it; a compressed file without the extension is accepted. An empty file is an error.
func New(file io.Reader, path string, errs Errors) (*Reader, error) {
	u := &Reader{file: file, buffered: bufio.NewReaderSize(file, 1<<16), errs: errs}
	head, err := u.buffered.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if len(head) == 0 {
		return nil, fmt.Errorf("%w: the file is empty", errs.Format)
	}
	u.packing = Detect(head)
	if want := FromPath(path); want != None && want != u.packing {
		return nil, fmt.Errorf("%w: the file name promises %v, but it begins with % x", errs.Format, want, head)
	}
	return u, u.startDecompressor()
}

// startDecompressor sets u.decompressed to a decompressor of u.buffered, or to u.buffered if the file is not
// compressed. Decompressors are created at the first call and reset at later ones.
func (u *Reader) startDecompressor() (err error) {
	switch u.packing {
	case Zstd:
		if u.zst == nil {
			// Concurrency 1 means that no goroutines are started.
			u.zst, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
				zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(MaxWindow))
		}
		if err == nil {
			err = u.zst.Reset(u.buffered)
		}
		u.decompressed = u.zst
	case Gzip:
		if u.gz == nil {
			u.gz = new(gzip.Reader)
		}
		err = u.gz.Reset(u.buffered)
		u.decompressed = u.gz
	default:
		u.decompressed = u.buffered
	}
	if err != nil {
		return u.wrapError(err)
	}
	return nil
}

// packing returns the compression of the file.
func (u *Reader) Packing() packing { return u.packing }

// Rewind makes Read continue at the beginning of the file.
func (u *Reader) Rewind() error {
	s, ok := u.file.(io.Seeker)
	if !ok {
		return errors.New("cannot rewind: the input is not seekable")
	}
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("cannot rewind: %w", err)
	}
	u.buffered.Reset(u.file)
	return u.startDecompressor()
}

func (u *Reader) Read(p []byte) (n int, err error) {
	n, err = u.decompressed.Read(p)
	if err != nil && err != io.EOF {
		err = u.wrapError(err)
	}
	return n, err
}

// Fill reads until p is full. It returns the number of bytes and, if that is less than len(p), the
// reason: io.EOF at the end of the data.
func (u *Reader) Fill(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var k int
		k, err = u.decompressed.Read(p[n:])
		n += k
	}
	switch {
	case n == len(p):
		return n, nil
	case err == io.EOF:
		return n, io.EOF
	}
	return n, u.wrapError(err)
}

// wrapError wraps an error of the decompressor in one of u.errs. Errors of the file system are
// unchanged.
func (u *Reader) wrapError(err error) error {
	switch {
	case u.packing == None:
		return err // an error of the file system, which contains the path
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("%w: the zstd window exceeds the maximum of %d MB, or is smaller than a block",
			u.errs.Format, MaxWindow>>20)
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		return fmt.Errorf("%w: the compressed data are truncated", u.errs.Truncated)
	}
	return fmt.Errorf("%w: the compressed data are corrupt: %v", u.errs.Format, err)
}

// Close releases the decompressor. It does not close the file.
func (u *Reader) Close() {
	if u.zst != nil {
		u.zst.Close()
	}
}
