// Package reference finds the reference data in the folder beside the project, which is no part of
// it: for tests only.
package reference

import (
	"bufio"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// File returns the path of a file such as "games/oa-ctf.dm_71". It skips the test where that is absent.
func File(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(root(t), "..", "shared", "data", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no reference data at %s: it is not part of the project", path)
	}
	return path
}

// root finds the folder of go.mod.
func root(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = up
	}
}

// Rows yields the cells of the lines of a CSV file without quotes, behind its head. The file may
// be compressed with zstd.
func Rows(t testing.TB, name string) iter.Seq[[]string] {
	t.Helper()
	file, err := os.Open(File(t, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	in := io.Reader(file)
	if filepath.Ext(name) == ".zst" {
		z, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(z.Close)
		in = z
	}
	lines := bufio.NewScanner(in)
	lines.Scan()
	return func(yield func([]string) bool) {
		for lines.Scan() && yield(strings.Split(lines.Text(), ",")) {
		}
		if err := lines.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Number returns the whole number in a cell.
func Number(t testing.TB, cell string) int {
	t.Helper()
	n, err := strconv.ParseInt(cell, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}
