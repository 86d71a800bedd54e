package patch

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestFiles checks that a patch can be applied over the old file itself, and that a failure leaves no files
// and changes none.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	old := text(50_000)
	new := edit(old, 1)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(path("old"), old, 0o600))
	must(os.WriteFile(path("new"), new, 0o600))
	_, err := MakeFile(path("old"), path("new"), path("patch"), Options{})
	must(err)

	bad, err := os.ReadFile(path("patch"))
	must(err)
	bad[len(bad)-1] ^= 1
	must(os.WriteFile(path("bad"), bad, 0o600))
	if _, err := ApplyFile(nil, path("old"), path("bad"), path("old"), nil); !isPatchError(err) {
		t.Error(err)
	}
	if _, err := ApplyFile(nil, path("new"), path("patch"), path("out"), nil); !errors.Is(err, ErrWrongOld) {
		t.Error(err)
	}
	got, err := os.ReadFile(path("old"))
	must(err)
	if !bytes.Equal(got, old) {
		t.Error("a bad patch changed the old file")
	}
	_, err = ApplyFile(nil, path("old"), path("patch"), path("old"), nil)
	must(err)
	got, err = os.ReadFile(path("old"))
	must(err)
	if !bytes.Equal(got, new) {
		t.Error("the old file was not replaced by the new one")
	}
	names, err := os.ReadDir(dir)
	must(err)
	if len(names) != 4 {
		t.Errorf("%d files are there; expected old, new, patch and bad: %v", len(names), names)
	}
}
