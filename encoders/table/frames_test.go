package table_test

import (
	"math"
	"math/rand/v2"

	"wirelab/dataset/frame"
	"wirelab/dataset/quake3/netcode"
	"wirelab/internal/testkit"
)

// schemas returns schemas of every kind: several numbers of cubes, a call with one row and every kind of field,
// text without rows, and unusual ones.
func schemas() []*frame.Schema {
	list := []*frame.Schema{
		{Name: "text", Item: "byte", Delivery: frame.Unreliable},
		{Name: "hollow", Item: "byte", Fields: []frame.Field{{Name: "a", Max: 9}, {Name: "b", Max: 9}}},
		{Name: "call", Item: "call", Rows: 1, Fields: kinds()},
		{Name: "table", Item: "row", Rows: 37, Fields: kinds()},
		{Name: "files", Item: "byte", Delivery: frame.Reliable},
	}
	quake := netcode.NewLayout(71, 5)
	list = append(list, tanks(), quake.Schema(20))
	for _, n := range []int{1, 2, 33, frame.WalkoffCubes, testkit.ChooseLong(5000, 1500, 1500)} {
		list = append(list, frame.Cubes(n))
	}
	return append(list, packetsSchema())
}

// tanks returns a schema of rows with position, rotation and velocity, which encoders of tables look for, with
// unusual ranges.
func tanks() *frame.Schema {
	metre := func(name string, lowest, highest int32) frame.Field {
		return frame.Field{Name: name, Unit: "m", Kind: frame.Quantity, Min: lowest, Max: highest}
	}
	fields := []frame.Field{metre("x", math.MinInt32, math.MaxInt32), {Name: "left", Kind: frame.Enum, Min: 1, Max: 4}}
	for _, name := range []string{"a", "b", "c"} {
		fields = append(fields, frame.Field{Name: name, Kind: frame.Quantity, Min: -40, Max: 60})
	}
	return &frame.Schema{Name: "tanks", Item: "tank", Rows: 40, TickHz: 20, Fields: append(fields,
		metre("y", -500, -100), metre("z", 0, 1), frame.Field{Name: "heading", Kind: frame.Angle, Min: 10, Max: 12},
		frame.Field{Name: "turn", Kind: frame.Angle, Min: math.MinInt32, Max: math.MaxInt32},
		frame.Field{Name: "speed", Unit: "m", Kind: frame.Float32}, frame.Field{Name: "weapon", Kind: frame.Enum, Max: 1 << 20},
		frame.Field{Name: "fires", Kind: frame.Flag, Max: 1})}
}

// kinds returns a schema with a field of every kind and of every width in bytes.
func kinds() []frame.Field {
	return []frame.Field{
		{Name: "speed", Kind: frame.Quantity, Min: -100, Max: 100},
		{Name: "far", Kind: frame.Quantity, Min: math.MinInt32, Max: math.MaxInt32},
		{Name: "weapon", Kind: frame.Enum, Max: 6},
		{Name: "fire", Kind: frame.Flag, Max: 1},
		{Name: "keys", Kind: frame.Bits},
		{Name: "yaw", Kind: frame.Angle, Min: -18000, Max: 17999},
		{Name: "heat", Kind: frame.Float32},
		{Name: "constant", Kind: frame.Quantity, Min: 7, Max: 7},
		{Name: "wide", Kind: frame.Quantity, Min: -1 << 23, Max: 1<<23 - 1},
	}
}

// initialFrame returns the initial state of a schema: zeros, or the nearest value within the bounds.
func initialFrame(s *frame.Schema) *frame.Frame {
	f := s.NewFrame()
	for i := range f.Table {
		if fd := s.Fields[i%len(s.Fields)]; fd.Kind.Bounded() {
			f.Table[i] = min(max(0, fd.Min), fd.Max)
		}
	}
	return f
}

func randomValue(rng *rand.Rand, fd *frame.Field) int32 {
	if !fd.Kind.Bounded() {
		return int32(rng.Uint32())
	}
	switch rng.IntN(8) {
	case 0:
		return fd.Min
	case 1:
		return fd.Max
	}
	return int32(int64(fd.Min) + rng.Int64N(int64(fd.Max)-int64(fd.Min)+1))
}

// nextFrame returns a frame that follows f. Each row changes with probability rows, by a small amount or to any
// value; the body changes too, if the schema has one.
func nextFrame(rng *rand.Rand, s *frame.Schema, f *frame.Frame, rows, wild float64) *frame.Frame {
	g := &frame.Frame{}
	g.CopyFrom(f)
	g.Tick = f.Tick + 1
	n := len(s.Fields)
	for r := range s.Rows {
		if rng.Float64() >= rows {
			continue
		}
		for i := range s.Fields {
			fd, v := &s.Fields[i], &g.Table[r*n+i]
			switch {
			case rng.Float64() < wild:
				*v = randomValue(rng, fd)
			case fd.Kind == frame.Quantity || fd.Kind == frame.Angle:
				*v = int32(min(max(int64(*v)+rng.Int64N(41)-20, int64(fd.Min)), int64(fd.Max)))
			}
		}
	}
	if s.Parts != nil && rng.IntN(5) > 0 { // else what the schema says of parts is wrong
		tame(s, g)
		return g
	}
	if hasBody(s) {
		g.Body = nextBody(rng, g.Body)
	}
	return g
}

// tame makes a random frame more like that of a game: a row has only the fields of its type, absent rows are
// empty, and few flags are set.
func tame(s *frame.Schema, f *frame.Frame) {
	f.Body = f.Body[:0]
	n := len(s.Fields)
	for r := range s.Rows {
		row, part := f.Table[r*n:(r+1)*n], s.PartForRow(r)
		clear(row[:part.Field])
		clear(row[part.Field+part.Size:])
		for i := range row {
			if i >= part.Field && i < part.Field+part.Size && s.Fields[i].Hint.Role == frame.Present && row[i] == 0 {
				clear(row)
			}
		}
		for i := range row {
			if s.Fields[i].Kind == frame.Bits {
				row[i] &= 1<<16 - 1
			}
		}
	}
}

// hasBody reports whether frames of a schema have bodies; those of cubes and calls have none.
func hasBody(s *frame.Schema) bool { return !frame.IsCubes(s) && s.Item != "call" }

// nextBody returns the body of the next frame: longer, shorter, changed, empty or equal.
func nextBody(rng *rand.Rand, body []byte) []byte {
	switch rng.IntN(6) {
	case 0:
		return body[:0]
	case 1:
		return body[:rng.IntN(len(body)+1)]
	case 2:
		for range rng.IntN(300) {
			body = append(body, "the quick brown fox"[rng.IntN(19)])
		}
	case 3:
		body = append(body, make([]byte, rng.IntN(40))...) // zeros at the end
	case 4:
		for range 3 {
			if len(body) > 0 {
				body[rng.IntN(len(body))] ^= byte(rng.Uint32())
			}
		}
	}
	return body
}

// randomFrames returns a sequence of random frames with changes of every kind. The first is the initial state.
func randomFrames(s *frame.Schema, seed uint64, length int) []*frame.Frame {
	rng := rand.New(rand.NewPCG(seed, uint64(s.Rows)))
	frames := []*frame.Frame{initialFrame(s)}
	for len(frames) < length {
		last := frames[len(frames)-1]
		rows, wild := 0.1, 0.02
		switch len(frames) % 6 {
		case 1: // the first after the initial state is another world
			rows, wild = 1, 1
		case 2: // nothing happens
			rows = 0
		case 3: // everything stirs
			rows = 1
		case 4: // a few rows
			rows = 0.01
		}
		frames = append(frames, nextFrame(rng, s, last, rows, wild))
	}
	return frames
}
