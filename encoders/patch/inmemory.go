package patch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ErrLimit: the new file is larger than a Buffer may become.
var ErrLimit = errors.New("more bytes than are allowed")

// Buffer is a Target in memory.
type Buffer struct {
	Bytes []byte
	Limit int64 // bytes it may hold at most; 0: as many as are written
}

// WriteAt is as io.WriterAt says. Bytes that are skipped are zero.
func (b *Buffer) WriteAt(p []byte, at int64) (int, error) {
	end := at + int64(len(p))
	if at < 0 || end < at || b.Limit > 0 && end > b.Limit {
		return 0, fmt.Errorf("%w: up to %d; expected at most %d", ErrLimit, end, b.Limit)
	}
	if grow := end - int64(len(b.Bytes)); grow > 0 {
		b.Bytes = append(b.Bytes, make([]byte, grow)...)
	}
	return copy(b.Bytes[at:], p), nil
}

// ReadAt is as io.ReaderAt says.
func (b *Buffer) ReadAt(p []byte, at int64) (int, error) {
	if at < 0 || at > int64(len(b.Bytes)) {
		return 0, io.EOF
	}
	n := copy(p, b.Bytes[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// MakeBytes returns a patch that makes new from old. The commands stream by Make; this
// is for programs that have both files in memory, as ApplyBytes is at the other end.
func MakeBytes(old, new []byte, opt Options) ([]byte, Stats, error) {
	var b bytes.Buffer
	stats, err := Make(&b, old, new, opt)
	return b.Bytes(), stats, err
}

// ApplyBytes returns what a patch makes of old, if that is at most limit bytes: a
// patch of a few bytes may tell any number of them.
func ApplyBytes(old, patch []byte, limit int64) ([]byte, error) {
	out := Buffer{Limit: limit}
	if _, err := Apply(&out, bytes.NewReader(old), int64(len(old)), bytes.NewReader(patch), nil); err != nil {
		return nil, err
	}
	return out.Bytes, nil
}
