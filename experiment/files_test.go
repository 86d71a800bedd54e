package experiment

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/experiment/internal/labtest"
)

// failingCubes is a CubeSource whose Next returns an error instead of frame 5.
type failingCubes struct{ *labtest.CubeSource }

func (f failingCubes) Next(dst *frame.Frame) error {
	if f.Tick == 5 {
		return errors.New("frame 5 is bad")
	}
	return f.CubeSource.Next(dst)
}

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
