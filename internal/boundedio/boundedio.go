// Package boundedio reads data of a limited size. Data of exactly the limit are accepted; one byte
// more is an error, so that nothing is truncated silently.
package boundedio

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// SizeError reports that there are more bytes than the limit.
type SizeError struct {
	Name  string // name of the file
	Size  int64  // size of the file; 0 if unknown
	Limit int64
}

func (e *SizeError) Error() string {
	if e.Size == 0 {
		return fmt.Sprintf("%s has more than %d bytes", e.Name, e.Limit)
	}
	return fmt.Sprintf("%s has %d bytes, expected at most %d", e.Name, e.Size, e.Limit)
}

// KindError reports that a path names a folder, a pipe, a socket or a device.
type KindError struct {
	Path string
	Mode fs.FileMode
}

func (e *KindError) Error() string { return fmt.Sprintf("%s is not a regular file", e.Path) }

// ReadFile returns the content of a regular file of at most limit bytes. It fails with a
// *KindError if the file is not regular, before it is opened, because opening a pipe waits for
// its writer; with a *SizeError if the file is larger; or with the system's error.
func ReadFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &KindError{path, info.Mode()}
	case info.Size() > limit:
		return nil, &SizeError{path, info.Size(), limit}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var data bytes.Buffer
	data.Grow(int(info.Size()) + bytes.MinRead)
	if _, err := data.ReadFrom(NewReader(f, path, limit)); err != nil { // the file may have grown
		return nil, err
	}
	return data.Bytes(), nil
}

// ReadAll returns all bytes of r, at most limit. If there are more, the error is a *SizeError with
// name.
func ReadAll(r io.Reader, name string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(NewReader(r, name, limit))
	if err != nil {
		return nil, err
	}
	return data, nil
}

// NewReader returns a reader of the first limit bytes of r. If r has more, the reader then fails
// with a *SizeError with name, instead of reporting the end like io.LimitReader.
func NewReader(r io.Reader, name string, limit int64) io.Reader {
	return &reader{r: r, left: limit, tooLarge: &SizeError{Name: name, Limit: limit}}
}

type reader struct {
	r        io.Reader
	left     int64 // bytes that may still be read; -1 after the limit was exceeded
	tooLarge *SizeError
}

// Read implements io.Reader. It reads up to one byte beyond the limit.
func (r *reader) Read(p []byte) (int, error) {
	if r.left < 0 {
		return 0, r.tooLarge
	}
	n, err := r.r.Read(p[:min(int64(len(p)), r.left+1)])
	r.left -= int64(n)
	if r.left < 0 {
		return n - 1, r.tooLarge // does not return the byte beyond the limit
	}
	return n, err
}
