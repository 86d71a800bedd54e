package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A plugin's encoder is listed, scored, run and replayed as any other; without --plugin it is not there.
func TestPlugin(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	const file = "../../encoders/plugin/testdata/delta.wasm"
	plug := []string{"--plugin", file}
	dir := filepath.Join(t.TempDir(), "report")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{append([]string{"plugins"}, plug...), exitDone, "delta-c"},
		{append([]string{"plugins", "--json"}, plug...), exitDone, `"sha256"`},
		{[]string{"plugins"}, exitDone, "No plugin is loaded"},
		{append([]string{"encoders"}, plug...), exitDone, "delta-c"},
		{[]string{"encoders", "delta-c"}, exitUsage, "no encoder is called"},
		{[]string{"plugins", "check", file}, exitDone, "damaged packets"},
		{[]string{"plugins", "check", "plugins_test.go"}, exitUsage, "no WebAssembly module"},
		{append([]string{"walkoff", "--encoder", "delta-c", "--frames", "40", "--json"}, plug...), exitDone, `"lossless": true`},
		{append([]string{"run", "--encoder", "delta-c", "--set", "duration=2s", "--set", "link.loss=5%", "--out", dir, "--json"}, plug...), exitDone, `"wrong": 0`},
		{append([]string{"replay", dir}, plug...), exitDone, "same bytes"},
		{[]string{"replay", dir}, exitUsage, "delta-c"},
		{append([]string{"encoders", "--plugin", file}, plug...), exitUsage, "called delta-c already"},
		{append([]string{"encoders", "--plugin-memory", "3"}, plug...), exitUsage, "a size from 1MB to 4GB"},
		{append([]string{"encoders", "--plugin-timeout", "-1s"}, plug...), exitUsage, "expected a time"},
	} {
		o := tui(c.args...)
		if o.code != c.code || !strings.Contains(o.stdout+o.stderr, c.says) {
			t.Errorf("%v: exit %d, expected %d and %q:\n%s%s", c.args, o.code, c.code, c.says, o.stdout, o.stderr)
		}
	}
}

// One that breaks gives way, and the run says so.
func TestPluginBreaks(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	o := tui("run", "--plugin", "../../encoders/plugin/testdata/evil.wasm", "--encoder", "evil", "--set", "encoder.params.evil=1",
		"--set", "duration=2s", "--json")
	var doc struct {
		CodecError string `json:"codec_error"`
		Totals     struct{ Sent, Decoded, Wrong int64 }
		Changes    []map[string]any
	}
	document(t, o.stdout, &doc)
	if o.code != exitFailed || !strings.Contains(o.stderr, "the encoder refused") || doc.Totals.Wrong != 0 || doc.Totals.Decoded < 110 || len(doc.Changes) != 1 ||
		!strings.Contains(doc.CodecError, "plugin evil: broken: wl_encode: wasm error: unreachable") {
		t.Errorf("exit %d, %+v\n%s", o.code, doc, o.stderr)
	}
}

// A folder with an encoder to begin with is written once.
func TestPluginsNew(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		code int
		says string
	}{{exitDone, "cd mine && ./build && tui plugins check mine.wasm"}, {exitUsage, "mine is there already"}} {
		if o := tui("plugins", "new", "--lang", "cpp", "mine"); o.code != c.code || !strings.Contains(o.stdout+o.stderr, c.says) {
			t.Errorf("exit %d:\n%s%s", o.code, o.stdout, o.stderr)
		}
	}
	for _, name := range []string{"build", "encoder.cpp", "wirelab.h", "README.md"} {
		if text, err := os.ReadFile(filepath.Join("mine", name)); err != nil || strings.Contains(string(text), "NAME.wasm") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
