package table

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
)

// edit returns the schema two with one text replaced.
func edit(t testing.TB, from, to string) string {
	t.Helper()
	if !strings.Contains(two, from) {
		t.Fatalf("the schema has no %q", from)
	}
	return strings.Replace(two, from, to, 1)
}

// Errors in schemas have the line, the key and what was expected.
func TestBadSchemas(t *testing.T) {
	angle := "[[field]]\nname = \"h\"\nkind = \"angle\"\n"
	for _, c := range []struct{ schema, wantText string }{
		{"", "item: is missing from the schema; expected a text"},
		{"item = ", "1: "},
		{edit(t, "tank", ""), ":1: item: \"\" is not valid; expected a printable text of 1 to 40 characters"},
		{edit(t, "tank", "\\u001b[2J"), ":1: item: "},
		{edit(t, "tank", strings.Repeat("x", 41)), ":1: item: "},
		{edit(t, "rate_hz = 20", "rate_hz = 0"), ":2: rate_hz: 0 is not valid; expected 1 to 1000 frames a second"},
		{edit(t, "rate_hz = 20", "rate_hz = 1e300"), ":2: rate_hz: 1e+300 is not valid"},
		{edit(t, "rate_hz = 20", "rate_hz = 29.97"), ":2: rate_hz: 29.97 is not valid; expected a whole number, 1 to 1000"},
		{edit(t, "rate_hz = 20", "rate_hz = nan"), ":2: rate_hz: NaN"},
		{edit(t, "rate_hz = 20", "rate = 20"), `:2: rate: unknown key "rate"; did you mean rate_hz?`},
		{edit(t, "rate_hz = 20\n", ""), "rate_hz: is missing"},
		{edit(t, "rows = 2", "rows = 0"), ":3: rows: 0 is not valid; expected 1 to 65536 rows in each frame"},
		{edit(t, "rows = 2", "rows = -1"), ":3: rows: -1"},
		{edit(t, "rows = 2", "rows = \"2\""), ":3: rows: \"2\""},
		{"preamble = -1\n" + two, ":1: preamble: -1"},
		{"header = 1\n" + two, ":1: header: 1 is not valid; expected true or false"},
		{"separator = \"x\"\n" + two, ":1: separator: \"x\" is not a separator"},
		{"format = \"cvs\"\n" + two, `:1: format: unknown format "cvs"; did you mean csv?`},
		{"name = \"rpc\"\n" + two, ":1: name: \"rpc\" is reserved for another kind of data"},
		{"name = \"cubes\"\n" + two, ":1: name: \"cubes\" is reserved for snapshots of cubes"},
		{"frame = \"x\"\n" + two, ":5: field[0].column: column \"x\" is already used by the key frame"},
		{"item = \"a\"\nrate_hz = 1\nrows = 1\n", "field: the schema has 0 fields; expected 1 to 256 tables [[field]]"},
		{"item = \"a\"\nrate_hz = 1\nrows = 1\nfield = 3\n", ":4: field: "},
		{"item = \"a\"\nrate_hz = 1\nrows = 1\nfield = [1]\n", ":4: field[0]: 1 is not a field"},
		{edit(t, "name = \"x\"", "nmae = \"x\""), `:5: field[0].nmae: unknown key "nmae"; did you mean name?`},
		{edit(t, "name = \"on\"", "name = \"x\""), ":10: field[1].name: \"x\" is already the name of field[0]"},
		{edit(t, "name = \"on\"", "name = \"on\"\ncolumn = \"x\""), ":11: field[1].column: column \"x\" is already that of field[0] (x)"},
		{edit(t, "\"quantity\"", "\"float\""), `:6: field[0].kind: unknown kind "float"`},
		{edit(t, "kind = \"quantity\"\n", ""), ":4: field[0].kind: is missing from field[0]"},
		{edit(t, "range = [-1, 1]\n", ""), ":4: field[0].range: is missing from field[0]; expected [lowest, highest], in units"},
		{edit(t, "[-1, 1]", "[1, -1]"), ":7: field[0].range: [1, -1] is not a range"},
		{edit(t, "[-1, 1]", "[-1, 0, 1]"), ":7: field[0].range: this is not valid"},
		{edit(t, "[-1, 1]", "[-inf, inf]"), ":7: field[0].range: [-Inf, +Inf] is not a range"},
		{edit(t, "[-1, 1]", "[-1e9, 1e9]"), ":7: field[0].range: [-1e+09, 1e+09] in steps of 0.01 exceeds 32 bits"},
		{edit(t, "[-1, 1]", "[0.001, 0.002]"), ":7: field[0].range: [0.001, 0.002] contains no multiple of 0.01"},
		{edit(t, "scale = 0.01", "scale = 0"), ":8: field[0].scale: 0 is not valid; expected units per step, 1e-09 to 1e+09"},
		{edit(t, "scale = 0.01", "scale = -1"), ":8: field[0].scale: -1"},
		{edit(t, "kind = \"flag\"", "kind = \"flag\"\nrange = [0, 1]"), ":12: field[1].range: is not valid for a flag"},
		{edit(t, "kind = \"flag\"", "kind = \"float32\"\nscale = 0.1"),
			":12: field[1].scale: is not valid for a float32; expected nothing: a float32 keeps its bits"},
		{edit(t, "kind = \"flag\"", "kind = \"enum\"\nvalues = [\"a\", \"a\"]"), ":12: field[1].values: \"a\" is listed twice"},
		{edit(t, "kind = \"flag\"", "kind = \"enum\"\nvalues = []"),
			":12: field[1].values: is not valid here; expected words"},
		{edit(t, "kind = \"flag\"", "kind = \"enum\"\nrange = [-0.5, 3]"), ":12: field[1].range: [-0.5, 3] is not a range of whole numbers"},
		{two + angle + "range = [0, 360]\nscale = 7\n", ":15: field[2].range: a turn of 360 is not a multiple of the scale 7"},
		{two + angle + "range = [90, 450]\nscale = 7\n", ":15: field[2].range: a turn of 360 is not a multiple of the scale 7"},
		{two + angle + "range = [0, 1]\n", ":15: field[2].range: a turn from 0 to 1 has fewer than two steps of 1"},
		{two + angle + "range = [0, 4294967297]\n", "exceeds 32 bits"},
		{strings.Replace(two, "rows = 2", "rows = 65536", 1) + strings.Repeat(angle, 0) + many(4), "rows: a frame has"},
	} {
		_, err := ParseLayout("schema.toml", []byte(c.schema))
		var e *source.Error
		if !errors.As(err, &e) || !errors.Is(err, ErrSchema) || !strings.HasPrefix(err.Error(), "schema.toml:") ||
			!strings.Contains(err.Error(), c.wantText) {
			t.Errorf("%s\nerror %q\nwant %q", c.schema, err, c.wantText)
		}
	}
	if _, err := readLayout(t.TempDir()); !errors.Is(err, ErrSchema) {
		t.Errorf("a folder as a schema: %v", err)
	}
	if _, err := readLayout(filepath.Join(t.TempDir(), "none.toml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no schema: %v", err)
	}
}

// many returns n more flags.
func many(n int) (text string) {
	for i := range n {
		text += "[[field]]\nname = \"f" + string(rune('a'+i)) + "\"\nkind = \"flag\"\n"
	}
	return text
}

// Errors in rows have the line and the column.
func TestBadRows(t *testing.T) {
	ticks := "frame = \"t\"\n" + two
	enum := edit(t, "kind = \"flag\"", "kind = \"enum\"\nvalues = [\"idle\", \"run\"]")
	float := edit(t, "kind = \"flag\"", "kind = \"float32\"")
	bits := edit(t, "kind = \"flag\"", "kind = \"bits\"")
	for _, c := range []struct {
		schema, content string
		kind            error
		wantText        string
	}{
		{two, "", ErrRecords, "a.csv: records do not fit the schema: the file is empty"},
		{two, "\n \n", ErrRecords, "a.csv: contains 0 frames of 2 rows; expected at least 1"},
		{two, "x,on\n", ErrRecords, "a.csv: contains 0 frames of 2 rows; expected at least 1"},
		{two, "x,on\n0,0\n", ErrTruncated, "a.csv:3: the records end after 1 rows of a frame; expected 2 rows in each frame"},
		{two, "x,on\n0,0\n0,0\n0,1\n", ErrTruncated, "a.csv:5: the records end after 1 rows"},
		{two, "x,off\n0,0\n0,0\n", ErrRecords, `a.csv:1: no column is called "on"; expected`},
		{two, "x,onn\n0,0\n0,0\n", ErrRecords, `or column = "onn" in the schema`},
		{two, "x,on,x\n0,0,0\n0,0,0\n", ErrRecords, "a.csv:1: column 1 (x): two columns have this name"},
		{two, "0,0\n0,0\n", ErrRecords, "a.csv:1: the first line has values, not the names of columns; expected names in the first " +
			"line, or header = false"},
		{two, "0,true\n0,false\n", ErrRecords, "a.csv:1: the first line has values, not the names of columns"},
		{two, "x,on\n0,0\n0\n", ErrRecords, "a.csv:3: a row of 1 columns; expected 2 columns: column 2 (on) is missing"},
		{two, "x;on\n0;0\n0;0\n", ErrRecords,
			`a.csv:1: a single cell with ';' in it, no columns separated by ','; expected separator = ";" in the schema`},
		{two, "x\ton\n0\t0\n0\t0\n", ErrRecords, `expected separator = "\t" in the schema`},
		{two, "x,on\r0,0\r0,0\r", ErrRecords,
			"a.csv:1: a carriage return in the middle of a line; expected lines that end with LF or CRLF"},
		{two, "\rx,on\n0,0\n0,0\n", ErrRecords, "a.csv:1: a carriage return in the middle of a line"},
		{two, "\xff\xfex\x00,\x00", ErrRecords, "a.csv:1: the file is in UTF-16; expected text in UTF-8"},
		{two, "x,\x1b[2J,on\n0\n", ErrRecords, `column 2 (\x1b[2J) is missing`},
		{two, "x,on\n0,0\n" + strings.Repeat("1", 1<<15) + ",0\n", frame.ErrRange, ": " + strings.Repeat("1", 40) + "... is out of range"},
		{two, "x,on\n0,0\n0,0,\n", ErrRecords, "a.csv:3: a row of 3 columns; expected 2 columns"},
		{two, "x,on\n0,0\n\"0,0\n", ErrRecords, "a.csv:3: column 1 (x): no closing quote"},
		{two, "x,on\n0,0\n\"0\"1,0\n", ErrRecords, "a.csv:3: column 1 (x): text after the closing quote"},
		{two, "x,on\n0,0\n0,a\"b\n", ErrRecords, `a.csv:3: column 2 (on): a quote in the middle of "a\"b"`},
		{two, "x,on\n0,0\nabc,0\n", ErrRecords, `a.csv:3: column 1 (x): "abc" is not valid; expected a number such as -12.5`},
		{two, "x,on\n0,0\n\x1b[2J,0\n", ErrRecords, `a.csv:3: column 1 (x): "\x1b[2J"`},
		{two, "x,on\n0,0\n1e,0\n", ErrRecords, `"1e" is not valid`},
		{two, "x,on\n0,0\n0x1p-2,0\n", ErrRecords, `"0x1p-2" is not valid`},
		{two, "x,on\n0,0\n\"0,5\",0\n", ErrRecords, `"0,5" is not valid; expected a number such as -12.5, with a decimal point`},
		{two, "x,on\n0,0\n,0\n", ErrRecords, "a.csv:3: column 1 (x): is empty"},
		{two, "x,on\n0,0\nNaN,0\n", ErrRecords, "a.csv:3: column 1 (x): NaN is not a finite number; expected a finite number"},
		{two, "x,on\n0,0\n-inf,0\n", ErrRecords, "-inf is not a finite number"},
		{two, "x,on\n0,0\n1e999,0\n", frame.ErrRange, "1e999 is out of range"},
		{two, "x,on\n0,0\n1.01,0\n", frame.ErrRange, "a.csv:3: column 1 (x): 1.01 is out of range; expected -1 to 1"},
		{two, "x,on\n0,0\n1e300,0\n", frame.ErrRange, "1e300 is out of range"},
		{two, "x,on\n0,0\n0,2\n", ErrRecords, "a.csv:3: column 2 (on): \"2\" is not valid; expected 0, 1, false or true"},
		{enum, "x,on\n0,idle\n0,runs\n", ErrRecords, "a.csv:3: column 2 (on): \"runs\" is not valid; expected one of idle, run"},
		{edit(t, "kind = \"flag\"", "kind = \"enum\"\nrange = [0, 3]"), "x,on\n0,3\n0,1.5\n", ErrRecords,
			"\"1.5\" is not valid; expected a whole number"},
		{float, "x,on\n0,0\n0,1e39\n", frame.ErrRange, "1e39 is out of range; expected a float32"},
		{bits, "x,on\n0,4294967295\n0,4294967296\n", frame.ErrRange,
			"a.csv:3: column 2 (on): 4294967296 is out of range; expected 0 to 4294967295"},
		{bits, "x,on\n0,0x-5\n0,1\n", ErrRecords, "\"0x-5\" is not valid"},
		{ticks, "t,x,on\n9,0,0\n9,0,0\n10,0,0\n10,0,0\n8,0,0\n8,0,0\n", ErrRecords,
			`a.csv:6: column 1 (t): frame "8" comes after frame "10"; expected frames in order`},
		{bits, "x,on\n0,0x\n0,1\n", ErrRecords, "\"0x\" is not valid"},
		{ticks, "t,x,on\n1,0,0\n2,0,0\n2,0,0\n", ErrRecords,
			`a.csv:3: column 1 (t): frame "1" ends after 1 rows; expected 2 rows in each frame`},
		{ticks, "t,x,on\n1,0,0\n1,0,0\n1,0,0\n2,0,0\n", ErrRecords,
			`a.csv:4: column 1 (t): frame "1" has more rows; expected 2 rows in each frame`},
		{two, "x,on\n0,0\n" + strings.Repeat("0", 1<<17), ErrRecords, "a.csv:3: a line of more than 65536 bytes"},
		{"preamble = 2\n" + two, "x,on\n0,0\n0,0\n0,0\n0,1\n1,1\n0,0\n", ErrRecords,
			"a.csv: frame 1, tank 1, field on: has the value 1 (in steps), but 0 in frame 0"},
		{"preamble = 2\n" + two, "x,on\n0,0\n0,0\n0,0\n0,0\n", ErrRecords, "a.csv: contains 2 frames of 2 rows; expected at least 3"},
	} {
		path := fileOf(t, "a.csv", []byte(c.content))
		_, err := play(layoutOf(t, c.schema), path)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.wantText) || !strings.HasPrefix(err.Error(), path+":") {
			t.Errorf("%.80q\nerror %v\nwant %q", c.content, err, c.wantText)
		}
	}
}

// Errors in packed records have the frame, the row and the field.
func TestBadPacked(t *testing.T) {
	good := packedBytes([][]int32{{1, 0, 2, 1}, {3, 1, 4, 0}})
	nan := packedBytes([][]int32{{1, 0, 2, int32(math.Float32bits(float32(math.NaN())))}})
	float := edit(t, "kind = \"flag\"", "kind = \"float32\"")
	for _, c := range []struct {
		name, schema string
		content      []byte
		kind         error
		wantText     string
	}{
		{"empty.bin", two, nil, ErrRecords, "the file is empty"},
		{"empty.zst", two, zstded(nil), ErrRecords, "contains 0 frames of 2 rows; expected at least 1"},
		{"cut.bin", two, good[:16+4], ErrTruncated, "frame 1, tank 0, field on: the records end before this value; expected complete " +
			"frames of 16 bytes (2 rows of 2 int32)"},
		{"cut.bin", two, good[:16+11], ErrTruncated, "frame 1, tank 1, field x: the records end after 3 of its 4 bytes"},
		{"cut.gz", two, zipped(good[:16+12]), ErrTruncated, "frame 1, tank 1, field on: the records end before this value"},
		{"cut.zst", two, zstded(good)[:20], ErrTruncated, "compressed data are truncated"},
		{"flip.gz", two, append(zipped(good)[:12], 255, 255, 255), ErrRecords, "the compressed data are corrupt"},
		{"range.bin", two, packedBytes([][]int32{{1, 0, 101, 1}}), frame.ErrRange,
			"frame 0, tank 1, field x: 101 is out of range; expected -100 to 100"},
		{"flag.bin", two, packedBytes([][]int32{{1, 0, 2, 1}, {0, 2, 0, 0}}), frame.ErrRange,
			"frame 1, tank 0, field on: 2 is out of range; expected 0 to 1"},
		{"nan.bin", float, nan, ErrRecords, "frame 0, tank 1, field on: NaN is not a finite number; expected the bits " +
			"of a finite float32"},
		{"text.bin", two, []byte("x,on\n0,0\n0,0\n0,0\n")[:16], frame.ErrRange, `the file looks like text: set format = "csv"`},
		{"odd.bin", two, []byte("x,on\n0,0\n0,0\n0,0\n"), frame.ErrRange, `the file looks like text: set format = "csv"`},
		{"magic.zst", two, good, ErrRecords, "promises zstd, but it begins with 01 00 00 00"},
	} {
		path := fileOf(t, c.name, c.content)
		_, err := play(layoutOf(t, c.schema), path)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.wantText) || !strings.HasPrefix(err.Error(), path+":") {
			t.Errorf("%s error %v\nwant %q", c.name, err, c.wantText)
		}
		if isText := bytes.HasPrefix(c.content, []byte("x,on")); strings.Contains(fmt.Sprint(err), "looks like text") != isText {
			t.Errorf("%s: the error %v mentions text, or omits it", c.name, err)
		}
	}
	if _, err := layoutOf(t, two).Open(t.TempDir(), false); !errors.Is(err, ErrRecords) || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder as records: %v", err)
	}
}

// The output of Describe parses to the same schema.
func TestDescribeReadsBack(t *testing.T) {
	schema, _ := Example()
	clock := &frame.Schema{Name: "rpc", Item: "call", Rows: 1, TickHz: 60, Fields: []frame.Field{
		{Name: "time", Unit: "us", Kind: frame.Angle, Min: math.MinInt32, Max: math.MaxInt32},
		{Name: "all", Min: math.MinInt32, Max: math.MaxInt32, Scale: 1e-9}, {Name: "place", Unit: "cm", Kind: frame.Float32}}}
	for name, s := range map[string]*frame.Schema{"cubes": frame.Cubes(901), "rpc": clock, "arena": layoutOf(t, string(schema)).Schema} {
		l, err := ParseLayout(name, Describe(s, 6))
		if err != nil {
			t.Fatal(err)
		}
		if l.Preamble != 6 || l.Schema.Rows != s.Rows || l.Schema.Item != s.Item || l.Schema.TickHz != s.TickHz ||
			len(l.Schema.Fields) != len(s.Fields) {
			t.Errorf("%s reads back as %+v", name, l.Schema)
		}
		if frame.IsCubes(l.Schema) != (name == "cubes") {
			t.Errorf("%s is taken for cubes, or not", name)
		}
		for i, f := range s.Fields {
			g := l.Schema.Fields[i]
			if !f.Kind.Bounded() || f.Kind == frame.Flag || f.Kind == frame.Enum {
				f.Scale, g.Scale = 0, 0
			}
			if f.Scale == 0 && f.Kind.Bounded() && f.Kind != frame.Flag && f.Kind != frame.Enum {
				f.Scale = 1
			}
			if !f.Named() {
				f.Values = nil // the description has a range instead
			}
			if !reflect.DeepEqual(f, g) {
				t.Errorf("%s: field %+v reads back as %+v", name, f, g)
			}
		}
	}
}

// The output of Layout.Describe contains the format of records, so that they can still be read.
func TestDescribeKeepsRecords(t *testing.T) {
	schema, _ := Example()
	l := layoutOf(t, "format = \"csv\"\nheader = false\nseparator = \"\\t\"\npreamble = 3\n"+string(schema))
	again, err := ParseLayout("again", l.Describe())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(l, again) {
		t.Errorf("%+v\nreads back as\n%+v", l, again)
	}
	l.Preamble = 0
	if bytes.Contains(l.Describe(), []byte("preamble")) {
		t.Errorf("a layout without a preamble is described with one:\n%s", l.Describe())
	}
}
