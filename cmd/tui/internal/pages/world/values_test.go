package world

import (
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/dataset/frame"
	"wirelab/experiment/engine/playout"
)

// TestValuesSentAndShown: page 4 of calls shows the age of the displayed data and the values that
// differ, and has nothing specific to cubes.
func TestValuesSentAndShown(t *testing.T) {
	lab := labtest.NewCalls()
	page := New(lab.Snap.Schema)
	s := labtest.NewStage(page, lab, 80, 22)
	for _, want := range []string{"age 133 ms, 13 of 26 values differ", "position-x", "107168        106982      -185.945", "Age ms  max, 2 s   150"} {
		if view := s.View(); !strings.Contains(view, want) {
			t.Errorf("no %q in\n%s", want, view)
		}
	}
	seen := ""
	for range 30 {
		seen += s.View()
		s.Press("down")
	}
	for _, name := range labtest.CallFields() {
		if !strings.Contains(seen, " "+name+" ") {
			t.Errorf("%s is never visible", name)
		}
	}
	if b := page.Bindings(); len(b) > 0 {
		t.Errorf("it has keys of its own: %v", b)
	}
	for _, word := range []string{"cube", "World", "hover", "katamari", "recording"} {
		if strings.Contains(seen, word) {
			t.Errorf("the page mentions %s", word)
		}
	}
}

// TestParts: in a schema with parts the rows that are present are listed, each with its own fields.
func TestParts(t *testing.T) {
	lab := labtest.NewCalls()
	s := &frame.Schema{Name: "match", Item: "item", Rows: 4, Parts: []frame.Part{
		{Name: "Time", Rows: 1, Size: 1}, {Name: "Player", Row: 1, Rows: 3, Field: 1, Size: 3}}}
	for _, name := range []string{"Now", "Player.Present", "X", "Player.Health"} {
		s.Fields = append(s.Fields, frame.Field{Name: name, Kind: frame.Quantity, Max: 1000})
	}
	s.Fields[1] = frame.Field{Name: "Player.Present", Kind: frame.Flag, Max: 1, Hint: frame.Hint{Role: frame.Present}}
	d := lab.Snap.Frames
	d.Sent.Table = []int32{77, 0, 0, 0, 0, 1, 55, 9, 0, 0, 0, 0, 0, 0, 0, 0}
	d.Shown.Table = []int32{75, 0, 0, 0, 0, 1, 54, 9, 0, 0, 0, 0, 0, 1, 3, 4}
	lab.Snap.Schema = s
	stage := labtest.NewStage(New(s), lab, 80, 22)
	view := stage.View()
	for _, want := range []string{"Time ", "Now ", "77            75", "Player 0", "X ", "55            54", "Health ", "9             9", "Player 2"} {
		if !strings.Contains(view, want) {
			t.Errorf("no %q in\n%s", want, view)
		}
	}
	stage.Press("S")
	if sorted := stage.View(); strings.Index(sorted, "Health") > strings.Index(sorted, "X ") {
		t.Errorf("the largest difference, of Health, is not first:\n%s", sorted)
	}
	if strings.Contains(view, "Player 1") || strings.Count(view, "Now ") != 1 {
		t.Errorf("an absent row is listed\n%s", view)
	}
}

// TestMessagesAreShownAsText: a message is shown as text, whatever bytes it contains.
func TestMessagesAreShownAsText(t *testing.T) {
	lab := labtest.NewCalls()
	d := lab.Snap.Frames
	d.Sent.Table, d.Shown.Table = nil, nil
	d.Sent.Body, d.Shown.Body = []byte("the second message\x1b[2J\xff"), []byte("the first\r\nmessage")
	view := labtest.NewStage(New(lab.Snap.Schema), lab, 80, 22).View()
	for _, want := range []string{"the second message·[2J·", "the first message", "18 bytes"} {
		if !strings.Contains(view, want) {
			t.Errorf("no %q in\n%s", want, view)
		}
	}
	if strings.Contains(view, "\x1b") {
		t.Error("an escape sequence of the data reaches the terminal")
	}
}

// TestWorldOfATable: the page shows maps of both endpoints, and after c the values of the rows that are present.
func TestWorldOfATable(t *testing.T) {
	place := func(name string, role frame.Role, axis uint8) frame.Field {
		return frame.Field{Name: name, Kind: frame.Quantity, Min: -1000, Max: 1000, Hint: frame.Hint{Role: role, Group: 1, Axis: axis}}
	}
	schema := &frame.Schema{Name: "arena", Item: "entity", Rows: 3, TickHz: 20, Fields: []frame.Field{
		{Name: "there", Kind: frame.Flag, Max: 1, Hint: frame.Hint{Role: frame.Present}},
		place("x", frame.Position, 0), place("y", frame.Position, 1), place("vx", frame.Velocity, 0)},
		Parts: []frame.Part{{Name: "entity", Rows: 3, Size: 4}}}
	lab := labtest.NewCalls()
	lab.Snap.Schema, lab.Snap.Item = schema, "entity"
	table := func(x int32) []int32 { return []int32{1, -100, 50, 0, 1, x, -50, 3, 0, 900, 900, 0} }
	lab.Snap.Frames = &playout.Frames{Sent: frame.Frame{Table: table(100)}, Shown: &frame.Frame{Table: table(80)}, Age: 137 * time.Millisecond}
	page := New(schema)
	s := labtest.NewStage(page, lab, 100, 24)
	for _, want := range []string{"Sender  2 entities; 1 moving", "Receiver  137 ms behind; 1 displaced", "across"} {
		if view := s.View(); !strings.Contains(view, want) {
			t.Errorf("no %q in\n%s", want, view)
		}
	}
	for _, c := range []struct{ key, title string }{{"c", "Sent and displayed"}, {"c", "Age ms"}, {"c", "Sender"}, {"c", "Sent and displayed"}, {"esc", "Sender"}} {
		s.Press(c.key)
		view := s.View()
		if !strings.Contains(view, c.title) || strings.Contains(view, "entity 2") || strings.Contains(view, "entity 1  ") != (c.title == "Sent and displayed") {
			t.Errorf("after %s expected %q:\n%s", c.key, c.title, view)
		}
	}
}
