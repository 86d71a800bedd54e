package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Op is an operation that changes what is on a disk.
type Op string

// The operations. All that read are left out: they change nothing.
const (
	Mkdir  Op = "mkdir"
	Create Op = "create"
	Write  Op = "write"
	Chmod  Op = "chmod"
	Sync   Op = "sync"
	Close  Op = "close"
	Link   Op = "link"
	Rename Op = "rename"
	Remove Op = "remove"
)

// Disk carries out the operations. A nil Disk is the machine's own, and so is the
// zero value. It may be used by several goroutines if Before may.
type Disk struct {
	// Before is asked before each operation, in tests: an error takes the place of the
	// operation.
	Before func(op Op, path string) error
	// NoExchange: two folders cannot be swapped in one step, as on Windows.
	NoExchange bool
}

// exchange swaps two folders in one step, where that can be.
func (d *Disk) exchange(a, b string) error {
	if d != nil && d.NoExchange {
		return errors.ErrUnsupported
	}
	return exchange(a, b)
}

// fault is what Before says, with the operation and the name.
func (d *Disk) fault(op Op, path string) error {
	if d == nil || d.Before == nil {
		return nil
	}
	if err := d.Before(op, path); err != nil {
		return &fs.PathError{Op: string(op), Path: path, Err: err}
	}
	return nil
}

// about names path in an error, instead of the temporary name that failed.
func about(path string, err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &le):
		return &fs.PathError{Op: le.Op, Path: path, Err: le.Err}
	case errors.As(err, &pe):
		return &fs.PathError{Op: pe.Op, Path: path, Err: pe.Err}
	}
	return err
}

// MkdirAll makes dir and the folders above it, as far as they are missing, and returns
// those that it made, the outermost first. After an error none is left.
func (d *Disk) MkdirAll(dir string) (made []string, err error) {
	for up := filepath.Clean(dir); ; up = filepath.Dir(up) {
		if _, err := os.Stat(up); !errors.Is(err, fs.ErrNotExist) || up == filepath.Dir(up) {
			break
		}
		made = append([]string{up}, made...)
	}
	if err := d.fault(Mkdir, dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		d.RemoveEmpty(made)
		return nil, about(dir, err)
	}
	return made, nil
}

// RemoveEmpty removes those folders that are empty, the last first.
func (d *Disk) RemoveEmpty(dirs []string) {
	for i := len(dirs) - 1; i >= 0; i-- {
		_ = d.twice(dirs[i], os.Remove) // fails, as it should, where something was written
	}
}

// NewDir makes one new folder; the error is fs.ErrExist if it is there already.
func (d *Disk) NewDir(path string) error {
	if err := d.fault(Mkdir, path); err != nil {
		return err
	}
	return os.Mkdir(path, 0o755)
}

// RemoveAll removes what is at path, with all below it.
func (d *Disk) RemoveAll(path string) error { return d.twice(path, os.RemoveAll) }

// twice tries to remove path two times: what is left would be left for a day.
func (d *Disk) twice(path string, remove func(string) error) (err error) {
	for range 2 {
		if err = d.fault(Remove, path); err == nil {
			err = remove(path)
		}
		if err == nil {
			return nil
		}
	}
	return err
}

// rename moves a file or folder within a disk.
func (d *Disk) rename(from, to string) error {
	if err := d.fault(Rename, to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// renameBack undoes a rename, in two tries: what fails twice cannot be helped.
func (d *Disk) renameBack(from, to string) {
	if d.rename(from, to) != nil {
		_ = d.rename(from, to)
	}
}

// TempDir makes a folder for what is needed for a while, among the machine's other
// temporary files.
func (d *Disk) TempDir() (string, error) { return d.tempDir(os.TempDir()) }

// tempDir makes a folder under a temporary name.
func (d *Disk) tempDir(parent string) (string, error) {
	if err := d.fault(Mkdir, parent); err != nil {
		return "", err
	}
	name, err := os.MkdirTemp(parent, tempPattern)
	if err != nil {
		return "", about(parent, err)
	}
	clean(parent, name)
	return name, nil
}

// Probe says whether files can be written into dir.
func (d *Disk) Probe(dir string) error {
	f, err := d.Create(filepath.Join(dir, "probe"))
	if err != nil {
		return about(dir, err)
	}
	return about(dir, f.Abort())
}
