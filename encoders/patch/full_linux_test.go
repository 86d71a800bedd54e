package patch

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestDiskFull checks that on a disk that becomes full no temporary file is left and an existing file is
// unchanged. It needs root to mount a small disk.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	disk := filepath.Join(dir, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=128k"); err != nil {
		t.Skip("no small disk can be mounted:", err)
	}
	defer func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	}()
	old := text(400_000)
	for name, b := range map[string][]byte{"old": old, "new": edit(old, 1), "disk/game": []byte("as it was")} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	if _, err := MakeFile(path("old"), path("new"), path("patch"), Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := ApplyFile(nil, path("old"), path("patch"), path("disk/game"), nil); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v; expected %v", err, syscall.ENOSPC)
	}
	if _, err := MakeFile(path("disk/game"), path("new"), path("disk/patch"), Options{}); err != nil &&
		!errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	_ = os.Remove(path("disk/patch"))
	if got, err := os.ReadFile(path("disk/game")); err != nil || string(got) != "as it was" {
		t.Errorf("%q, %v", got, err)
	}
	if entries, err := os.ReadDir(disk); err != nil || len(entries) != 1 {
		t.Errorf("%v is left behind, %v", entries, err)
	}
}
