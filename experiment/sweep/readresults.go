package sweep

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/report"
)

// IsFolder reports whether dir contains the manifest of a sweep.
func IsFolder(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, planName))
	return err == nil && info.Mode().IsRegular()
}

// ReadResults reads the results in the folder of a sweep, in the order of the runs, without its data files
// or its configuration. The sweep may be incomplete or still running. Unlike Store.Load, ReadResults returns
// an error for a file that cannot be read or belongs to another sweep, because nothing runs again what that
// file contains.
func ReadResults(dir string) (*report.Report, error) {
	const expected = "the folder of a sweep, as tui sweep --out writes it"
	var m manifest
	data, err := config.ReadFile(filepath.Join(dir, planName), 16<<20, expected)
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		return nil, &config.Error{File: filepath.Join(dir, planName), Problem: "cannot be read: " + config.WithoutPath(err), Expected: expected, Cause: err}
	}
	entries, err := os.ReadDir(filepath.Join(dir, resultsName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	byRun := map[int]*engine.Result{}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		path := filepath.Join(dir, resultsName, e.Name())
		var result jobResult
		data, err := config.ReadFile(path, maxResultFileBytes, "the results of a job")
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &result); err != nil {
			return nil, &config.Error{File: path, Problem: "cannot be read: " + err.Error(), Expected: "the results of a job", Cause: err}
		}
		if result.Plan != m.Plan || result.Version != m.Version {
			return nil, &config.Error{File: path, Problem: "contains the results of another sweep", Expected: "results of plan " + m.Plan}
		}
		for _, o := range result.Runs {
			if o.Run < 0 || o.Run >= m.Planned || o.Result == nil || o.Result.Digest == "" {
				return nil, &config.Error{File: path, Problem: "contains a run that is not of this sweep", Expected: expected}
			}
			byRun[o.Run] = o.Result // a run in two files has the same result in both
		}
	}
	r := &report.Report{Sweep: true, Planned: m.Planned}
	for _, n := range slices.Sorted(maps.Keys(byRun)) {
		r.Runs = append(r.Runs, byRun[n])
	}
	if len(r.Runs) == 0 {
		return nil, &config.Error{File: dir, Problem: "contains no results yet", Expected: "a sweep with at least one complete run"}
	}
	return r, nil
}
