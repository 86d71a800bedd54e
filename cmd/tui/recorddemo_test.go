package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"wirelab/internal/testkit"
)

// TestRecordMakesTheDemo checks that tui record reproduces the embedded demo recording from its
// script and seed.
func TestRecordMakesTheDemo(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("records 48 s of the world: under WIRELAB_THOROUGH=1")
	}
	path := filepath.Join(t.TempDir(), "demo.bin.zst")
	o := tui("record", "--out", path, "--script", "demo", "--seed", "4", "--seconds", "48", "--quiet")
	if o.code != exitDone {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../dataset/demo.bin.zst")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("recorded %d bytes that differ from the %d embedded", len(got), len(want))
	}
}
