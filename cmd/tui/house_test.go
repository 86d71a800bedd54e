package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The plan of the house: who may import whom. A name that ends in "/..." is a
// package and all below it.
const planSentence = "Leaves never import each other; Charm packages appear only under cmd/tui " +
	"(DESIGN: cmd/tui -> experiment and the names of the leaves; experiment -> dataset, encoders, lossmodel; " +
	"encoders -> dataset/frame, dataset/physics, dataset/whole; dataset -> dataset/frame; lossmodel -> nothing of ours)"

// plan lists, for each package, which of our own it may import. A new package
// needs one row here, and a reason why it stands where it does.
var plan = map[string][]string{
	"cmd/tui": {"cmd/tui/internal/...", "experiment/...", "dataset/...", "encoders/...", "lossmodel/..."},
	// The rooms of the dashboard: arrows point down, and pages do not know each other.
	// A page that needs no more than pageImports needs no row.
	"cmd/tui/internal/ui":            slices.Concat(rooms("pages/...", "tour", "command", "controls", "session", "room", "look", "repaint"), lab, []string{"dataset/frame", "encoders/table", "lossmodel"}), // routes, and nothing else
	"cmd/tui/internal/pages/live":    append(pageImports, "cmd/tui/internal/tour", "encoders"),
	"cmd/tui/internal/pages/bits":    append(pageImports, "encoders"),
	"cmd/tui/internal/pages/packets": append(pageImports, "encoders"),
	"cmd/tui/internal/pages/world":   append(pageImports, "cmd/tui/internal/worldview", "dataset/world"),
	"cmd/tui/internal/pages/report":  append(pageImports, "experiment/page"),
	"cmd/tui/internal/pages/compare": append(pageImports, "experiment/paired"),
	"cmd/tui/internal/pages/panes":   slices.Concat(rooms("room", "look", "chart"), lab, []string{"experiment/paired", "experiment/trust", "dataset/frame", "encoders"}),                                                                // what several pages show
	"cmd/tui/internal/sweepview":     slices.Concat(rooms("look", "chart", "repaint"), []string{"experiment/sweep"}),                                                                                                                    // a sweep while it runs; knows no dashboard
	"cmd/tui/internal/proxyview":     slices.Concat(rooms("command", "controls", "script", "room", "look", "chart", "repaint"), []string{"experiment/config", "experiment/engine", "experiment/trust", "lossmodel", "lossmodel/relay"}), // a proxy while it runs; knows no session
	"cmd/tui/internal/tour":          slices.Concat(rooms("session", "room", "look"), lab, []string{"dataset/frame", "encoders"}),
	"cmd/tui/internal/command":       slices.Concat(rooms("controls", "room", "look"), lab, []string{"dataset/frame", "lossmodel"}),
	"cmd/tui/internal/controls":      slices.Concat(rooms("room", "look"), lab, []string{"dataset/frame", "encoders", "lossmodel"}),
	"cmd/tui/internal/session":       slices.Concat(rooms("room", "look"), lab, []string{"lossmodel"}),
	"cmd/tui/internal/worldview":     slices.Concat(rooms("look", "topview"), lab, []string{"encoders/cubes/forecast"}), // knows no page
	"cmd/tui/internal/room":          slices.Concat(rooms("look"), lab, []string{"dataset/frame"}),                      // what a page is; knows none
	"cmd/tui/internal/look":          slices.Concat(rooms("chart"), lab),                                                // cells, colours, shapes
	"cmd/tui/internal/script":        {"experiment/config", "lossmodel", "lossmodel/relay"},                             // what the links of a proxy do, for whom and when
	"cmd/tui/internal/chart":         {},                                                                                // draws numbers; knows nothing of what they mean
	"cmd/tui/internal/topview":       {},                                                                                // draws cubes on dots; knows no screen
	"cmd/tui/internal/ahead":         {},                                                                                // a module of its own, initialised before bubbletea
	"cmd/tui/internal/repaint":       {},                                                                                // compares lines of a screen; knows no dashboard
	"cmd/tui/internal/labtest":       slices.Concat(rooms("session", "room", "look"), lab, []string{"dataset/...", "encoders/...", "lossmodel"}),

	// The rooms of the lab, from the bottom up.
	"experiment/paired":         {},                                                   // how far a difference can be trusted; knows nothing of what it means
	"experiment/transfer":       {},                                                   // brings blocks across; knows no links and no encoders
	"experiment/endpoint":       {"experiment/transfer", "dataset/frame", "encoders"}, // what a game could ship: no truth, no meter, no link
	"experiment/figures":        {"dataset/frame", "encoders", "lossmodel"},           // what a run measures: names, types, JSON
	"experiment/config":         {"experiment/figures", "experiment/transfer", "dataset/...", "encoders/...", "lossmodel", "lossmodel/tracefile"},
	"experiment/engine":         {"experiment/config", "experiment/figures", "experiment/endpoint", "experiment/transfer", "dataset/...", "encoders/...", "lossmodel"},
	"experiment/trust":          {"experiment/engine", "lossmodel", "lossmodel/loss", "lossmodel/measure"}, // whether a link did what it was asked for
	"experiment/lockstep":       {"experiment/engine", "experiment/figures", "experiment/paired"},          // compares lanes over the time that they have in common
	"experiment/report":         {"experiment/lockstep", "experiment/paired", "experiment/engine", "experiment/config", "experiment/figures", "dataset/frame", "dataset/whole", "encoders", "lossmodel"},
	"experiment/page":           {"experiment/report", "experiment/engine", "experiment/config", "experiment/figures", "experiment/paired", "dataset/whole", "lossmodel"}, // report.html
	"experiment":                {"experiment/remote", "experiment/page", "experiment/report", "experiment/lockstep", "experiment/engine", "experiment/config", "experiment/figures", "experiment/endpoint", "dataset/whole", "encoders/patch"},
	"experiment/sweep":          {"experiment", "experiment/paired", "experiment/page", "experiment/report", "experiment/engine", "experiment/config", "experiment/figures", "dataset/whole"}, // many runs
	"experiment/search":         {"experiment", "experiment/sweep", "experiment/engine", "experiment/config", "experiment/figures", "encoders"},                                               // looks for the best
	"experiment/remote":         {"experiment/remote/channel", "experiment/engine", "experiment/endpoint", "experiment/config", "encoders", "encoders/table", "dataset/frame", "lossmodel"},   // sessions over a network, and their replay
	"experiment/remote/channel": {},                                                                                                                                                           // authenticated datagrams between two sockets; knows nothing of what they carry
	"experiment/remote/probe":   {"experiment/remote/channel", "lossmodel/capture"},                                                                                                           // measures a path between two ends
	"experiment/savings":        {"dataset/frame", "encoders"},                                                                                                                                // what encoders make of messages
	"experiment/bench":          {"experiment", "experiment/config", "experiment/walkoff", "encoders"},                                                                                        // times everything beside a fixed loop
	"experiment/walkoff":        {"experiment/config", "experiment/figures", "dataset/...", "encoders/..."},                                                                                   // scores encoders without a network

	"experiment/internal/labtest": {"dataset", "dataset/frame", "encoders", "encoders/table"}, // sources for tests

	"encoders":                    {"encoders/rangecoder", "dataset/frame", "dataset/physics"},
	"encoders/bitio":              {}, // primitives that know no frames
	"encoders/rangecoder":         {},
	"encoders/rotation":           {},                // quaternions and their smallest three
	"encoders/nn":                 {},                // small nets in integers
	"encoders/cubes/cube":         {"dataset/frame"}, // the vocabulary of cube snapshots
	"encoders/train":              {"dataset/frame"},
	"encoders/train/mdn":          {"encoders/nn"}, // learns nets for mixture densities
	"encoders/cubes/entropy":      append([]string{"encoders/cubes/cube", "encoders/train"}, encoderImports...),
	"encoders/cubes/forecast":     encoderImports, // where the cubes will be
	"encoders/cubes/kinetic":      append([]string{"encoders/cubes/cube", "encoders/cubes/forecast", "encoders/nn", "encoders/train", "encoders/train/mdn"}, encoderImports...),
	"encoders/cubes":              append([]string{"encoders/cubes/cube"}, encoderImports...),
	"encoders/generic":            append([]string{"encoders/train"}, encoderImports...),
	"encoders/cubes/tune":         {"encoders", "encoders/cubes", "dataset/frame"}, // counts what the ladder would spend
	"encoders/adaptive":           append([]string{"encoders/train"}, encoderImports...),
	"encoders/datagram":           append([]string{"encoders/train"}, encoderImports...),             // datagrams of any program
	"encoders/rpc":                encoderImports,                                                    // calls of one row
	"encoders/quake3":             append([]string{"dataset/quake3/netcode"}, encoderImports...),     // as a game codes itself
	"encoders/teeworlds":          append([]string{"dataset/teeworlds/protocol"}, encoderImports...), // likewise
	"encoders/rows":               append([]string{"encoders/states"}, encoderImports...),            // tables of any schema
	"encoders/states":             append([]string{"encoders/train"}, encoderImports...),             // what games have
	"encoders/files":              append([]string{"encoders/patch"}, encoderImports...),             // whole files
	"encoders/patch":              {"encoders/patch/align", "encoders/patch/delta", "dataset/whole"},
	"encoders/patch/align":        {"encoders/patch/delta"},                                                                                                                                                                                                                                                                           // finds what blocks are like
	"encoders/patch/delta":        {"encoders/rangecoder"},                                                                                                                                                                                                                                                                            // codes them
	"encoders/plugin":             {"encoders", "dataset/frame"},                                                                                                                                                                                                                                                                      // encoders from outside: WebAssembly
	"encoders/internal/hostile":   {"encoders", "dataset/frame"},                                                                                                                                                                                                                                                                      // what decoders must withstand
	"encoders/internal/recording": {"dataset", "dataset/frame", "dataset/physics", "dataset/reference"},                                                                                                                                                                                                                               // for tests only
	"encoders/table":              {"encoders", "encoders/files", "encoders/cubes", "encoders/cubes/entropy", "encoders/cubes/kinetic", "encoders/generic", "encoders/rows", "encoders/rpc", "encoders/states", "encoders/quake3", "encoders/teeworlds", "encoders/adaptive", "encoders/datagram", "encoders/train", "dataset/frame"}, // stands above all encoders

	"dataset":                    {"dataset/..."},
	"dataset/frame":              {}, // the vocabulary
	"dataset/physics":            {},
	"dataset/fields":             {"dataset/frame"},                                                                            // how each field changes
	"dataset/files":              {"dataset/frame", "dataset/source"},                                                          // a pair of files
	"dataset/rpc":                {"dataset/frame", "dataset/source"},                                                          // calls of a generated player
	"dataset/packets":            {"dataset/frame", "dataset/source", "dataset/unpack"},                                        // datagrams of a capture
	"dataset/quake3":             {"dataset/quake3/netcode", "dataset/frame", "dataset/source", "dataset/unpack"},              // demos of a game
	"dataset/quake3/netcode":     {"dataset/frame"},                                                                            // what that game sends; knows no demos
	"dataset/table":              {"dataset/frame", "dataset/source", "dataset/unpack", "dataset/suggest", "dataset/tomlkeys"}, // a user's own records
	"dataset/teeworlds":          {"dataset/frame", "dataset/source", "dataset/unpack", "dataset/teeworlds/protocol"},          // demos of a game
	"dataset/teeworlds/protocol": {"dataset/frame"},                                                                            // what its demos and its encoder share
	"dataset/text":               {"dataset/frame", "dataset/source"},                                                          // messages cut of a text
	"dataset/unpack":             {},                                                                                           // compressed files, in bounded memory
	"dataset/world":              {"dataset/frame", "dataset/physics", "dataset/source"},
	"dataset/source":             {"dataset/frame"},                     // what sources have in common; knows none of them
	"dataset/stats":              {"dataset/frame"},                     // counts what snapshots are like
	"dataset/whole":              {},                                    // files that appear whole or not at all; knows not what is in them
	"dataset/whole/wholetest":    {"dataset/whole", "dataset/thorough"}, // for tests only
	"dataset/thorough":           {},                                    // how much tests check
	"dataset/reference":          {},                                    // what tests compare with
	"dataset/tomlkeys":           {},                                    // lines of the keys of a text; knows no configuration
	"dataset/suggest":            {},                                    // what was most likely meant by a name; knows nothing of what is named

	"lossmodel":           {"lossmodel/loss", "lossmodel/netem", "lossmodel/random", "lossmodel/setting", "lossmodel/tracefile"},
	"lossmodel/loss":      {"lossmodel/random", "lossmodel/setting", "lossmodel/tracefile"},                                // which packets of a series are lost; knows no links
	"lossmodel/tracefile": {"lossmodel/capture", "lossmodel/random", "lossmodel/setting"},                                  // the files that a link can name
	"lossmodel/setting":   {},                                                                                              // units, texts and errors of keys; knows no links
	"lossmodel/random":    {},                                                                                              // streams, chances and quantiles in integers
	"lossmodel/netem":     {},                                                                                              // the kernel's rules; knows no links
	"lossmodel/capture":   {},                                                                                              // rows of a file; knows no links
	"lossmodel/relay":     {"lossmodel", "lossmodel/capture", "lossmodel/tracefile"},                                       // sockets and the clock; knows links from outside
	"lossmodel/measure":   {"lossmodel", "lossmodel/capture", "lossmodel/loss", "lossmodel/random", "lossmodel/tracefile"}, // looks at links and captures from outside
}

// lab is the rooms of the lab that the dashboard may know.
var lab = []string{"experiment", "experiment/report", "experiment/engine", "experiment/config", "experiment/figures", "experiment/lockstep"}

// pageImports is what a page of the dashboard may import.
var pageImports = slices.Clip(slices.Concat(rooms("pages/panes", "controls", "room", "look", "chart"), lab, []string{"dataset/frame", "lossmodel"}))

// rooms names rooms of the dashboard.
func rooms(names ...string) []string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = "cmd/tui/internal/" + n
	}
	return list
}

var encoderImports = []string{"encoders", "encoders/bitio", "encoders/rangecoder", "encoders/rotation", "dataset/frame", "dataset/physics"}

// allowedIn returns what a package may import; false if it has no place.
func allowedIn(pkg string) ([]string, bool) {
	list, known := plan[pkg]
	if !known && strings.HasPrefix(pkg, "cmd/tui/internal/pages/") {
		return pageImports, true
	}
	return list, known
}

// breaks says in words what is wrong with pkg importing imported; "" if nothing.
// Both are full import paths but for pkg, which is relative to the module.
func breaks(pkg, imported string) string {
	if strings.HasPrefix(imported, "github.com/charmbracelet/") && pkg != "cmd/tui" && !strings.HasPrefix(pkg, "cmd/tui/") {
		return pkg + " imports " + imported
	}
	ours, found := strings.CutPrefix(imported, "wirelab/")
	if !found {
		return ""
	}
	list, _ := allowedIn(pkg)
	for _, allowed := range list {
		tree, whole := strings.CutSuffix(allowed, "/...")
		if ours == tree || whole && strings.HasPrefix(ours, tree+"/") {
			return ""
		}
	}
	return pkg + " imports " + ours
}

// TestHouse walks the imports of every package.
func TestHouse(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && name != "../.." && (name == "testdata" || strings.HasPrefix(name, ".") && len(name) > 2) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		seen++
		pkg, err := filepath.Rel("../..", filepath.Dir(file))
		if err != nil {
			return err
		}
		checkFile(t, filepath.ToSlash(pkg), file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 50 {
		t.Errorf("only %d files seen: is this still the root of the project?", seen)
	}
}

// mostFiles is how many files a room may have, tests apart.
const mostFiles = 40

// TestRoomsAreSmall counts the files of every package.
func TestRoomsAreSmall(t *testing.T) {
	for pkg := range plan {
		files, err := filepath.Glob(filepath.Join("../..", filepath.FromSlash(pkg), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
		if len(files) > mostFiles {
			t.Errorf("%s has %d files; divide it before it has more than %d", pkg, len(files), mostFiles)
		}
	}
}

func checkFile(t *testing.T, pkg, file string) {
	t.Helper()
	if _, known := allowedIn(pkg); !known {
		t.Errorf("%s: package %s has no place in the plan of the house: give it a row in plan", file, pkg)
		return
	}
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	for _, spec := range tree.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		// Tests may read recordings and play sources; they are no part of the house.
		if strings.HasSuffix(file, "_test.go") && !strings.HasPrefix(imported, "github.com/charmbracelet/") {
			continue
		}
		if breach := breaks(pkg, imported); breach != "" {
			t.Errorf("%s: %s. %s.", file, breach, planSentence)
		}
	}
}

// TestTopLevel: the project has five folders, and whatever is new moves into one of them.
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
	if want := []string{"cmd", "dataset", "encoders", "experiment", "lossmodel"}; !slices.Equal(folders, want) {
		t.Errorf("the top level holds %v; the plan has %v", folders, want)
	}
}

// TestPlan holds the test itself to the plan.
func TestPlan(t *testing.T) {
	for _, c := range []struct {
		pkg, imported string
		breach        bool
	}{
		{"lossmodel", "wirelab/dataset/frame", true},
		{"dataset", "wirelab/encoders", true},
		{"dataset/frame", "wirelab/dataset", true},
		{"encoders/cubes", "wirelab/dataset", true},
		{"encoders/cubes", "wirelab/encoders/generic", true},
		{"encoders/cubes", "wirelab/encoders/table", true},
		{"experiment", "wirelab/cmd/tui/internal/ui", true},
		{"cmd/tui/internal/room", "wirelab/cmd/tui/internal/session", true},
		{"cmd/tui/internal/pages/live", "wirelab/cmd/tui/internal/pages/bits", true},
		{"cmd/tui/internal/pages/live", "wirelab/cmd/tui/internal/ui", true},
		{"cmd/tui/internal/pages/live", "wirelab/cmd/tui/internal/pages/panes", false},
		{"cmd/tui/internal/tour", "wirelab/cmd/tui/internal/command", true},
		{"cmd/tui/internal/controls", "wirelab/cmd/tui/internal/command", true},
		{"cmd/tui/internal/look", "wirelab/cmd/tui/internal/room", true},
		{"experiment", "github.com/charmbracelet/lipgloss", true},
		{"encoders", "wirelab/dataset/frame", false},
		{"experiment/endpoint", "wirelab/experiment/engine", true},
		{"experiment/endpoint", "wirelab/lossmodel", true},
		{"experiment/figures", "wirelab/experiment/config", true},
		{"experiment/config", "wirelab/experiment/engine", true},
		{"experiment/config", "wirelab/experiment/endpoint", true},
		{"experiment/engine", "wirelab/experiment/report", true},
		{"experiment/report", "wirelab/experiment", true},
		{"experiment/engine", "wirelab/experiment/endpoint", false},
		{"experiment/engine", "wirelab/encoders/table", false},
		{"cmd/tui", "github.com/charmbracelet/bubbletea", false},
		{"lossmodel", "time", false},
	} {
		if got := breaks(c.pkg, c.imported); (got != "") != c.breach {
			t.Errorf("%s -> %s: breach %q, want one: %v", c.pkg, c.imported, got, c.breach)
		}
	}
	for pkg, list := range plan {
		for _, allowed := range list {
			tree, whole := strings.CutSuffix(allowed, "/...")
			known := false
			for p := range plan {
				known = known || p == tree || whole && strings.HasPrefix(p, tree+"/")
			}
			if !known {
				t.Errorf("%s may import %s, which is not in the plan", pkg, allowed)
			}
			if slices.Contains(plan[strings.TrimSuffix(allowed, "/...")], pkg) {
				t.Errorf("%s and %s may import each other", pkg, allowed)
			}
		}
	}
}
