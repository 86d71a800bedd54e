package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
)

// two is a schema with two rows of a quantity and a flag.
const two = "item = \"tank\"\nrate_hz = 20\nrows = 2\n[[field]]\n" +
	"name = \"x\"\nkind = \"quantity\"\nrange = [-1, 1]\nscale = 0.01\n[[field]]\nname = \"on\"\nkind = \"flag\"\n"

// layoutOf parses a valid schema.
func layoutOf(t testing.TB, schema string) *Layout {
	t.Helper()
	l, err := ParseLayout("schema.toml", []byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func fileOf(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// play opens records and reads all frames.
func play(l *Layout, path string) (frames [][]int32, err error) {
	s, err := l.Open(path, false)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for f := s.Schema().NewFrame(); ; {
		if err := s.Next(f); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return frames, err
		}
		if err := s.Schema().Check(f); err != nil {
			return nil, err
		}
		frames = append(frames, append([]int32(nil), f.Table...))
	}
}

// packedBytes returns values as little-endian int32.
func packedBytes(frames [][]int32) []byte {
	var b bytes.Buffer
	for _, f := range frames {
		_ = binary.Write(&b, binary.LittleEndian, f)
	}
	return b.Bytes()
}

func zstded(data []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(data, nil)
}

func zipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// All variants of CSV and packed integers give the same frames.
func TestFormatsAgree(t *testing.T) {
	want := [][]int32{{-100, 0, 12, 1}, {100, 1, 0, 0}, {7, 1, -33, 1}}
	packed := packedBytes(want)
	plain := "x,on\n-1,0\n0.12,1\n1,1\n0,0\n0.07,1\n-0.33,1\n"
	for _, c := range []struct {
		file, schema string
		content      []byte
	}{
		{"a.bin", two, packed},
		{"a.bin.zst", two, zstded(packed)},
		{"a.gz", two, zipped(packed)},
		{"no-ending-but-zstd", two, zstded(packed)},
		{"a.csv", "format = \"int32\"\n" + two, packed},
		{"a.csv", two, []byte(plain)},
		{"a.CSV.zst", two, nil}, // filled in below
		{"a.csv.gz", two, zipped([]byte(plain))},
		{"a.dat", "format = \"csv\"\n" + two, []byte(plain)},
		{"names.csv", "frame = \"t\"\n" + two, []byte("t,x,on\nb,-1,0\nb,0.12,1\na,1,1\na,0,0\nc,.07,1\nc,-.33,1\n")},
		{"windows.csv", "\ufeff" + two, []byte("\ufeff" + strings.ReplaceAll(plain, "\n", "\r\n\r\n"))},
		{"no-last-newline.csv", two, []byte(strings.TrimSuffix(plain, "\n"))},
		{"bare.csv", "header = false\n" + two, []byte(strings.TrimPrefix(plain, "x,on\n"))},
		{"quoted.csv", two, []byte(strings.ReplaceAll(strings.ReplaceAll(plain, "0.12,1", ` "0.12" , "TRUE" `), "x,on", `"x","on"`))},
		{"columns.csv", two, []byte("name,on,who,x\n" +
			"\"a \"\"b\"\", c\",0,,-1\n,1,,12e-2\n,true,,+1.00\n,false,,0\n,1,,.07\n,1,,-.334\n")},
		{"a.tsv", two, []byte(strings.ReplaceAll(plain, ",", "\t"))},
		{"semicolons.csv", "separator = \";\"\n" + two, []byte(strings.ReplaceAll(plain, ",", ";"))},
		{"ticks.csv", "frame = \"t\"\n" + two, []byte("t,x,on\n7,-1,0\n7,0.12,1\n9.5,1,1\n9.5,0,0\n10,.07,1\n10,-.33,1\n")},
		{"bareticks.csv", "header = false\nframe = \"t\"\n" + two, []byte("7,-1,0\n7,0.12,1\n8,1,1\n8,0,0\n9,.07,1\n9,-.33,1\n")},
	} {
		if c.content == nil {
			c.content = zstded([]byte(plain))
		}
		got, err := play(layoutOf(t, c.schema), fileOf(t, c.file, c.content))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, %v, want %v", c.file, got, err, want)
		}
	}
}

// Cells of every kind are converted to steps.
func TestCells(t *testing.T) {
	f32 := func(v float32) int32 { return int32(math.Float32bits(v)) }
	angle := frame.Field{Kind: frame.Angle, Min: -360, Max: 359, Scale: 0.5}
	for _, c := range []struct {
		field frame.Field
		text  string
		want  int32
	}{
		{frame.Field{Min: -5, Max: 5, Scale: 0.1}, "0.3", 3},
		{frame.Field{Min: -5, Max: 5, Scale: 0.1}, "-0.46", -5},
		{frame.Field{Min: math.MinInt32, Max: math.MaxInt32, Scale: 1}, "-2147483648", math.MinInt32},
		{angle, "180", -360}, {angle, "-180", -360}, {angle, "179.5", 359}, {angle, "179.8", -360},
		{angle, "540.5", -359}, {angle, "-900", -360}, {angle, "0", 0},
		{frame.Field{Kind: frame.Angle, Min: math.MinInt32, Max: math.MaxInt32, Scale: 1}, "4294967297", 1},
		{frame.Field{Kind: frame.Float32}, "0.1", f32(0.1)}, {frame.Field{Kind: frame.Float32}, "-0",
			f32(float32(math.Copysign(0, -1)))},
		{frame.Field{Kind: frame.Float32}, "1e-46", 0},
		{frame.Field{Kind: frame.Bits}, "4294967295", -1}, {frame.Field{Kind: frame.Bits}, "-1",
			-1}, {frame.Field{Kind: frame.Bits}, "0x80000000", math.MinInt32},
		{frame.Field{Kind: frame.Enum, Max: 3, Scale: 1}, "2.0", 2},
		{frame.Field{Kind: frame.Enum, Max: 1, Values: []string{"idle", "run"}}, "run", 1},
		{frame.Field{Kind: frame.Flag, Max: 1}, "False", 0},
	} {
		if got, err := parseCell([]byte(c.text), &c.field, nil); got != c.want || err != nil {
			t.Errorf("%s %q: %d, %v, want %d", c.field.Kind, c.text, got, err, c.want)
		}
	}
}

// A looping source reports the loop point and continues its ticks. The preamble is the initial
// state and is not played.
func TestPreambleAndLoop(t *testing.T) {
	frames := [][]int32{{5, 0, 6, 1}, {5, 0, 6, 1}, {7, 1, 8, 1}, {9, 0, 9, 0}}
	for _, name := range []string{"a.bin", "a.bin.zst"} {
		content := packedBytes(frames)
		if name != "a.bin" {
			content = zstded(content)
		}
		s, err := layoutOf(t, "preamble = 2\n"+two).Open(fileOf(t, name, content), true)
		if err != nil {
			t.Fatal(err)
		}
		f := s.Schema().NewFrame()
		if s.Initial(f); fmt.Sprint(f.Table) != fmt.Sprint(frames[0]) {
			t.Errorf("%s: begins with %v", name, f.Table)
		}
		if known := name == "a.bin"; (s.Frames() == 2) != known || !known && s.Frames() != 0 {
			t.Errorf("%s: %d frames before it was read", name, s.Frames())
		}
		for i := range 7 {
			if err := s.Next(f); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(f.Table) != fmt.Sprint(frames[2+i%2]) || f.Tick != uint32(2+i) || s.AtLoopPoint() != (i > 0 && i%2 == 0) {
				t.Errorf("%s, frame %d: %v, tick %d, loop point %v", name, i, f.Table, f.Tick, s.AtLoopPoint())
			}
		}
		if s.Frames() != 2 {
			t.Errorf("%s: %d frames, want 2", name, s.Frames())
		}
		if errors.Join(s.Close(), s.Close()) != nil || !errors.Is(s.Next(f), source.ErrClosed) {
			t.Errorf("%s: cannot be closed twice, or plays on", name)
		}
	}
	s, err := layoutOf(t, strings.ReplaceAll(two, "[-1, 1]", "[0.5, 1]")).Open(fileOf(t, "a.bin",
		packedBytes([][]int32{{50, 0, 60, 1}})), false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f := s.Schema().NewFrame()
	if s.Initial(f); fmt.Sprint(f.Table) != "[50 0 50 0]" {
		t.Errorf("begins with %v, want what is nearest to zero", f.Table)
	}
}

// Reading allocates nothing per frame, so that memory does not grow with the file.
func TestReadingAllocatesNothing(t *testing.T) {
	rows := strings.Repeat("0.5,1,\"a, b\"\n-0.25,0,\"\"\n", 3)
	for name, content := range map[string][]byte{"a.csv": []byte("x,on,note\n" + rows), "a.bin": packedBytes([][]int32{{1, 0, 2, 1}}),
		"a.jsonl": []byte(strings.Repeat(`{"id": 1, "note": ["a"], "x": 0.5, "on": true}`+"\n"+`{"id": 2, "x": "0.25", "on": false}`+"\n", 100)),
		"l.jsonl": []byte(strings.Repeat(`{"rows": [{"id": 7, "x": 0.5, "on": true}, {"x": 0.25, "id": 8, "on": 0}], "t": 0}`+"\n", 100))} {
		schema := two
		if name == "l.jsonl" {
			schema = "list = \"rows\"\nkey = \"id\"\n" + two
		}
		s, err := layoutOf(t, schema).Open(fileOf(t, name, content), true)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		f := s.Schema().NewFrame()
		read := func() {
			if err := s.Next(f); err != nil {
				t.Fatal(err)
			}
		}
		read()
		for range 2 {
			read() // up to the seam
		}
		limit := 0.0
		if name == "a.csv" {
			limit = 5 // the names of the columns, once every three frames
		}
		if n := testing.AllocsPerRun(300, read); n > limit {
			t.Errorf("%s: %v allocations a frame", name, n)
		}
	}
}
