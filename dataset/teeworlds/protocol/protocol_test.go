package protocol

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"wirelab/dataset/frame"
)

// Integers are written in the game's format and decode to the same values.
func TestInts(t *testing.T) {
	for v, want := range map[int32][]byte{0: {0}, 1: {1}, -1: {0x40}, 63: {0x3f}, 64: {0x80, 1}, -64: {0x7f}, -65: {0xc0, 1},
		math.MaxInt32: {0xbf, 0xff, 0xff, 0xff, 0x0f}, math.MinInt32: {0xff, 0xff, 0xff, 0xff, 0x0f}} {
		if got := AppendInt(nil, v); !slices.Equal(got, want) {
			t.Errorf("%d: % x, want % x", v, got, want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var all []int32
	var coded []byte
	for range 10_000 {
		v := int32(rng.Uint32()) >> rng.IntN(32)
		all, coded = append(all, v), AppendInt(coded, v)
	}
	got, err := ReadInts(nil, coded, len(all))
	if err != nil || !slices.Equal(got, all) {
		t.Errorf("%d integers decode to %d others: %v", len(all), len(got), err)
	}
	if _, err := ReadInts(nil, coded, len(all)-1); !errors.Is(err, ErrCorrupt) {
		t.Errorf("more than maxInts integers: %v", err)
	}
	for _, bad := range [][]byte{{0x80}, {0x80, 0x80}, {0x80, 0x80, 0x80, 0x80}} {
		if _, _, err := ReadInt(bad); !errors.Is(err, ErrShort) {
			t.Errorf("% x: %v", bad, err)
		}
	}
	if _, _, err := ReadInt([]byte{0x80, 0x80, 0x80, 0x80, 0x10}); !errors.Is(err, ErrCorrupt) {
		t.Error("33 bits:", err)
	}
}

// The code is complete: the sum of 2^-length over all code words is 1 (Kraft).
func TestCodeIsComplete(t *testing.T) {
	room := 0.0
	for _, w := range Huffman().Words {
		room += math.Ldexp(1, -int(w.Len))
	}
	if room != 1 {
		t.Errorf("the sum over all code words is %v, want 1", room)
	}
}

// Every type has one column for each value.
func TestColumnsPerType(t *testing.T) {
	for typ := 1; typ < len(types); typ++ {
		if n := len(types[typ].columnNames()); n != types[typ].size {
			t.Errorf("%s has %d columns, and size %d", types[typ].name, n, types[typ].size)
		}
	}
}

// every returns a schema with items of every known type and of three unknown shapes.
func every(t testing.TB) *frame.Schema {
	var g Groups
	for typ := 1; typ < len(types); typ++ {
		if err := g.Add(Item{NewKey(typ, 2), make([]int32, types[typ].size)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, item := range []Item{{NewKey(23, 0), make([]int32, 4)}, {NewKey(99, 1), nil}, {NewKey(MaxType, 0), make([]int32, 3)}} {
		if err := g.Add(item); err != nil {
			t.Fatal(err)
		}
	}
	return g.Schema(25)
}

// The layout of a schema gives the rows and columns of all parts; columns of a part are close
// together. It refuses schemas that Groups.Schema did not make.
func TestLayout(t *testing.T) {
	s := every(t)
	l, err := NewLayout(s)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Parts) != len(types)-1+3 || len(l.Parts) != len(s.Parts)-1 || l.Parts[0].Type != 10 {
		t.Fatalf("%d parts, the first of type %d", len(l.Parts), l.Parts[0].Type)
	}
	seen := map[int]bool{}
	for i, p := range l.Parts {
		if len(p.Columns) != p.Size {
			t.Errorf("%v: %d columns for %d values", p.shape, len(p.Columns), p.Size)
		}
		if !slices.IsSorted(p.Columns) && !p.hasPosition() {
			t.Errorf("%v: columns %v", p.shape, p.Columns)
		}
		if part := s.Parts[i+1]; part.Size > len(p.Columns)+8 {
			t.Errorf("%v: %d columns for %d values", p.shape, part.Size, p.Size)
		}
		for row := p.Row; row < p.Row+p.Rows; row++ {
			if seen[row] || s.PartForRow(row).Name != p.shape.String() {
				t.Errorf("row %d is of %v and of %s", row, p.shape, s.PartForRow(row).Name)
			}
			seen[row] = true
		}
	}
	if len(seen) != s.Rows-1 || seen[0] {
		t.Errorf("%d rows of %d have a part", len(seen), s.Rows)
	}
	zero := s.NewFrame()
	if err := s.Check(zero); err != nil {
		t.Error("a world without items:", err)
	}
	for _, break_ := range []func(s *frame.Schema){
		func(s *frame.Schema) { s.Name = "table" },
		func(s *frame.Schema) { s.Parts = nil },
		func(s *frame.Schema) { s.Parts = s.Parts[:3] },
		func(s *frame.Schema) { s.Parts[3].Rows = 1 << 30 },
		func(s *frame.Schema) { s.Parts[3].Row = -1 },
		func(s *frame.Schema) { s.Parts[3].Size = 1 },
		func(s *frame.Schema) { s.Parts[3].Name = s.Parts[2].Name },
		func(s *frame.Schema) { s.Parts[3].Name = "type 3 of -1" },
		func(s *frame.Schema) { s.Fields[12].Name = "?" },
	} {
		bad := *s
		bad.Parts, bad.Fields = slices.Clone(s.Parts), slices.Clone(s.Fields)
		break_(&bad)
		if _, err := NewLayout(&bad); !errors.Is(err, errSchema) {
			t.Errorf("a schema of %d parts: %v", len(bad.Parts), err)
		}
	}
}

// Ranges of fields are the game's, extended to the values of the items.
func TestRanges(t *testing.T) {
	var g Groups
	values := make([]int32, 22)
	values[5], values[1], values[9] = 1200, -100_000, 9 // angle, X, hook's state
	if err := g.Add(Item{NewKey(10, 0), values}); err != nil {
		t.Fatal(err)
	}
	s := g.Schema(25)
	want := map[string][2]int32{"Angle": {0, 1608}, "X": {-100_000, math.MaxInt16}, "HookState": {-1, 9}, "Y": {math.MinInt16, math.MaxInt16}}
	for _, f := range s.Fields {
		if w, ok := want[f.Name]; ok && w != [2]int32{f.Min, f.Max} {
			t.Errorf("%s: %d to %d, want %v", f.Name, f.Min, f.Max, w)
		}
	}
	values[5] = -1000
	if err := g.Add(Item{NewKey(10, 0), values}); err != nil {
		t.Fatal(err)
	}
	for _, f := range g.Schema(25).Fields {
		if f.Name == "Angle" && (f.Kind != frame.Quantity || f.Min != -1000 || f.Max != 1200) {
			t.Errorf("Angle: %v, %d to %d", f.Kind, f.Min, f.Max)
		}
	}
}
