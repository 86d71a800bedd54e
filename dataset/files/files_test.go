package files

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/dataset/frame"
)

func put(t *testing.T, name string, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The old file is the initial state, the new file the only frame.
func TestPair(t *testing.T) {
	for _, name := range []string{"old", "o,l,d"} {
		old, new := put(t, name, "what was"), put(t, "new", "what is")
		s, err := open(old+","+new, 0, false)
		if err != nil {
			t.Fatal(err)
		}
		var f frame.Frame
		if s.Initial(&f); string(f.Body) != "what was" {
			t.Errorf("the old file holds %q", f.Body)
		}
		if err := s.Next(&f); err != nil || string(f.Body) != "what is" || s.Schema().Items(&f) != len("what is") {
			t.Errorf("the new file holds %q, %v", f.Body, err)
		}
		if err := s.Next(&f); !errors.Is(err, io.EOF) {
			t.Errorf("after the new file: %v, expected the end", err)
		}
		if s.Initial(&f); string(f.Body) != "what was" {
			t.Errorf("the old file has become %q", f.Body)
		}
	}
}

// Errors have the name of the file and what was expected.
func TestRefused(t *testing.T) {
	good, empty, folder := put(t, "good", "x"), put(t, "empty", ""), t.TempDir()
	link := filepath.Join(folder, "link")
	if err := os.Symlink(good, link); err != nil {
		t.Fatal(err)
	}
	large := put(t, "large", "x")
	if err := os.Truncate(large, MaxFile+1); err != nil {
		t.Fatal(err)
	}
	for spec, want := range map[string]error{
		good: errSpec, good + ",": errSpec, "," + good: errSpec, ",": errSpec, "a,b,c": errSpec,
		good + "," + good: errSame, good + "," + link: errSame,
		empty + "," + good: errEmpty, good + "," + empty: errEmpty,
		folder + "," + good: errKind, good + "," + folder: errKind, good + "," + os.DevNull: errKind,
		good + "," + large: errSize, good + ",missing": fs.ErrNotExist, "missing," + good: fs.ErrNotExist,
	} {
		s, err := open(spec, 0, false)
		if s != nil || !errors.Is(err, want) {
			t.Errorf("%s: %v, expected one that wraps %q", spec, err, want)
			continue
		}
		if want != fs.ErrNotExist && !strings.Contains(err.Error(), "expected") {
			t.Errorf("%s: %v does not say what was expected", spec, err)
		}
	}
}

// The example is determined by its seed, and its versions have most bytes in common.
func TestExample(t *testing.T) {
	old, new := generateExample(1)
	again, _ := generateExample(1)
	other, _ := generateExample(2)
	if !bytes.Equal(old, again) || bytes.Equal(old, other) {
		t.Error("the example is no function of its seed")
	}
	if len(new) <= len(old) || len(new) > MaxFile {
		t.Errorf("%d bytes, then %d; expected more", len(old), len(new))
	}
	if moved := old[len(old)-pictureBytes:]; !bytes.Contains(new, moved) {
		t.Error("the last picture is gone")
	}
}
