package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// tempPattern makes the temporary names, and tempName knows them again: those of today
// and, of the first edition, those of patches and of other files (".report.json.7.part").
const tempPattern = ".wirelab-*.tmp"

var tempName = regexp.MustCompile(`^\.(wirelab-[0-9]+(\.tmp)?|.+\.[0-9]{1,10}\.part)$`)

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
	entries, _ := os.ReadDir(filepath.Join(path, oldName)) // none: there is no such folder
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		_, err := os.Lstat(filepath.Join(filepath.Dir(path), e.Name()))
		return err != nil
	})
}

// recover puts a folder back whose replacement was cut off in the middle: the new one,
// which was complete by then.
func (d *Disk) recover(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Dir(dir)) // none: there is nothing to put back
	for _, e := range entries {
		tmp := filepath.Join(filepath.Dir(dir), e.Name())
		info, err := e.Info()
		if err != nil || !e.IsDir() || !tempName.MatchString(e.Name()) || !mine(info) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(tmp, oldName, filepath.Base(dir))); err != nil {
			continue
		}
		if err := d.rename(filepath.Join(tmp, newName), dir); err != nil {
			return about(dir, err)
		}
		return about(dir, d.RemoveAll(tmp))
	}
	return nil
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
