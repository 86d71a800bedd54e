package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/internal/testkit"
)

// programCall is a call of the program with its expected exit code and a text that its output must contain.
type programCall struct {
	args     string // separated by blanks
	code     int
	wantText string
}

// checkCalls runs calls and checks their exit codes and output.
func checkCalls(t *testing.T, list ...programCall) {
	t.Helper()
	for _, c := range list {
		if o := tui(c.args); o.code != c.code || !strings.Contains(o.stdout+o.stderr, c.wantText) {
			t.Errorf("%v: exit %d, expected %d and %q:\n%s%s", c.args, o.code, c.code, c.wantText, o.stdout, o.stderr)
		}
	}
}

// TestPlugin checks that an encoder of a plugin can be listed, scored, run and replayed like any
// other, and does not exist without --plugin.
func TestPlugin(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	const file = "../../encoders/plugin/testdata/delta.wasm"
	const evil = "../../encoders/plugin/testdata/evil.wasm"
	const plug = "--plugin " + file
	dir := filepath.Join(t.TempDir(), "report")
	checkCalls(t, []programCall{
		{"plugins " + plug, exitDone, "delta-c"},
		{"plugins --json " + plug, exitDone, `"sha256"`},
		{"plugins", exitDone, "No plugin is loaded"},
		{"encoders " + plug, exitDone, "delta-c"},
		{"encoders delta-c", exitUsage, "unknown encoder"},
		{"plugins check " + file, exitDone, "damaged packets"},
		{"plugins check " + file + " --data demo --frames 300", exitDone, "cubes: every frame comes back                          300 frames"},
		{"plugins check " + file + " --data text:plugins_test.go", exitFailed, "delta-c does not encode such frames"},
		{"plugins check " + file + " --frames 300", exitUsage, "expected --data SPEC"},
		{"plugins check " + file + " --data demo --frames 0", exitUsage, "expected 1 to 10000"},
		{"plugins check plugins_test.go", exitUsage, "not a WebAssembly module"},
		{"walkoff --encoder delta-c --frames 40 --json " + plug, exitDone, `"lossless": true`},
		{"run --encoder delta-c --set duration=2s --set link.loss=5% --out " + dir + " --json " + plug, exitDone, `"wrong": 0`},
		{"replay " + dir + " " + plug, exitDone, "same bytes"},
		{"replay " + dir, exitDone, "same bytes"}, // the plugin is at the same path
		{"walkoff --encoder delta-c --frames 40 " + plug, exitDone, "* times of a plugin (WebAssembly)"},
		{"walkoff --encoder delta-c --frames 40 --time " + plug, exitDone, "times real time"},
		{"encoders --plugin " + file + " " + plug, exitUsage, "two encoders are called delta-c"},
		{"encoders --plugin-memory 3 " + plug, exitUsage, "a size from 1MB to 4GB"},
		{"encoders --plugin-sha256 " + strings.Repeat("0", 64) + " " + plug, exitUsage, "unexpected SHA-256"},
		{"encoders --plugin-timeout -1s " + plug, exitUsage, "expected a time"},
	}...)
	checkOut(t, tui("walkoff --frames 40 --plugin", evil, "--encoder", "evil evil=1"), exitFailed, "evil evil=1             -     -          -             -          -          -  NO")
	for params, want := range map[string]string{"bitz=1": `unknown name "bitz"`, "bitz": "expected a parameter as NAME=VALUE",
		"control=gcc": "a walk-off has no budget, control or priority"} {
		checkErr(t, tui("walkoff --frames 40 --encoder", "rotor "+params), exitUsage, want)
	}
}

// TestWalkoffParams checks that a walk-off scores an encoder with the given parameters, in the processes of the audit too.
func TestWalkoffParams(t *testing.T) {
	o := tui("walkoff --frames 60 --encoder relative-orientation --encoder", "relative-orientation xy_small=3 gear_bits=0", "--audit", "--json")
	var board struct {
		Results []struct {
			Params, Audit string
			Bytes         int
		}
	}
	document(t, o.stdout, &board)
	r := board.Results
	if o.code != exitDone || len(r) != 2 || r[0].Params != "" || r[1].Params != "xy_small=3 gear_bits=0" || r[0].Bytes == r[1].Bytes || r[1].Audit != "pass" {
		t.Errorf("exit %d, %+v\n%s", o.code, r, o.stderr)
	}
}

// TestPluginSearched checks that a search marks the times of settings that use a plugin, and no
// others.
func TestPluginSearched(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	file := filepath.Join(t.TempDir(), "search.toml")
	text := `duration = "1s"
[search]
minimise = "encode_us.p50"
[search.over]
"encoder.name" = ["delta-c", "raw"]
`
	write(t, file, text)
	args := []string{"search", file, "--plugin", "../../encoders/plugin/testdata/delta.wasm"}
	o := tui("", args...)
	for line := range strings.Lines(o.stdout) {
		if strings.HasPrefix(line, "encoder.name=") && strings.Contains(line, "*") != strings.Contains(line, "delta-c") {
			t.Errorf("marked wrongly: %s", line)
		}
	}
	if o.code != exitDone || !strings.Contains(o.stdout, "delta-c") || !strings.Contains(o.stdout, "\n* times of a plugin (WebAssembly)") {
		t.Errorf("exit %d, %s%s", o.code, o.stdout, o.stderr)
	}
	if o = tui("", append(args, "--json")...); !strings.Contains(o.stdout, `"runs_as": "WebAssembly"`) {
		t.Errorf("%s", o.stdout)
	}
}

// TestPluginFails checks that a run with a plugin that fails ends with an error.
func TestPluginFails(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	o := tui("run --plugin ../../encoders/plugin/testdata/evil.wasm --encoder evil --set encoder.params.evil=1 --set duration=2s --json")
	var doc struct {
		CodecError string `json:"codec_error"`
		Totals     struct{ Sent, Decoded, Wrong int64 }
		Changes    []map[string]any
	}
	document(t, o.stdout, &doc)
	if o.code != exitFailed || !strings.Contains(o.stderr, "the encoder rejected") || doc.Totals.Wrong != 0 || doc.Totals.Decoded < 110 || len(doc.Changes) != 1 ||
		!strings.Contains(doc.CodecError, "plugin evil: broken: wl_encode: wasm error: unreachable") {
		t.Errorf("exit %d, %+v\n%s", o.code, doc, o.stderr)
	}
}

// TestPluginsNew checks that tui plugins new creates a folder, and refuses an existing one.
func TestPluginsNew(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		code     int
		wantText string
	}{{exitDone, "cd mine && ./build && tui plugins check mine.wasm"}, {exitUsage, "mine already exists"}} {
		if o := tui("plugins new --lang cpp mine"); o.code != c.code || !strings.Contains(o.stdout+o.stderr, c.wantText) {
			t.Errorf("exit %d:\n%s%s", o.code, o.stdout, o.stderr)
		}
	}
	for _, name := range []string{"build", "encoder.cpp", "wirelab.h", "README.md"} {
		if text, err := os.ReadFile(filepath.Join("mine", name)); err != nil || strings.Contains(string(text), "NAME.wasm") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPluginInConfig checks plugins in a configuration: their paths are relative to its file, and
// its report requires the same hash.
func TestPluginInConfig(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, text)
		return path
	}
	module := func(name string) string {
		text := read(t, "../../encoders/plugin/testdata/"+name)
		return string(text)
	}
	delta := file("sub/mine.wasm", module("delta.wasm"))
	head := "duration = \"1s\"\n[encoder]\nname = \"delta-c\"\n[[plugin]]\npath = "
	good := file("good.toml", head+"\"sub/mine.wasm\"\nmemory = \"16MB\"\ntimeout = \"10s\"\n[[shadow]]\nname = \"raw\"\n")
	swept := file("sweep.toml", head+"\"sub/mine.wasm\"\n[[sweep]]\nkey = \"encoder.name\"\nvalues = [\"delta-c\", \"raw\"]\n"+
		"[[at]]\nt = \"500ms\"\nencoder = \"delta-c\"\n")
	report, grid, many := filepath.Join(dir, "report"), filepath.Join(dir, "grid"), filepath.Join(dir, "many")
	checkCalls(t,
		programCall{"check " + good, exitDone, "sha256 = "},
		programCall{"check " + file("none.toml", head+"\"none.wasm\"\n"), exitUsage, "none.toml:5: plugin[0].path: "},
		programCall{"check " + file("text.toml", head+"\"good.toml\"\n"), exitUsage, "text.toml:5: plugin[0].path: "},
		programCall{"check " + file("text.toml", head+"\"good.toml\"\n"), exitUsage, "not a WebAssembly module"},
		programCall{"check " + file("size.toml", head+"\"sub/mine.wasm\"\nmemory = \"1kB\"\n"), exitUsage, "size.toml:6: plugin[0].memory: \"1kB\" is invalid; expected a size"},
		programCall{"check " + file("time.toml", head+"\"sub/mine.wasm\"\ntimeout = -1\n"), exitUsage, "time.toml:6: plugin[0].timeout"},
		programCall{"check " + file("key.toml", head+"\"sub/mine.wasm\"\npth = 1\n"), exitUsage, "did you mean path?"},
		programCall{"check " + file("empty.toml", "[[plugin]]\nmemory = \"16MB\"\n"), exitUsage, "empty.toml:1: plugin[0]: path is missing"},
		programCall{"check " + file("run.toml", head+"'exec:touch "+filepath.Join(dir, "touched")+"'\n"), exitUsage, "a configuration cannot start a plugin process"},
		programCall{"run " + good + " --set plugin[0].path=x.wasm", exitUsage, "expected --plugin FILE"},
		programCall{"run " + good + " --out " + report + " --json", exitDone, `"runs_as": "WebAssembly"`},
		programCall{"run " + swept + " --out " + grid, exitDone, "delta-c"},
		programCall{"encoders delta-c", exitUsage, "unknown encoder"}, // unloaded after each run
		programCall{"sweep " + swept + " --out " + many, exitDone, "delta-c"},
		programCall{"replay " + report, exitDone, "same bytes"},
		programCall{"replay " + grid, exitDone, "same bytes"},
		programCall{"replay " + report + " --plugin " + file("evil.wasm", module("evil.wasm")), exitDone, "same bytes"}, // other plugins do not matter
		programCall{"check " + filepath.Join(report, "experiment.toml"), exitDone, "mine.wasm"},
	)
	if _, err := os.Stat(filepath.Join(dir, "touched")); err == nil {
		t.Error("a configuration started a process")
	}
	elsewhere := filepath.Join(t.TempDir(), "mine.wasm")
	if err := os.Rename(delta, elsewhere); err != nil {
		t.Fatal(err)
	}
	checkCalls(t,
		programCall{"replay " + report, exitUsage, "no such file"},
		programCall{"replay " + report, exitUsage, "expected --plugin " + delta + ", with SHA-256 "},
		programCall{"replay " + report + " --plugin " + elsewhere, exitDone, "same bytes"},
		programCall{"sweep --resume " + many, exitUsage, "expected --plugin " + delta},
		programCall{"sweep --resume " + many + " --plugin " + elsewhere, exitDone, "delta-c"},
	)
	file("sub/mine.wasm", module("evil.wasm"))
	checkCalls(t,
		programCall{"replay " + report, exitUsage, "unexpected SHA-256 "},
		programCall{"replay " + report + " --plugin " + delta, exitUsage, "has SHA-256"},
		programCall{"replay " + report + " --plugin " + elsewhere, exitDone, "same bytes"},
	)
}

// TestPluginProcess checks that an encoder in a process can be scored, audited, run and replayed
// like a module, and leaves no process behind.
func TestPluginProcess(t *testing.T) {
	python, err := exec.Command("python3", "-c", "import sys; print(sys.executable, end='')").Output()
	if err != nil {
		t.Skipf("NOT RUN: python3: %v", err)
	}
	t.Chdir(t.TempDir())
	checkOut(t, tui("plugins new --lang python mine"), exitDone, "exec:python3 mine.py")
	command := "exec:" + string(python) + " mine/mine.py"
	plug := []string{"--plugin", command, "--plugin-timeout", "20s", "--encoder", "mine"}
	audit := "walkoff --frames 14 --audit --json"
	if !testkit.Thorough() {
		audit = "walkoff --frames 8 --json"
	}
	checkOut(t, tui(audit, plug...), exitDone, testkit.Choose(`"audit": "pass"`, `"mine"`))
	checkOut(t, tui("run --set duration=100ms --out report", plug...), exitDone, "* times of a plugin (process)")
	checkOut(t, tui("replay report --plugin", command), exitDone, "same bytes")
	checkErr(t, tui("replay report"), exitUsage, "expected --plugin \""+command+"\", with SHA-256")
	for command, want := range map[string]string{
		"exec:./none": "none", "exec:": "is not a command", "exec:" + string(python) + " -c 'print": "missing closing '",
		"exec:" + string(python) + " -c 'print(1)'": `the process ended: exit status 0; standard output has "1", expected only answers`,
	} {
		checkErr(t, tui("plugins --plugin", command), exitUsage, want)
	}
	checkErr(t, tui("encoders --plugin", append([]string{command}, plug[:2]...)...), exitUsage, "two encoders are called mine: that of "+command)
	// A process that dies ends the run, and the run is saved.
	text := read(t, "mine/mine.py")
	mortal := strings.Replace(string(text), "        into, refs = self.references(r)\n",
		"        into, refs = self.references(r)\n        if kind == ENCODE and refs[0][\"tick\"] > 30:\n            sys.exit(\"out of ideas\")\n", 1)
	if err := os.WriteFile("mine/mine.py", []byte(mortal), 0o600); err != nil || mortal == string(text) {
		t.Fatal(err)
	}
	o := tui("run --set duration=2s --json", plug...)
	var doc struct {
		CodecError string `json:"codec_error"`
		Totals     struct{ Sent, Decoded, Wrong int64 }
		Changes    []map[string]any
	}
	document(t, o.stdout, &doc)
	if o.code != exitFailed || doc.Totals.Wrong != 0 || doc.Totals.Decoded < 100 || len(doc.Changes) != 1 ||
		!strings.Contains(doc.CodecError, "broken: encode: the process ended: exit status 1; standard error: out of ideas") {
		t.Errorf("exit %d, %+v\n%s", o.code, doc, o.stderr)
	}
}
