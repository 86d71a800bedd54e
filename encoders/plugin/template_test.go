package plugin

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/encoders"
	"wirelab/internal/testkit"
)

// writeTemplate writes a template to a new folder and returns its path.
func writeTemplate(t *testing.T, lang string) string {
	t.Helper()
	dir := t.TempDir()
	files, err := Template(lang, "mine")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// buildTemplate writes and builds a template, and returns the path of the module. It skips the test if the
// compiler is missing.
func buildTemplate(t *testing.T, lang string) string {
	t.Helper()
	return buildIn(t, writeTemplate(t, lang), lang)
}

// buildIn is buildTemplate for a template that is already in a folder.
func buildIn(t *testing.T, dir, lang string) string {
	t.Helper()
	for tool, args := range map[string]map[string][]string{
		"c":    {"clang": {"--version"}, "wasm-ld": {"--version"}},
		"cpp":  {"clang++": {"--version"}, "wasm-ld": {"--version"}},
		"rust": {"cargo": {"--version"}},
	}[lang] {
		if err := exec.Command(tool, args...).Run(); err != nil {
			t.Skipf("NOT RUN: the template for %s needs %s: %v", lang, tool, err)
		}
	}
	cmd := exec.Command("./build")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "CARGO_NET_OFFLINE=true")
	if out, err := cmd.CombinedOutput(); err != nil {
		if lang == "rust" && strings.Contains(string(out), "wasm32-unknown-unknown") {
			t.Skip("NOT RUN: the template for rust needs rustup target add wasm32-unknown-unknown")
		}
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "mine.wasm")
}

// Every template for a module builds, meets the contract and writes the same packets as deltaEncode.
func TestTemplates(t *testing.T) {
	for _, lang := range []string{"c", "cpp", "rust", "go"} {
		t.Run(lang, func(t *testing.T) {
			if lang == "go" && !testkit.Thorough() {
				t.Skip("NOT RUN: compiles Go's runtime for WebAssembly; WIRELAB_THOROUGH=1 does")
			}
			p := load(t, buildTemplate(t, lang), Options{})
			if len(p.Codecs) != 1 || p.Codecs[0].Name != "mine" || p.Runs == Interpreted && lang == "go" {
				t.Fatalf("%+v", p.Codecs)
			}
			checkExample(t, p, true)
		})
	}
}

// The encoder of the Go template gets the values of its parameters, as a process and as a module.
func TestGoParams(t *testing.T) {
	dir := writeTemplate(t, "go")
	path := filepath.Join(dir, "encoder.go")
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(source)
	for _, change := range [][2]string{ // packets begin with the values
		{"Suits: SuitsTables | SuitsCubes,", `Suits: SuitsTables | SuitsCubes, Params: []Param{
			{Name: "small", Help: "bits", Kind: IntParam, Initial: 6, Min: 1, Max: 20}, {Name: "share", Unit: "%", Kind: NumberParam, Initial: 0.25, Max: 1},
			{Name: "fast", Kind: BoolParam}},`},
		{"func newEnd(s *Schema, _ []float64)", "var values []float64\n\nfunc newEnd(s *Schema, params []float64)"},
		{"\treturn &end{", "\tvalues = params\n\treturn &end{"},
		{"\tbase := refs[0].Table\n", "\tbase := refs[0].Table\n\tout = append(out, byte(values[0]), byte(values[1]*100), byte(values[2]))\n"},
	} {
		if strings.Count(text, change[0]) != 1 {
			t.Fatalf("the template does not contain %q once", change[0])
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("./build", "process")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	plugins := map[string]string{"process": "exec:" + filepath.ToSlash(dir) + "/mine"}
	if testkit.Thorough() { // compiles Go's runtime for WebAssembly
		plugins["module"] = buildIn(t, dir, "go")
	}
	s, frames := demoFrames(t, 2)
	for name, file := range plugins {
		c := &load(t, file, Options{}).Codecs[0]
		for text, want := range map[string]string{"": "\x06\x19\x00", "small=9 share=0.75 fast=true": "\x09\x4b\x01"} {
			params, err := c.ParseCanonical([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			enc, _, err := c.New(s, params)
			if err != nil {
				t.Fatal(err)
			}
			packet, _, err := enc.Encode(nil, frames[1], []encoders.Ref{{Frame: frames[0]}}, nil, nil)
			if err != nil || !strings.HasPrefix(string(packet), want) {
				t.Errorf("%s: %v; the packet begins with %x, want %x", name, err, packet[:min(3, len(packet))], want)
			}
		}
	}
}

// TestGoHeap checks that a module compiled from Go collects garbage for as long as it runs: it allocates 30 times the memory
// that it may have. It then retains its allocations, and the error has the message of Go's runtime.
func TestGoHeap(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("NOT RUN: compiles Go's runtime for WebAssembly; WIRELAB_THOROUGH=1 does")
	}
	dir := writeTemplate(t, "go")
	source, err := os.ReadFile(filepath.Join(dir, "encoder.go"))
	if err != nil {
		t.Fatal(err)
	}
	// The encoder allocates 1 MB for each frame, and retains it from frame 1000 on.
	const begin, allocate = "\tbase := refs[0].Table\n", "\tif cur.Tick < retainFrom {\n\t\theap = nil\n\t}\n\theap = append(heap, make([]byte, 1<<20))\n"
	text := strings.Replace(string(source), begin, allocate+begin, 1) + "\nvar heap [][]byte\n\nconst retainFrom = 1000\n"
	if err := os.WriteFile(filepath.Join(dir, "encoder.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := load(t, buildIn(t, dir, "go"), Options{Memory: 32 << 20})
	s, frames := demoFrames(t, 2)
	enc, _, err := p.Codecs[0].New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for tick := range uint32(1100) {
		frames[1].Tick = tick
		_, _, err = enc.Encode(nil, frames[1], []encoders.Ref{{Frame: frames[0]}}, nil, nil)
		if err != nil && tick < 1000 {
			t.Fatalf("frame %d: %v", tick, err)
		}
		if err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "out of memory") || strings.Contains(err.Error(), "goroutine") {
		t.Errorf("retained all allocations: %v, expected the message of the runtime", err)
	}
}

// checkExample checks that an example writes the same packets as deltaEncode, and if all is true, also that
// it passes CheckCodec.
func checkExample(t *testing.T, p *Plugin, all bool) {
	t.Helper()
	if all {
		for _, c := range CheckCodec(&p.Codecs[0]) {
			if c.Problem != "" {
				t.Errorf("%s: %s", c.Name, c.Problem)
			}
		}
	}
	s, frames := demoFrames(t, 7)
	enc, _, err := p.Codecs[0].New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := enc.Encode(nil, frames[6], []encoders.Ref{{Frame: frames[0]}}, nil, nil)
	if want := deltaEncode(frames[6].Table, frames[0].Table); err != nil || string(got) != string(want) {
		t.Errorf("%v: %d bytes, expected %d", err, len(got), len(want))
	}
}

// Template rejects unknown languages and invalid names.
func TestTemplateRejectsArguments(t *testing.T) {
	for _, c := range [][2]string{{"cobol", "mine"}, {"c", "Mine"}, {"c", "../mine"}, {"c", ""}} {
		if files, err := Template(c[0], c[1]); err == nil || files != nil {
			t.Errorf("%q: %d files", c, len(files))
		}
	}
}

// CheckCodec finds encoders that violate the contract.
func TestTryFindsViolations(t *testing.T) {
	p := load(t, "testdata/evil.wasm", Options{})
	for evil, want := range map[int]string{0: "", 15: "every frame comes back", 5: "every frame comes back"} {
		c := p.Codecs[0]
		c.Params = c.Defaults()
		if err := encoders.SetParam(c.Params, "evil", evil); err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, x := range CheckCodec(&c) {
			if x.Problem != "" && found == "" {
				found = x.Name
			}
		}
		if !strings.HasSuffix(found, want) || want == "" && found != "" {
			t.Errorf("%d: %q", evil, found)
		}
	}
}

// Load rejects files that are not a plugin, with an error that names the file.
func TestLoadRejectsFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const head = "\x00asm\x01\x00\x00\x00"
	for path, want := range map[string]string{
		write("text.wasm", "hello"):        "not a WebAssembly module",
		write("cut.wasm", head+"\x01\x80"): "violates the contract",
		write("empty.wasm", head):          "exports no memory",
		dir:                                "not a regular file",
		filepath.Join(dir, "none.wasm"):    "no such file",
		write("import.wasm", head+importSection("env", "now")): "imports env.now, expected only WASI",
		// Two functions; the first, of type 0, calls the second, whose type 4 does not exist.
		write("call.wasm", head+"\x01\x04\x01\x60\x00\x00"+"\x03\x03\x02\x00\x04"+
			"\x0a\x09\x02\x04\x00\x10\x01\x0b\x02\x00\x0b"): "the module is damaged: runtime error: index out of range",
	} {
		if p, err := Load(t.Context(), path, Options{}); err == nil || p != nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, expected %s", path, err, want)
		}
	}
}

// importSection returns the sections of a module that imports a function without parameters and results.
func importSection(from, name string) string {
	entry := string(rune(len(from))) + from + string(rune(len(name))) + name + "\x00\x00"
	return "\x01\x04\x01\x60\x00\x00" + "\x02" + string(rune(len(entry)+1)) + "\x01" + entry
}

// FuzzLoad checks that Load returns an error or a plugin for any file.
func FuzzLoad(f *testing.F) {
	for _, name := range []string{"testdata/delta.wasm", "testdata/evil.wasm"} {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	path := filepath.Join(f.TempDir(), "fuzz.wasm")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if p, err := Load(t.Context(), path, Options{Memory: 4 << 20, Timeout: 100e6}); err == nil {
			p.Close()
		}
	})
}
