//go:build !unix

package patch

import (
	"io"
	"os"
)

// mapped is a file in memory, where it cannot be mapped.
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
	b, err := io.ReadAll(f)
	return &mapped{b, info}, err
}

func (m *mapped) close() {}
