package testkit

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

// DataFile returns the path of a file of ../shared/data, such as "games/oa-ctf.dm_71". It skips the test
// if the file is absent: the reference data are not part of the project.
func DataFile(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(moduleRoot(t), "..", "shared", "data", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no reference data at %s: it is not part of the project", path)
	}
	return path
}

// Match returns the specification of a recorded match of the reference data: name is that of a demo of
// Quake III, such as "oa-ctf.dm_71", or of a table, such as "tw-dm1.table".
func Match(t testing.TB, name string) string {
	t.Helper()
	if strings.HasSuffix(name, ".table") {
		return "table:" + DataFile(t, "games/"+name+".toml") + "," + DataFile(t, "games/"+name+".csv.zst")
	}
	return "quake3:" + DataFile(t, "games/"+name)
}

// moduleRoot returns the folder of go.mod.
func moduleRoot(t testing.TB) string {
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

// CSVRows returns the rows of a file of ../shared/data, without the header row, each split at commas:
// the file must not contain quotes. A name that ends in .zst is decompressed.
func CSVRows(t testing.TB, name string) iter.Seq[[]string] {
	t.Helper()
	file, err := os.Open(DataFile(t, name))
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

// ParseInt returns the integer in a cell of CSVRows.
func ParseInt(t testing.TB, cell string) int {
	t.Helper()
	n, err := strconv.ParseInt(cell, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}
