package lossmodel

import (
	"os"
	"slices"
	"strings"
	"testing"

	"wirelab/lossmodel/loss"
)

// The README names no key and no loss model that there is not.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	known := append(names(), "trace")
	for _, k := range loss.Kinds() {
		known = append(known, k.Name)
	}
	listed := false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "## ") {
			listed = line == "## Keys\n" || line == "## Loss models\n"
		}
		if name, ok := strings.CutPrefix(line, "| `"); ok && listed {
			if name, _, _ = strings.Cut(name, "`"); !slices.Contains(known, name) {
				t.Errorf("README.md lists %s, which there is not", name)
			}
		}
	}
}
