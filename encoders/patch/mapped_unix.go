//go:build unix

package patch

import (
	"fmt"
	"os"
	"syscall"
)

// mapped is a file mapped into memory. Its pages are read on access, and the system may drop them.
type mapped struct {
	bytes []byte // contents of the file; nil if the file is empty
	info  os.FileInfo
}

// openMapped maps a regular file into memory. An empty file is not mapped: its bytes are nil.
func openMapped(name string) (*mapped, error) {
	f, info, err := openFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := info.Size()
	switch {
	case size == 0:
		return &mapped{info: info}, nil
	case size != int64(int(size)):
		return nil, fmt.Errorf("%s: a file of %d bytes exceeds the address space", name, size)
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: name, Err: err}
	}
	return &mapped{b, info}, nil
}

// close unmaps the file.
func (m *mapped) close() {
	if m.bytes != nil {
		_ = syscall.Munmap(m.bytes) // the mapping is read-only, so no error can lose data
	}
}
