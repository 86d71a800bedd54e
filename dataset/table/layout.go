package table

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
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
	formatJSON                       // JSON Lines: an object on each line, values in units
)

// Layout is the content of a schema file: the schema of the frames, and the format of
// their records.
type Layout struct {
	Schema   *frame.Schema
	Preamble int    // number of frames at the start that repeat the initial state and are not sent
	Format   string // "csv", "jsonl" or "int32"; "" means that the name of the file decides
	Header   bool   // CSV: the first line has the names of the columns
	Comma    byte   // CSV: separator of cells
	Decimal  string // CSV: "," if numbers may have a decimal comma
	Frame    string // text: column that identifies the frame of a row; "" if rows are counted, or a line is a frame
	Round    string // text: column with whose changes the numbers in Frame begin again; "" if none
	Key      string // text: column that identifies the thing in a row; "" if things have fixed rows
	List     string // JSON Lines: path of the list of rows, if a line is a frame; "" if a line is a row
	AutoRows bool   // the number of rows is found in the records; Schema.Rows is 0

	// Axes are columns of quantities that are the coordinates of a point: Source.Precision measures the rounding error of
	// each point, which is a distance. Every row must have them.
	Axes [][]int

	skipStrays bool      // text: rows of earlier frames, and second rows of a key in a frame, are skipped
	where      condition // text: the records that are read
	columns    []column  // of each field
}

// column describes where the values of a field come from in text, and how they are written.
type column struct {
	name  string // name in CSV; path in JSON Lines
	half  half   // the half of a 64-bit number that is the value
	empty string // the text for which an empty cell stands; "" if empty cells are errors
	learn bool   // the words of the enum are found in the records
}

// condition selects records by the text of a column.
type condition struct {
	column string // "" selects all records
	value  string
	equal  bool // whether the column has the value, or another one
}

// parseCondition parses a condition such as type == "state". It returns false if the text is none.
func parseCondition(text string) (condition, bool) {
	column, value, equal := strings.Cut(text, "==")
	found := equal
	if !equal {
		column, value, found = strings.Cut(text, "!=")
	}
	column, value = strings.TrimSpace(column), strings.TrimSpace(value)
	if unquoted, err := strconv.Unquote(value); err == nil {
		value = unquoted
	}
	return condition{column, value, equal}, found && isPrintableName(column)
}

// String returns the text that parseCondition parses; "" if all records are selected.
func (c condition) String() string {
	operator := "!="
	if c.equal {
		operator = "=="
	}
	if c.column == "" {
		return ""
	}
	return c.column + " " + operator + " " + strconv.Quote(c.value)
}

// accepts reports whether a record whose column has the given text is read.
func (c condition) accepts(cell []byte) bool { return (string(cell) == c.value) == c.equal }

// unfinished reports whether the schema of l depends on the records.
func (l *Layout) unfinished() bool { return l.AutoRows || l.learns() }

// learns reports whether the records determine the words of an enum.
func (l *Layout) learns() bool {
	return slices.ContainsFunc(l.columns, func(c column) bool { return c.learn })
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
	tree, lines, err := tomlkeys.Parse(data) // an error is a *tomlkeys.Error
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
	return []string{"name", "item", "rate_hz", "rows", "preamble", "format", "header", "separator", "decimal", "where", "frame", "round", "key", "skip_strays", "list", "part", "field"}
}

// readSchema reads the whole schema into l. An error is stored in r.err.
func (r *schemaReader) readSchema(l *Layout, tree map[string]any) {
	r.checkKeys("", tree, layoutKeys())
	s := l.Schema
	r.readText("", tree, "name", &s.Name, optionalKey)
	r.readText("", tree, "item", &s.Item, requiredKey)
	s.TickHz = r.readInt(tree, "rate_hz", requiredKey, 1, maxRateHz, "frames a second")
	l.AutoRows = tree["rows"] == "auto"
	if !l.AutoRows {
		s.Rows = r.readInt(tree, "rows", requiredKey, 1, maxRows, `rows in each frame, or "auto"`)
	}
	l.Preamble = r.readInt(tree, "preamble", optionalKey, 0, maxPreamble, "frames that repeat the initial state")
	r.readFormat(l, tree)
	r.readFields(l, tree)
	r.checkKey(l, tree)
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

// readFormat reads the keys that describe the format of records into l: format, header, separator, frame, key and list.
// An error is stored in r.err.
func (r *schemaReader) readFormat(l *Layout, tree map[string]any) {
	r.readText("", tree, "format", &l.Format, optionalKey)
	if formats := []string{"csv", "jsonl", "int32"}; l.Format != "" && !slices.Contains(formats, l.Format) {
		r.failUnknown("format", "format", l.Format, formats)
	}
	r.readBool(tree, "header", &l.Header)
	r.readBool(tree, "skip_strays", &l.skipStrays)
	if v, ok := tree["where"]; ok {
		text, _ := v.(string)
		l.where, ok = parseCondition(text)
		if !ok {
			r.fail("where", formatValue(v)+" is not a condition", `such as 'type == "state"' or 'type != "kill"'`)
		}
	}
	if v, ok := tree["decimal"]; ok {
		l.Decimal, _ = v.(string)
		if l.Decimal != "." && l.Decimal != "," {
			r.fail("decimal", formatValue(v)+" is not valid", `"." or ","`)
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
	r.readText("", tree, "round", &l.Round, optionalKey)
	r.readText("", tree, "key", &l.Key, optionalKey)
	r.readText("", tree, "list", &l.List, optionalKey)
}

// checkKey checks the keys "key", "list" and rows = "auto". With a key it adds a field for the presence of rows, unless
// the schema has one.
func (r *schemaReader) checkKey(l *Layout, tree map[string]any) {
	s := l.Schema
	framed := l.Frame != "" || l.List != ""
	_, hasParts := tree["part"]
	switch {
	case r.err != nil:
	case l.Round != "" && l.Frame == "":
		r.fail("round", "has no effect without a column of numbers that begin again", `the key "frame"`)
	case l.skipStrays && l.Key == "":
		r.fail("skip_strays", "needs things that may be missing in a frame", `the key "key"`)
	case l.Key != "" && !framed:
		r.fail("key", "has no effect without frames", `the key "frame" with the column of the frame, or "list" if a line of JSON is a frame`)
	case l.AutoRows && !framed:
		r.fail("rows", `"auto" counts the rows of a frame`, `the key "frame" with the column of the frame, or "list" if a line of JSON is a frame`)
	case l.Format == "int32" && (l.List != "" || l.Key != "" || l.where.column != ""):
		r.fail("format", "int32 has no columns, which key, list and where name", `"csv" or "jsonl"`)
	case hasParts && (l.AutoRows || l.Key != ""):
		r.fail("part", "needs rows in a fixed order", `no parts with a key or with rows = "auto"; empty = "0" in a [[field]] allows empty cells`)
	case l.List != "" && l.Format == "csv":
		r.fail("list", "is not valid for CSV", `format = "jsonl"`)
	}
	if r.err != nil || l.Key == "" {
		return
	}
	if i := s.FieldOf(frame.Present); i >= 0 {
		if s.Fields[i].Kind != frame.Flag {
			r.fail(fmt.Sprintf("field[%d].kind", i), quoted(s.Fields[i].Kind.String())+" is not valid for the presence of rows", `kind = "flag"`)
		}
		return
	}
	if len(s.Fields) == MaxFields {
		r.fail("field", fmt.Sprintf("the schema has %d fields", MaxFields), fmt.Sprintf("at most %d with a key, which needs a field for the presence", MaxFields-1))
		return
	}
	name := "present"
	for slices.ContainsFunc(s.Fields, func(f frame.Field) bool { return f.Name == name }) ||
		slices.ContainsFunc(l.columns, func(c column) bool { return c.name == name }) || name == l.Frame {
		name += "_"
	}
	present := frame.Field{Name: name, Kind: frame.Flag, Max: 1, Hint: frame.Hint{Role: frame.Present}}
	s.Fields, l.columns = slices.Insert(s.Fields, 0, present), slices.Insert(l.columns, 0, column{name: name})
}

// FormatOf returns the format of the records at path: that of the schema, if set, or the one for the
// extension of the name.
func (l *Layout) FormatOf(path string) recordFormat {
	switch l.Format {
	case "csv":
		return formatCSV
	case "jsonl":
		return formatJSON
	case "int32":
		return formatPacked
	}
	for _, ending := range []string{".gz", ".zst"} {
		path = strings.TrimSuffix(path, ending)
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv", ".tsv", ".txt":
		return formatCSV
	case ".jsonl", ".ndjson", ".json":
		return formatJSON
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
	axes  map[string]int // by group: the number of its places with a tolerance
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
// the key with the name, and what is the word for such names, such as "format".
func (r *schemaReader) failUnknown(key, what, name string, known []string) {
	r.failNear(key, "unknown "+what+" "+quoted(name), "one of "+strings.Join(known, ", "), suggest.Closest(name, known))
}
