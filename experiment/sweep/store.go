package sweep

import (
	"crypto/sha256"
	"encoding/hex"
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
	Name    string            `json:"name,omitempty"` // see Plan
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
// the folder already has results, NewStore returns an error, or replaces them if force is set. The folder is
// locked until Close; if another process has it open, the error is an *atomicfile.LockedError.
func NewStore(disk *atomicfile.Disk, dir string, p *Plan, force bool) (*Store, error) {
	folder, err := report.OpenFolderMatching(disk, dir, sweepName.MatchString, force,
		"--resume to go on, or --force to replace them")
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
	return manifest{p.ID, p.Name, p.Version, p.Runs(), len(p.Points), p.Repeat, files}
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
// error if another version of the program began the sweep, if the configuration has changed since, or if
// a data file cannot be found with its old content. The folder is locked until Close; if another process
// has it open, the error is an *atomicfile.LockedError.
func OpenStore(disk *atomicfile.Disk, dir, version string) (s *Store, p *Plan, err error) {
	m, err := readManifest(dir) // before the folder is opened, which would create it
	if err != nil {
		return nil, nil, err
	}
	// No name counts as a result, so that no file is removed: those of the sweep are still needed.
	folder, err := report.OpenFolderMatching(disk, dir, func(string) bool { return false }, true, "")
	if err != nil {
		return nil, nil, err
	}
	s = &Store{disk: disk, folder: folder, dir: folder.Path()}
	if p, err = m.plan(dir, version); err == nil {
		if _, err = disk.MkdirAll(s.resultsDir()); err == nil {
			return s, p, nil
		}
		err = report.WriteError(err)
		if errors.Is(err, syscall.ENOTDIR) {
			err = &config.Error{File: filepath.Join(dir, resultsName), Problem: "is not a folder",
				Expected: expectedFolder, Cause: err}
		}
	}
	s.Close()
	return nil, nil, err
}

// maxManifestBytes is the maximum size of a manifest in a folder, in bytes.
const maxManifestBytes = 16 << 20

// readManifest reads the manifest in the folder of a sweep.
func readManifest(dir string) (m manifest, err error) {
	path := filepath.Join(dir, planName)
	data, err := config.ReadFile(path, maxManifestBytes, expectedFolder)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, &config.Error{File: path, Problem: "cannot be read: " + err.Error(),
			Expected: expectedFolder, Cause: err}
	}
	return m, nil
}

// plan returns the plan of the folder dir, which m describes. For the errors see OpenStore.
func (m *manifest) plan(dir, version string) (*Plan, error) {
	if m.Version != version {
		return nil, &config.Error{File: filepath.Join(dir, planName), Key: "version",
			Problem: fmt.Sprintf("the sweep was started by version %s, this is version %s", m.Version,
				version),
			Expected: "the same version, or a new sweep"}
	}
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
	p, err := newPlan(c, version, m.Files)
	if err != nil {
		return nil, err
	}
	if p.ID != m.Plan {
		return nil, &config.Error{File: filepath.Join(dir, configName),
			Problem:  "is not the configuration that the sweep was started with",
			Expected: expectedFolder}
	}
	p.Name = m.Name
	return p, nil
}

// expectedFolder describes the folder that OpenStore can continue.
const expectedFolder = "the folder of a sweep, as tui sweep --out writes it"

// Save writes a batch to a file, whose name is a hash of the plan and the run numbers: a worker cannot
// choose it, and a partial result cannot replace a complete one. A nil Store discards the batch.
func (s *Store) Save(p *Plan, b batch) error {
	if s == nil {
		return nil
	}
	h := sha256.New()
	fmt.Fprint(h, p.ID)
	for _, o := range b.Runs {
		fmt.Fprint(h, " ", o.Run)
	}
	data, err := b.seal(p.ID, p.Version)
	if err == nil {
		name := hex.EncodeToString(h.Sum(nil)[:16]) + ".json"
		err = report.WriteError(s.disk.WriteFile(filepath.Join(s.resultsDir(), name), 0o644,
			func(f *atomicfile.File) error {
				_, err := f.Write(data)
				return err
			}))
	}
	if err != nil {
		return &notStoredError{err}
	}
	return nil
}

// notStoredError means that results could not be written, so that their message must not be
// acknowledged.
type notStoredError struct{ error }

func (e *notStoredError) Unwrap() error { return e.error }

// Load calls each with every batch in the folder and the name of its file, in the order of the names. It
// skips files that cannot be read, were damaged, have impossible figures or belong to another sweep, and
// returns an error for each; their runs are run again.
func (s *Store) Load(p *Plan, each func(b batch, name string) error) (skipped []error, err error) {
	if s == nil {
		return nil, nil
	}
	err = readBatches(s.dir, p.ID, p.Version, func(b batch, name string, err error) error {
		if err == nil {
			err = p.check(&b)
		}
		if err != nil {
			skipped = append(skipped, fmt.Errorf("%s: %s", name, config.WithoutPath(err)))
			return nil
		}
		b.Error = "" // runs that failed are run again
		return each(b, name)
	})
	return skipped, err
}

// readBatches calls each with every batch in the folder of a sweep and the name of its file, or with the
// error of reading it.
func readBatches(dir, plan, version string, each func(b batch, name string, err error) error) error {
	entries, err := os.ReadDir(filepath.Join(dir, resultsName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		var b batch
		data, err := config.ReadFile(filepath.Join(dir, resultsName, e.Name()), maxResultFileBytes,
			"the results of a job")
		if err == nil {
			b, err = open(data, plan, version)
		}
		if err := each(b, e.Name(), err); err != nil {
			return err
		}
	}
	return nil
}

// find searches the folder for the result of a run whose content has the given hash. It returns the
// result and the name of its file; nil if no file has it. It reads all files, so the last of several
// equal results is returned.
func (s *Store) find(p *Plan, run int, content contentHash) (found *engine.Result, name string) {
	_, _ = s.Load(p, func(b batch, file string) error { // files with errors are skipped
		for _, o := range b.Runs {
			if o.Run != run {
				continue
			}
			hash, err := hashContent(o.Result)
			if err == nil && hash == content {
				found, name = o.Result, file
			}
		}
		return nil
	})
	return found, name
}

// maxResultFileBytes is the maximum size of a result file, in bytes.
const maxResultFileBytes = 64 << 20
