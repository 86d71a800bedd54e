package whole

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// tempPattern makes the temporary names, and tempName knows them again: those of today
// and those of patches of the first edition.
const tempPattern = ".wirelab-*.tmp"

var tempName = regexp.MustCompile(`^\.wirelab-[0-9]+(\.tmp)?$`)

// tempAge is how old a temporary file is before it counts as left behind.
const tempAge = 24 * time.Hour

// clean removes what killed processes of the same user left in dir more than a day
// before fresh was made: by the clock of the disk, which is the one that the files were
// marked by. What cannot be removed stays; that is no reason to fail.
func clean(dir, fresh string) {
	now, err := os.Lstat(fresh)
	if err != nil {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !tempName.MatchString(e.Name()) || e.Type()&^fs.ModeDir != 0 {
			continue
		}
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		if err != nil || now.ModTime().Sub(touched(path, info)) < tempAge || !mine(info) || precious(path) {
			continue
		}
		_ = os.RemoveAll(path)
	}
}

// precious reports whether path holds a folder whose replacement was cut off in the
// middle, where a system cannot swap two of them: it is nowhere else.
func precious(path string) bool {
	_, err := os.Lstat(filepath.Join(path, oldName))
	return err == nil
}

// touched returns when path or, if it is a folder, what is in it was last changed: logs
// of a run of days are written all the time, their folder is not.
func touched(path string, info fs.FileInfo) time.Time {
	at := info.ModTime()
	entries, _ := os.ReadDir(path) // none if it is a file
	for _, e := range entries {
		if x, err := e.Info(); err == nil && x.ModTime().After(at) {
			at = x.ModTime()
		}
	}
	return at
}
