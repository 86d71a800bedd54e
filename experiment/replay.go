package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
)

// ReplayResult says whether a saved report could be repeated.
type ReplayResult struct {
	Same bool        `json:"same"`
	Runs []ReplayRun `json:"runs"`
}

// ReplayRun compares one run of a report with its repetition.
type ReplayRun struct {
	Set  map[string]string `json:"set,omitempty"`
	Want string            `json:"want"` // the saved digests: the first encoder's, then the shadows'
	Got  string            `json:"got"`
	Same bool              `json:"same"`
}

// Replay runs the saved report at path again, every run of a sweep, and compares
// the digests.
func Replay(ctx context.Context, path string, opt RunOptions) (*ReplayResult, error) {
	runs, err := readReport(ctx, path)
	if err != nil {
		return nil, err
	}
	out, packs := &ReplayResult{Same: true}, engine.NewPacks()
	for i, saved := range runs {
		c, err := saved.Replayable()
		if err != nil {
			return nil, config.Located(path, nil, err)
		}
		if err := sameFiles(c, path, saved.Totals.Transfer); err != nil {
			return nil, err
		}
		o := RunOptions{Clock: opt.Clock, Packing: opt.Packing, packs: packs}
		if opt.Progress != nil {
			o.Progress = func(done, total float64) { opt.Progress(float64(i)*total+done, float64(len(runs))*total) }
		}
		again, err := runOne(ctx, c, o, &report.Exporter{})
		if err != nil {
			return nil, config.Located(path, nil, err)
		}
		if again.Interrupted {
			return out, ctx.Err()
		}
		run := ReplayRun{Set: saved.Set, Want: saved.Digests(), Got: again.Digests()}
		run.Same = run.Want == run.Got
		out.Same = out.Same && run.Same
		out.Runs = append(out.Runs, run)
	}
	return out, nil
}

// readReport reads a report, which takes seconds for hundreds of megabytes: then it is
// abandoned when ctx ends.
func readReport(ctx context.Context, path string) ([]*engine.Result, error) {
	type read struct {
		runs []*engine.Result
		err  error
	}
	done := make(chan read, 1)
	go func() {
		runs, err := report.ReadReport(path)
		done <- read{runs, err}
	}()
	select {
	case r := <-done:
		return r.runs, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// sameFiles says if the files that a report is about have changed since.
func sameFiles(c *config.Config, report string, was *figures.Transfer) error {
	if was == nil {
		return nil
	}
	oldSum, newSum, err := engine.FileSums(c)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		which, was string
		is         [sha256.Size]byte
	}{{"old", was.OldSHA256, oldSum}, {"new", was.SHA256, newSum}} {
		if is := hex.EncodeToString(x.is[:]); is != x.was {
			return &config.Error{File: report, Key: "data.source", Problem: fmt.Sprintf("the %s file is another one now, with SHA-256 %.16s...", x.which, is), Expected: x.was}
		}
	}
	return nil
}
