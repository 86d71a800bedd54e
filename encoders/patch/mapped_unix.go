//go:build unix

package patch

import (
	"fmt"
	"os"
	"syscall"
)

// mapped is a file as memory: pages of the file, which the system may drop.
type mapped struct {
	bytes []byte
	info  os.FileInfo
}

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
		return nil, fmt.Errorf("%s: %d bytes are more than this machine can address", name, size)
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: name, Err: err}
	}
	return &mapped{b, info}, nil
}

func (m *mapped) close() {
	if m.bytes != nil {
		_ = syscall.Munmap(m.bytes) // nothing was written
	}
}
