package text

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
)

func TestMessagesFormText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	want := strings.Repeat("abcdefg", 100)
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 7, 499, 500, 699, 700, 701, MaxMessage} {
		s, err := open(t.Context(), path, &source.Options{Message: size})
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		var f frame.Frame
		n := 0
		for err = s.Next(&f); err == nil; err = s.Next(&f) {
			if f.Tick != uint32(n) || len(f.Body) != size && got.Len()+len(f.Body) != len(want) {
				t.Fatalf("message %d of size %d: tick %d, %d bytes", n, size, f.Tick, len(f.Body))
			}
			got.Write(f.Body)
			n++
		}
		if err != io.EOF || got.String() != want || n != s.Frames() {
			t.Errorf("size %d: %d messages of %d, %d bytes, error %v", size, n, s.Frames(), got.Len(), err)
		}
	}
}

func TestLoop(t *testing.T) {
	s, err := open(t.Context(), "", &source.Options{Message: 0, Loop: true})
	if err != nil {
		t.Fatal(err)
	}
	var f frame.Frame
	var round []string
	for n := range 3 * s.Frames() {
		if err := s.Next(&f); err != nil || f.Tick != uint32(n) {
			t.Fatalf("message %d: tick %d, error %v", n, f.Tick, err)
		}
		if n < s.Frames() {
			round = append(round, string(f.Body))
		} else if string(f.Body) != round[n%s.Frames()] {
			t.Fatalf("message %d is not that of the first round", n)
		}
	}
	if s.Schema().Delivery != frame.Unreliable || s.Schema().Items(&f) != len(f.Body) {
		t.Error("messages are not counted by the byte, or not delivered each")
	}
}

func TestBadTexts(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.txt")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t.Context(), empty, &source.Options{}); !errors.Is(err, errEmpty) {
		t.Errorf("an empty file: %v", err)
	}
	if _, err := open(t.Context(), filepath.Join(dir, "none"), &source.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := open(t.Context(), dir, &source.Options{}); err == nil {
		t.Error("a folder was taken for a text")
	}
	for _, size := range []int{-1, MaxMessage + 1} {
		if _, err := open(t.Context(), "", &source.Options{Message: size}); err == nil {
			t.Errorf("messages of %d bytes were accepted", size)
		}
	}
}
