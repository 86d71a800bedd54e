package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// tempPattern is the pattern of temporary names, for os.CreateTemp and os.MkdirTemp.
const tempPattern = ".wirelab-*.tmp"

// tempName matches names of tempPattern.
var tempName = regexp.MustCompile(`^\.wirelab-[0-9]+(\.tmp)?$`)

// tempAge is the age from which a temporary file counts as left behind.
const tempAge = 24 * time.Hour

// removeLeftovers removes temporary files and folders in dir that were left by killed processes of
// the same user, if they are at least tempAge older than fresh, a file just created. Comparing with
// fresh avoids differences between the clocks of the file system and of the machine. Errors are
// ignored.
func removeLeftovers(dir, fresh string) {
	now, err := os.Lstat(fresh)
	if err != nil {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !tempName.MatchString(e.Name()) || e.Type()&^fs.ModeDir != 0 { // neither a file nor a folder, such as a link or a pipe
			continue
		}
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		if err == nil && isMine(info) && now.ModTime().Sub(info.ModTime()) >= tempAge && !hasOriginal(path) {
			_ = os.RemoveAll(path)
		}
	}
}

// hasOriginal reports whether the temporary folder at path contains the only copy of a file or
// folder that swap was about to replace.
func hasOriginal(path string) bool {
	entries, _ := os.ReadDir(filepath.Join(path, oldName)) // most temporary files have no such folder, which gives no entries
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return isMissing(filepath.Join(filepath.Dir(path), e.Name()))
	})
}

// completeSwap completes a swap of the folder dir that was interrupted between its two steps.
func (d *Disk) completeSwap(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil || !isMissing(dir) {
		return err
	}
	parent, base := filepath.Split(dir)
	entries, _ := os.ReadDir(parent) // without the parent, nothing can be recovered
	for _, e := range entries {
		tmp := filepath.Join(parent, e.Name())
		info, err := e.Info()
		if err != nil || !e.IsDir() || !tempName.MatchString(e.Name()) || !isMine(info) || isMissing(filepath.Join(tmp, oldName, base)) {
			continue
		}
		lock, err := d.lock(filepath.Join(tmp, newName))
		if err != nil { // a process is between the two steps
			return withPath(dir, err)
		}
		d.unlock(lock, filepath.Join(tmp, newName))
		if err := d.rename(filepath.Join(tmp, newName), dir); err != nil {
			return err
		}
		return withPath(dir, d.RemoveAll(tmp))
	}
	return nil
}
