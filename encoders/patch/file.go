package patch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"wirelab/encoders/patch/delta"
	"wirelab/internal/atomicfile"
)

// Errors of files.
var (
	// errChanged: a file was changed while a patch was made of it.
	errChanged = errors.New("the file changed while it was read")
	// ErrNoFile: a folder, a device or a pipe where only a file will do.
	ErrNoFile = errors.New("expected a file")
	// ErrSource: what is to be made would take the place of what it is made of.
	ErrSource = errors.New("it is being read; expected another name for what is made of it")
)

// MakeFile writes to the file patch what makes the file new from the file old. It
// appears when it is complete, or not at all, and is readable only to those who
// can read both files, because it holds their contents.
func MakeFile(old, new, patch string, opt Options) (stats Stats, err error) {
	was, err := openMapped(old)
	if err != nil {
		return stats, err
	}
	defer was.close()
	is, err := openMapped(new)
	if err != nil {
		return stats, err
	}
	defer is.close()
	if err := place(patch, was.info, is.info); err != nil {
		return stats, err
	}
	mode := 0o600 | 0o644&was.info.Mode()&is.info.Mode()
	err = opt.Disk.WriteFile(patch, mode, func(f *atomicfile.File) error {
		w := bufio.NewWriterSize(f, copyBuffer)
		if stats, err = makeMapped(w, was.bytes, is.bytes, opt); err != nil {
			return err
		}
		return w.Flush()
	})
	return stats, noTarget(patch, err)
}

// makeMapped is Make for files that may lose their ends meanwhile: to look there
// is then a fault of the machine.
func makeMapped(w *bufio.Writer, old, new []byte, opt Options) (stats Stats, err error) {
	before := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(before)
	defer func() {
		if r := recover(); r != nil {
			if fault, ok := r.(interface{ Addr() uintptr }); !ok || fault.Addr() == 0 {
				panic(r)
			}
			err = errChanged
		}
	}()
	return Make(w, old, new, opt)
}

// ApplyFile makes the file new of the file old and a patch. The new file is
// written beside its place and moved there, over a file that may be there, when it has
// proved right; it may take the place of the old one. If new is a link, it stays, and
// the file it leads to is replaced. disk is where the new file is written; nil means the machine's.
func ApplyFile(disk *atomicfile.Disk, old, patch, new string, progress Progress) (Header, error) {
	was, info, err := openFile(old)
	if err != nil {
		return Header{}, err
	}
	defer was.Close()
	packed, err := os.Open(patch)
	if err != nil {
		return Header{}, err
	}
	defer packed.Close()
	patchInfo, err := packed.Stat()
	if err != nil {
		return Header{}, err
	}
	if patchInfo.IsDir() { // but it may be a pipe: it is read once
		return Header{}, fmt.Errorf("%s: %w", patch, ErrNoFile)
	}
	if err := place(new, patchInfo); err != nil {
		return Header{}, err
	}
	var h Header
	err = disk.WriteFile(new, info.Mode().Perm(), func(f *atomicfile.File) (err error) {
		if h, err = applyTo(delta.New, f, was, info.Size(), packed, progress); err != nil {
			return fmt.Errorf("%s: %w", patch, err)
		}
		return was.Close() // some systems move nothing to where an open file is
	})
	return h, noTarget(new, err)
}

// noTarget says of a link to nothing that it is no file.
func noTarget(name string, err error) error {
	if errors.Is(err, atomicfile.ErrDangling) {
		return fmt.Errorf("%s is a link to nothing: %w", name, ErrNoFile)
	}
	return err
}

// openFile opens a file to read. What is none is refused before it is opened: a pipe
// would wait for a writer.
func openFile(name string) (*os.File, os.FileInfo, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s: %w", name, ErrNoFile)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// place refuses a name for a new file under which something is that must not give
// way to it: a folder, a device, or a file of which it is made.
func place(name string, made ...os.FileInfo) error {
	info, err := os.Stat(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fmt.Errorf("%s is a directory: %w", name, ErrNoFile)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is a device or a pipe, and would be replaced: %w", name, ErrNoFile)
	}
	for _, of := range made {
		if os.SameFile(info, of) {
			return fmt.Errorf("%s: %w", name, ErrSource)
		}
	}
	return nil
}

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
