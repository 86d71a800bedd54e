package sweep

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
)

// Plan is a grid of runs, identified by its ID on every machine.
type Plan struct {
	experiment.Grid
	Config  *config.Config    // including the [[sweep]] tables
	Version string            // of the program; results of different versions may differ
	TOML    []byte            // the configuration as text, from which every machine makes the same plan
	Files   []engine.DataFile // the files that the runs read
	Name    string            // of its file or preset, for the user; "" if unknown
	ID      string            // hash of everything that determines the results: configuration, files, version
}

// NewPlan returns the plan of c. It checks the configuration of every point and finds the files
// that the runs read. A configuration without a sweep is a grid of one point. c is not modified.
func NewPlan(ctx context.Context, c *config.Config, version string) (*Plan, error) {
	files := &report.Files{}
	find := c.ResolvePath
	c = c.Clone()
	c.ResolvePath = func(name string) string { // is called for each file that a run reads
		files.Note(name)
		if find != nil {
			return find(name)
		}
		return name
	}
	if err := experiment.Check(ctx, c.Clone()); err != nil {
		return nil, err
	}
	return newPlan(c, version, files.List("."))
}

// newPlan returns the plan of a configuration that has been checked, whose runs read these files.
func newPlan(c *config.Config, version string, files []engine.DataFile) (*Plan, error) {
	grid, err := experiment.NewGrid(c)
	if err != nil {
		return nil, err
	}
	text, err := c.ExplicitTOML()
	if err != nil {
		return nil, err
	}
	var sums []string
	for _, f := range files {
		sums = append(sums, f.Name+" "+f.SHA256)
	}
	data, err := json.Marshal([]any{version, string(text), sums})
	sum := sha256.Sum256(data)
	return &Plan{Grid: grid, Config: c, Version: version, TOML: text, Files: files,
		ID: hex.EncodeToString(sum[:])}, err
}

// seed returns the seed of run n.
func (p *Plan) seed(n int) uint64 { return p.Points[n/p.Repeat].Config.Seed + uint64(n%p.Repeat) }

// A job is a list of runs for one worker.
type job struct {
	Plan string `json:"plan"` // ID of the plan
	Runs []int  `json:"runs"` // numbers of the runs, ascending
}

// maxJobRuns is the maximum number of runs of a job.
const maxJobRuns = 64

// jobs divides runs into jobs: as many as parts, so that all workers end at about the same time, or more
// if a job would have more than limit runs. A limit of 0 means maxJobRuns.
func (p *Plan) jobs(runs []int, parts, limit int) (list []job) {
	size := max(min(len(runs)/parts, cmp.Or(limit, maxJobRuns)), 1)
	for part := range slices.Chunk(runs, size) {
		list = append(list, job{p.ID, part})
	}
	return list
}

// checkJob returns an error if a received job is not one of this plan.
func (p *Plan) checkJob(j job) error {
	if j.Plan != p.ID || len(j.Runs) == 0 || len(j.Runs) > maxJobRuns || !slices.IsSorted(j.Runs) ||
		j.Runs[0] < 0 ||
		j.Runs[len(j.Runs)-1] >= p.Runs() {
		return fmt.Errorf("the job does not belong to this sweep")
	}
	return nil
}

// Outcome is the result of one run.
type Outcome struct {
	Run    int
	Result *engine.Result
}

// A batch is the result of a job, or of the part of it that was done when the worker stopped.
type batch struct {
	Worker string // name of the worker
	Runs   []Outcome
	Error  string // why the other runs of the job failed; "" if none did
	// Queued means that another process, perhaps on another machine, sent the results through a queue. The
	// coordinator sets it.
	Queued bool
}

// check returns an error if a batch has a run that is not of the plan or without a digest, a run twice, or an
// impossible figure. It sorts the runs by number.
func (p *Plan) check(b *batch) error {
	slices.SortFunc(b.Runs, func(x, y Outcome) int { return cmp.Compare(x.Run, y.Run) })
	for i, o := range b.Runs {
		if o.Run < 0 || o.Run >= p.Runs() || o.Result == nil || o.Result.Digest == "" || i > 0 &&
			o.Run == b.Runs[i-1].Run {
			return errForeignRun
		}
		if err := p.checkFigures(o.Run, o.Result); err != nil {
			return &impossibleError{err}
		}
	}
	return nil
}

// errForeignRun means that results contain a run that is not of the sweep.
var errForeignRun = errors.New("contains a run that is not of this sweep")

// impossibleError means that a result has the wrong seed, or a figure that no run can have.
type impossibleError struct{ error }

// checkFigures returns an error if a result has another seed than run n of the plan, or a figure that no
// run can have.
func (p *Plan) checkFigures(n int, r *engine.Result) error {
	if seed := p.seed(n); r.Seed != seed {
		return fmt.Errorf("run %d has seed %d, expected %d", n, r.Seed, seed)
	}
	for lane := range len(r.Shadows) + 1 {
		totals, prefix := r.Totals, ""
		if lane > 0 {
			totals, prefix = r.Shadows[lane-1].Totals, fmt.Sprintf("shadows.%d.", lane-1)
		}
		if key, value, ok := figures.FindImpossible(&totals); ok {
			return fmt.Errorf("run %d has an impossible figure: %s%s is %s", n, prefix, key, value)
		}
	}
	return nil
}
