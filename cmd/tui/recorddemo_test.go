package main

import (
	"bytes"
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
	done(t, "record --out", path, "--script", "demo", "--seed", "4", "--seconds", "48", "--quiet")
	got := read(t, path)
	want := read(t, "../../dataset/demo.bin.zst")
	if !bytes.Equal(got, want) {
		t.Errorf("recorded %d bytes that differ from the %d embedded", len(got), len(want))
	}
}
