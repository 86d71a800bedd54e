package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"wirelab/encoders/train"
)

// madeDirs are the folders that makeDir had to make, outermost first.
type madeDirs []string

// undo removes those that are empty still.
func (m madeDirs) undo() {
	for i := len(m) - 1; i >= 0; i-- {
		_ = os.Remove(m[i]) // fails, as it should, where something was written
	}
}

// makeDir makes a folder and those above it, and proves that files can be written
// there: before the work, not after it.
func makeDir(dir string) (made madeDirs, err error) {
	for up := filepath.Clean(dir); ; up = filepath.Dir(up) {
		if _, err := os.Stat(up); !errors.Is(err, os.ErrNotExist) || up == filepath.Dir(up) {
			break
		}
		made = append(madeDirs{up}, made...)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		made.undo()
		return nil, unwritable(dir, err)
	}
	probe, err := os.CreateTemp(dir, ".wirelab-*")
	if err != nil {
		made.undo()
		return nil, unwritable(dir, err)
	}
	return made, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// writeTogether writes files into dir/folder. They belong together: all are
// written beside their places first, and only then renamed there.
func writeTogether(dir, folder string, files []train.File) (err error) {
	into := filepath.Join(dir, filepath.FromSlash(folder))
	if err := os.MkdirAll(into, 0o755); err != nil {
		return unwritable(into, err)
	}
	var temporary []string
	defer func() {
		for _, name := range temporary {
			_ = os.Remove(name) // gone already where all went well
		}
	}()
	for _, f := range files {
		if filepath.Base(f.Name) != f.Name {
			panic(fmt.Sprintf("tui: a trainer calls a file %q, which is no plain name", f.Name))
		}
		name, err := writeBeside(into, f)
		if err != nil {
			return unwritable(filepath.Join(into, f.Name), err)
		}
		temporary = append(temporary, name)
	}
	for i, f := range files {
		path := filepath.Join(into, f.Name)
		if err := os.Rename(temporary[i], path); err != nil {
			return unwritable(path, err)
		}
	}
	return nil
}

// writeBeside writes a file under a temporary name and returns that.
func writeBeside(dir string, f train.File) (name string, err error) {
	tmp, err := os.CreateTemp(dir, "."+f.Name+".*.part")
	if err != nil {
		return "", err
	}
	_, err = tmp.Write(f.Data)
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err != nil {
		_ = os.Remove(tmp.Name())
		return "", err
	}
	return tmp.Name(), nil
}
