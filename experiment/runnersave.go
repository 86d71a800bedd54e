package experiment

import (
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

// reports is the state of a session's reports.
type reports struct {
	files       *report.Files // that the session reads
	pendingSave *pendingSave  // the report that is being written; nil if none
	saved       time.Duration // the run is in a report up to here
}

// pendingSave is a report that is being written in its own goroutine, while the session continues.
// Reading the data for their digests and writing take as long as the disk takes.
type pendingSave struct {
	done chan struct{}
	upto time.Duration // the report contains the current run up to here; only the runner uses it
	path string        // path and err are valid once done is closed
	err  error
}

// startSave starts writing a report of the session at this moment, after the report before is finished.
func (r *Runner) startSave(dir string) {
	r.finishSave()
	write, err := r.reportInto(dir, "", engine.Saved)
	if err != nil {
		r.notifyResult("", err)
		return
	}
	f := &pendingSave{done: make(chan struct{}), upto: r.session.Now()}
	r.pendingSave = f
	go func() {
		defer close(f.done)
		f.err = panics.Call(func() (err error) { f.path, err = write(); return err })
	}()
}

// saveDone returns a channel that is closed when the report being written is finished; nil if none is.
func (r *Runner) saveDone() <-chan struct{} {
	if r.pendingSave == nil {
		return nil
	}
	return r.pendingSave.done
}

// savedAtMost notes that reports contain at most the first d of the present run: it is another
// run now, or begins to differ there. That also holds for a report that is being written.
func (r *Runner) savedAtMost(d time.Duration) {
	r.saved = min(r.saved, d)
	if r.pendingSave != nil {
		r.pendingSave.upto = min(r.pendingSave.upto, d)
	}
}

// finishSave waits until the report being written is finished, and shows the result. It does nothing if
// no report is being written.
func (r *Runner) finishSave() {
	f := r.pendingSave
	if f == nil {
		return
	}
	<-f.done
	r.pendingSave = nil
	switch {
	case f.err == nil:
		r.saved = f.upto
	case errors.As(f.err, new(*panics.Error)):
		r.fail(fmt.Errorf("the report broke: %w", f.err))
		return
	}
	r.notifyResult("saved as "+f.path, f.err)
}

// Save writes a report of the session at this moment into a new folder below dir, or below the
// default one if dir is empty. It is for users who leave without having saved: the folder's name
// marks the report as automatic, and only the newest automatic ones are kept. Call it only after
// Stop: while the session runs, send a Command instead.
func (r *Runner) Save(dir string) (path string, err error) {
	select {
	case <-r.done:
	default:
		return "", errors.New("the session is still running: stop it first, or send a Command")
	}
	err = panics.Call(func() error {
		write, err := r.reportInto(dir, report.Automatic, engine.Interrupted)
		if err != nil {
			return err
		}
		path, err = write()
		if err == nil {
			report.Prune(r.opt.Disk, filepath.Dir(path))
		}
		return err
	})
	var bug *panics.Error
	if errors.As(err, &bug) && r.broken {
		err = fmt.Errorf("what the lab measured before it broke cannot be saved: %v", bug.Value)
	}
	return path, err
}

// reportInto copies what the session keeps: every change and all totals, and of samples and packets
// the last five minutes. The returned function writes that into a new folder below dir, and may be
// called from another goroutine. kind is part of the folder's name; why is the reason of the report
// if the session has not ended.
func (r *Runner) reportInto(dir, kind string, why engine.Ending) (write func() (path string, err error), err error) {
	if dir == "" {
		dir = r.opt.Reports
	}
	if dir == "" {
		return nil, errors.New("no folder for reports was named")
	}
	name := kind + r.session.Config().Encoder.Name
	if r.opt.Stamp != nil {
		name = r.opt.Stamp() + "-" + name
	}
	result := r.session.Result()
	var seen *engine.Snapshot // to compare the shadows, which takes a moment
	if len(result.Shadows) > 0 {
		seen, result.SamplesByLane = r.session.View(0), r.session.SamplesByLane()
	}
	result.Planned, result.Reason = 1, why
	if r.opt.Remote != nil {
		r.opt.Remote.AddTo(result)
	}
	switch {
	case errors.As(r.err, new(*engine.NetworkError)):
		result.Reason, result.Error = engine.BadNetwork, r.err.Error()
	case r.err != nil:
		result.Reason, result.Error = engine.BadData, r.err.Error()
	case r.session.Done():
		result.Reason = engine.Finished
	}
	var kept report.Kept
	r.session.ReplayStored(&kept)
	return func() (string, error) {
		path, folder, made, err := freshDir(r.opt.Disk, dir, name)
		if err != nil {
			return "", fmt.Errorf("%w: %w", report.ErrWrite, err)
		}
		if seen != nil {
			result.Comparison = lockstep.Compare(seen)
		}
		if err := kept.Write(folder, r.files, page.Pages(), result); err != nil {
			r.opt.Disk.RemoveEmpty(made)
			return "", err
		}
		return path, nil
	}, nil
}

// freshDir makes a folder called name below dir, or name-2, name-3 and so on. made are all the
// folders that it made.
func freshDir(disk *atomicfile.Disk, dir, name string) (path string, folder *atomicfile.Folder, made []string, err error) {
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
		} else if errors.Is(err, os.ErrExist) && n <= 1000 {
			continue
		}
		if err != nil {
			disk.RemoveEmpty(made)
		}
		return path, folder, made, err
	}
}
