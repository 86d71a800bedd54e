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

// Plan is a grid of runs, and what identifies it on every machine.
type Plan struct {
	experiment.Grid
	Config  *config.Config    // with its sweep
	Version string            // of the program: another may come to other results
	TOML    []byte            // the configuration as text, from which any machine makes the same plan
	Files   []engine.DataFile // that the runs read
	ID      string            // hash of all that decides the results: configuration, files, version
}

// NewPlan checks every point of c's sweep as a run would, and notes the files that the
// runs read. A configuration without a sweep is a grid of one point.
func NewPlan(ctx context.Context, c *config.Config, version string) (*Plan, error) {
	files := &report.Files{}
	find := c.Find
	c = c.Clone()
	c.Find = func(name string) string {
		files.Note(name)
		if find != nil {
			return find(name)
		}
		return name
	}
	p, err := plan(c, version)
	if err != nil {
		return nil, err
	}
	if err := experiment.Check(ctx, c.Clone()); err != nil {
		return nil, err
	}
	p.Files = files.List(".")
	return p, p.identify()
}

// plan makes a plan of a configuration that was checked before.
func plan(c *config.Config, version string) (*Plan, error) {
	grid, err := experiment.NewGrid(c)
	if err != nil {
		return nil, err
	}
	text, err := c.Chosen()
	return &Plan{Grid: grid, Config: c, Version: version, TOML: text}, err
}

// identify gives the plan its ID.
func (p *Plan) identify() error {
	sums := make([]string, len(p.Files))
	for i, f := range p.Files {
		sums[i] = f.Name + " " + f.SHA256
	}
	data, err := json.Marshal([]any{p.Version, string(p.TOML), sums})
	sum := sha256.Sum256(data)
	p.ID = hex.EncodeToString(sum[:])
	return err
}

// job is a chunk of runs for one worker.
type job struct {
	Key     string `json:"key"`   // hash of plan and runs: results of one key are the same
	Plan    string `json:"plan"`  // ID of the plan
	Runs    []int  `json:"runs"`  // numbers, ascending
	Attempt int    `json:"again"` // how often the job was queued before
}

// maxChunk bounds the runs of a job, so that its results fit into a message.
const maxChunk = 64

// job returns the job of these runs. Its key is a hash of the plan and the run numbers.
func (p *Plan) job(runs []int) job {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %v", p.ID, runs))
	return job{Key: hex.EncodeToString(sum[:16]), Plan: p.ID, Runs: runs}
}

// check returns an error if a received job is not one of this plan.
func (p *Plan) check(j job) error {
	if j.Plan != p.ID || len(j.Runs) == 0 || len(j.Runs) > maxChunk || !slices.IsSorted(j.Runs) || j.Runs[0] < 0 ||
		j.Runs[len(j.Runs)-1] >= p.Runs() || j.Key != p.job(j.Runs).Key {
		return fmt.Errorf("a job that is none of this sweep")
	}
	return nil
}

// jobResult is the result of a job: its runs, and the error that ended it.
type jobResult struct {
	Key     string    `json:"key"`
	Plan    string    `json:"plan"`
	Version string    `json:"version"` // of the program that ran it
	Worker  string    `json:"worker"`  // its name
	Seconds float64   `json:"seconds"` // of its wall time
	Runs    []Outcome `json:"runs"`
	Error   string    `json:"error,omitempty"` // why the other runs of the job could not be run
}

// Outcome is the result of one run.
type Outcome struct {
	Run    int            `json:"run"`
	Result *engine.Result `json:"result"`
}
