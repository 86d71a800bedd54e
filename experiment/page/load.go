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
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
	"wirelab/internal/boundedio"
)

// Loaded is a report that was saved, with what lies beside it.
type Loaded struct {
	Path   string         // as it was named
	Report *report.Report // nil for a sweep of which there are only the points
	Run    *run           // the one run, nil for a sweep

	summary *Summary // of such a sweep
}

// Load reads a report.json, or the folder that holds it, and the rows beside it. What is
// missing beside it is no error: the page says so.
func Load(path string) (*Loaded, error) {
	r, err := report.Read(path)
	if err != nil {
		if s, none := loadSummary(filepath.Join(folderOf(path), "report.json")); none == nil {
			return &Loaded{Path: path, summary: s}, nil
		}
		return nil, err
	}
	l := &Loaded{Path: path, Report: r}
	if r.Sweep || len(r.Runs) != 1 {
		return l, nil
	}
	dir := folderOf(path)
	l.Run = &run{Result: r.Runs[0], Rows: newRows(nil, nil)}
	samples := func(head []string) func([]string) {
		l.Run.Rows.sampleHead = columnsOf(head)
		return l.Run.Rows.Sample
	}
	packets := func(head []string) func([]string) {
		l.Run.Rows.packetHead = columnsOf(head)
		return l.Run.Rows.Packet
	}
	if err := l.Run.read(dir, "samples.csv", "the charts over time", samples); err != nil {
		return nil, err
	}
	return l, l.Run.read(dir, "packets.csv", "the packets one by one", packets)
}

// SavePage writes the page of a saved report into its folder, and returns the path.
func SavePage(disk *atomicfile.Disk, path string) (out string, err error) {
	l, err := Load(path)
	if err != nil {
		return "", err
	}
	out = filepath.Join(folderOf(path), "report.html")
	return out, disk.WriteFile(out, 0o644, func(f *atomicfile.File) error { return l.Write(f) })
}

// folderOf returns the folder of a report, which may be named by its report.json.
func folderOf(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return path
	}
	return filepath.Dir(path)
}

// Write writes the page of what was loaded.
func (l *Loaded) Write(w io.Writer) error {
	if l.summary != nil {
		return l.summary.Write(w)
	}
	if l.Run != nil {
		return l.Run.Write(w)
	}
	return writeSweep(w, l.Report)
}

// read hands every row of a file to what begin returns for its head.
func (r *run) read(dir, name, use string, begin func(head []string) func(row []string)) error {
	path := filepath.Join(dir, name)
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return &config.Error{File: path, Problem: "is no file", Expected: "the " + name + " of the report"}
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		r.Missing = append(r.Missing, fmt.Sprintf("%s is not beside the report, so %s are missing here.", name, use))
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	rows := csv.NewReader(bufio.NewReaderSize(boundedio.NewReader(file, path, maxRows), 1<<16))
	rows.ReuseRecord, rows.FieldsPerRecord = true, -1
	head, err := rows.Read()
	var take func([]string)
	if err == nil {
		take = begin(append([]string{}, head...))
	}
	for err == nil {
		var row []string
		if row, err = rows.Read(); err == nil {
			take(row)
		}
	}
	if !errors.Is(err, io.EOF) {
		line := 1
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			line = bad.Line
		}
		r.Missing = append(r.Missing, fmt.Sprintf("%s cannot be read from line %d on, so what follows is missing here.", name, line))
	}
	return nil
}

// maxRows bounds what is read of a file of rows: some 1000 hours of packets.
const maxRows = 64 << 30
