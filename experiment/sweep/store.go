package sweep

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
)

// Names in the folder of a sweep.
const (
	planName    = "sweep.json"      // the manifest
	configName  = "experiment.toml" // the configuration of the plan
	resultsName = "results"         // folder with one file for each job
)

// sweepName matches the names of the files that a sweep may overwrite in its folder.
var sweepName = regexp.MustCompile(`^(sweep\.json|experiment\.toml|results|report\.(md|json|html)|summary\.csv)$`)

// manifest describes the plan in the folder of a sweep.
type manifest struct {
	Plan    string            `json:"plan"`
	Version string            `json:"version"`
	Planned int               `json:"planned"` // number of runs
	Points  int               `json:"points"`  // number of points
	Repeat  int               `json:"repeat"`  // number of seeds for each point
	Files   []engine.DataFile `json:"files"`
}

// Store stores the results of a sweep in a folder, one file for each job. Files are written
// atomically. A nil Store discards them.
type Store struct {
	disk   *atomicfile.Disk
	folder *atomicfile.Folder
	dir    string
}

// NewStore creates the folder of a sweep, and writes the manifest and the configuration of p to it. If
// the folder already has results, NewStore returns an error, or replaces them if force is set.
func NewStore(disk *atomicfile.Disk, dir string, p *Plan, force bool) (*Store, error) {
	folder, err := report.OpenFolderMatching(disk, dir, sweepName.MatchString, force, "--resume to go on, or --force to replace them")
	if err != nil {
		return nil, err
	}
	files := slices.Clone(p.Files)
	for i := range files {
		files[i].Path = report.RelativePath(folder.Path(), files[i].Name)
	}
	m := manifest{p.ID, p.Version, p.Runs(), len(p.Points), p.Repeat, files}
	err = folder.Write([]atomicfile.Entry{atomicfile.JSON(planName, m), atomicfile.Bytes(configName, p.TOML)})
	s := &Store{disk, folder, folder.Path()}
	if err == nil {
		_, err = disk.MkdirAll(s.resultsDir())
	}
	return s, report.WriteError(err)
}

// resultsDir returns the path of the folder of results.
func (s *Store) resultsDir() string { return filepath.Join(s.dir, resultsName) }

// OpenStore opens the folder of a sweep to continue it, and returns the sweep's plan. It returns an
// error if another version of the program began the sweep, if the configuration has changed since, or
// if a data file cannot be found with its old content.
func OpenStore(disk *atomicfile.Disk, dir, version string) (*Store, *Plan, error) {
	fileError := func(name, problem string, cause error) error {
		return &config.Error{File: filepath.Join(dir, name), Problem: problem, Expected: "the folder of a sweep, as tui sweep --out writes it", Cause: cause}
	}
	var m manifest
	data, err := config.ReadFile(filepath.Join(dir, planName), 16<<20, "the folder of a sweep, as tui sweep --out writes it")
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, nil, fileError(planName, "cannot be read: "+err.Error(), err)
	}
	if m.Version != version {
		return nil, nil, &config.Error{File: filepath.Join(dir, planName), Key: "version",
			Problem: fmt.Sprintf("the sweep was started by version %s, this is version %s", m.Version, version), Expected: "the same version, or a new sweep"}
	}
	files := &report.Files{}
	find, err := files.Find(filepath.Join(dir, planName), m.Files)
	if err != nil {
		return nil, nil, err
	}
	c, err := config.LoadFile(filepath.Join(dir, configName))
	if err != nil {
		return nil, nil, err
	}
	c.ResolvePath = find
	p, err := newPlan(c, version)
	if err != nil {
		return nil, nil, err
	}
	p.Files = m.Files
	if err := p.setID(); err != nil {
		return nil, nil, err
	}
	if p.ID != m.Plan {
		return nil, nil, fileError(configName, "is not the configuration that the sweep was started with", nil)
	}
	// No name counts as a result, so that no file is removed: those of the sweep are still needed.
	folder, err := report.OpenFolderMatching(disk, dir, func(string) bool { return false }, true, "")
	if err != nil {
		return nil, nil, err
	}
	s := &Store{disk, folder, folder.Path()}
	_, err = disk.MkdirAll(s.resultsDir())
	return s, p, report.WriteError(err)
}

// Save writes the runs in result to a file. The file name is the key computed from the plan and the
// run numbers in result, not the key that the worker sent: so a worker cannot choose the file name, and
// a partial result cannot replace a complete one. A nil Store discards the result.
func (s *Store) Save(p *Plan, result jobResult) error {
	if s == nil {
		return nil
	}
	runs := make([]int, len(result.Runs))
	for i, o := range result.Runs {
		runs[i] = o.Run
	}
	result.Key = p.job(runs).Key
	err := report.WriteError(s.disk.WriteFile(filepath.Join(s.resultsDir(), result.Key+".json"), 0o644, func(f *atomicfile.File) error {
		return json.NewEncoder(f).Encode(result)
	}))
	if err != nil {
		return &notStoredError{err}
	}
	return nil
}

// notStoredError means that results could not be written, so that their message must not be
// acknowledged.
type notStoredError struct{ error }

func (e *notStoredError) Unwrap() error { return e.error }

// Load calls each with every result in the folder, in no particular order. It skips files that cannot
// be read or belong to another sweep, and returns their number; their runs are run again.
func (s *Store) Load(p *Plan, each func(jobResult) error) (skipped int, err error) {
	if s == nil {
		return 0, nil
	}
	entries, err := os.ReadDir(s.resultsDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		var result jobResult
		data, err := config.ReadFile(filepath.Join(s.resultsDir(), e.Name()), maxResultFileBytes, "the results of a job")
		if err == nil {
			err = json.Unmarshal(data, &result)
		}
		if err == nil {
			err = p.checkResult(&result)
		}
		if err != nil {
			skipped++
			continue
		}
		result.Error = "" // runs that failed are run again
		if err := each(result); err != nil {
			return skipped, err
		}
	}
	return skipped, nil
}

// maxResultFileBytes is the maximum size of a result file, in bytes.
const maxResultFileBytes = 64 << 20

// checkResult returns an error if received results do not belong to the plan, lack a digest, or list a
// run twice. It sorts their runs by number.
func (p *Plan) checkResult(result *jobResult) error {
	if result.Plan != p.ID || result.Version != p.Version {
		return errors.New("results of another sweep")
	}
	slices.SortFunc(result.Runs, func(a, b Outcome) int { return cmp.Compare(a.Run, b.Run) })
	for i, o := range result.Runs {
		if o.Run < 0 || o.Run >= p.Runs() || o.Result == nil || o.Result.Digest == "" || i > 0 && o.Run == result.Runs[i-1].Run {
			return errors.New("a run that is not of this sweep")
		}
	}
	return nil
}
