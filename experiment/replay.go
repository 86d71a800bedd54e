package experiment

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"wirelab/dataset/frame"
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

// maxReportBytes bounds what is read as a report.
const maxReportBytes = 256 << 20

// Replay runs the saved report at path again, every run of a sweep, and compares
// the digests.
func Replay(ctx context.Context, path string, opt RunOptions) (*ReplayResult, error) {
	runs, err := readReport(path)
	if err != nil {
		return nil, err
	}
	out, packs := &ReplayResult{Same: true}, NewPacks()
	for i, saved := range runs {
		c, err := saved.config()
		if err != nil {
			return nil, located(path, nil, configError("config", err))
		}
		if err := c.sameFiles(path, saved.Totals.Transfer); err != nil {
			return nil, err
		}
		o := RunOptions{Clock: opt.Clock, Packing: opt.Packing, packs: packs}
		if opt.Progress != nil {
			o.Progress = func(done, total float64) { opt.Progress(float64(i)*total+done, float64(len(runs))*total) }
		}
		again, err := runOne(ctx, c, o, &exporter{})
		if err != nil {
			return nil, err
		}
		if again.Interrupted {
			return out, ctx.Err()
		}
		run := ReplayRun{Set: saved.Set, Want: saved.digests(), Got: again.digests()}
		run.Same = run.Want == run.Got
		out.Same = out.Same && run.Same
		out.Runs = append(out.Runs, run)
	}
	return out, nil
}

// sameFiles says if the files that a report is about have changed since.
func (c *Config) sameFiles(report string, was *Transfer) error {
	if was == nil {
		return nil
	}
	src, err := c.openData(false)
	if err != nil {
		return err
	}
	s := &Session{source: src, schema: src.Schema(), config: c, initial: &frame.Frame{}, cur: &frame.Frame{}}
	src.Initial(s.initial)
	if err := errors.Join(s.takeFile(), s.Close()); err != nil {
		return err
	}
	for _, x := range []struct {
		which, was string
		is         [sha256.Size]byte
	}{{"old", was.OldSHA256, s.pair.oldSum}, {"new", was.SHA256, s.pair.newSum}} {
		if is := hex.EncodeToString(x.is[:]); is != x.was {
			return &ConfigError{File: report, Key: "data.source", Problem: fmt.Sprintf("the %s file is another one now, with SHA-256 %.16s...", x.which, is), Expected: x.was}
		}
	}
	return nil
}

// digests joins the digest of the first encoder with those of the shadows.
func (r *Result) digests() string {
	all := r.Digest
	for _, s := range r.Shadows {
		all += " " + s.Digest
	}
	return all
}

// readReport reads what Run or a live session saved.
func readReport(path string) ([]*Result, error) {
	bad := func(problem string) error {
		return &ConfigError{File: path, Problem: problem, Expected: "a report.json that `tui run --out` or the dashboard saved"}
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "report.json") // the folder will do
	}
	data, err := readFile(path, maxReportBytes, "a report.json of at most 256 MB")
	if err != nil {
		return nil, err
	}
	var file struct {
		Runs []*Result `json:"runs"`
	}
	var single Result
	if err := json.Unmarshal(data, &file); err != nil || laterVersion(data) > 0 {
		return nil, bad(unreadable(data, err))
	}
	if file.Runs == nil {
		if err := json.Unmarshal(data, &single); err != nil {
			return nil, bad(unreadable(data, err))
		}
		file.Runs = []*Result{&single}
	}
	for _, r := range file.Runs {
		if r != nil && r.Config != nil && r.Digest != "" && r.DurationNS == 0 && r.Frames == 0 {
			return nil, &ConfigError{File: path, Problem: "is of a run that was broken off before anything was sent", Expected: "one that there is something to repeat of"}
		}
		if r == nil || r.Config == nil || r.Digest == "" || r.DurationNS <= 0 {
			return nil, bad("lacks config, duration_ns or digest")
		}
		if !slices.IsSortedFunc(r.Changes, func(a, b StampedChange) int { return cmp.Compare(a.T, b.T) }) {
			return nil, bad(fmt.Sprintf("has its %d changes out of order", len(r.Changes)))
		}
	}
	return file.Runs, nil
}
