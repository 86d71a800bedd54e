//go:build !unix

package patch

import "os"

// mapped is a file in memory, where it cannot be mapped.
type mapped struct{ bytes []byte }

func openMapped(name string) (*mapped, error) {
	b, err := os.ReadFile(name)
	return &mapped{b}, err
}

func (m *mapped) close() {}
