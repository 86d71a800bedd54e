package page

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"wirelab/experiment/engine/meters"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
)

// Loaded is a saved report with the rows of its CSV files.
type Loaded struct {
	Path   string         // as given to Load
	Report *report.Report // nil for a sweep whose report.json has the points but not the runs
	Run    *run           // the run; nil for a sweep

	summary *Summary // the points of a sweep without Report
}

// Load reads a report.json and the CSV files in its folder. path is that file or the folder. Missing CSV
// files are no error; the page mentions them. The CSV files of a sweep's runs are not read. If
// report.json is the summary of a sweep that a queue of machines runs, only the field summary of the
// result is set.
func Load(path string) (*Loaded, error) {
	r, err := report.Read(path)
	if err != nil {
		if s, summaryErr := loadSummary(filepath.Join(reportFolder(path), "report.json")); summaryErr == nil {
			return &Loaded{Path: path, summary: s}, nil
		}
		return nil, err
	}
	l := &Loaded{Path: path, Report: r}
	if r.Sweep || len(r.Runs) != 1 {
		return l, nil
	}
	dir := reportFolder(path)
	if r.Runs[0].Totals.Crowd != nil {
		l.Run = &run{Result: r.Runs[0]}
		return l, l.Run.readRows(dir, "clients.csv", "the distributions over clients", maxClientRows,
			l.Run.addClient)
	}
	l.Run = &run{Result: r.Runs[0], Rows: &rows{}}
	addSample := func(row report.Row) {
		s := meters.ReadSample(row.Text)
		l.Run.Rows.Sample(&s)
	}
	err = l.Run.readRows(dir, "samples.csv", "the charts over time", math.MaxInt, addSample)
	if err != nil {
		return nil, err
	}
	return l, l.Run.readRows(dir, "packets.csv", "the packets one by one", math.MaxInt, l.Run.Rows.Packet)
}

// SavePage writes report.html, the page of the saved report at path, into the report's folder, and returns
// the path of the page. disk may be nil, as in package atomicfile.
func SavePage(disk *atomicfile.Disk, path string) (out string, err error) {
	l, err := Load(path)
	if err != nil {
		return "", err
	}
	out = filepath.Join(reportFolder(path), "report.html")
	return out, disk.WriteFile(out, 0o644,
		func(f *atomicfile.File) error { return l.Document().WriteHTML(f) })
}

// reportFolder returns the folder of a report, which may be named by its report.json.
func reportFolder(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return path
	}
	return filepath.Dir(path)
}

// Document returns the content of the report.
func (l *Loaded) Document() *Document {
	switch {
	case l.summary != nil:
		return l.summary.Document()
	case l.Run != nil:
		return l.Run.document()
	}
	return sweepDocument(l.Report)
}

// readRows passes every row of a CSV file to add. If the file is missing or damaged it adds a remark to
// r.Missing, in which use names what the page lacks.
func (r *run) readRows(dir, name, use string, maxRows int, add func(report.Row)) error {
	err := report.ReadRows(filepath.Join(dir, name), maxRows, add)
	damage, isDamaged := errors.AsType[*csv.ParseError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Missing = append(r.Missing,
			fmt.Sprintf("%s is not in the folder of the report, so the page lacks %s.", name, use))
	case isDamaged:
		r.Missing = append(r.Missing,
			fmt.Sprintf("%s cannot be read from line %d on, so the rest is missing.", name, damage.Line))
	default:
		return err
	}
	return nil
}
