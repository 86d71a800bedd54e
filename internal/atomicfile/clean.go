package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// tempPattern makes the temporary names; tempName matches them and those of earlier versions
// of the program (".report.json.7.part").
const tempPattern = ".wirelab-*.tmp"

var tempName = regexp.MustCompile(`^\.(wirelab-[0-9]+(\.tmp)?|.+\.[0-9]{1,10}\.part)$`)

// tempAge is the age from which a temporary file counts as left behind.
const tempAge = 24 * time.Hour

// clean removes the temporary files and folders in dir that killed processes of the same user
// left more than a day before fresh was created. It compares times of the same file system
// and ignores errors.
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
		if err == nil && isMine(info) && now.ModTime().Sub(info.ModTime()) >= tempAge && !holdsOriginal(path) {
			_ = os.RemoveAll(path)
		}
	}
}

// holdsOriginal reports whether the temporary folder at path holds the only copy of something
// that swap was about to replace.
func holdsOriginal(path string) bool {
	entries, _ := os.ReadDir(filepath.Join(path, oldName)) // fails for most
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return isMissing(filepath.Join(filepath.Dir(path), e.Name()))
	})
}

// recover completes a swap of the folder dir that was interrupted between its two steps.
func (d *Disk) recover(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil || !isMissing(dir) {
		return err
	}
	parent, base := filepath.Split(dir)
	entries, _ := os.ReadDir(parent) // fails if nothing can be recovered
	for _, e := range entries {
		tmp := filepath.Join(parent, e.Name())
		info, err := e.Info()
		if err != nil || !e.IsDir() || !tempName.MatchString(e.Name()) || !isMine(info) || isMissing(filepath.Join(tmp, oldName, base)) {
			continue
		}
		if err := d.rename(filepath.Join(tmp, newName), dir); err != nil {
			return err
		}
		return withPath(dir, d.RemoveAll(tmp))
	}
	return nil
}
