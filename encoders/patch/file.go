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
	// errChanged means that mapped memory of an input file could not be read, because the file was truncated
	// while a patch was made from it.
	errChanged = errors.New("an input file was truncated while it was read")
	// ErrNoFile means that a name is that of a directory, a device or a pipe.
	ErrNoFile = errors.New("expected a regular file")
	// ErrSource means that the output would replace a file that it is made from.
	ErrSource = errors.New("the output would replace an input; expected another name")
)

// MakeFile writes to the file patch a patch that makes file new from file old. The patch appears when it is
// complete, or not at all. It contains parts of both files, so it is readable only for users who can read
// both.
func MakeFile(old, new, patch string, opt Options) (stats Stats, err error) {
	oldFile, err := openMapped(old)
	if err != nil {
		return stats, err
	}
	defer oldFile.close()
	newFile, err := openMapped(new)
	if err != nil {
		return stats, err
	}
	defer newFile.close()
	if err := checkTarget(patch, oldFile.info, newFile.info); err != nil {
		return stats, err
	}
	mode := 0o600 | 0o644&oldFile.info.Mode()&newFile.info.Mode() // readable for those who can read both
	err = opt.Disk.WriteFile(patch, mode, func(f *atomicfile.File) error {
		w := bufio.NewWriterSize(f, copyBuffer)
		if stats, err = makeMapped(w, oldFile.bytes, newFile.bytes, opt); err != nil {
			return err
		}
		return w.Flush()
	})
	return stats, danglingError(patch, err)
}

// makeMapped is Make for mapped files. If a mapped file is truncated meanwhile, access to it is a memory
// fault, which makeMapped turns into errChanged.
func makeMapped(w *bufio.Writer, old, new []byte, opt Options) (stats Stats, err error) {
	before := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(before)
	defer func() {
		if r := recover(); r != nil {
			// runtime.Error of a memory fault has the method Addr; other panics are mistakes in the program.
			if fault, ok := r.(interface{ Addr() uintptr }); !ok || fault.Addr() == 0 {
				panic(r)
			}
			err = errChanged
		}
	}()
	return Make(w, old, new, opt)
}

// ApplyFile makes file new from file old and a patch. It writes a temporary file and renames it to new when
// its hash is correct, so an existing file is replaced completely or not at all. new may be the same file as
// old. If new is a symbolic link, the file that it points to is replaced. disk is the file system for the
// new file, nil for that of the operating system. progress may be nil.
func ApplyFile(disk *atomicfile.Disk, old, patch, new string, progress Progress) (Header, error) {
	oldFile, info, err := openFile(old)
	if err != nil {
		return Header{}, err
	}
	defer oldFile.Close()
	packed, err := os.Open(patch)
	if err != nil {
		return Header{}, err
	}
	defer packed.Close()
	patchInfo, err := packed.Stat()
	if err != nil {
		return Header{}, err
	}
	if patchInfo.IsDir() { // a pipe is allowed, because the patch is read only once
		return Header{}, fmt.Errorf("%s: %w", patch, ErrNoFile)
	}
	if err := checkTarget(new, patchInfo); err != nil {
		return Header{}, err
	}
	var h Header
	err = disk.WriteFile(new, info.Mode().Perm(), func(f *atomicfile.File) (err error) {
		if h, err = applyPatch(delta.New, f, oldFile, info.Size(), packed, progress); err != nil {
			return fmt.Errorf("%s: %w", patch, err)
		}
		return oldFile.Close() // Windows cannot rename to the name of an open file
	})
	return h, danglingError(new, err)
}

// danglingError replaces the error of a dangling symbolic link by one that wraps ErrNoFile.
func danglingError(name string, err error) error {
	if errors.Is(err, atomicfile.ErrDangling) {
		return fmt.Errorf("%s is a symbolic link to a file that does not exist: %w", name, ErrNoFile)
	}
	return err
}

// openFile opens a regular file for reading. It checks the type first, because opening a pipe would wait for
// a writer.
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

// checkTarget returns an error if a new file of this name would replace a directory, a device, a pipe, or one of
// the files that it is made from, sources.
func checkTarget(name string, sources ...os.FileInfo) error {
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
		return fmt.Errorf("%s is a device or a pipe: %w", name, ErrNoFile)
	}
	for _, source := range sources {
		if os.SameFile(info, source) {
			return fmt.Errorf("%s: %w", name, ErrSource)
		}
	}
	return nil
}

// errLimit means that the new file is larger than the limit of a buffer.
var errLimit = errors.New("size limit exceeded")

// buffer is a target in memory.
type buffer struct {
	Bytes []byte
	Limit int64 // maximum size of Bytes; 0 means no limit
}

// WriteAt implements io.WriterAt. Skipped bytes are zero.
func (b *buffer) WriteAt(p []byte, at int64) (int, error) {
	end := at + int64(len(p))
	if at < 0 || end < at || b.Limit > 0 && end > b.Limit {
		return 0, fmt.Errorf("%w: %d bytes, expected at most %d", errLimit, end, b.Limit)
	}
	if grow := end - int64(len(b.Bytes)); grow > 0 {
		b.Bytes = append(b.Bytes, make([]byte, grow)...)
	}
	return copy(b.Bytes[at:], p), nil
}

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

// ApplyBytes returns the new file that a patch makes from old. It fails if that has more than limit bytes;
// 0 means no limit. Even a small patch may make a very large file.
func ApplyBytes(old, patch []byte, limit int64) ([]byte, error) {
	out := buffer{Limit: limit}
	if _, err := applyPatch(delta.New, &out, bytes.NewReader(old), int64(len(old)), bytes.NewReader(patch),
		nil); err != nil { // nil: no progress is reported
		return nil, err
	}
	return out.Bytes, nil
}
