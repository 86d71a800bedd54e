//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// isMine reports whether a file belongs to the user of this process.
func isMine(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

// isMount reports whether path is on another file system than its parent.
func isMount(path string) bool {
	var at, above syscall.Stat_t
	err, err2 := syscall.Stat(path, &at), syscall.Stat(filepath.Dir(path), &above)
	return err == nil && err2 == nil && at.Dev != above.Dev
}
