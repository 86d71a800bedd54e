package report

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/meters"
)

// Row is a row of a CSV file with the names of its columns.
type Row struct {
	columns map[string]int // indices of cells by name
	cells   []string
}

// NewRows returns a function that makes rows with the given header.
func NewRows(head []string) func(cells []string) Row {
	columns := make(map[string]int, len(head))
	for i, name := range head {
		columns[name] = i
	}
	return func(cells []string) Row { return Row{columns, cells} }
}

// Text returns a cell, "" if the column does not exist.
func (r Row) Text(name string) string {
	if i, ok := r.columns[name]; ok && i < len(r.cells) {
		return r.cells[i]
	}
	return ""
}

// Number returns a cell as a number, 0 if it is not a finite number, or so large that sums could overflow.
func (r Row) Number(name string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(r.Text(name)), 64)
	if err != nil || v != v || v > 1e300 || v < -1e300 { // v != v for NaN
		return 0
	}
	return v
}

// ReadRows passes the rows of the CSV file at path to add, at most maxRows; add must not keep them. The error is
// a *csv.ParseError if the file is damaged, after the rows before the damage.
func ReadRows(path string, maxRows int, add func(Row)) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return &config.Error{File: path, Problem: "is not a regular file", // opening a pipe would block
			Expected: "a CSV file of a report"}
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	rows := csv.NewReader(bufio.NewReaderSize(file, 1<<16))
	head, err := rows.Read()
	if err != nil { // also of an empty file
		return &csv.ParseError{StartLine: 1, Line: 1, Err: err}
	}
	row := NewRows(head)
	rows.ReuseRecord = true
	for range maxRows {
		cells, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		add(row(cells))
	}
	return nil
}

// maxSampleRows is the maximum number of rows that ReadSamples reads: over an hour, more than a chart
// can show.
const maxSampleRows = 40_000

// ReadSamples reads the samples of a samples.csv, those before a truncated line if there is one.
func ReadSamples(path string) (list []meters.Sample, err error) {
	err = ReadRows(path, maxSampleRows, func(r Row) { list = append(list, meters.ReadSample(r.Text)) })
	if len(list) > 0 {
		return list, nil
	}
	return nil, err
}
