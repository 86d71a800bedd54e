package lossmodel

import (
	"os"
	"slices"
	"strings"
	"testing"

	"wirelab/lossmodel/loss"
)

// The README lists exactly the existing keys and loss models.
func TestReadmeListsKeys(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	known := append(keyNames(), "trace")
	for _, k := range loss.Kinds() {
		known = append(known, k.Name)
	}
	listed, seen := false, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "## ") {
			listed = line == "## Keys\n" || line == "## Loss models\n"
		}
		if name, ok := strings.CutPrefix(line, "| `"); ok && listed {
			if name, _, _ = strings.Cut(name, "`"); !slices.Contains(known, name) {
				t.Errorf("README.md lists %s, which does not exist", name)
			}
			seen[name] = true
		}
	}
	for _, name := range known {
		if !seen[name] {
			t.Errorf("README.md does not list %s", name)
		}
	}
}
