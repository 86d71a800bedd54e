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

// Limits of a schema: they bound what a reader allocates, and what a history of 255
// frames holds: with delta-adaptive 4 MB a frame at both ends, if every value changes.
const (
	maxRows   = 1 << 16
	MaxFields = 256
	MaxCells  = 1 << 18 // rows times fields
	maxRateHz = 1000

	maxSchemaBytes = 1 << 18 // a TOML reader takes seconds for more keys than that
	maxPreamble    = 1000
	maxText        = 40 // characters of a name
)

// separators are the bytes that can separate two cells.
const separators = ",;\t|"

// recordFormat is the format of records.
type recordFormat uint8

// The formats of records.
const (
	formatCSV    recordFormat = iota // rows of text, values in units
	formatPacked                     // little-endian int32, values in steps
)

// Layout is the content of a schema file: the schema of the frames, and the format of
// their records.
type Layout struct {
	Schema   *frame.Schema
	Preamble int    // so many frames at the start repeat the initial state, and are not sent
	Format   string // "csv", "int32", or "" to go by the name of the file
	Header   bool   // formatCSV: the first line names the columns
	Comma    byte   // formatCSV: what stands between two cells
	Frame    string // formatCSV: the column that tells frames apart, "" if they are counted

	columns []string   // formatCSV: the column of each field
	values  [][]string // formatCSV: the words of each enum, nil where there are none
}

// readLayout reads a schema from a TOML file.
func readLayout(path string) (*Layout, error) {
	const expected = "a schema in TOML of at most 256 KB"
	data, err := boundedio.ReadFile(path, maxSchemaBytes)
	var kind *boundedio.KindError
	var tooLarge *boundedio.SizeError
	switch {
	case errors.As(err, &kind):
		return nil, &source.Error{File: path, Problem: "is " + source.What(kind.Mode), Expected: expected, Kind: ErrSchema}
	case errors.As(err, &tooLarge):
		size := max(tooLarge.Size, maxSchemaBytes+1)
		return nil, &source.Error{File: path, Problem: fmt.Sprintf("has %d KB", size/1000), Expected: expected, Kind: ErrSchema}
	case err != nil:
		return nil, err
	}
	return ParseLayout(path, data)
}

// ParseLayout reads a schema from TOML text; name stands in errors, which are *source.Error.
func ParseLayout(name string, data []byte) (*Layout, error) {
	tree, _, lines, err := tomlkeys.Parse(data)
	if bad, ok := errors.AsType[*tomlkeys.Error](err); ok {
		return nil, &source.Error{File: name, Line: bad.Line, Problem: bad.Problem, Expected: bad.Expected, Kind: ErrSchema}
	}
	r := &reader{file: name, lines: lines}
	l := &Layout{Schema: &frame.Schema{Name: "table"}, Header: true, Comma: ','}
	r.layout(l, tree)
	if r.err != nil {
		return nil, r.err
	}
	return l, nil
}

// layoutKeys are the keys outside the fields; those that come first are checked first.
func layoutKeys() []string {
	return []string{"name", "item", "rate_hz", "rows", "preamble", "format", "header", "separator", "frame", "part", "field"}
}

func (r *reader) layout(l *Layout, tree map[string]any) {
	r.checkKeys("", tree, layoutKeys())
	s := l.Schema
	r.readText("", tree, "name", &s.Name, false)
	r.readText("", tree, "item", &s.Item, true)
	s.TickHz = r.readInt(tree, "rate_hz", true, 1, maxRateHz, "frames a second")
	s.Rows = r.readInt(tree, "rows", true, 1, maxRows, "rows in each frame")
	l.Preamble = r.readInt(tree, "preamble", false, 0, maxPreamble, "frames that repeat the initial state")
	r.format(l, tree)
	r.fields(l, tree)
	r.readParts(s, tree)
	if r.err == nil && s.Cells() > MaxCells {
		r.fail("rows", "too many values in a frame", "at most 262144, rows times fields")
	}
	switch {
	case r.err != nil:
	case s.Name == "rpc" || s.Name == "text" || s.Name == "files":
		r.fail("name", quoted(s.Name)+" is the name of data of another kind", "a name of your own")
	case s.Name == "cubes" && !frame.IsCubes(s):
		r.fail("name", `"cubes" is the name of snapshots of cubes, which have other fields`,
			"the kinds and ranges of `tui datasets describe demo`, or another name")
	}
}

// format reads what there is to say about the text of records.
func (r *reader) format(l *Layout, tree map[string]any) {
	r.readText("", tree, "format", &l.Format, false)
	if l.Format != "" && l.Format != "csv" && l.Format != "int32" {
		r.failUnknown("format", "format", l.Format, []string{"csv", "int32"})
	}
	if v, ok := tree["header"]; ok {
		l.Header, ok = v.(bool)
		if !ok {
			r.fail("header", shown(v)+" makes no sense here", "true or false")
		}
	}
	if v, ok := tree["separator"]; ok {
		s, _ := v.(string)
		if len(s) != 1 || !strings.Contains(separators, s) {
			r.fail("separator", shown(v)+" separates nothing", `",", ";", "|" or "\t"`)
			return
		}
		l.Comma = s[0]
	}
	r.readText("", tree, "frame", &l.Frame, false)
}

// FormatOf returns how the records at path are written: as the schema says, or else
// as the name says.
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

// Separator returns what stands between two cells of the CSV file at path.
func (l *Layout) Separator(path string) byte {
	if l.Comma == ',' && strings.Contains(strings.ToLower(filepath.Base(path)), ".tsv") {
		return '\t'
	}
	return l.Comma
}

// reader reads a schema; it keeps the first thing that is wrong.
type reader struct {
	file  string
	lines map[string]int
	err   error
}

// fail notes what is wrong with the value of key.
func (r *reader) fail(key, problem, expected string) { r.failNear(key, problem, expected, "") }

// failNear is fail with a suggestion; "" if there is none.
func (r *reader) failNear(key, problem, expected, near string) {
	if r.err == nil {
		r.err = &source.Error{File: r.file, Line: tomlkeys.LineOf(r.lines, key), Place: key, Problem: problem,
			Expected: expected, Near: near, Kind: ErrSchema}
	}
}

// failUnknown reports an error for a name that is not among known.
func (r *reader) failUnknown(key, what, name string, known []string) {
	r.failNear(key, "unknown "+what+" "+quoted(name), "one of "+strings.Join(known, ", "), suggest.Closest(name, known))
}
