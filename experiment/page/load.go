package page

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
	"wirelab/internal/boundedio"
)

// Loaded is a saved report with the rows of its CSV files.
type Loaded struct {
	Path   string         // as given to Load
	Report *report.Report // nil for a sweep whose report.json has the points but not the runs
	Run    *run           // the run; nil for a sweep

	summary *Summary // the points of a sweep without Report
}

// Load reads a report.json and the CSV files in its folder. path is that file or the folder. Missing CSV
// files are no error; the page mentions them. The CSV files of a sweep's runs are not read. If report.json is
// the summary of a sweep that a queue of machines runs, only the field summary of the result is set.
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
		return l, l.Run.readRows(dir, "clients.csv", "the distributions over clients", l.Run.addClient)
	}
	l.Run = &run{Result: r.Runs[0], Rows: &rows{}}
	addSample := func(c cells) {
		s := meters.ReadSample(c.text)
		l.Run.Rows.Sample(&s)
	}
	if err := l.Run.readRows(dir, "samples.csv", "the charts over time", addSample); err != nil {
		return nil, err
	}
	return l, l.Run.readRows(dir, "packets.csv", "the packets one by one", l.Run.Rows.packets.addRow)
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
// r.Missing, in which use names what the page lacks. It returns an error only if name is not a regular file
// or cannot be opened.
func (r *run) readRows(dir, name, use string, add func(cells)) error {
	path := filepath.Join(dir, name)
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return &config.Error{File: path, Problem: "is not a regular file",
			Expected: "the " + name + " of the report"}
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		r.Missing = append(r.Missing,
			fmt.Sprintf("%s is not in the folder of the report, so the page lacks %s.", name, use))
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	rows := csv.NewReader(bufio.NewReaderSize(boundedio.NewReader(file, path, maxRowBytes), 1<<16))
	rows.ReuseRecord = true
	rows.FieldsPerRecord = -1 // rows may have any number of fields
	head, err := rows.Read()
	columns := columnsOf(head)
	for err == nil {
		var row []string
		row, err = rows.Read()
		if err == nil {
			add(cells{columns, row})
		}
	}
	if !errors.Is(err, io.EOF) {
		line := 1
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			line = bad.Line
		}
		r.Missing = append(r.Missing,
			fmt.Sprintf("%s cannot be read from line %d on, so the rest is missing.", name, line))
	}
	return nil
}

// maxRowBytes bounds the bytes read of a CSV file: 64 GB, about 1000 hours of packets.
const maxRowBytes = 64 << 30
