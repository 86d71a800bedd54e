package patch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"wirelab/encoders/patch/delta"
)

// errLimit: the new file is larger than a buffer may become.
var errLimit = errors.New("more bytes than are allowed")

// buffer is a target in memory.
type buffer struct {
	Bytes []byte
	Limit int64 // bytes it may hold at most; 0: as many as are written
}

// WriteAt is as io.WriterAt says. Bytes that are skipped are zero.
func (b *buffer) WriteAt(p []byte, at int64) (int, error) {
	end := at + int64(len(p))
	if at < 0 || end < at || b.Limit > 0 && end > b.Limit {
		return 0, fmt.Errorf("%w: up to %d; expected at most %d", errLimit, end, b.Limit)
	}
	if grow := end - int64(len(b.Bytes)); grow > 0 {
		b.Bytes = append(b.Bytes, make([]byte, grow)...)
	}
	return copy(b.Bytes[at:], p), nil
}

// ReadAt is as io.ReaderAt says.
func (b *buffer) ReadAt(p []byte, at int64) (int, error) {
	if at < 0 || at > int64(len(b.Bytes)) {
		return 0, io.EOF
	}
	n := copy(p, b.Bytes[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// ApplyBytes returns what a patch makes of old, if that is at most limit bytes: a
// patch of a few bytes may tell any number of them.
func ApplyBytes(old, patch []byte, limit int64) ([]byte, error) {
	out := buffer{Limit: limit}
	if _, err := applyTo(delta.New, &out, bytes.NewReader(old), int64(len(old)), bytes.NewReader(patch), nil); err != nil {
		return nil, err
	}
	return out.Bytes, nil
}
