package shown

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/dataset/frame"
	"wirelab/experiment/engine/playout"
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
	parts, places := findPlaces(s)
	_, kinds := findKinds(s, parts, places)
	table := arenaTable()
	want := []point{{-100, 50, 0, 0, resting, 0}, {100, -50, 1, 0, moving, 0}, {0, 0, 3, 0, resting, 0}, {50, -25, 4, 0, alwaysPresent, noKind}}
	if got := findPoints(s, parts, places, kinds, table); !slices.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
	table[5+4*7] = int32(math.Float32bits(float32(math.NaN())))
	if got := findPoints(s, parts, places, kinds, table[:len(table)-1]); !slices.Equal(got, want[:3]) {
		t.Errorf("a short table: %v", got)
	}
	if got := findPoints(s, parts, places, kinds, table); !slices.Equal(got, want[:3]) {
		t.Errorf("NaN: %v", got)
	}
	s.Fields[6].Hint.Axis = 2
	parts, places = findPlaces(s)
	if got := findPoints(s, parts, places, kinds, arenaTable()); !slices.Equal(got, want) {
		t.Errorf("from the side: %v, expected %v", got, want)
	}
	s.Parts = nil
	if parts, places := findPlaces(s); len(parts) != 1 || len(places[0]) != 2 {
		t.Errorf("without parts: %v, %v", parts, places)
	}
	s.Fields[6].Hint.Axis = 2
	if _, places := findPlaces(s); len(places[0]) != 2 || places[0][1].y != 6 || !places[0][1].yDown || places[0][0].yDown {
		t.Errorf("from the side: %+v", places)
	}
	for i := range s.Fields {
		s.Fields[i].Hint.Role = frame.NoRole
	}
	if parts, _ := findPlaces(s); parts != nil {
		t.Error("places without a hint")
	}
}

// TestWorld: the page shows maps of both endpoints, and after v the values of the rows that are present.
func TestWorld(t *testing.T) {
	lab := labtest.NewWide()
	lab.Snap.Schema, lab.Snap.Item = arena(), "entity"
	shown := frame.Frame{Table: arenaTable()}
	shown.Table[8] -= 40
	lab.Snap.Frames = &playout.Frames{Sent: frame.Frame{Table: arenaTable()}, Shown: &shown, Age: 137 * time.Millisecond}
	page := New(arena())
	s := labtest.NewStage(page, lab, 100, 24)
	view := s.View()
	for _, want := range []string{"Sender  3 entities, 1 player; 1 moving", "Receiver  137 ms behind; 1 displaced", "@", "across"} {
		if !strings.Contains(view, want) {
			t.Errorf("no %q in\n%s", want, view)
		}
	}
	row, col := findMarker(view, 0, 50)
	other, left := findMarker(view, 50, 100)
	if row != other || col <= left-50 || page.Name != "World" {
		t.Errorf("the moving object is at %d, %d and %d, %d in\n%s", row, col, other, left, view)
	}
	for _, key := range []string{"v", "v"} {
		s.Press(key)
		if view := s.View(); strings.Contains(view, "entity 2") || strings.Contains(view, "entity 1 ") != labtest.Pane[*values](page).chosen {
			t.Errorf("after %s:\n%s", key, view)
		}
	}
}

// findMarker returns the position of a marker o between two columns, below the summary line.
func findMarker(view string, from, to int) (row, col int) {
	lines := strings.Split(view, "\n")
	for y := len(lines) - 2; y > 3; y-- {
		line := []rune(lines[y])
		if i := slices.Index(line[min(from, len(line)):min(to, len(line))], 'o'); i >= 0 {
			return y, from + i
		}
	}
	return -1, -1
}
