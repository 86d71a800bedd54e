package experiment

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every file and folder in the two lists of the README exists.
func TestPathsInReadme(t *testing.T) {
	data := must(os.ReadFile("README.md"))
	_, ways, ok := strings.Cut(string(data), "### The path of a frame")
	paths := regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(ways, -1)
	if !ok || len(paths) < 20 {
		t.Fatalf("%d files in the lists", len(paths))
	}
	for _, m := range paths {
		if _, err := os.Stat(m[1]); err != nil {
			t.Error(err)
		}
	}
}
