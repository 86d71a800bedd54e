package report

import (
	"encoding/csv"
	"fmt"
	"os"

	"wirelab/experiment/engine/meters"
)

// maxSampleRows is the maximum number of rows that ReadSamples reads: over an hour, more than a chart
// can show.
const maxSampleRows = 40_000

// ReadSamples reads the samples of a samples.csv. It stops without an error at a truncated line.
func ReadSamples(path string) ([]meters.Sample, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path) // opening a pipe would block
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	head, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%s is not a CSV file: %w", path, err)
	}
	columns := map[string]int{} // by name
	for i, name := range head {
		columns[name] = i
	}
	var out []meters.Sample
	for len(out) < maxSampleRows {
		row, err := r.Read()
		if err != nil { // the end of the file, or a truncated line
			break
		}
		out = append(out, meters.ReadSample(func(name string) string {
			if i, ok := columns[name]; ok {
				return row[i]
			}
			return ""
		}))
	}
	return out, nil
}
