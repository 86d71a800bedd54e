package patch

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"wirelab/encoders/patch/delta"
)

// target is where a new file is written, and read again where it repeats itself.
type target interface {
	io.WriterAt
	io.ReaderAt
}

// applyTo writes to out, which is empty, what the patch makes of an old file of oldSize bytes, with
// a model that newModel returns for the profile. The old file is read twice: first to check that it
// is the right one, before anything is written. After an error the contents of out are invalid.
// Progress may be nil.
func applyTo(newModel func(fast bool) *delta.Model, out target, old io.ReaderAt, oldSize int64, patch io.Reader,
	progress Progress) (Header, error) {
	a := &applier{r: bufio.NewReaderSize(patch, 16<<10), out: out, sum: sha256.New(), copies: make([]byte, copyBuffer), progress: progress}
	h, err := readHeader(a.r)
	if err != nil {
		return h, err
	}
	a.header = h
	if err := a.checkOld(old, oldSize); err != nil {
		return h, err
	}
	a.src = newWindows(old, oldSize, out)
	a.coder = newModel(h.Fast)
	for a.at < h.NewSize {
		if err := a.next(); err != nil {
			return h, fmt.Errorf("at byte %d of %d: %w", a.at, h.NewSize, err)
		}
	}
	if _, err := a.r.ReadByte(); err == nil {
		return h, fmt.Errorf("%w: it goes on behind its end", ErrCorrupt)
	} else if !errors.Is(err, io.EOF) {
		return h, err
	}
	if !bytes.Equal(a.sum.Sum(nil), h.NewHash[:]) {
		return h, fmt.Errorf("%w: its SHA-256 is %x; expected %x", ErrWrongNew, a.sum.Sum(nil), h.NewHash)
	}
	return h, nil
}

const copyBuffer = 64 << 10

type applier struct {
	header Header
	r      *bufio.Reader
	out    target
	sum    hash.Hash // of the new file
	src    *windows
	coder  *delta.Model
	at     int64 // bytes of the new file that are there
	cloned int64 // address less position of the last clone
	packet []byte
	copies []byte

	progress Progress
}

// report reports the progress, and returns the error that ends the work.
func (a *applier) report() error {
	if a.progress == nil {
		return nil
	}
	return a.progress(a.at, a.header.NewSize)
}

// checkOld compares the old file with the one that the patch is for.
func (a *applier) checkOld(old io.ReaderAt, size int64) error {
	if size != a.header.OldSize {
		return fmt.Errorf("%w: it has %d bytes; expected %d", ErrWrongOld, size, a.header.OldSize)
	}
	sum := sha256.New()
	for at := int64(0); at < size; {
		b := a.copies[:min(size-at, copyBuffer)]
		if n, err := old.ReadAt(b, at); n < len(b) {
			return fmt.Errorf("reading the old file at %d: %w", at, err)
		}
		sum.Write(b)
		at += int64(len(b))
		if err := a.report(); err != nil {
			return err
		}
	}
	if got := sum.Sum(nil); !bytes.Equal(got, a.header.OldHash[:]) {
		return fmt.Errorf("%w: its SHA-256 is %x; expected %x", ErrWrongOld, got, a.header.OldHash)
	}
	return nil
}

// write appends to the new file. It reports as well: a clone of a few bytes may make
// any number of them, and who wants to stop it must not have to wait for its end.
func (a *applier) write(b []byte) error {
	if _, err := a.out.WriteAt(b, a.at); err != nil {
		return fmt.Errorf("writing the new file: %w", err)
	}
	a.sum.Write(b)
	a.at += int64(len(b))
	a.src.grow(a.at)
	return a.report()
}

// next makes the next block.
func (a *applier) next() error {
	head, err := readNumber(a.r)
	if err != nil {
		return err
	}
	n, mode := head>>2, head&3
	if n == 0 || n > a.header.NewSize-a.at {
		return fmt.Errorf("%w: a block of %d bytes where %d are left", ErrCorrupt, n, a.header.NewSize-a.at)
	}
	if mode != modeClone && n > delta.MaxBlock {
		return fmt.Errorf("%w: a block of %d bytes; expected at most %d", ErrCorrupt, n, delta.MaxBlock)
	}
	switch mode {
	case modeRaw:
		return a.raw(int(n))
	case modeClone:
		return a.clone(n)
	case modePatch:
		return a.patch(int(n))
	}
	return fmt.Errorf("%w: a block of mode %d", ErrCorrupt, mode)
}

// read reads n bytes of the patch, at most delta.MaxBlock.
func (a *applier) read(n int) ([]byte, error) {
	if a.packet == nil {
		a.packet = make([]byte, delta.MaxBlock)
	}
	if _, err := io.ReadFull(a.r, a.packet[:n]); err != nil {
		return nil, early(err)
	}
	return a.packet[:n], nil
}

func (a *applier) raw(n int) error {
	b, err := a.read(n)
	if err != nil {
		return err
	}
	a.coder.Skip(int64(n), b)
	return a.write(b)
}

func (a *applier) patch(n int) error {
	size, err := readNumber(a.r)
	if err != nil {
		return err
	}
	if size >= int64(n) {
		return fmt.Errorf("%w: a packet of %d bytes for a block of %d", ErrCorrupt, size, n)
	}
	packet, err := a.read(int(size))
	if err != nil {
		return err
	}
	block, err := a.coder.Decode(packet, n, a.src)
	if errors.Is(err, delta.ErrCorrupt) {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if err != nil {
		return err
	}
	return a.write(block)
}

// clone makes n bytes that lie in the source.
func (a *applier) clone(n int64) error {
	by, err := readNumber(a.r)
	if err != nil {
		return err
	}
	a.cloned += unzigzag(by)
	from := a.at + a.cloned
	if _, left := a.src.Locate(from); left < n {
		return fmt.Errorf("%w: a clone of %d bytes from address %d, where %d are", ErrCorrupt, n, from, left)
	}
	file, place := a.src.file(from)
	for left := n; left > 0; {
		b := a.copies[:min(left, copyBuffer)]
		if k, err := file.ReadAt(b, place); k < len(b) {
			return fmt.Errorf("reading at %d: %w", place, err)
		}
		tail := b
		if int64(len(b)) <= left-delta.History {
			tail = nil // too far back: only counted
		}
		a.coder.Skip(int64(len(b)), tail)
		if err := a.write(b); err != nil {
			return err
		}
		place += int64(len(b))
		left -= int64(len(b))
	}
	a.coder.Follow(from + n)
	return nil
}

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

// grow sets how much of the new file is there.
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
