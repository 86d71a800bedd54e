// Package golden compares the output of tests with files. The flag -update writes the files.
package golden

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "update golden files")

// IsUpdating reports whether the flag -update is set.
func IsUpdating() bool { return *update }

// Compare compares got with the file at path and reports the first line that differs. With -update
// it writes the file.
func Compare(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(data) {
		return
	}
	lines, want := strings.Split(got, "\n"), strings.Split(string(data), "\n")
	for i := range min(len(lines), len(want)) {
		if lines[i] != want[i] {
			t.Errorf("%s, line %d is\n%s\nwant\n%s", path, i+1, lines[i], want[i])
			return
		}
	}
	t.Errorf("%s: got %d lines, want %d", path, len(lines), len(want))
}
