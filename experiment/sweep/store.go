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
	"syscall"

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
	Hashes  bool              `json:"hashes"` // every result in the folder has a hash
}

// Store stores the results of a sweep in a folder, one file for each job. Files are written
// atomically. A nil Store discards them.
type Store struct {
	disk   *atomicfile.Disk
	folder *atomicfile.Folder
	dir    string

	acceptUnhashed bool // results without hashes are loaded
}

// NewStore creates the folder of a sweep, and writes the manifest and the configuration of p to it. If
// the folder already has results, NewStore returns an error, or replaces them if force is set. The folder is
// locked until Close; if another process has it open, the error is an *atomicfile.LockedError.
func NewStore(disk *atomicfile.Disk, dir string, p *Plan, force bool) (*Store, error) {
	folder, err := report.OpenFolderMatching(disk, dir, sweepName.MatchString, force, "--resume to go on, or --force to replace them")
	if err != nil {
		return nil, err
	}
	s := &Store{disk: disk, folder: folder, dir: folder.Path()}
	files := slices.Clone(p.Files)
	for i := range files {
		files[i].Path = report.RelativePath(folder.Path(), files[i].Name)
	}
	m := p.manifest(files)
	err = folder.Write([]atomicfile.Entry{atomicfile.JSON(planName, m), atomicfile.Bytes(configName, p.TOML)})
	if err == nil {
		_, err = disk.MkdirAll(s.resultsDir())
	}
	if err != nil {
		s.Close()
		return nil, report.WriteError(err)
	}
	return s, nil
}

// manifest returns the manifest of p with these files.
func (p *Plan) manifest(files []engine.DataFile) manifest {
	return manifest{p.ID, p.Version, p.Runs(), len(p.Points), p.Repeat, files, true}
}

// Close unlocks the folder. A nil Store is ignored.
func (s *Store) Close() {
	if s != nil {
		_ = s.folder.Close() // closing can fail only with logs, which the folder does not have
	}
}

// resultsDir returns the path of the folder of results.
func (s *Store) resultsDir() string { return filepath.Join(s.dir, resultsName) }

// OpenStore opens the folder of a sweep to continue it, and returns the sweep's plan. It returns an
// error if another version of the program began the sweep, if the configuration has changed since, if a data
// file cannot be found with its old content, or if the results have no hashes and force is not set. The
// folder is locked until Close; if another process has it open, the error is an *atomicfile.LockedError.
func OpenStore(disk *atomicfile.Disk, dir, version string, force bool) (s *Store, p *Plan, err error) {
	if _, err := config.ReadFile(filepath.Join(dir, planName), maxManifestBytes, expectedFolder); err != nil {
		return nil, nil, err // before the folder is opened, which would create it
	}
	// No name counts as a result, so that no file is removed: those of the sweep are still needed.
	folder, err := report.OpenFolderMatching(disk, dir, func(string) bool { return false }, true, "")
	if err != nil {
		return nil, nil, err
	}
	s = &Store{disk: disk, folder: folder, dir: folder.Path()}
	if p, err = s.readPlan(dir, version, force); err == nil {
		if _, err = disk.MkdirAll(s.resultsDir()); err == nil {
			return s, p, nil
		}
		err = report.WriteError(err)
		if errors.Is(err, syscall.ENOTDIR) {
			err = &config.Error{File: filepath.Join(dir, resultsName), Problem: "is not a folder", Expected: expectedFolder, Cause: err}
		}
	}
	s.Close()
	return nil, nil, err
}

// readPlan reads the plan in the folder, which messages call dir. For the errors see OpenStore.
func (s *Store) readPlan(dir, version string, force bool) (*Plan, error) {
	fileError := func(name, problem string, cause error) error {
		return &config.Error{File: filepath.Join(dir, name), Problem: problem, Expected: expectedFolder, Cause: cause}
	}
	var m manifest
	data, err := config.ReadFile(filepath.Join(dir, planName), maxManifestBytes, expectedFolder)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fileError(planName, "cannot be read: "+err.Error(), err)
	}
	if m.Version != version {
		return nil, &config.Error{File: filepath.Join(dir, planName), Key: "version",
			Problem: fmt.Sprintf("the sweep was started by version %s, this is version %s", m.Version, version), Expected: "the same version, or a new sweep"}
	}
	if !m.Hashes && !force {
		return nil, &config.Error{File: filepath.Join(dir, planName), Key: "hashes",
			Problem: "the results have no hashes, so that damage to them cannot be noticed", Expected: "--force to use them, or a new sweep"}
	}
	s.acceptUnhashed = !m.Hashes
	files := &report.Files{}
	find, err := files.Find(filepath.Join(dir, planName), m.Files)
	if err != nil {
		return nil, err
	}
	c, err := config.LoadFile(filepath.Join(dir, configName))
	if err != nil {
		return nil, err
	}
	c.ResolvePath = find
	p, err := newPlan(c, version)
	if err != nil {
		return nil, err
	}
	p.Files = m.Files
	if err := p.setID(); err != nil {
		return nil, err
	}
	if p.ID != m.Plan {
		return nil, fileError(configName, "is not the configuration that the sweep was started with", nil)
	}
	return p, nil
}

// maxManifestBytes is the maximum size of a manifest in a folder, in bytes.
const maxManifestBytes = 16 << 20

// expectedFolder describes the folder that OpenStore can continue.
const expectedFolder = "the folder of a sweep, as tui sweep --out writes it"

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

// Load calls each with every result in the folder and the name of its file, in no particular order. It skips
// files that cannot be read, were damaged, have impossible figures or belong to another sweep, and returns
// an error for each; their runs are run again.
func (s *Store) Load(p *Plan, each func(result jobResult, name string) error) (skipped []error, err error) {
	if s == nil {
		return nil, nil
	}
	entries, err := os.ReadDir(s.resultsDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
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
		if err == nil && result.unhashed && !s.acceptUnhashed {
			err = errUnhashed
		}
		if err != nil {
			skipped = append(skipped, fmt.Errorf("%s: %s", e.Name(), config.WithoutPath(err)))
			continue
		}
		result.Error = "" // runs that failed are run again
		if err := each(result, e.Name()); err != nil {
			return skipped, err
		}
	}
	return skipped, nil
}

// errUnhashed means that results have no hashes.
var errUnhashed = errors.New("a run has no hash")

// find searches the folder for the result of a run whose content has the given hash. It returns the result and the
// name of its file; nil if no file has it.
func (s *Store) find(p *Plan, run int, content contentHash) (found *engine.Result, name string) {
	_, _ = s.Load(p, func(result jobResult, file string) error { // files with errors are skipped
		for _, o := range result.Runs {
			if o.Run != run {
				continue
			}
			if hash, err := hashContent(o.Result); err == nil && hash == content {
				found, name = o.Result, file
			}
		}
		return nil
	})
	return found, name
}

// maxResultFileBytes is the maximum size of a result file, in bytes.
const maxResultFileBytes = 64 << 20

// checkResult returns an error if received results do not belong to the plan, lack a digest, list a run twice,
// or have a figure that is impossible. It sorts their runs by number.
func (p *Plan) checkResult(result *jobResult) error {
	if result.Plan != p.ID || result.Version != p.Version {
		return errors.New("results of another sweep")
	}
	slices.SortFunc(result.Runs, func(a, b Outcome) int { return cmp.Compare(a.Run, b.Run) })
	for i, o := range result.Runs {
		if o.Run < 0 || o.Run >= p.Runs() || o.Result == nil || o.Result.Digest == "" || i > 0 && o.Run == result.Runs[i-1].Run {
			return errors.New("a run that is not of this sweep")
		}
		if err := p.checkFigures(o.Run, o.Result); err != nil {
			return &impossibleError{err}
		}
	}
	return nil
}

// impossibleError means that a result has the wrong seed, or a figure that no run can have.
type impossibleError struct{ error }

func (e *impossibleError) Unwrap() error { return e.error }
