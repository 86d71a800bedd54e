package table_test

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mostEmbedded is the maximum total size of trained models embedded in the program, in bytes.
const mostEmbedded = 300_000

// TestEmbedded checks the total size of embedded models, which are part of every client.
func TestEmbedded(t *testing.T) {
	total := int64(0)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "plugin" {
			return fs.SkipDir // what it embeds is templates: nobody learnt them, and no encoder needs them
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, pattern := range embeds(t, path) {
			matches, err := filepath.Glob(filepath.Join(filepath.Dir(path), filepath.FromSlash(pattern)))
			if err != nil || len(matches) == 0 {
				t.Errorf("%s embeds %s, which matches no file: %v", path, pattern, err)
			}
			for _, file := range matches {
				info, err := os.Stat(file)
				if err != nil {
					return err
				}
				if info.IsDir() {
					t.Errorf("%s embeds directory %s, expected the names of its files, so that they are counted", path, pattern)
				}
				t.Logf("%7d bytes %s", info.Size(), file)
				total += info.Size()
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("%7d bytes in all", total); total > mostEmbedded {
		t.Errorf("%d bytes are embedded, expected at most %d", total, mostEmbedded)
	}
}

// embeds returns the patterns of the go:embed lines of a file.
func embeds(t *testing.T, path string) (patterns []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if rest, found := strings.CutPrefix(strings.TrimSpace(lines.Text()), "//go:embed "); found {
			patterns = append(patterns, strings.Fields(rest)...)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return patterns
}
