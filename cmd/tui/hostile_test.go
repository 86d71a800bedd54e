//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/report"
	"wirelab/experiment/search"
	"wirelab/experiment/walkoff"
	"wirelab/internal/testkit"
)

// TestHostileNames runs commands on data whose paths and schema have hostile names: a folder with escape
// sequences, a forged line and markup, and fields with bars, scripts and formulas. It checks all that
// the commands print, and every file of the report.
func TestHostileNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a\x1b[2J\x07\u202eb\nFORGED |<img src=x>`") // a path has no slash or 0 byte
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	schema, records, toml := filepath.Join(dir, "s.toml"), filepath.Join(dir, "r.csv"), filepath.Join(dir, "x.toml")
	capture, model, module := filepath.Join(dir, "c.pcap"), filepath.Join(dir, "m.toml"), filepath.Join(dir, "m\x1b[2J.wasm")
	for path, text := range map[string]string{
		schema: "name = \"=cmd()|<script>\"\nitem = \"t|<script>\"\nrows = 1\nrate_hz = 60\n[[field]]\nkind = \"quantity\"\nscale = 1\nname = \"@f|<script>\"\nunit = \"|<b>\"\nrange = [0, 9]\n" +
			"[[field]]\nkind = \"quantity\"\nscale = 1\nname = \"=1+1\"\nrange = [0, 9]\n",
		records: "@f|<script>,=1+1\n1,2\n2,3\n3,1\n4,2\n5,2\n6,3\n7,1\n8,2\n1,2\n2,3\n3,1\n4,2\n5,2\n6,3\n7,1\n8,2\n",
		capture: "\xd4\xc3\xb2\xa1" + strings.Repeat("\x00", 40), // a header of version 0
		module:  "\x00asm\x01\x00\x00\x00",                       // without exports
		model:   "[encoder]\nname = \"receiver-adaptive\"\nmodel = \"\\u001b[2J\\nFORGED |<script>.bin\"\n",
		toml: "duration = \"1s\"\n[[at]]\nt = \"500ms\"\nmark = \"=m|<script>\\u001b[2J\\u202e\\nFORGED\"\n[[shadow]]\nname = \"xor-rle\"\n" +
			"[assert]\nwrong = \"== 0\"\n",
	} {
		write(t, path, text)
	}
	spec := "table:" + schema + "," + records
	out, swept, junit := filepath.Join(dir, "out"), filepath.Join(dir, "swept"), filepath.Join(dir, "j.xml")
	var printed int
	for _, args := range [][]string{
		{"run", toml, "--data", spec, "--encoder", "delta-adaptive", "--out", out, "--junit", junit, "--bench", filepath.Join(dir, "bench.txt")},
		{"run", toml, "--data", spec, "--encoder", "delta-adaptive", "--json"},
		{"run", toml, "--data", spec + "x"},
		{"sweep", toml, "--data", spec, "--encoder", "delta-adaptive", "--repeat", "2", "--out", swept},
		{"walkoff", "--data", spec, "--encoder", "delta-adaptive", "--json"}, {"walkoff", "--data", spec, "--encoder", "delta-adaptive"},
		{"datasets", "stats", spec}, {"datasets", "stats", dir}, {"replay", out}, {"replay", dir}, {"report", out}, {"compare", out, out}, {"compare", out, dir},
		{"run", "--data", "packets:" + capture, "--duration", "1s"}, {"datasets", "stats", "packets:" + capture}, {"links", "fit", capture},
		{"run", model, "--data", "packets:" + capture}, {"run", capture}, {"search", toml}, {"sweep", "--worker-token-file", dir, toml},
		{"run", "--preset", "demo" + dir}, {"run", "--encoder", dir}, {"encoders", dir}, {"encoders", "--plugin", module},
		{"plugins", "check", module}, {"plugins", "new", "--lang", "c", dir + "/new"}, {"proxy", "--listen", dir, "--to", dir},
		{"proxy", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9", "--duration", "1ms", "--capture", dir + "/p.pcap", toml},
		{"plugins", "check", dir + "/none.wasm"}, {"check", toml + "x"}, {"links", "fit", dir + "/none.csv"},
	} {
		o := tui("", args...)
		name := strings.Join(args[:2], " ")
		testkit.CheckTerminalText(t, name+", stdout", o.stdout)
		testkit.CheckTerminalText(t, name+", stderr", o.stderr)
		printed += strings.Count(o.stdout+o.stderr, `\x1b[2J`) + strings.Count(o.stdout+o.stderr, `\u001b[2J`)
		if o.stdout+o.stderr == "" {
			t.Errorf("%s prints nothing", name)
		}
	}
	if printed < 10 {
		t.Errorf("hostile paths were printed %d times, expected at least 10: the commands fail before they print one", printed)
	}
	read := func(path string) string {
		text := read(t, path)
		return string(text)
	}
	for _, folder := range []string{out, swept} {
		testkit.CheckMarkdown(t, "report.md", read(filepath.Join(folder, "report.md")))
		testkit.CheckHTML(t, "report.html", read(filepath.Join(folder, "report.html")))
	}
	for _, path := range []string{out + "/samples.csv", out + "/packets.csv", out + "/shadows.csv", swept + "/summary.csv"} {
		testkit.CheckCSV(t, path[len(dir):], read(path))
	}
	testkit.CheckTerminalText(t, "JUnit", read(junit))
}

// TestHostileTexts checks the pages of results on standard output with every text hostile.
func TestHostileTexts(t *testing.T) {
	for first := range testkit.HostileTexts {
		run, board, found := &engine.Result{}, &walkoff.Scoreboard{}, &search.Result{}
		testkit.FillHostile(run, first)
		testkit.FillHostile(board, first)
		testkit.FillHostile(found, first)
		board.Dataset.Game = nil // only demos have it, and then each result has a ratio to it
		run.Config = config.Values{"encoder": map[string]any{"name": testkit.HostileTexts[first]}, "data": map[string]any{"source": testkit.HostileTexts[first]}}
		noFile := *run
		noFile.Totals.Transfer = nil
		sum := report.Compare(&report.Report{Runs: []*engine.Result{&noFile, run}}, &report.Report{Runs: []*engine.Result{run, &noFile}}, nil)
		for name, write := range map[string]func(io.Writer){
			"run":     func(w io.Writer) { writeReport(w, &report.Report{Runs: []*engine.Result{run, &noFile}}) },
			"sweep":   func(w io.Writer) { writeReport(w, &report.Report{Runs: []*engine.Result{&noFile}, Sweep: true}) },
			"walkoff": func(w io.Writer) { writeBoard(w, board) },
			"search":  func(w io.Writer) { writeSearchText(w, found) },
			"compare": func(w io.Writer) { writeComparison(w, sum) },
		} {
			var b strings.Builder
			a := &app{stdout: newOutput(&b)}
			_ = a.writeResult(nil, write)
			if err := a.stdout.flush(); err != nil || b.Len() == 0 {
				t.Fatalf("%s: %d bytes, %v", name, b.Len(), err)
			}
			testkit.CheckTerminalText(t, name, b.String())
		}
	}
}
