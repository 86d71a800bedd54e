package shown_test

import (
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/pages/shown"
	"wirelab/dataset/frame"
)

// TestValuesSentAndShown: page 4 of calls shows the age of the displayed data and the values that
// differ, and has nothing specific to cubes.
func TestValuesSentAndShown(t *testing.T) {
	s := labtest.NewStage(shown.New(nil), labtest.NewShown(), 80, 22)
	for _, want := range []string{"age 137 ms, 3 of 26 values differ", "position-x", "-998      -1005", "Age ms  max, 2 s   156"} {
		if view := s.View(); !strings.Contains(view, want) {
			t.Errorf("no %q in\n%s", want, view)
		}
	}
	seen := ""
	for range 20 {
		seen += s.View()
		s.Press("down")
	}
	for _, name := range labtest.WideFields {
		if !strings.Contains(seen, " "+name+" ") {
			t.Errorf("%s is never visible", name)
		}
	}
	if b := shown.New(nil).Bindings(); len(b) > 0 {
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
	lab := labtest.NewShown()
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
	view := labtest.NewStage(shown.New(nil), lab, 80, 22).View()
	for _, want := range []string{"Time  ", "Now                      77         75", "Player 0", "X                        55         54", " Health                    9          9", "Player 2"} {
		if !strings.Contains(view, want) {
			t.Errorf("no %q in\n%s", want, view)
		}
	}
	if strings.Contains(view, "Player 1") || strings.Count(view, "Now ") != 1 {
		t.Errorf("an absent row is listed\n%s", view)
	}
}

// TestMessagesAreShownAsText: a message is shown as text, whatever bytes it contains.
func TestMessagesAreShownAsText(t *testing.T) {
	lab := labtest.NewShown()
	d := lab.Snap.Frames
	d.Sent.Table, d.Shown.Table = nil, nil
	d.Sent.Body, d.Shown.Body = []byte("the second message\x1b[2J\xff"), []byte("the first\r\nmessage")
	view := labtest.NewStage(shown.New(nil), lab, 80, 22).View()
	for _, want := range []string{"the second message·[2J·", "the first message", "18 bytes"} {
		if !strings.Contains(view, want) {
			t.Errorf("no %q in\n%s", want, view)
		}
	}
	if strings.Contains(view, "\x1b") {
		t.Error("an escape sequence of the data reaches the terminal")
	}
}
