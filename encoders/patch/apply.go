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

// target is where a new file is written. It is also read, because the new file is part of the source.
type target interface {
	io.WriterAt
	io.ReaderAt
}

// applyPatch writes to out, which is empty, the new file that the patch makes from an old file of oldSize
// bytes. newModel returns an untrained model. The old file is read once before anything is
// written, to check its hash. After an error the contents of out are invalid. progress may be nil.
func applyPatch(newModel func() *delta.Model, out target, old io.ReaderAt, oldSize int64, patch io.Reader,
	progress Progress) (Header, error) {
	a := &applier{r: bufio.NewReaderSize(patch, 16<<10), out: out, sum: sha256.New(),
		copyBuf: make([]byte, copyBuffer), progress: progress}
	h, err := readHeader(a.r)
	if err != nil {
		return h, err
	}
	a.header = h
	if err := a.checkOld(old, oldSize); err != nil {
		return h, err
	}
	a.source = newWindows(old, oldSize, out)
	a.model = newModel()
	for a.written < h.NewSize {
		if err := a.nextBlock(); err != nil {
			return h, fmt.Errorf("at byte %d of %d: %w", a.written, h.NewSize, err)
		}
	}
	if _, err := a.r.ReadByte(); err == nil {
		return h, fmt.Errorf("%w: bytes after the last block", ErrCorrupt)
	} else if !errors.Is(err, io.EOF) {
		return h, err
	}
	if !bytes.Equal(a.sum.Sum(nil), h.NewHash[:]) {
		return h, fmt.Errorf("%w: SHA-256 %x, expected %x", ErrWrongNew, a.sum.Sum(nil), h.NewHash)
	}
	return h, nil
}

// copyBuffer is the size of buffers for copying files.
const copyBuffer = 64 << 10

// applier applies one patch.
type applier struct {
	header        Header
	r             *bufio.Reader
	out           target
	sum           hash.Hash // hash of the new file so far
	source        *windows
	model         *delta.Model
	written       int64  // bytes of the new file written so far
	cloneDiagonal int64  // address minus position of the last clone
	packet        []byte // memory for the bytes or the packet of a block
	copyBuf       []byte // memory for copying files

	progress Progress // nil if not needed
}

// reportProgress calls progress, if any, and returns its error.
func (a *applier) reportProgress() error {
	if a.progress == nil {
		return nil
	}
	return a.progress(a.written, a.header.NewSize)
}

// checkOld returns an error that wraps ErrWrongOld unless the old file, of size bytes, has the size and the hash
// of the one that the patch is for. It reads the file and reports progress with 0 bytes written.
func (a *applier) checkOld(old io.ReaderAt, size int64) error {
	if size != a.header.OldSize {
		return fmt.Errorf("%w: this one has %d bytes, expected %d", ErrWrongOld, size, a.header.OldSize)
	}
	sum := sha256.New()
	for offset := int64(0); offset < size; {
		b := a.copyBuf[:min(size-offset, copyBuffer)]
		if n, err := old.ReadAt(b, offset); n < len(b) {
			return fmt.Errorf("reading the old file at %d: %w", offset, err)
		}
		sum.Write(b)
		offset += int64(len(b))
		if err := a.reportProgress(); err != nil {
			return err
		}
	}
	if got := sum.Sum(nil); !bytes.Equal(got, a.header.OldHash[:]) {
		return fmt.Errorf("%w: SHA-256 %x, expected %x", ErrWrongOld, got, a.header.OldHash)
	}
	return nil
}

// write appends b to the new file and reports the progress; an error of the progress function stops the caller.
// A clone, which is a block that copies a range of the source, may have any size, so its bytes are written in
// several calls.
func (a *applier) write(b []byte) error {
	if _, err := a.out.WriteAt(b, a.written); err != nil {
		return fmt.Errorf("writing the new file: %w", err)
	}
	a.sum.Write(b)
	a.written += int64(len(b))
	a.source.setNewSize(a.written)
	return a.reportProgress()
}

// nextBlock reads the next block of the patch and appends the bytes that the block makes to the new file. A block
// begins with a number: the mode in the lowest two bits, the number of bytes above them.
func (a *applier) nextBlock() error {
	head, err := readNumber(a.r)
	if err != nil {
		return err
	}
	n, mode := head>>2, head&3
	if n == 0 || n > a.header.NewSize-a.written {
		return fmt.Errorf("%w: block of %d bytes, but %d are left", ErrCorrupt, n, a.header.NewSize-a.written)
	}
	if mode != modeClone && n > delta.MaxBlock {
		return fmt.Errorf("%w: block of %d bytes, expected at most %d", ErrCorrupt, n, delta.MaxBlock)
	}
	switch mode {
	case modeRaw:
		return a.applyRaw(int(n))
	case modeClone:
		return a.applyClone(n)
	case modePatch:
		return a.applyPacket(int(n))
	}
	return fmt.Errorf("%w: unknown block mode %d", ErrCorrupt, mode)
}

// readPacket reads n bytes of the patch, at most delta.MaxBlock.
func (a *applier) readPacket(n int) ([]byte, error) {
	if a.packet == nil {
		a.packet = make([]byte, delta.MaxBlock)
	}
	if _, err := io.ReadFull(a.r, a.packet[:n]); err != nil {
		return nil, truncatedError(err)
	}
	return a.packet[:n], nil
}

// applyRaw appends to the new file n bytes that the patch contains.
func (a *applier) applyRaw(n int) error {
	b, err := a.readPacket(n)
	if err != nil {
		return err
	}
	a.model.Skip(int64(n), b)
	return a.write(b)
}

// applyPacket appends to the new file n bytes that a packet of package delta makes.
func (a *applier) applyPacket(n int) error {
	size, err := readNumber(a.r)
	if err != nil {
		return err
	}
	if size >= int64(n) { // Make then writes a raw block
		return fmt.Errorf("%w: packet of %d bytes for a block of %d, expected fewer", ErrCorrupt, size, n)
	}
	packet, err := a.readPacket(int(size))
	if err != nil {
		return err
	}
	block, err := a.model.Decode(packet, n, a.source)
	if errors.Is(err, delta.ErrCorrupt) {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if err != nil {
		return err
	}
	return a.write(block)
}

// applyClone appends to the new file n bytes that are equal to a range of the source.
func (a *applier) applyClone(n int64) error {
	diagonalChange, err := readNumber(a.r)
	if err != nil {
		return err
	}
	a.cloneDiagonal += unzigzag(diagonalChange)
	from := a.written + a.cloneDiagonal
	if _, left := a.source.Locate(from); left < n {
		return fmt.Errorf("%w: clone of %d bytes from address %d, but the file has only %d bytes from there on", ErrCorrupt,
			n, from, left)
	}
	file, offset := a.source.fileAt(from)
	for left := n; left > 0; {
		b := a.copyBuf[:min(left, copyBuffer)]
		if k, err := file.ReadAt(b, offset); k < len(b) {
			return fmt.Errorf("reading the source at offset %d: %w", offset, err)
		}
		tail := b // the bytes that the model gets
		if int64(len(b)) <= left-delta.History {
			tail = nil // too early to be part of the model's history
		}
		a.model.Skip(int64(len(b)), tail)
		if err := a.write(b); err != nil {
			return err
		}
		offset += int64(len(b))
		left -= int64(len(b))
	}
	a.model.Follow(from + n)
	return nil
}

// windowCount is the number of windows that are cached.
const windowCount = 8

// windows is a delta.Source in files. It caches the windows that were used last.
type windows struct {
	old, new         io.ReaderAt
	oldSize, newSize int64
	list             [windowCount]window // the last used first
}

// window is a part of a file: a unit of delta.Core bytes with its margins.
type window struct {
	buf    []byte
	n      int   // bytes in buf
	coreID int64 // offset/delta.Core; with all bits inverted for the new file
	first  int64 // offset of buf[0] in the file
	limit  int64 // size of the file when the window was read
}

// newWindows returns a source of an old file of size bytes and an empty new file.
func newWindows(old io.ReaderAt, size int64, new io.ReaderAt) *windows {
	return &windows{old: old, new: new, oldSize: size}
}

// setNewSize sets the number of bytes written of the new file.
func (s *windows) setNewSize(size int64) { s.newSize = size }

// Locate implements delta.Source: it returns the offset of an address in its file, and the number of bytes from there
// to the end of the file. Addresses of the new file follow those of the old one.
func (s *windows) Locate(at int64) (offset, left int64) {
	if at < 0 {
		return 0, 0
	}
	if at < s.oldSize {
		return at, s.oldSize - at
	}
	at -= s.oldSize
	return at, max(s.newSize-at, 0)
}

// fileAt returns the file that contains an address, and the offset in it.
func (s *windows) fileAt(at int64) (io.ReaderAt, int64) {
	if at < s.oldSize {
		return s.old, at
	}
	return s.new, at - s.oldSize
}

// View implements delta.Source. It moves the window that it returns to the front of the list, and reads a new one
// into the memory of the window that was used longest ago. It does not need the number of bytes, because a window
// has all bytes up to the next multiple of delta.Core.
func (s *windows) View(at int64, _ int) ([]byte, int, error) {
	file, offset := s.fileAt(at)
	size, core := s.oldSize, offset/delta.Core
	if at >= s.oldSize { // ids of cores of the new file are negative
		size, core = s.newSize, ^core
	}
	i := 0
	for i < windowCount-1 && (s.list[i].n == 0 || s.list[i].coreID != core) {
		i++
	}
	w := s.list[i]
	copy(s.list[1:i+1], s.list[:i])
	// A window that ended at the end of the new file is read again after the file has grown.
	if w.n == 0 || w.coreID != core || w.limit != size && w.first+int64(len(w.buf)) > w.limit {
		if err := w.read(file, core, offset/delta.Core*delta.Core, size); err != nil {
			s.list[0] = window{buf: w.buf} // an empty window, which is never found; its memory is used again
			return nil, 0, err
		}
	}
	s.list[0] = w
	return w.buf[:w.n], int(offset - w.first), nil
}

// read fills the window with the core id, the delta.Core bytes from offset begin of a file of size bytes, and with
// up to delta.Before bytes before them and delta.After bytes after them.
func (w *window) read(file io.ReaderAt, id, begin, size int64) error {
	if w.buf == nil {
		w.buf = make([]byte, delta.Before+delta.Core+delta.After)
	}
	w.coreID, w.limit = id, size
	w.first = max(begin-delta.Before, 0)
	w.n = int(min(begin+delta.Core+delta.After, size) - w.first)
	if n, err := file.ReadAt(w.buf[:w.n], w.first); n < w.n {
		return fmt.Errorf("reading the source at offset %d: %w", w.first, err)
	}
	return nil
}
