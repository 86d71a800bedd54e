package live

import (
	"context"
	"errors"
	"slices"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/crowd"
	"wirelab/experiment/engine"
	"wirelab/experiment/page"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
)

// receivers is the experiment of a Runner with a crowd of receivers.
type receivers struct {
	*crowd.Live
	config   *config.Config // with which it was opened, and the changes of the user since
	undoable []undoStep     // oldest first
	marks    []engine.Mark  // set by the user in this run, oldest first
}

// undoStep is a change that can be undone.
type undoStep struct {
	before *config.Config // configuration before the change
	label  string         // describes the change
}

// maxUndo is the maximum number of undo steps of a crowd.
const maxUndo = 20

// openCrowd opens a crowd of c.
func openCrowd(ctx context.Context, c *config.Config, r *Runner) (*receivers, error) {
	if r.opt.Remote != nil {
		return nil, crowd.RemoteError(c)
	}
	x, err := crowd.OpenLive(ctx, c, crowd.Options{Clock: r.opt.Clock})
	if err != nil {
		return nil, err
	}
	c.AdoptFit(x.Config())
	return &receivers{Live: x, config: c}, nil
}

// Config implements run.
func (x *receivers) Config() *config.Config { return x.config }

// Change implements run.
func (x *receivers) Change(ch config.Change) error {
	if ch.Mark() != "" {
		x.addMark(ch.Mark(), engine.MarkNote)
		return nil
	}
	before := x.config
	next, err := before.WithChange(ch)
	if err != nil || next.SameLive(before) {
		return err
	}
	if err := x.changeTo(next); err != nil {
		return err
	}
	x.undoable = append(x.undoable, undoStep{before, ch.Label()})
	x.undoable = x.undoable[max(0, len(x.undoable)-maxUndo):]
	x.addMark(ch.Label(), engine.MarkChange)
	return nil
}

// Undo implements run.
func (x *receivers) Undo() (label string, err error) {
	last := len(x.undoable) - 1
	if last < 0 {
		return "", errors.New("nothing to undo")
	}
	step := x.undoable[last]
	if err := x.changeTo(step.before); err != nil {
		return step.label, err
	}
	x.undoable = x.undoable[:last]
	return step.label, nil
}

// changeTo makes the change that leads to the configuration next.
func (x *receivers) changeTo(next *config.Config) error {
	if err := x.Live.Change(next.Undo(x.config)); err != nil {
		return err
	}
	x.config = next
	return nil
}

// addMark adds a mark at the present.
func (x *receivers) addMark(label string, kind engine.MarkKind) {
	x.marks = append(slices.Clip(x.marks), engine.Mark{T: x.Now(), Label: label, Kind: kind})
}

// successor implements run.
func (x *receivers) successor(ch config.Change) (*config.Config, error) {
	next, err := x.config.WithChange(ch)
	if err != nil || crowd.CanChange(x.config, next.Undo(x.config)) {
		return nil, err
	}
	return next.Clone(), nil
}

// repeat implements run. Changes after t are pending, as if they were scripted; a new change does not discard
// them.
func (x *receivers) repeat(r *Runner, _ time.Duration) (opener, error) {
	recorded, before := x.Recorded(), *x
	return func(ctx context.Context) (run, error) {
		again, err := openCrowd(ctx, recorded, r)
		if err != nil {
			return nil, err
		}
		again.config, again.undoable, again.marks = before.config, before.undoable, before.marks
		return again, nil
	}, nil
}

// view implements run.
func (x *receivers) view(r *Runner) *engine.Snapshot {
	snap := x.View(r.client)
	isLater := func(m engine.Mark) bool { return m.T > snap.Now } // in the run that this one repeats
	snap.Marks = slices.DeleteFunc(slices.Clone(x.marks), isLater)
	return snap
}

// prepareReport implements run. While the crowd continues, the returned function repeats the run up to now.
func (x *receivers) prepareReport(ctx context.Context, r *Runner, why engine.Ending) (reportWriter, error) {
	if why == engine.Interrupted {
		planned := x.Now()
		result, err := x.Finish()
		return writeCrowd(r, planned, result, errors.Join(r.err, err)), nil
	}
	c := x.Recorded()
	c.At = slices.DeleteFunc(c.At, func(ch config.StampedChange) bool { return ch.T >= c.Duration })
	if c.Duration == 0 {
		return nil, errors.New("nothing was sent yet, so nothing is saved")
	}
	return func(folder *atomicfile.Folder) error {
		result, err := crowd.Run(ctx, c, crowd.Options{Clock: r.opt.Clock})
		if result == nil {
			return err
		}
		return writeCrowd(r, c.Duration, result, err)(folder)
	}, nil
}

// writeCrowd returns a function that writes the report of a crowd, which is one run of the duration
// planned. failure is the error of the run, or nil; the returned function joins it to its own error.
func writeCrowd(r *Runner, planned time.Duration, result *engine.Result, failure error) reportWriter {
	return func(folder *atomicfile.Folder) error {
		result.Planned = 1
		result.PlannedS = planned.Seconds()
		report.SetReason(result, failure)
		err := new(report.SessionCopy).Write(folder, r.files, page.Pages(), result)
		return errors.Join(failure, err)
	}
}
