package sweep

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/report"
)

// Plan is a grid of runs, identified by its ID on every machine.
type Plan struct {
	experiment.Grid
	Config  *config.Config    // including the [[sweep]] tables
	Version string            // of the program; results of different versions may differ
	TOML    []byte            // the configuration as text, from which every machine makes the same plan
	Files   []engine.DataFile // the files that the runs read
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
	p, err := newPlan(c, version)
	if err != nil {
		return nil, err
	}
	if err := experiment.Check(ctx, c.Clone()); err != nil {
		return nil, err
	}
	p.Files = files.List(".")
	return p, p.setID()
}

// newPlan returns the plan of a configuration that has been checked, without Files and ID.
func newPlan(c *config.Config, version string) (*Plan, error) {
	grid, err := experiment.NewGrid(c)
	if err != nil {
		return nil, err
	}
	text, err := c.ExplicitTOML()
	return &Plan{Grid: grid, Config: c, Version: version, TOML: text}, err
}

// setID computes the plan's ID.
func (p *Plan) setID() error {
	sums := make([]string, len(p.Files))
	for i, f := range p.Files {
		sums[i] = f.Name + " " + f.SHA256
	}
	data, err := json.Marshal([]any{p.Version, string(p.TOML), sums})
	sum := sha256.Sum256(data)
	p.ID = hex.EncodeToString(sum[:])
	return err
}

// job is a list of runs for one worker.
type job struct {
	Key     string `json:"key"`   // hash of plan and runs: jobs with the same key have the same results
	Plan    string `json:"plan"`  // ID of the plan
	Runs    []int  `json:"runs"`  // numbers of the runs, ascending
	Attempt int    `json:"again"` // how often the job was queued before
}

// maxJobRuns is the maximum number of runs of a job, so that its results fit into one message.
const maxJobRuns = 64

// job returns the job of these runs. Its key is a hash of the plan and the run numbers.
func (p *Plan) job(runs []int) job {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %v", p.ID, runs))
	return job{Key: hex.EncodeToString(sum[:16]), Plan: p.ID, Runs: runs}
}

// checkJob returns an error if a received job is not one of this plan.
func (p *Plan) checkJob(j job) error {
	if j.Plan != p.ID || len(j.Runs) == 0 || len(j.Runs) > maxJobRuns || !slices.IsSorted(j.Runs) || j.Runs[0] < 0 ||
		j.Runs[len(j.Runs)-1] >= p.Runs() || j.Key != p.job(j.Runs).Key {
		return fmt.Errorf("the job does not belong to this sweep")
	}
	return nil
}

// jobResult is the result of a job, or of the part of it that was done when the worker stopped.
type jobResult struct {
	Key     string    `json:"key"`     // of the job
	Plan    string    `json:"plan"`    // ID of the plan
	Version string    `json:"version"` // of the worker's program
	Worker  string    `json:"worker"`  // name of the worker
	Seconds float64   `json:"seconds"` // wall time of the job
	Runs    []Outcome `json:"runs"`
	Error   string    `json:"error,omitempty"` // why the other runs of the job failed; "" if none did
	// Queued means that another process, perhaps on another machine, sent the results through a queue. The
	// coordinator sets it.
	Queued bool `json:"queued,omitempty"`

	unhashed bool // some runs in the JSON, from which this was read, had no hash
}

// Outcome is the result of one run.
type Outcome struct {
	Run    int            `json:"run"`
	Result *engine.Result `json:"result"`
}
