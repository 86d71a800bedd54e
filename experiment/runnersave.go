package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/lockstep"
	"wirelab/experiment/page"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
	"wirelab/internal/panics"
)

// reports is the state of a loop for saving reports.
type reports struct {
	files       *report.Files // data files that the experiment reads
	pendingSave *pendingSave  // the report that is being written; nil if none
	saved       time.Duration // a saved report contains the current run up to this virtual time
}

// pendingSave is a report that is being written in its own goroutine while the experiment continues,
// because hashing the data files and writing depend on the speed of the disk.
type pendingSave struct {
	done      chan struct{} // closed at the end
	savedUpTo time.Duration // the report contains the run up to this virtual time; used only by the goroutine of the experiment
	path      string        // path and err are valid once done is closed
	err       error
}

// startSave starts writing a report of the session so far into a new folder below dir. It first waits
// for a report that is already being written.
func (r *Runner) startSave(dir string) {
	r.finishSave()
	write, err := r.prepareReport(dir, "", engine.Saved)
	if err != nil {
		r.notifyResult("", err)
		return
	}
	r.writeInBackground(r.session.Now(), write)
}

// writeInBackground calls write, which writes a report of the run up to savedUpTo, in another goroutine.
func (l *liveLoop) writeInBackground(savedUpTo time.Duration, write func() (path string, err error)) {
	p := &pendingSave{done: make(chan struct{}), savedUpTo: savedUpTo}
	l.pendingSave = p
	go func() {
		defer close(p.done)
		p.err = panics.Call(func() (err error) { p.path, err = write(); return err })
	}()
}

// saveDone returns a channel that is closed when the report being written is finished; nil if no report
// is being written.
func (l *liveLoop) saveDone() <-chan struct{} {
	if l.pendingSave == nil {
		return nil
	}
	return l.pendingSave.done
}

// limitSaved records that saved reports, and the one being written, contain at most the first d of the
// current run: the run was replaced, or goes back to d and may differ from there on.
func (l *liveLoop) limitSaved(d time.Duration) {
	l.saved = min(l.saved, d)
	if l.pendingSave != nil {
		l.pendingSave.savedUpTo = min(l.pendingSave.savedUpTo, d)
	}
}

// finishSave waits until the report being written is finished, and notifies the user of the result. It
// does nothing if no report is being written.
func (l *liveLoop) finishSave() {
	p := l.pendingSave
	if p == nil {
		return
	}
	<-p.done
	l.pendingSave = nil
	switch {
	case p.err == nil:
		l.saved = p.savedUpTo
	case errors.As(p.err, new(*panics.Error)): // a bug: the session does not continue
		l.fail(fmt.Errorf("internal error while writing the report: %w", p.err))
		return
	}
	l.notifyResult("saved as "+p.path, p.err)
}

// Save writes a report of the session into a new folder below dir, or below RunnerOptions.Reports if
// dir is empty, and returns the folder's path. It is for users who quit without saving: the name of the
// folder marks the report as automatic, and Save removes all but the newest automatic reports. Call it
// only after Stop. While the session runs, send a Command instead.
func (r *Runner) Save(dir string) (path string, err error) {
	select {
	case <-r.done:
	default:
		return "", errors.New("the session is still running: stop it first, or send a Command")
	}
	err = panics.Call(func() error {
		write, err := r.prepareReport(dir, report.Automatic, engine.Interrupted)
		if err != nil {
			return err
		}
		path, err = write()
		if err == nil {
			report.Prune(r.opt.Disk, filepath.Dir(path), path)
		}
		return err
	})
	var bug *panics.Error
	if errors.As(err, &bug) && r.panicked { // the session's state has been inconsistent since its panic
		err = fmt.Errorf("the measurements from before the failure cannot be saved: %v", bug.Value)
	}
	return path, err
}

// prepareReport copies the results of the session: all changes and totals, and the samples and packets
// of the last five minutes. The returned function writes them into a new folder below dir and returns
// its path. It may be called in another goroutine. kind is a part of the folder's name. why is the
// reason in the report if the session has not ended.
func (r *Runner) prepareReport(dir, kind string, why engine.Ending) (write func() (path string, err error), err error) {
	dir, name, err := r.reportName(dir, kind+r.session.Config().Encoder.Name)
	if err != nil {
		return nil, err
	}
	result := r.session.Result()
	var snap *engine.Snapshot // compared in the returned function, since this takes some time
	if len(result.Shadows) > 0 {
		snap, result.SamplesByLane = r.session.View(0), r.session.SamplesByLane()
	}
	result.Planned, result.Reason = 1, why
	if r.opt.Remote != nil {
		r.opt.Remote.Describe(result)
	}
	switch {
	case errors.As(r.err, new(*engine.NetworkError)):
		result.Reason, result.Error = engine.BadNetwork, r.err.Error()
	case r.err != nil:
		result.Reason, result.Error = engine.BadData, r.err.Error()
	case r.session.Done():
		result.Reason = engine.Finished
	}
	var stored report.SessionCopy
	r.session.ReplayStored(&stored)
	return func() (string, error) {
		return r.writeReport(dir, name, func(folder *atomicfile.Folder) error {
			if snap != nil {
				result.Comparison = lockstep.Compare(snap)
			}
			return stored.Write(folder, r.files, page.Pages(), result)
		})
	}, nil
}

// writeReport creates a folder called name below dir, or name-2 and so on, and calls write with it. It returns the path of
// the folder. After an error it removes what it created.
func (l *liveLoop) writeReport(dir, name string, write func(*atomicfile.Folder) error) (string, error) {
	path, folder, made, err := newReportDir(l.opt.Disk, dir, name)
	if err != nil {
		return "", fmt.Errorf("%w: %w", report.ErrWrite, err)
	}
	if err := errors.Join(write(folder), report.WriteError(folder.Close())); err != nil {
		l.opt.Disk.RemoveEmpty(made)
		return "", err
	}
	return path, nil
}

// reportName returns the folder below which a report is saved, dir or the default if dir is empty, and the name of the
// report's own folder: name after the stamp.
func (l *liveLoop) reportName(dir, name string) (parent, stamped string, err error) {
	parent = cmp.Or(dir, l.opt.Reports)
	if parent == "" {
		return "", "", errors.New("no folder for reports is set")
	}
	if l.opt.Stamp != nil {
		name = l.opt.Stamp() + "-" + name
	}
	return parent, name, nil
}

// newReportDir creates a folder called name below dir, or name-2, name-3 and so on if that exists. It
// creates dir too if necessary. made contains all the folders that it created.
func newReportDir(disk *atomicfile.Disk, dir, name string) (path string, folder *atomicfile.Folder, made []string, err error) {
	made, err = disk.MkdirAll(dir)
	if err != nil {
		return "", nil, nil, err
	}
	for n := 1; ; n++ {
		path = filepath.Join(dir, name)
		if n > 1 {
			path += "-" + strconv.Itoa(n)
		}
		if err = disk.NewDir(path); err == nil {
			made = append(made, path)
			folder, err = report.OpenFolder(disk, path, false)
		} else if errors.Is(err, os.ErrExist) && n <= 1000 { // gives up when all these names are taken
			continue
		}
		if err != nil {
			disk.RemoveEmpty(made)
		}
		return path, folder, made, err
	}
}
