package main

import (
	"io"
	"path/filepath"

	"wirelab/dataset/whole"
	"wirelab/encoders/train"
)

// makeDir makes a folder and those above it, and proves that files can be written
// there: before the work, not after it. made are those that it had to make.
func (a *app) makeDir(dir string) (made []string, err error) {
	made, err = a.disk.MkdirAll(dir)
	if err == nil {
		err = a.disk.Probe(dir)
	}
	if err != nil {
		a.disk.RemoveEmpty(made)
		return nil, unwritable(dir, err)
	}
	return made, nil
}

// writeTogether writes files into dir/folder. They belong together: all of them
// appear, or none.
func (a *app) writeTogether(dir, folder string, files []train.File) error {
	into := filepath.Join(dir, filepath.FromSlash(folder))
	made, err := a.disk.MkdirAll(into)
	if err != nil {
		return unwritable(into, err)
	}
	var entries []whole.Entry
	for _, f := range files {
		entries = append(entries, whole.Entry{Name: f.Name, Write: func(w io.Writer) error {
			_, err := w.Write(f.Data)
			return err
		}})
	}
	if err := a.disk.Group(into, entries); err != nil {
		a.disk.RemoveEmpty(made)
		return readable(err)
	}
	return nil
}
