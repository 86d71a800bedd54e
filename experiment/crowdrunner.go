package experiment

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/crowd"
	"wirelab/experiment/engine"
	"wirelab/experiment/page"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
)

// CrowdRunner runs one sender with many receivers at the pace of the wall clock, for the dashboard. It is to a crowd
// what Runner is to a session. A change that a crowd can make while it runs takes effect at once; others begin a new
// run. A crowd keeps no history to go back to; a seek to the past runs it again from the start.
type CrowdRunner struct {
	liveLoop

	// The fields below belong to the goroutine of the crowd until done is closed.
	live    *crowd.Live
	config  *config.Config   // with which live was opened
	earlier []*config.Config // configurations of this run to which Undo can return, oldest first
	undone  []*config.Config // configurations to which Redo returns, the newest last
	marks   []engine.Mark    // set by the user in this run, oldest first
	client  int              // the client whose packets snapshots contain, from 1; 0 means none
}

// NewCrowdRunner opens a crowd; Start runs it. When ctx ends, reading from a pipe fails.
func NewCrowdRunner(ctx context.Context, c *config.Config, opt RunnerOptions) (*CrowdRunner, error) {
	if opt.Remote != nil {
		return nil, remoteCrowd(c)
	}
	r := &CrowdRunner{liveLoop: newLiveLoop(opt)}
	r.driver = r
	if err := r.restart(ctx, c.Clone()); err != nil {
		return nil, err
	}
	r.publish()
	return r, nil
}

// remoteCrowd returns the error for a crowd of c over a real network.
func remoteCrowd(c *config.Config) error {
	return c.Locate(&config.Error{Key: "crowd.clients", Problem: "a crowd cannot run over a real network",
		Expected: "one receiver with --to or --udp, or a crowd without"})
}

// restart begins a run of c, which it completes with the settings that depend on the data. After an error the current
// run continues.
func (r *CrowdRunner) restart(ctx context.Context, c *config.Config) error {
	c.ResolvePath = r.files.Note
	live, err := crowd.OpenLive(ctx, c, crowd.Options{Clock: r.opt.Clock})
	if err != nil {
		return err
	}
	c.AdoptFit(live.Config())
	old := r.live
	r.live, r.config, r.marks, r.seekTarget, r.isJump = live, c, nil, noSeek, false
	r.limitSaved(0)
	r.measuredSpeed.reset()
	if old != nil {
		return old.Close()
	}
	return nil
}

// experiment returns the crowd.
func (r *CrowdRunner) experiment() paced { return r.live }

// advance runs the crowd until virtual time has caught up with the wall clock.
func (r *CrowdRunner) advance(context.Context) { r.advancePaced(func(time.Duration) {}) }

// handleCommand executes one command.
func (r *CrowdRunner) handleCommand(ctx context.Context, c Command) {
	r.handlePacing(&c)
	if c.Client > 0 {
		r.client = c.Client
	}
	if r.err == nil {
		switch {
		case c.Change != nil:
			r.notifyResult("", r.applyChange(ctx, c.Change))
		case c.Undo:
			r.notifyResult("the last change is undone", r.undoOrRedo(&r.earlier, &r.undone, "undo"))
		case c.Redo:
			r.notifyResult("the change is made again", r.undoOrRedo(&r.undone, &r.earlier, "redo"))
		case c.Step > 0:
			r.step(r.live, c.Step)
		case c.Seek != nil:
			r.notifyResult("", r.seek(ctx, *c.Seek))
		}
	}
	if c.Save != nil {
		r.startSave(ctx, *c.Save)
	}
	r.target = r.live.Now() // drop the backlog of virtual time from before the command
}

// maxEarlier is the maximum number of configurations to which Undo can return.
const maxEarlier = 20

// applyChange makes a change: at once if crowd.CanChange permits it, otherwise in a new run.
func (r *CrowdRunner) applyChange(ctx context.Context, ch *config.Change) error {
	if ch.Mark() != "" {
		r.addMark(ch.Mark(), engine.MarkNote)
		return nil
	}
	before := r.config
	next := before.Clone()
	if err := next.Apply(*ch); err != nil {
		return err
	}
	if next.SameLive(before) {
		return nil
	}
	if !crowd.CanChange(before, next.Undo(before)) {
		if err := r.restart(ctx, next); err != nil {
			return err
		}
		r.earlier, r.undone = nil, nil
		r.notify(false, "run restarted: "+ch.Label())
		return nil
	}
	if err := r.changeTo(next); err != nil {
		return err
	}
	r.earlier, r.undone = append(r.earlier, before), nil
	r.earlier = r.earlier[max(0, len(r.earlier)-maxEarlier):]
	r.addMark(ch.Label(), engine.MarkChange)
	return nil
}

// addMark adds a mark at the present.
func (r *CrowdRunner) addMark(label string, kind engine.MarkKind) {
	r.marks = append(slices.Clip(r.marks), engine.Mark{T: r.live.Now(), Label: label, Kind: kind})
}

// changeTo changes the running crowd to that of next.
func (r *CrowdRunner) changeTo(next *config.Config) error {
	ch := next.Undo(r.config) // from r.config to next
	if err := r.live.Change(ch); err != nil {
		return err
	}
	r.config = next
	return nil
}

// undoOrRedo changes to the newest configuration of from, which it removes, and adds the current one to to. command,
// "undo" or "redo", is for the error if from is empty.
func (r *CrowdRunner) undoOrRedo(from, to *[]*config.Config, command string) error {
	last := len(*from) - 1
	if last < 0 {
		return fmt.Errorf("nothing to %s", command)
	}
	current := r.config
	if err := r.changeTo((*from)[last]); err != nil {
		return err
	}
	*from, *to = (*from)[:last], append(*to, current)
	return nil
}

// seek makes the crowd run to virtual time t without pacing, from the start if t is in the past.
func (r *CrowdRunner) seek(ctx context.Context, t time.Duration) error {
	now := r.live.Now()
	if err := checkSeek(now, t); err != nil {
		return err
	}
	if t < now {
		current := r.config
		if err := r.restart(ctx, r.live.Recorded()); err != nil {
			return err
		}
		r.config = current
	}
	r.seekTarget, r.isJump = t, true
	return nil
}

// publish publishes a snapshot of the crowd with the state of the loop.
func (r *CrowdRunner) publish() {
	snap := r.live.View(r.client)
	snap.Marks = r.marks
	r.store(snap, r.live.Done())
}

// startSave starts writing a report into a new folder below dir. The crowd continues, so the run is repeated up to now in
// another goroutine.
func (r *CrowdRunner) startSave(ctx context.Context, dir string) {
	r.finishSave()
	c := r.live.Recorded()
	c.At = slices.DeleteFunc(c.At, func(ch config.StampedChange) bool { return ch.T >= c.Duration })
	dir, name, err := r.reportName(dir, c.Encoder.Name)
	if err == nil && c.Duration == 0 {
		err = errors.New("nothing was sent yet, so nothing is saved")
	}
	if err != nil {
		r.notifyResult("", err)
		return
	}
	r.writeInBackground(c.Duration, func() (string, error) {
		return r.writeReport(dir, name, func(folder *atomicfile.Folder) error {
			_, err := runCrowd(ctx, c, RunOptions{Clock: r.opt.Clock, files: r.files}, report.NewExporter(folder, nil, r.files, page.Pages()))
			return err
		})
	})
}

// Save writes a report of the crowd into a new folder below dir, or below RunnerOptions.Reports if dir is empty, and
// returns the folder's path, see Runner.Save. Call it only after Stop, at most once.
func (r *CrowdRunner) Save(dir string) (path string, err error) {
	select {
	case <-r.done:
	default:
		return "", errors.New("the crowd is still running: stop it first, or send a Command")
	}
	if r.panicked {
		return "", errors.New("the measurements from before the failure cannot be saved")
	}
	dir, name, err := r.reportName(dir, report.Automatic+r.config.Encoder.Name)
	if err != nil {
		return "", err
	}
	planned := r.live.Now()
	result, runErr := r.live.Finish()
	path, err = r.writeReport(dir, name, func(folder *atomicfile.Folder) error {
		return writeCrowd(result, errors.Join(r.err, runErr), planned, r.files, report.NewExporter(folder, nil, r.files, page.Pages()))
	})
	if err == nil {
		report.Prune(r.opt.Disk, filepath.Dir(path), path)
	}
	return path, err
}
