package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A layer is a set of packages with a common rule of imports. A package belongs to the first
// layer in the list whose prefix matches.
type layer struct {
	prefix string   // of the package's path in the module
	may    []string // prefixes of the packages of the module that it may import
}

// layerRules are the rules of DESIGN.md, "Layout": imports point down.
var layerRules = []layer{
	{"internal", []string{"internal"}},
	{"dataset/frame", []string{"internal"}},
	{"dataset", []string{"dataset", "internal"}},
	{"lossmodel", []string{"lossmodel", "internal"}},
	{"encoders/internal/recording", []string{"dataset", "internal"}}, // recordings for tests
	{"encoders", []string{"encoders", "dataset/frame", "dataset/physics", "dataset/quake3/netcode", "dataset/teeworlds/protocol", "internal"}},
	// What a game could ship: no true frames, no meters, no link models, no clock.
	{"experiment/endpoint", []string{"experiment/transfer", "encoders", "dataset/frame", "internal"}},
	{"experiment/transfer", []string{"internal"}},
	{"experiment", []string{"experiment", "encoders", "dataset", "lossmodel", "internal"}},
	{"cmd", []string{"cmd", "experiment", "encoders", "dataset", "lossmodel", "internal"}},
}

const charm = "github.com/charmbracelet/"

// importProblem returns why pkg must not import imported, or "". Both are import paths without
// the name of the module.
func importProblem(pkg, imported string) string {
	if strings.HasPrefix(imported, charm) && !within(pkg, "cmd") {
		return "Charm packages are imported only under cmd"
	}
	imported, ours := strings.CutPrefix(imported, "wirelab/")
	if !ours {
		return ""
	}
	i := slices.IndexFunc(layerRules, func(l layer) bool { return within(pkg, l.prefix) })
	if i < 0 {
		return "the package belongs to no layer"
	}
	if !slices.ContainsFunc(layerRules[i].may, func(prefix string) bool { return within(imported, prefix) }) {
		return layerRules[i].prefix + " may import only " + strings.Join(layerRules[i].may, ", ")
	}
	return ""
}

// within reports whether a package is the one at prefix or below it.
func within(pkg, prefix string) bool { return pkg == prefix || strings.HasPrefix(pkg, prefix+"/") }

// TestLayers checks the imports of every package, and the imports of tests as far as Charm
// packages are concerned.
func TestLayers(t *testing.T) {
	list := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports", "wirelab/...")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); seen++ {
		var p struct {
			ImportPath                         string
			Imports, TestImports, XTestImports []string
		}
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		pkg := strings.TrimPrefix(p.ImportPath, "wirelab/")
		for _, imported := range p.Imports {
			if problem := importProblem(pkg, imported); problem != "" {
				t.Errorf("%s imports %s: %s", pkg, imported, problem)
			}
		}
		for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
			if strings.HasPrefix(imported, charm) && !within(pkg, "cmd") {
				t.Errorf("tests of %s import %s", pkg, imported)
			}
		}
	}
	if seen < 50 {
		t.Errorf("go list names %d packages, want at least 50", seen)
	}
}

// TestImportProblem checks the rules with examples.
func TestImportProblem(t *testing.T) {
	for _, c := range []struct {
		pkg, imported string
		allowed       bool
	}{
		{"internal/units", "wirelab/dataset/frame", false},
		{"internal/units", "wirelab/internal/words", true},
		{"lossmodel", "wirelab/dataset/frame", false},
		{"lossmodel/loss", "wirelab/internal/setting", true},
		{"dataset", "wirelab/encoders", false},
		{"dataset/frame", "wirelab/dataset", false},
		{"encoders/cubes", "wirelab/dataset/world", false},
		{"encoders/cubes", "wirelab/experiment/endpoint", false},
		{"experiment/endpoint", "wirelab/experiment/engine", false},
		{"experiment/endpoint", "wirelab/lossmodel", false},
		{"experiment/engine", "wirelab/experiment/endpoint", true},
		{"experiment", "wirelab/cmd/tui/internal/ui", false},
		{"experiment", charm + "lipgloss", false},
		{"experimental", "wirelab/dataset", false},
		{"cmd/tui", charm + "bubbletea", true},
		{"lossmodel", "time", true},
	} {
		if problem := importProblem(c.pkg, c.imported); (problem == "") != c.allowed {
			t.Errorf("%s -> %s: problem %q, want allowed = %v", c.pkg, c.imported, problem, c.allowed)
		}
	}
}

// TestTopLevel checks that new packages are put into one of the fixed folders.
func TestTopLevel(t *testing.T) {
	entries, err := os.ReadDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			folders = append(folders, e.Name())
		}
	}
	if want := []string{"cmd", "dataset", "encoders", "experiment", "internal", "lossmodel"}; !slices.Equal(folders, want) {
		t.Errorf("the top level contains %v, want %v", folders, want)
	}
}
