package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/report"
	"wirelab/internal/panics"
)

// reports is the state of a runner for saving reports.
type reports struct {
	files       *report.Files // data files that the experiment reads
	pendingSave *pendingSave  // the report that is being written; nil if none
	saved       time.Duration // a saved report contains the current run up to this virtual time
}

// pendingSave is a report that is being written in its own goroutine while the experiment continues,
// because hashing the data files and writing depend on the speed of the disk.
type pendingSave struct {
	*job
	savedUpTo time.Duration // the report contains the run up to this virtual time; not used by the job
	path      string        // valid once the job is finished
}

// startSave starts writing a report of the experiment so far into a new folder below dir, unless a report is being written
// already.
func (r *Runner) startSave(ctx context.Context, dir string) {
	if r.pendingSave != nil {
		r.notify(true, "a report is being saved already")
		return
	}
	write, err := r.prepareReport(ctx, dir, "", engine.Saved)
	if err != nil {
		r.notifyResult("", err)
		return
	}
	p := &pendingSave{savedUpTo: r.current.Now()}
	r.pendingSave = p
	p.job = startJob(func() (err error) {
		p.path, err = write()
		return err
	})
}

// saveDone returns a channel that is closed when the report being written is finished; nil if no report
// is being written.
func (r *Runner) saveDone() <-chan struct{} {
	if r.pendingSave == nil {
		return nil
	}
	return r.pendingSave.finished
}

// limitSaved records that saved reports, and the one being written, contain at most the first d of the
// current run: the run was replaced, or goes back to d and may differ from there on.
func (r *Runner) limitSaved(d time.Duration) {
	r.saved = min(r.saved, d)
	if r.pendingSave != nil {
		r.pendingSave.savedUpTo = min(r.pendingSave.savedUpTo, d)
	}
}

// finishSave waits until the report being written is finished, and notifies the user of the result. It
// does nothing if no report is being written.
func (r *Runner) finishSave() {
	p := r.pendingSave
	if p == nil {
		return
	}
	<-p.finished
	r.pendingSave = nil
	if p.err == nil {
		r.saved = p.savedUpTo
	}
	r.notifyJob("saved as "+p.path, p.err)
}

// Save writes a report of the experiment into a new folder below dir, or below Options.Reports if
// dir is empty, and returns the folder's path. It is for users who quit without saving: the name of the
// folder marks the report as automatic, and Save removes all but the newest automatic reports. Call it
// only after Stop. While the session runs, send a Command instead.
func (r *Runner) Save(dir string) (path string, err error) {
	select {
	case <-r.done:
	default:
		return "", errors.New("the run continues: stop it first, or send a Command")
	}
	err = panics.Call(func() error { // a panic becomes a *panics.Error
		write, err := r.prepareReport(context.Background(), dir, report.Automatic, engine.Interrupted)
		if err != nil {
			return err
		}
		path, err = write()
		if err != nil {
			return err
		}
		report.Prune(r.opt.Disk, filepath.Dir(path), path)
		return nil
	})
	var bug *panics.Error
	if errors.As(err, &bug) && r.panicked { // the session's state has been inconsistent since its panic
		err = fmt.Errorf("the measurements from before the failure cannot be saved: %v", bug.Value)
	}
	return path, err
}

// prepareReport returns a function that writes a report of the run so far into a new folder below dir,
// or the default if dir is empty, and returns its path. The function may be called in another goroutine.
// kind is a part of the folder's name, after the stamp. why is the reason in the report if the run has
// not ended.
func (r *Runner) prepareReport(ctx context.Context, dir, kind string, why engine.Ending) (
	func() (path string, err error), error) {
	dir = cmp.Or(dir, r.opt.Reports)
	if dir == "" {
		return nil, errors.New("no folder for reports is set")
	}
	name := kind + r.current.Config().Encoder.Name
	if r.opt.Stamp != nil {
		name = r.opt.Stamp() + "-" + name
	}
	writeFiles, err := r.current.prepareReport(ctx, r, why)
	return func() (string, error) { return r.writeReport(dir, name, writeFiles) }, err
}

// writeReport creates a folder called name below dir, or name-2 and so on if that exists, and calls write
// with it. It returns the path of the folder. After an error or a panic the folder is removed.
func (r *Runner) writeReport(dir, name string, write reportWriter) (string, error) {
	path := filepath.Join(dir, name)
	for n := 2; exists(path); n++ {
		path = filepath.Join(dir, name+"-"+strconv.Itoa(n))
	}
	folder, err := report.OpenFolder(r.opt.Disk, path, false)
	if err != nil {
		return "", fmt.Errorf("%w: %w", report.ErrWrite, err)
	}
	err = panics.Call(func() error { return write(folder) })
	if err = errors.Join(err, report.WriteError(folder.Close())); err != nil {
		return "", err
	}
	return path, nil
}

// exists reports whether a file or folder exists at path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
