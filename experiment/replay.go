package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
)

// ReplayResult is the result of replaying a saved report.
type ReplayResult struct {
	Same    bool        `json:"same"` // the report is complete, and all digests are equal
	Runs    []replayRun `json:"runs"`
	Planned int         `json:"planned,omitempty"` // runs of the sweep; 0 if unknown
	Missing string      `json:"missing,omitempty"` // how the report is incomplete; empty if it is complete
}

// replayRun compares one run of a report with its repetition.
type replayRun struct {
	Set  map[string]string `json:"set,omitempty"` // values of the swept keys; nil for a single run
	Want string            `json:"want"`          // engine.Result.Digests of the saved run
	Got  string            `json:"got"`           // engine.Result.Digests of the repetition
	Same bool              `json:"same"`          // Want equals Got
	// Changed explains a difference: a sentence for each codec of which the program had another version when the
	// run was saved.
	Changed []string `json:"changed_codecs,omitempty"`
}

// ErrNetworkRun means that a run cannot be replayed.
var ErrNetworkRun = errors.New("a run over a real network cannot be replayed")

// Replay repeats all runs of the saved report at path, and compares the digests. When ctx ends, it
// returns the results so far and the error of ctx.
func Replay(ctx context.Context, path string, opt RunOptions) (*ReplayResult, error) {
	doc, err := readReport(ctx, path)
	if err != nil {
		return nil, err
	}
	opt.Packs, opt.files = delivery.NewPackCache(), &report.Files{}
	out := &ReplayResult{Same: true, Planned: doc.Planned, Missing: doc.Missing()}
	for i, saved := range doc.Runs {
		if saved.Remote != nil {
			return nil, fmt.Errorf("%s: %w: it was sent to %s", path, ErrNetworkRun, saved.Remote.To)
		}
		c, err := saved.Replayable()
		if err != nil {
			return nil, config.Located(path, nil, err)
		}
		if c.ResolvePath, err = opt.files.Find(path, saved.Files); err != nil {
			return nil, err
		}
		if err := checkFiles(ctx, c, path, saved.Totals.Transfer); err != nil {
			return nil, err
		}
		runOpt := RunOptions{Force: opt.Force, Clock: opt.Clock.Steady(), Packing: opt.Packing,
			Packs: opt.Packs, files: opt.files}
		if opt.Progress != nil {
			// total is the length of one run. All runs of a sweep are assumed to be equally long.
			runOpt.Progress = func(done, total float64) {
				opt.Progress(float64(i)*total+done,
					float64(len(doc.Runs))*total)
			}
		}
		writesNothing := report.NewExporter(nil, saved.Set, opt.files, report.Pages{})
		repeated, err := runOne(ctx, c, runOpt, writesNothing)
		if err != nil {
			return nil, config.Located(path, nil, err)
		}
		if repeated.Interrupted {
			return out, ctx.Err()
		}
		run := replayRun{Set: saved.Set, Want: saved.Digests(), Got: repeated.Digests()}
		run.Same = run.Want == run.Got
		if !run.Same {
			run.Changed = saved.ChangedCodecs(repeated)
		}
		out.Same = out.Same && run.Same
		out.Runs = append(out.Runs, run)
	}
	out.Same = out.Same && out.Missing == ""
	return out, nil
}

// readReport reads the report at path. When ctx ends, it returns without waiting for the rest of a
// large file.
func readReport(ctx context.Context, path string) (*report.Report, error) {
	type read struct {
		doc *report.Report
		err error
	}
	done := make(chan read, 1)
	go func() {
		doc, err := report.Read(path)
		done <- read{doc, err}
	}()
	select {
	case r := <-done:
		return r.doc, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// checkFiles returns an error if a file that the saved run delivered, or the old version that the
// receiver had, has changed since. saved contains the SHA-256 of both; nil if the run delivered no file.
// report is the path of the report.
func checkFiles(ctx context.Context, c *config.Config, report string, saved *figures.Transfer) error {
	if saved == nil {
		return nil
	}
	oldSum, newSum, err := engine.FileSums(ctx, c)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		which string // "old" or "new", for the error
		want  string // SHA-256 in the report, in hexadecimal
		got   [sha256.Size]byte
	}{{which: "old", want: saved.OldSHA256, got: oldSum}, {which: "new", want: saved.SHA256, got: newSum}} {
		if got := hex.EncodeToString(x.got[:]); got != x.want {
			return &config.Error{File: report, Key: "data.source",
				Problem:  fmt.Sprintf("the %s file has changed: its SHA-256 is %.16s...", x.which, got),
				Expected: x.want}
		}
	}
	return nil
}
