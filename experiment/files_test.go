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
	text := must(os.ReadFile(filepath.Join(dir, name)))
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
	noError(t, os.WriteFile(path, []byte(text), 0o644))
}

// must returns v, and panics on an error.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// noError ends the test if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
