package sweep

import (
	"cmp"
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
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	byRun := map[int]*engine.Result{}
	err = readBatches(dir, m.Plan, m.Version, func(b batch, name string, err error) error {
		for _, o := range b.Runs {
			if o.Run < 0 || o.Run >= m.Planned || o.Result == nil || o.Result.Digest == "" {
				err = cmp.Or(err, errForeignRun)
				break
			}
			byRun[o.Run] = o.Result // a run in two files has the same result in both
		}
		if err != nil {
			return &config.Error{File: filepath.Join(dir, resultsName, name),
				Problem:  config.WithoutPath(err),
				Expected: "the results of a job of this sweep", Cause: err}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r := &report.Report{Sweep: true, Planned: m.Planned}
	for _, n := range slices.Sorted(maps.Keys(byRun)) {
		r.Runs = append(r.Runs, byRun[n])
	}
	if len(r.Runs) == 0 {
		return nil, &config.Error{File: dir, Problem: "contains no results yet",
			Expected: "a sweep with at least one complete run"}
	}
	return r, nil
}
