package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Errors of folders.
var (
	// ErrHeld: the folder holds what somebody else has written.
	ErrHeld = errors.New("holds the results of another run")
	// ErrMixed: it cannot be written anew, for it holds other things as well.
	ErrMixed = errors.New("holds the results of another run, and other files as well")
	// ErrFixed: it cannot be written anew, for it cannot give way to another folder.
	ErrFixed = errors.New("holds the results of another run, and cannot be replaced as a whole")
)

// Folder is a folder that holds the results of one run. Each Write puts a complete new
// folder in the place of what was there, in one step. Where others' files are in it, or
// where it cannot be replaced (a mount, the working directory, in a folder that may not
// be written), the files are written together one by one; never over another run's.
type Folder struct {
	disk    *Disk
	path    string            // absolute, links followed
	ours    func(string) bool // names that results have
	force   bool              // another run's results may go
	own     bool              // what is there was written by this
	inPlace bool              // it cannot be swapped
	beside  string            // the temporary folder of its logs; "": none
	logs    []*Log            // that have files
	made    []string          // folders that Open had to make, until something is written
}

// Open takes dir, which is made if it is missing, as the folder of a run. ours knows
// the names that results have. With others' results in it that is ErrHeld, unless force.
func (d *Disk) Open(dir string, ours func(name string) bool, force bool) (*Folder, error) {
	if err := d.recover(dir); err != nil {
		return nil, err
	}
	made, err := d.MkdirAll(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{disk: d, ours: ours, force: force, made: made}
	if f.path, err = filepath.Abs(dir); err == nil {
		f.path, err = filepath.EvalSymlinks(f.path)
	}
	if err == nil {
		err = d.Probe(f.path)
	}
	if err == nil {
		f.inPlace = isWorkingDir(f.path) || isMount(f.path)
		err = f.look()
	}
	if err != nil {
		d.RemoveEmpty(made)
		return nil, err
	}
	return f, nil
}

func isWorkingDir(path string) bool {
	a, err := os.Stat(path)
	b, err2 := os.Stat(".")
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// look sees what is in the folder, and whether it may be written over.
func (f *Folder) look() error {
	entries, err := os.ReadDir(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody took it away
	} else if err != nil {
		return err
	}
	held, foreign := "", ""
	for _, e := range entries {
		switch {
		case f.ours(e.Name()):
			held = e.Name()
		case !tempName.MatchString(e.Name()):
			foreign = e.Name()
		}
	}
	f.inPlace = f.inPlace || foreign != ""
	switch {
	case held == "":
		return nil
	case !f.force:
		return fmt.Errorf("%w (%s)", ErrHeld, held)
	case foreign != "":
		return fmt.Errorf("%w (%s)", ErrMixed, foreign)
	case f.inPlace:
		return fmt.Errorf("%w (%s)", ErrFixed, held)
	}
	return nil
}

// Sub is a folder in this one, which is of the same run.
func (f *Folder) Sub(name string) *Folder {
	return &Folder{disk: f.disk, path: filepath.Join(f.path, name), ours: f.ours, force: true}
}

// Path is where the folder is.
func (f *Folder) Path() string { return f.path }

// Write puts a folder of these files in the place of all that was there before.
func (f *Folder) Write(entries []Entry) error {
	if !f.own {
		if err := f.look(); err != nil { // again: there was time since
			return fmt.Errorf("%s: %w", f.path, err)
		}
	}
	err := errFixed
	if !f.inPlace {
		err = f.swap(entries)
	}
	if errors.Is(err, errFixed) {
		f.inPlace = true
		if !f.own {
			if err := f.look(); err != nil {
				return fmt.Errorf("%s: %w", f.path, err)
			}
		}
		err = f.Update(entries)
	}
	if err == nil {
		f.own, f.made = true, nil // it stays
		for _, l := range f.logs {
			l.turn()
		}
	}
	return err
}

// Update writes files into the folder and leaves the others there.
func (f *Folder) Update(entries []Entry) error {
	if _, err := f.disk.MkdirAll(f.path); err != nil {
		return err
	}
	err := f.disk.Group(f.path, entries)
	if err == nil {
		f.made = nil // it stays
	}
	return err
}

// errFixed: a folder cannot be swapped with another.
var errFixed = errors.New("cannot be replaced as a whole")

// fixed reports whether an error of the system means errFixed.
func fixed(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EBUSY) ||
		errors.Is(err, syscall.EXDEV)
}

// swap writes a new folder beside this one and exchanges the two.
func (f *Folder) swap(entries []Entry) (err error) {
	tmp, err := f.disk.tempDir(filepath.Dir(f.path))
	if fixed(err) {
		return errFixed
	} else if err != nil {
		return about(f.path, err)
	}
	defer func() {
		if removed := f.disk.RemoveAll(tmp); err == nil || !errors.Is(err, errFixed) {
			err = errors.Join(err, about(f.path, removed))
		}
	}()
	fresh := filepath.Join(tmp, newName)
	if err := f.disk.NewDir(fresh); err != nil {
		return about(f.path, err)
	}
	if err := f.disk.writeInto(fresh, f.path, entries); err != nil {
		return err
	}
	return f.put(fresh, filepath.Join(tmp, oldName))
}

// put puts a folder in the place of this one. Where the system cannot exchange two in
// one step, what was there goes to old first, and comes back if need be.
func (f *Folder) put(fresh, old string) error {
	was, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return about(f.path, f.disk.rename(fresh, f.path))
	} else if err != nil {
		return err
	}
	if err := f.disk.fault(Chmod, f.path); err != nil {
		return err
	}
	if err := os.Chmod(fresh, was.Mode().Perm()); err != nil {
		return about(f.path, err)
	}
	if err := f.disk.fault(Rename, f.path); err != nil {
		return err
	}
	err = f.disk.exchange(fresh, f.path)
	if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		if fixed(err) {
			return errFixed
		}
		return about(f.path, err)
	}
	if err := f.disk.NewDir(old); err != nil {
		return about(f.path, err)
	}
	old = filepath.Join(old, filepath.Base(f.path)) // whose it is, should we be killed here
	if err := f.disk.rename(f.path, old); err != nil {
		if fixed(err) {
			return errFixed
		}
		return about(f.path, err)
	}
	if err := f.disk.rename(fresh, f.path); err != nil {
		f.disk.renameBack(old, f.path)
		return about(f.path, err)
	}
	return nil
}
