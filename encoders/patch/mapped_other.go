//go:build !unix

package patch

import (
	"io"
	"os"
)

// mapped is a file that was read into memory, because this system has no mmap.
type mapped struct {
	bytes []byte
	info  os.FileInfo
}

// openMapped reads a regular file.
func openMapped(name string) (*mapped, error) {
	f, info, err := openFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	return &mapped{b, info}, err
}

func (m *mapped) close() {}
