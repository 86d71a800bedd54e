package table

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/internal/boundedio"
	"wirelab/internal/suggest"
	"wirelab/internal/tomlkeys"
)

// Limits of a schema. They bound the memory of a reader and of a history of 255 frames, which with
// delta-adaptive is up to 4 MB per frame at both endpoints if every value changes.
const (
	maxRows   = 1 << 16
	MaxFields = 256
	MaxCells  = 1 << 18 // rows times fields
	maxRateHz = 1000

	maxSchemaBytes = 1 << 18 // parsing larger TOML files takes seconds
	maxPreamble    = 1000
	maxText        = 40 // characters of a name
)

// separators are the bytes that can separate two cells.
const separators = ",;\t|"

// recordFormat is the format of records.
type recordFormat uint8

// The formats of files of records.
const (
	formatCSV    recordFormat = iota // rows of text, values in units
	formatPacked                     // little-endian int32, values in steps
)

// Layout is the content of a schema file: the schema of the frames, and the format of
// their records.
type Layout struct {
	Schema   *frame.Schema
	Preamble int    // number of frames at the start that repeat the initial state and are not sent
	Format   string // "csv" or "int32"; "" means that the name of the file decides
	Header   bool   // CSV: the first line has the names of the columns
	Comma    byte   // CSV: separator of cells
	Frame    string // CSV: column that identifies the frame of a row; "" if rows are counted

	columns []string // CSV: name of the column of each field
}

// readLayout reads a schema from a TOML file.
func readLayout(path string) (*Layout, error) {
	const expected = "a schema in TOML of at most 256 KB"
	data, err := boundedio.ReadFile(path, maxSchemaBytes)
	var kind *boundedio.KindError
	var tooLarge *boundedio.SizeError
	switch {
	case errors.As(err, &kind):
		return nil, &source.Error{File: path, Problem: "is " + source.DescribeMode(kind.Mode), Expected: expected, Kind: ErrSchema}
	case errors.As(err, &tooLarge):
		size := max(tooLarge.Size, maxSchemaBytes+1) // tooLarge.Size is 0 if unknown
		return nil, &source.Error{File: path, Problem: fmt.Sprintf("has %d KB", size/1000), Expected: expected, Kind: ErrSchema}
	case err != nil:
		return nil, err
	}
	return ParseLayout(path, data)
}

// ParseLayout parses a schema in TOML. name is the name of the file in errors, which are of type
// *source.Error.
func ParseLayout(name string, data []byte) (*Layout, error) {
	tree, _, lines, err := tomlkeys.Parse(data) // an error is a *tomlkeys.Error
	if tomlError, ok := errors.AsType[*tomlkeys.Error](err); ok {
		return nil, &source.Error{File: name, Line: tomlError.Line, Problem: tomlError.Problem, Expected: tomlError.Expected, Kind: ErrSchema}
	}
	r := &schemaReader{file: name, lines: lines}
	l := &Layout{Schema: &frame.Schema{Name: "table"}, Header: true, Comma: ','}
	r.readSchema(l, tree)
	if r.err != nil {
		return nil, r.err
	}
	return l, nil
}

// layoutKeys returns the keys at the top level of a schema.
func layoutKeys() []string {
	return []string{"name", "item", "rate_hz", "rows", "preamble", "format", "header", "separator", "frame", "part", "field"}
}

// readSchema reads the whole schema into l. An error is stored in r.err.
func (r *schemaReader) readSchema(l *Layout, tree map[string]any) {
	r.checkKeys("", tree, layoutKeys())
	s := l.Schema
	r.readText("", tree, "name", &s.Name, optionalKey)
	r.readText("", tree, "item", &s.Item, requiredKey)
	s.TickHz = r.readInt(tree, "rate_hz", requiredKey, 1, maxRateHz, "frames a second")
	s.Rows = r.readInt(tree, "rows", requiredKey, 1, maxRows, "rows in each frame")
	l.Preamble = r.readInt(tree, "preamble", optionalKey, 0, maxPreamble, "frames that repeat the initial state")
	r.readFormat(l, tree)
	r.readFields(l, tree)
	r.readParts(s, tree)
	if r.err == nil && s.Cells() > MaxCells {
		r.fail("rows", fmt.Sprintf("a frame has %d values", s.Cells()), fmt.Sprintf("at most %d, rows times fields", MaxCells))
	}
	switch {
	case r.err != nil:
	case s.Name == "rpc" || s.Name == "text" || s.Name == "files":
		r.fail("name", quoted(s.Name)+" is reserved for another kind of data", "another name")
	case s.Name == "cubes" && !frame.IsCubes(s):
		r.fail("name", `"cubes" is reserved for snapshots of cubes, which have other fields`,
			"the kinds and ranges of `tui datasets describe demo`, or another name")
	}
}

// readFormat reads the keys that describe the format of records into l: format, header, separator and frame. An
// error is stored in r.err.
func (r *schemaReader) readFormat(l *Layout, tree map[string]any) {
	r.readText("", tree, "format", &l.Format, optionalKey)
	if l.Format != "" && l.Format != "csv" && l.Format != "int32" {
		r.failUnknown("format", "format", l.Format, []string{"csv", "int32"})
	}
	if v, ok := tree["header"]; ok {
		l.Header, ok = v.(bool)
		if !ok {
			r.fail("header", formatValue(v)+" is not valid", "true or false")
		}
	}
	if v, ok := tree["separator"]; ok {
		s, _ := v.(string)
		if len(s) != 1 || !strings.Contains(separators, s) {
			r.fail("separator", formatValue(v)+" is not a separator", `",", ";", "|" or "\t"`)
			return
		}
		l.Comma = s[0]
	}
	r.readText("", tree, "frame", &l.Frame, optionalKey)
}

// FormatOf returns the format of the records at path: that of the schema, if set, or the one for the
// extension of the name.
func (l *Layout) FormatOf(path string) recordFormat {
	switch l.Format {
	case "csv":
		return formatCSV
	case "int32":
		return formatPacked
	}
	for _, ending := range []string{".gz", ".zst"} {
		path = strings.TrimSuffix(path, ending)
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv", ".tsv", ".txt":
		return formatCSV
	}
	return formatPacked
}

// Separator returns the separator of cells in the CSV file at path. In .tsv files a tab replaces the
// default.
func (l *Layout) Separator(path string) byte {
	if l.Comma == ',' && strings.Contains(strings.ToLower(filepath.Base(path)), ".tsv") { // also for .tsv.gz
		return '\t'
	}
	return l.Comma
}

// schemaReader reads a schema and stores the first error.
type schemaReader struct {
	file  string         // name of the file, for errors
	lines map[string]int // by key: its line in the file
	err   error          // nil until the first error
}

// fail reports an error in the value of key, unless there is one already.
func (r *schemaReader) fail(key, problem, expected string) { r.failNear(key, problem, expected, "") }

// failNear is fail with a suggestion, near, which may be "".
func (r *schemaReader) failNear(key, problem, expected, near string) {
	if r.err == nil {
		r.err = &source.Error{File: r.file, Line: tomlkeys.LineOf(r.lines, key), Place: key, Problem: problem,
			Expected: expected, Near: near, Kind: ErrSchema}
	}
}

// failUnknown reports an error for a name that is not among known, and suggests the closest of these. key is
// where the name was read, what says what it names, such as "format".
func (r *schemaReader) failUnknown(key, what, name string, known []string) {
	r.failNear(key, "unknown "+what+" "+quoted(name), "one of "+strings.Join(known, ", "), suggest.Closest(name, known))
}
