package live

import (
	"cmp"
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
	config *config.Config // with which it was opened, and the changes of the user since
	undo   engine.UndoSteps
	marks  []engine.Mark // set by the user in this run, oldest first
	runner *Runner
	client clientSession
}

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
	return &receivers{Live: x, config: c, runner: r}, nil
}

// Config implements run.
func (x *receivers) Config() *config.Config { return x.config }

// change implements run.
func (x *receivers) change(ch config.Change) (*config.Config, error) {
	next, err := x.config.WithChange(ch)
	switch {
	case err != nil:
		return nil, err
	case !crowd.CanChange(x.config, next.Undo(x.config)):
		return next.Clone(), nil
	case ch.Mark() != "":
		x.addMark(ch.Mark(), engine.MarkNote)
		return nil, nil
	}
	return nil, x.apply(config.Stamp(x.Now(), ch))
}

// Undo implements run.
func (x *receivers) Undo() (label string, err error) {
	label, reverse, err := x.undo.Reverse(x.config)
	if err != nil {
		return "", err
	}
	made := config.Stamp(x.Now(), reverse)
	made.Undo = true
	return label, x.apply(made)
}

// apply makes a change, unless it alters nothing.
func (x *receivers) apply(made config.StampedChange) error {
	before := x.config
	after, err := before.WithChange(made.Change)
	if err != nil || after.SameLive(before) {
		return err
	}
	if err := x.Live.Change(after.Undo(before)); err != nil {
		return err
	}
	x.config = after
	x.client.outdated = true
	kind, label := x.undo.Add(before, after, &made)
	x.addMark(label, kind)
	return nil
}

// addMark adds a mark at the present.
func (x *receivers) addMark(label string, kind engine.MarkKind) {
	x.marks = append(slices.Clip(x.marks), engine.Mark{T: x.Now(), Label: label, Kind: kind})
}

// repeat implements run. Changes after t are pending, as if they were scripted; a new change does not discard
// them.
func (x *receivers) repeat(r *Runner, _ time.Duration) (opener, error) {
	recorded := x.Recorded()
	before := receivers{config: x.config, undo: x.undo, marks: x.marks}
	return func(ctx context.Context) (run, error) {
		again, err := openCrowd(ctx, recorded, r)
		if err != nil {
			return nil, err
		}
		again.config = before.config
		again.undo = before.undo
		again.marks = before.marks
		return again, nil
	}, nil
}

// view implements run. The selected client stays the same until the user selects another one.
func (x *receivers) view(r *Runner) *engine.Snapshot {
	snap := x.View(cmp.Or(r.client, x.client.number))
	isLater := func(m engine.Mark) bool { return m.T > snap.Now } // in the run that this one repeats
	snap.Marks = slices.DeleteFunc(slices.Clone(x.marks), isLater)
	x.follow(snap.Crowd.Selected)
	x.client.addTo(snap, r)
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
