package frame_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"wirelab/dataset/frame"
)

func TestCheckNamesThePlace(t *testing.T) {
	s := &frame.Schema{Name: "calls", Item: "call", Rows: 2, Fields: []frame.Field{
		{Name: "speed", Min: -3, Max: 3}, {Name: "keys", Kind: frame.Bits}, {Name: "heat", Kind: frame.Float32}}}
	f := s.NewFrame()
	copy(f.Table, []int32{-3, math.MinInt32, math.MaxInt32, 3, -1, -1})
	if err := s.Check(f); err != nil {
		t.Errorf("bits and floats have no range: %v", err)
	}
	f.Table[3] = 4
	if err := s.Check(f); !errors.Is(err, frame.ErrRange) || !strings.Contains(err.Error(),
		"call 1, field speed: value out of range: 4, expected -3..3") {
		t.Errorf("a speed of 4: %v", err)
	}
	f.Table = f.Table[:5]
	if err := s.Check(f); err == nil || !strings.Contains(err.Error(), "5 values, calls expects 2 rows x 3 fields") {
		t.Errorf("a short table: %v", err)
	}
}

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		field  frame.Field
		lowest int32
		span   uint32
	}{
		{frame.Field{Min: -3, Max: 4}, -3, 7}, {frame.Field{Kind: frame.Angle, Min: math.MinInt32, Max: math.MaxInt32}, math.MinInt32, math.MaxUint32},
		{frame.Field{Kind: frame.Flag, Max: 1}, 0, 1}, {frame.Field{Kind: frame.Bits, Min: 3, Max: 4}, 0, math.MaxUint32},
		{frame.Field{Kind: frame.Float32}, 0, math.MaxUint32},
	} {
		if lowest, span := c.field.Span(); lowest != c.lowest || span != c.span {
			t.Errorf("%+v spans %d above %d, want %d above %d", c.field, span, lowest, c.span, c.lowest)
		}
	}
}

// A schema with the name "cubes" but other kinds or ranges is not one of cubes: encoders of cubes would
// truncate its values.
func TestIsCubes(t *testing.T) {
	for _, n := range []int{1, frame.WalkoffCubes} {
		if !frame.IsCubes(frame.Cubes(n)) {
			t.Errorf("a snapshot of %d cubes is taken for none", n)
		}
	}
	s := frame.Cubes(frame.WalkoffCubes)
	if n := testing.AllocsPerRun(100, func() { frame.IsCubes(s) }); n != 0 {
		t.Errorf("%v allocations to tell, want none", n)
	}
	for name, spoil := range map[string]func(s *frame.Schema){
		"another name":  func(s *frame.Schema) { s.Name = "boxes" },
		"no rows":       func(s *frame.Schema) { s.Rows = 0 },
		"a field less":  func(s *frame.Schema) { s.Fields = s.Fields[1:] },
		"a wider range": func(s *frame.Schema) { s.Fields[frame.CubeX].Max++ },
		"another kind":  func(s *frame.Schema) { s.Fields[frame.CubeLargest].Kind = frame.Quantity },
	} {
		s := frame.Cubes(3)
		if spoil(s); frame.IsCubes(s) {
			t.Errorf("%s: taken for a cube snapshot", name)
		}
	}
}

func TestChangedRows(t *testing.T) {
	f, g := &frame.Frame{Table: []int32{1, 2, 3, 4, 5, 6}}, &frame.Frame{Table: []int32{1, 2, 0, 4, 0, 0}}
	for n, want := range map[int]int{0: 0, 1: 3, 2: 2, 3: 2, 6: 1} {
		if got := f.ChangedRows(g, n); got != want {
			t.Errorf("in rows of %d, %d differ, want %d", n, got, want)
		}
	}
}

func TestCopyIsDeep(t *testing.T) {
	f := &frame.Frame{Tick: 9, Table: []int32{1}, Body: []byte("a")}
	var g frame.Frame
	g.CopyFrom(f)
	if !g.Equal(f) || g.Tick != 9 {
		t.Errorf("copied as %+v", g)
	}
	g.Table[0], g.Body[0] = 2, 'b'
	if f.Table[0] != 1 || f.Body[0] != 'a' {
		t.Error("the copy shares memory with what it was made of")
	}
	if g.Equal(f) {
		t.Error("frames that differ are equal")
	}
}

func TestItems(t *testing.T) {
	f := &frame.Frame{Body: []byte("four")}
	if n := (&frame.Schema{Rows: 7}).Items(f); n != 7 {
		t.Errorf("%d items in 7 rows", n)
	}
	if n := (&frame.Schema{}).Items(f); n != 4 {
		t.Errorf("%d items in a body of 4 bytes", n)
	}
}

// CheckChanged finds a single bad value in any place, as Check does.
func TestCheckSince(t *testing.T) {
	s := frame.Cubes(100)
	base := s.NewFrame()
	for i := range base.Table {
		lowest, _ := s.Fields[i%len(s.Fields)].Span()
		base.Table[i] = max(lowest, 0)
	}
	f := &frame.Frame{}
	f.CopyFrom(base)
	for _, at := range []int{0, 7, 255, 256, 257, 511, len(f.Table) - 1} {
		fd := &s.Fields[at%len(s.Fields)]
		for _, v := range []int32{fd.Max, fd.Max + 1, fd.Min - 1} {
			f.Table[at] = v
			whole, since := s.Check(f), s.CheckChanged(f, base)
			if bad := v > fd.Max || v < fd.Min; (whole != nil) != bad || (since != nil) != bad || bad && whole.Error() != since.Error() {
				t.Errorf("value %d at %d: %v, since the base %v", v, at, whole, since)
			}
		}
		f.Table[at] = base.Table[at]
	}
}
