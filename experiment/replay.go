package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/figures"
	"wirelab/experiment/remote"
	"wirelab/experiment/report"
)

// ReplayResult is the result of repeating a saved report.
type ReplayResult struct {
	Same    bool        `json:"same"` // the report is complete, and all digests are the same
	Runs    []replayRun `json:"runs"`
	Planned int         `json:"planned,omitempty"` // runs of the sweep; 0 if unknown
	Missing string      `json:"missing,omitempty"` // why the report is incomplete
}

// replayRun compares one run of a report with its repetition.
type replayRun struct {
	Set  map[string]string `json:"set,omitempty"`
	Want string            `json:"want"` // the saved digests: the first encoder's, then the shadows'
	Got  string            `json:"got"`
	Same bool              `json:"same"`
}

// Replay runs the saved report at path again, every run of a sweep, and compares
// the digests.
func Replay(ctx context.Context, path string, opt RunOptions) (*ReplayResult, error) {
	doc, err := readReport(ctx, path)
	if err != nil {
		return nil, err
	}
	opt.Packs, opt.files = delivery.NewPackCache(), &report.Files{}
	out := &ReplayResult{Same: true, Planned: doc.Planned, Missing: doc.Missing()}
	for i, saved := range doc.Runs {
		c, err := saved.Replayable()
		if err != nil {
			return nil, config.Located(path, nil, err)
		}
		if c.Find, err = opt.files.Find(path, saved.Files); err != nil {
			return nil, err
		}
		if err := sameFiles(ctx, c, path, saved.Totals.Transfer); err != nil {
			return nil, err
		}
		o := RunOptions{Force: opt.Force, Clock: opt.Clock.Steady(), Packing: opt.Packing, Packs: opt.Packs, files: opt.files}
		if saved.Remote != nil {
			if o.Remote, err = remote.Replay(saved.Remote); err != nil {
				return nil, &config.Error{File: path, Key: "remote", Problem: err.Error(), Expected: "one with what came in over the network"}
			}
		}
		if opt.Progress != nil {
			o.Progress = func(done, total float64) { opt.Progress(float64(i)*total+done, float64(len(doc.Runs))*total) }
		}
		again, err := runOne(ctx, c, o, report.NewExporter(nil, saved.Set, opt.files, report.Pages{}))
		if err != nil {
			return nil, config.Located(path, nil, err)
		}
		if again.Interrupted {
			return out, ctx.Err()
		}
		run := replayRun{Set: saved.Set, Want: saved.Digests(), Got: again.Digests()}
		run.Same = run.Want == run.Got
		out.Same = out.Same && run.Same
		out.Runs = append(out.Runs, run)
	}
	out.Same = out.Same && out.Missing == ""
	return out, nil
}

// readReport reads a report, which takes seconds for hundreds of megabytes: then it is
// abandoned when ctx ends.
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

// sameFiles says if the files that a report is about have changed since.
func sameFiles(ctx context.Context, c *config.Config, report string, was *figures.Transfer) error {
	if was == nil {
		return nil
	}
	oldSum, newSum, err := engine.FileSums(ctx, c)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		which, was string
		is         [sha256.Size]byte
	}{{"old", was.OldSHA256, oldSum}, {"new", was.SHA256, newSum}} {
		if is := hex.EncodeToString(x.is[:]); is != x.was {
			return &config.Error{File: report, Key: "data.source",
				Problem: fmt.Sprintf("the %s file is another one now, with SHA-256 %.16s...", x.which, is), Expected: x.was}
		}
	}
	return nil
}
