package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// What is in the temporary folder while something is written: the new folder; the one that
// was there before, below old, where it alone may be; of files, second names.
const newName, oldName, keptName = "new", "old", "kept"

// writeInto writes the files into a folder that nobody knows yet. Errors speak of the
// folder that they are for.
func (d *Disk) writeInto(dir, as string, entries []Entry) error {
	for _, e := range entries {
		if filepath.Base(e.Name) != e.Name {
			panic(fmt.Sprintf("whole: %q is no plain name", e.Name))
		}
		path := filepath.Join(as, e.Name)
		var err error
		if e.Log != nil {
			err = e.Log.put(filepath.Join(dir, e.Name), path, e.Write)
		} else {
			err = d.writeNew(filepath.Join(dir, e.Name), path, e)
		}
		if err != nil {
			return about(path, err)
		}
	}
	return nil
}

func (d *Disk) writeNew(path, as string, e Entry) error {
	if err := d.fault(Create, as); err != nil {
		return err
	}
	tmp, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	f := &File{disk: d, path: as, tmp: tmp}
	w := bufio.NewWriterSize(f, 1<<16)
	if err := e.Write(w); err != nil {
		_ = tmp.Close()
		return err
	}
	err = w.Flush()
	if err == nil {
		err = f.finish(0o644)
	}
	_ = tmp.Close() // closed already, unless there was an error
	return err
}

// Group writes files into dir, where others may be: all of them, or after an error none.
// All are written first and then renamed one by one. A crash between two renames leaves
// some of both states, each file whole; where that must not be, write a Folder.
func (d *Disk) Group(dir string, entries []Entry) (err error) {
	tmp, err := d.tempDir(dir)
	if err != nil {
		return about(dir, err)
	}
	defer func() { err = errors.Join(err, about(dir, d.RemoveAll(tmp))) }()
	if err := d.writeInto(tmp, dir, entries); err != nil {
		return err
	}
	kept := filepath.Join(tmp, keptName)
	if err := d.NewDir(kept); err != nil {
		return about(dir, err)
	}
	for i, e := range entries {
		path := filepath.Join(dir, e.Name)
		err := d.keep(path, filepath.Join(kept, e.Name))
		if err == nil {
			err = d.rename(filepath.Join(tmp, e.Name), path)
		}
		if err != nil {
			d.restore(dir, kept, entries[:i+1])
			return about(path, err)
		}
	}
	return nil
}

// keep gives the file at path a second name, or that name alone on a disk that knows no
// links.
func (d *Disk) keep(path, second string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if d.fault(Link, path) == nil && os.Link(path, second) == nil {
		return nil
	}
	return d.rename(path, second)
}

// restore puts back what was kept, and removes what was not there before.
func (d *Disk) restore(dir, kept string, entries []Entry) {
	for _, e := range entries {
		path, second := filepath.Join(dir, e.Name), filepath.Join(kept, e.Name)
		if _, err := os.Lstat(second); err != nil {
			_ = d.RemoveAll(path)
		} else {
			d.renameBack(second, path)
		}
	}
}
