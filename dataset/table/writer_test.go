package table

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/quake3/netcode"
	"wirelab/dataset/rpc"
	"wirelab/dataset/source"
)

// odd returns a schema with names and values that need quoting in CSV and TOML.
func odd() *frame.Schema {
	return &frame.Schema{Name: "odd", Item: "thing", Rows: 3, TickHz: 30, Fields: []frame.Field{
		{Name: "frame", Kind: frame.Bits}, {Name: `a,"b"`, Kind: frame.Float32, Unit: "m"}, {Name: "row", Kind: frame.Flag, Max: 1},
		{Name: "far", Kind: frame.Quantity, Min: math.MinInt32, Max: math.MaxInt32, Scale: 0.01},
		{Name: "yaw", Kind: frame.Angle, Min: -180, Max: 179, Scale: 0.3, Hint: frame.Hint{Turn: 360}},
		{Name: "sort", Kind: frame.Enum, Min: -3, Max: 1 << 20, Hint: frame.Hint{Role: frame.Type}},
		{Name: "x", Kind: frame.Quantity, Max: 9, Scale: 1, Hint: frame.Hint{Role: frame.Position, Group: 3, Axis: 2, Rides: 255, Step: 0.125}},
		{Name: "vx", Kind: frame.Quantity, Max: 9, Scale: 1, Hint: frame.Hint{Role: frame.Velocity, Group: 3, Axis: 2, Rate: 0.001, Drag: 0.006, StopSpeed: 100}},
	}, Parts: []frame.Part{{Name: "one", Rows: 2, Field: 1, Size: 3}, {Name: "two", Row: 2, Rows: 1, Field: 0, Size: 8}}}
}

// Written frames, of any content, read back as the same frames with the same schema.
func TestWriter(t *testing.T) {
	quake := netcode.NewLayout(71, 3)
	calls, err := rpc.Kind.Open(t.Context(), "", source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*frame.Schema{odd(), frame.Cubes(4), calls.Schema(), quake.Schema(20)} {
		rng := rand.New(rand.NewPCG(7, 18))
		var frames []*frame.Frame
		var csv bytes.Buffer
		w := NewWriter(&csv, s)
		for range 30 {
			f := s.NewFrame()
			for i := range f.Table {
				lowest, span := s.Fields[i%len(s.Fields)].Span()
				f.Table[i] = int32(uint32(lowest) + uint32(rng.Uint64N(uint64(span)+1)))
			}
			if err := w.Write(f); err != nil {
				t.Fatal(err)
			}
			frames = append(frames, f)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for name, text := range map[string][]byte{"x.toml": w.Schema(), "x.csv": csv.Bytes()} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		l, err := readLayout(filepath.Join(dir, "x.toml"))
		if err != nil {
			t.Fatal(err)
		}
		src, err := l.Open(filepath.Join(dir, "x.csv"), false)
		if err != nil {
			t.Fatal(err)
		}
		f := s.NewFrame()
		for n, want := range frames {
			var err error
			if n == 0 {
				src.Initial(f)
			} else {
				err = src.Next(f)
			}
			if err != nil || !f.Equal(want) {
				t.Fatalf("%s, frame %d is another, error %v", s.Name, n, err)
			}
		}
		if err := src.Next(f); err != io.EOF {
			t.Errorf("%s: %v at the end", s.Name, err)
		}
		got := *src.Schema()
		if s.Name == "rpc" {
			got.Name = s.Name
		}
		got.Fields = append([]frame.Field(nil), got.Fields...)
		for i := range got.Fields {
			if s.Fields[i].Scale == 0 && got.Fields[i].Scale == 1 {
				got.Fields[i].Scale = 0
			}
			got.Fields[i].Values = s.Fields[i].Values // the file has numbers
		}
		if !reflect.DeepEqual(&got, s) {
			t.Errorf("%s: the schema reads as\n%+v, expected\n%+v", s.Name, got, *s)
		}
		_ = src.Close()
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWriterFails(t *testing.T) {
	w := NewWriter(full{}, odd())
	f := odd().NewFrame()
	if err := w.Write(f); err != nil {
		t.Error(err)
	}
	if err := w.Close(); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a full disk: %v", err)
	}
	f.Body = []byte("x")
	if err := w.Write(f); err == nil {
		t.Error("a frame with bytes is written")
	}
}

// Invalid hints and parts are refused with the key and what was expected.
func TestHintsAreChecked(t *testing.T) {
	w := NewWriter(io.Discard, odd())
	good := string(w.Schema())
	for _, c := range [][3]string{
		{`"place"`, `"plaice"`, "did you mean place?"}, {`"type"`, "3", "role"}, {"axis    = 2", "axis = 3", "0 to 2"},
		{"group   = 3", "", "group"}, {"group   = 3", "group = 256", "0 to 255"}, {"rate    = 0.001", "rate = -1", "a number from 0"},
		{`"type"`, "\"type\"\ngroup = 2", "group"}, {"rides   = 255", "rides = true", "0 to 255"},
		{"first_row = 2", "first_row = 1", "as the index of a row after those of earlier parts"}, {"rows    = 1", "rows = 2", "1 to 1"}, {`first   = "frame"`, `first = "fame"`, "did you mean frame?"},
		{`last    = "far"`, `last = "frame"`, "comes before"}, {`first_row = 2`, "", "first_row"}, {"[[part]]", "[part]", ""},
		{"[[part]]", "[[part]]\ncolour = 3", "colour"},
	} {
		text := strings.Replace(good, c[0], c[1], 1)
		if text == good {
			t.Fatalf("no %q in\n%s", c[0], good)
		}
		if _, err := ParseLayout("x.toml", []byte(text)); err == nil || !strings.Contains(err.Error(), c[2]) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s for %s: %v, expected %q", c[1], c[0], err, c[2])
		}
	}
}
