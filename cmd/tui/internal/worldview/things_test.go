package worldview

import (
	"math"
	"slices"
	"strings"
	"testing"

	"wirelab/dataset/frame"
)

// arena returns a schema with four objects that may be absent and a player that is always present, with
// float coordinates.
func arena() *frame.Schema {
	place := func(name string, kind frame.Kind, role frame.Role, group, axis uint8) frame.Field {
		return frame.Field{Name: name, Kind: kind, Min: -1000, Max: 1000, Scale: 0.5, Hint: frame.Hint{Role: role, Group: group, Axis: axis}}
	}
	return &frame.Schema{Name: "arena", Item: "entity", Rows: 5, TickHz: 20, Fields: []frame.Field{
		{Name: "there", Kind: frame.Flag, Max: 1, Hint: frame.Hint{Role: frame.Present}},
		place("x", frame.Quantity, frame.Position, 1, 0), place("y", frame.Quantity, frame.Position, 1, 1), place("z", frame.Quantity, frame.Position, 1, 2),
		place("vx", frame.Quantity, frame.Velocity, 1, 0),
		place("px", frame.Float32, frame.Position, 2, 0), place("py", frame.Float32, frame.Position, 2, 1),
	}, Parts: []frame.Part{{Name: "entity", Rows: 4, Size: 5}, {Name: "player", Row: 4, Rows: 1, Field: 5, Size: 2}}}
}

func arenaTable() []int32 {
	float := func(v float32) int32 { return int32(math.Float32bits(v)) }
	return []int32{
		1, -200, 100, 0, 0, 0, 0, // at rest
		1, 200, -100, 0, 3, 0, 0, // moves
		0, 900, 900, 0, 0, 0, 0, // is not there
		1, 0, 0, 7, 0, 0, 0,
		0, 0, 0, 0, 0, float(50), float(25), // the player, on a map without a third axis
	}
}

// TestPlaces: the positions follow from the schema.
func TestPlaces(t *testing.T) {
	s := arena()
	found := func(s *frame.Schema, table []int32) (list []Thing) {
		parts := findParts(s)
		findKinds(s, parts)
		for _, thing := range findThings(nil, s, parts, table) {
			thing.SentX = 0 // NaN
			list = append(list, thing)
		}
		return list
	}
	table := arenaTable()
	want := []Thing{{X: -100, Y: 50}, {X: 100, Y: -50, Row: 1, State: Moving}, {Row: 3}, {X: 50, Y: -25, Row: 4, State: Player, Kind: noKind}}
	if got := found(s, table); !slices.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
	table[5+4*7] = int32(math.Float32bits(float32(math.NaN())))
	if got := found(s, table[:len(table)-1]); !slices.Equal(got, want[:3]) {
		t.Errorf("a short table: %v", got)
	}
	if got := found(s, table); !slices.Equal(got, want[:3]) {
		t.Errorf("NaN: %v", got)
	}
	s.Fields[6].Hint.Axis = 2
	if got := found(s, arenaTable()); !slices.Equal(got, want) {
		t.Errorf("from the side: %v, expected %v", got, want)
	}
	s.Parts = nil
	parts := findParts(s)
	if len(parts) != 1 || len(parts[0].places) != 2 {
		t.Fatalf("without parts: %+v", parts)
	}
	if fromAbove, fromSide := parts[0].places[0], parts[0].places[1]; fromSide.y != 6 || !fromSide.yDown || fromAbove.yDown {
		t.Errorf("from the side: %+v", parts)
	}
	for i := range s.Fields {
		s.Fields[i].Hint.Role = frame.NoRole
	}
	if HasPositions(s) || HasPositions(nil) || !HasPositions(frame.Cubes(3)) {
		t.Error("positions without a hint, or none of cubes")
	}
}

// Rows are called by the user's ids, without control characters, or by their numbers where no id is known.
func TestThingsAreNamedByIDs(t *testing.T) {
	s := &frame.Schema{Item: "tank", Rows: 3, Fields: []frame.Field{{Name: "x"}}}
	m := NewMap(s)
	m.keys = []string{"p-7", "", "a very long\x1b[31m id"}
	for i, want := range []string{"tank p-7", "tank 1"} {
		if got := m.ThingName(&Thing{Row: i, Kind: noKind}); got != want {
			t.Errorf("the thing of row %d is called %q, expected %q", i, got, want)
		}
	}
	if name := m.ThingName(&Thing{Row: 2, Kind: noKind}); strings.Contains(name, "\x1b") {
		t.Errorf("a control character in %q", name)
	}
}
