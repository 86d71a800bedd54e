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

// overwriteFile writes text to the file at path.
func overwriteFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
