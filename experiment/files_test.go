package experiment

import (
	"os"
	"path/filepath"
	"testing"
)

// writeFile creates a file with the given text in a temporary folder and returns the file's path.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	overwriteFile(t, path, text)
	return path
}

// readFile returns the text of a file in dir.
func readFile(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkReplay checks that the report at path replays to the same digests, which it returns.
func checkReplay(t *testing.T, path string) (digests []string) {
	t.Helper()
	r, err := Replay(t.Context(), path, RunOptions{})
	if err != nil || !r.Same {
		t.Fatalf("%s: %+v, %v", path, r, err)
	}
	for _, run := range r.Runs {
		digests = append(digests, run.Got)
	}
	return digests
}

// overwriteFile writes text to the file at path.
func overwriteFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
