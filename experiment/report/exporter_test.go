package report_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"wirelab/internal/atomicfile"
)

// A file whose writer fails is not left incomplete.
func TestExporterIsAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := (*atomicfile.Disk)(nil).Group(dir, []atomicfile.Entry{{Name: "f", Write: writePartially}}); err == nil {
		t.Fatal("no error")
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data) != "old" {
		t.Errorf("%q, %v", data, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files are left behind", len(left))
	}
}

func writePartially(w io.Writer) error {
	if _, err := io.WriteString(w, "half"); err != nil {
		return err
	}
	return errors.New("disk full")
}
