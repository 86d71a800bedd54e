package report

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/engine"
)

// writeFile writes a file, and sets its time to a number of seconds after 1970.
func writeFile(t *testing.T, path, text string, seconds int64) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Unix(seconds, 0), time.Unix(seconds, 0)); err != nil {
		t.Fatal(err)
	}
}

// sha256Hex returns the SHA-256 of text in hexadecimal.
func sha256Hex(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// List has each regular file once, by name, with its current hash. An unchanged size and time keep the hash.
func TestFilesList(t *testing.T) {
	dir := t.TempDir()
	b, a := filepath.Join(dir, "data", "b"), filepath.Join(dir, "data", "a")
	writeFile(t, b, "bees", 1)
	writeFile(t, a, "ants", 1)
	var f Files
	for _, name := range []string{b, a, b, dir, filepath.Join(dir, "missing")} {
		if f.Note(name) != name {
			t.Errorf("Note changes %s", name)
		}
	}
	list := func(want ...engine.DataFile) {
		t.Helper()
		got := f.List(filepath.Join(dir, "out"))
		if len(got) != len(want) {
			t.Fatalf("%+v", got)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%+v, want %+v", got[i], want[i])
			}
		}
	}
	entry := func(name, text string) engine.DataFile {
		return engine.DataFile{Name: name, Path: "../data/" + filepath.Base(name), Bytes: int64(len(text)), SHA256: sha256Hex(text)}
	}
	list(entry(a, "ants"), entry(b, "bees"))
	writeFile(t, a, "larger", 1) // another size, the same time
	writeFile(t, b, "bugs", 2)   // the same size, another time
	list(entry(a, "larger"), entry(b, "bugs"))
	writeFile(t, a, "LARGER", 1) // neither: the hash is the stored one
	list(entry(a, "larger"), entry(b, "bugs"))
	if (*Files)(nil).List(dir) != nil {
		t.Error("a nil Files has files")
	}
}

// Find prefers the path in the configuration, then the one relative to the report, then the report's folder,
// and takes only a file with the same content.
func TestFilesFind(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	original, relative, beside := filepath.Join(dir, "gone", "data.bin"), filepath.Join(dir, "moved", "data.bin"), filepath.Join(out, "data.bin")
	writeFile(t, filepath.Join(out, "report.json"), "{}", 1)
	list := []engine.DataFile{{Name: original, Path: "../moved/data.bin", Bytes: 4, SHA256: sha256Hex("data")}}
	for _, c := range []struct{ original, relative, beside, want, problem string }{
		{"data", "data", "data", original, ""},
		{"", "data", "data", relative, ""},
		{"other", "data", "", relative, ""},
		{"", "", "data", beside, ""},
		{"", "other", "data", beside, ""},
		{"", "", "", "", "and the file does not exist"},
		{"", "", "other", "", "and the file has changed"},
		{"data2", "", "", "", "and the file has changed"},
	} {
		for path, text := range map[string]string{original: c.original, relative: c.relative, beside: c.beside} {
			if os.Remove(path); text != "" {
				writeFile(t, path, text, 1)
			}
		}
		for _, reportPath := range []string{out, filepath.Join(out, "report.json"), filepath.Join(out, "missing.json")} {
			find, err := new(Files).Find(reportPath, list)
			switch {
			case c.problem != "":
				if err == nil || !strings.Contains(err.Error(), c.problem) || !strings.Contains(err.Error(), "4 bytes with SHA-256 "+list[0].SHA256) {
					t.Errorf("%+v: %v", c, err)
				}
			case err != nil || find(original) != c.want || find("else") != "else":
				t.Errorf("%+v: %v", c, err)
			}
		}
	}
	absolute := []engine.DataFile{{Name: original, Path: relative, SHA256: sha256Hex("data")}}
	os.Remove(beside)
	os.Remove(original)
	writeFile(t, relative, "data", 1)
	if find, err := new(Files).Find(out, absolute); err != nil || find(original) != relative {
		t.Errorf("an absolute path: %v", err)
	}
}
