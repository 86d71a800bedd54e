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
	not    []string // prefixes below may that it must not import
}

// layerRules are the rules of DESIGN.md, "Layout": imports point down.
var layerRules = []layer{
	{prefix: "internal", may: []string{"internal"}},
	{prefix: "dataset/frame", may: []string{"internal"}},
	{prefix: "dataset", may: []string{"dataset", "internal"}},
	{prefix: "lossmodel", may: []string{"lossmodel", "internal"}},
	{prefix: "encoders/internal/recording", may: []string{"dataset", "encoders/train", "internal"}}, // recordings for tests
	{prefix: "encoders/internal/retrain", may: []string{"dataset", "encoders/train"}},               // trains the embedded models again
	{prefix: "encoders", may: []string{"encoders", "dataset/frame", "dataset/physics", "dataset/quake3/netcode", "internal"}},
	// What a game could ship: no true frames, no meters, no link models, no clock.
	{prefix: "experiment/endpoint", may: []string{"experiment/container", "experiment/view", "encoders", "dataset/frame", "internal"},
		not: []string{"internal/wallclock"}},
	{prefix: "experiment/view", may: []string{"encoders", "dataset/frame", "internal"}, not: []string{"internal/wallclock"}},
	{prefix: "experiment/container", may: []string{"internal"}, not: []string{"internal/wallclock"}},
	{prefix: "experiment", may: []string{"experiment", "encoders", "dataset", "lossmodel", "internal"}},
	{prefix: "cmd", may: []string{"cmd", "experiment", "encoders", "dataset", "lossmodel", "internal"}},
}

// pages is the folder of the dashboard's pages. Pages import panes, and no other page.
const (
	pages = "cmd/tui/internal/pages"
	panes = pages + "/panes"
)

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
	inFolder := func(prefix string) bool { return within(imported, prefix) }
	if !slices.ContainsFunc(layerRules[i].may, inFolder) {
		return layerRules[i].prefix + " may import only " + strings.Join(layerRules[i].may, ", ")
	}
	if slices.ContainsFunc(layerRules[i].not, inFolder) {
		return layerRules[i].prefix + " must not import " + strings.Join(layerRules[i].not, ", ")
	}
	if within(pkg, pages) && within(imported, pages) && !within(imported, panes) && pageOf(pkg) != pageOf(imported) {
		return "pages do not import each other"
	}
	return ""
}

// pageOf returns the name of the page that a package below pages belongs to.
func pageOf(pkg string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(pkg, pages+"/"), "/")
	return name
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
		{"cmd/tui/internal/pages/live", "wirelab/cmd/tui/internal/pages/bits", false},
		{"cmd/tui/internal/pages/panes", "wirelab/cmd/tui/internal/pages/bits", false},
		{"cmd/tui/internal/pages/live", "wirelab/cmd/tui/internal/pages/panes", true},
		{"cmd/tui/internal/pages/live", "wirelab/cmd/tui/internal/pages/live/strip", true},
		{"cmd/tui/internal/ui", "wirelab/cmd/tui/internal/pages/live", true},
		{"experiment/endpoint", "wirelab/internal/wallclock", false},
		{"experiment/container", "wirelab/internal/wallclock", false},
		{"experiment/endpoint", "wirelab/internal/ring", true},
		{"experiment/engine", "wirelab/internal/wallclock", true},
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
