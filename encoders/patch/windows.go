package patch

import (
	"fmt"
	"io"

	"wirelab/encoders/patch/delta"
)

const windowCount = 8

// windows is a source that lies in files, of which it holds a few pieces: those
// that were looked at last.
type windows struct {
	old, new         io.ReaderAt
	oldSize, newSize int64
	list             [windowCount]window // the last used first
}

// window is a core of a file with its margins.
type window struct {
	buf   []byte
	n     int   // bytes in buf
	core  int64 // its number: address/delta.Core of the old file, or ^ of the new one's
	first int64 // place of buf[0]
	limit int64 // size of the file when it was read
}

func newWindows(old io.ReaderAt, size int64, new io.ReaderAt) *windows {
	return &windows{old: old, new: new, oldSize: size}
}

// grow says how much of the new file is there.
func (s *windows) grow(size int64) { s.newSize = size }

// Locate is as delta.Source says.
func (s *windows) Locate(at int64) (place, left int64) {
	if at < 0 {
		return 0, 0
	}
	if at < s.oldSize {
		return at, s.oldSize - at
	}
	at -= s.oldSize
	return at, max(s.newSize-at, 0)
}

// file returns the file of an address that Locate knows, and the place in it.
func (s *windows) file(at int64) (io.ReaderAt, int64) {
	if at < s.oldSize {
		return s.old, at
	}
	return s.new, at - s.oldSize
}

// View is as delta.Source says.
func (s *windows) View(at int64, _ int) ([]byte, int, error) {
	file, place := s.file(at)
	size, core := s.oldSize, place/delta.Core
	if at >= s.oldSize {
		size, core = s.newSize, ^core
	}
	i := 0
	for i < windowCount-1 && (s.list[i].n == 0 || s.list[i].core != core) {
		i++
	}
	w := s.list[i]
	copy(s.list[1:i+1], s.list[:i])
	// One that was cut by the end of the file as it was holds less than it should.
	if w.n == 0 || w.core != core || w.limit != size && w.first+int64(len(w.buf)) > w.limit {
		if err := w.read(file, core, place/delta.Core*delta.Core, size); err != nil {
			s.list[0] = window{buf: w.buf}
			return nil, 0, err
		}
	}
	s.list[0] = w
	return w.buf[:w.n], int(place - w.first), nil
}

// read fills a window with the core that begins at a place of a file.
func (w *window) read(file io.ReaderAt, core, begin, size int64) error {
	if w.buf == nil {
		w.buf = make([]byte, delta.Before+delta.Core+delta.After)
	}
	w.core, w.limit = core, size
	w.first = max(begin-delta.Before, 0)
	w.n = int(min(begin+delta.Core+delta.After, size) - w.first)
	if n, err := file.ReadAt(w.buf[:w.n], w.first); n < w.n {
		return fmt.Errorf("reading at %d: %w", w.first, err)
	}
	return nil
}
