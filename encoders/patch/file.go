package patch

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
)

// ErrChanged: a file was changed, by someone else, while a patch was made of it.
var ErrChanged = errors.New("the file changed while it was read")

// MakeFile writes to the file patch what makes the file new from the file old. It
// appears when it is complete, or not at all.
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
	err = whole(patch, 0o644, func(f *os.File) error {
		w := bufio.NewWriterSize(f, copyBuffer)
		if stats, err = makeMapped(w, was.bytes, is.bytes, opt); err != nil {
			return err
		}
		return w.Flush()
	})
	return stats, err
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
			err = ErrChanged
		}
	}()
	return Make(w, old, new, opt)
}

// ApplyFile makes the file new of the file old and a patch. The new file is
// written beside its place and moved there, over what may be there, when it has
// proved right; it may take the place of the old one.
func ApplyFile(old, patch, new string, progress Progress) (Header, error) {
	was, err := os.Open(old)
	if err != nil {
		return Header{}, err
	}
	defer was.Close()
	info, err := was.Stat()
	if err != nil {
		return Header{}, err
	}
	if !info.Mode().IsRegular() {
		return Header{}, fmt.Errorf("%s: expected a file", old)
	}
	delta, err := os.Open(patch)
	if err != nil {
		return Header{}, err
	}
	defer delta.Close()
	var h Header
	err = whole(new, info.Mode().Perm(), func(f *os.File) (err error) {
		if h, err = Apply(f, was, info.Size(), delta, progress); err != nil {
			return fmt.Errorf("%s: %w", patch, err)
		}
		return nil
	})
	return h, err
}

// whole makes a file of what fill writes, or leaves everything as it was.
func whole(name string, mode os.FileMode, fill func(*os.File) error) (err error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory; expected the name of a file", name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if fault := (*os.PathError)(nil); errors.As(err, &fault) {
		return &os.PathError{Op: fault.Op, Path: name, Err: fault.Err} // the caller knows this name
	} else if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := fill(f); err != nil {
		return err
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
