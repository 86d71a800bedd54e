package cast

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"
)

// The lines of a recording are those of the format's documentation: a header, then [time, kind, data].
func TestFormat(t *testing.T) {
	var b bytes.Buffer
	c := New(&b, 80, 24, "a <title>")
	c.Output(1500*time.Microsecond, []byte("\x1b[1mé\r\n\""))
	c.Resize(61*time.Second, 100, 30)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(b.Bytes()), []byte("\n"))
	if len(lines) != 3 {
		t.Fatalf("%d lines, want 3", len(lines))
	}
	var head map[string]any
	if err := json.Unmarshal(lines[0], &head); err != nil || head["version"] != 2.0 || head["width"] != 80.0 || head["height"] != 24.0 {
		t.Errorf("header %v, error %v", head, err)
	}
	for i, want := range [][3]any{{0.0015, "o", "\x1b[1mé\r\n\""}, {61.0, "r", "100x30"}} {
		var got [3]any
		if err := json.Unmarshal(lines[i+1], &got); err != nil || got != want {
			t.Errorf("event %v, error %v, want %v", got, err, want)
		}
	}
}

// fullDisk accepts no bytes.
type fullDisk struct{}

var errFull = errors.New("no space")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// A recording whose file cannot be written reports that at its end.
func TestFullDisk(t *testing.T) {
	c := New(fullDisk{}, 80, 24, "")
	for range 1000 {
		c.Output(0, []byte("0123456789"))
	}
	if err := c.Close(); !errors.Is(err, errFull) {
		t.Errorf("error %v, want %v", err, errFull)
	}
}
