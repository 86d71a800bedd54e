package main

import (
	"encoding/csv"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sweepInto runs a sweep of two encoders with three seeds each into a folder.
func sweepInto(t *testing.T, dir string, more ...string) {
	t.Helper()
	args := append([]string{"run", "--set", "duration=1s", "--set", "down.loss=10%",
		"--set", "sweep[0].key=encoder.name", "--set", `sweep[0].values=["rotor","quantized"]`,
		"--set", "sweep[1].key=seed", "--set", "sweep[1].values=[1,2,3]", "--out", dir, "--quiet"}, more...)
	done(t, "", args...)
}

// TestReport checks where tui report writes the page of one report or of several, and that wrong
// arguments are refused before anything is written.
func TestReport(t *testing.T) {
	root := t.TempDir()
	one, two := filepath.Join(root, "one"), filepath.Join(root, "two")
	for _, dir := range []string{one, two} {
		done(t, "run --set duration=17s --set", "encoder.name="+map[string]string{one: "rotor", two: "changed-index"}[dir], "--out", dir)
	}
	page := filepath.Join(one, "report.html")
	saved := read(t, page)
	if err := os.Remove(page); err != nil {
		t.Fatal(err)
	}
	if o := tui("report", filepath.Join(one, "report.json")); o.code != exitDone || strings.TrimSpace(o.stdout) != page {
		t.Fatalf("exit %d: %q %s", o.code, o.stdout, o.stderr)
	}
	if again, err := os.ReadFile(page); err != nil || string(again) != string(saved) {
		t.Errorf("the page that was made again differs from the saved one, %v", err)
	}
	both := filepath.Join(root, "both.html")
	done(t, "report", one, two, "--out", both)
	text := read(t, both)
	for _, what := range []string{"A one uses ", "; B two ", "%); with the same seed.", "encoder.name", "block jackknife"} {
		if !strings.Contains(string(text), what) {
			t.Errorf("the comparison lacks %q", what)
		}
	}
	for _, c := range []struct {
		args, wantText string
	}{
		{"report", "expects a report.json"},
		{"report " + filepath.Join(root, "none"), "cannot be read"},
		{"report " + one + " --out " + root, "is a folder"},
		{"report " + strings.Repeat(one+" ", 9), "at most 8"},
	} {
		checkErr(t, tui(c.args), exitUsage, c.wantText)
	}
}

// Every pair of kinds of reports is compared by tui report and by tui compare, or is refused with one sentence that
// names a file.
func TestComparePairsOfKinds(t *testing.T) {
	root := t.TempDir()
	in := func(name string) string { return filepath.Join(root, name) }
	search, part := in("search.toml"), in("damaged.json")
	for path, text := range map[string]string{part: `{"runs": [{"config": {`,
		search: "[search]\nminimise = \"payload_kbps\"\n[search.over]\n\"sender.every\" = [1, 2]"} {
		write(t, path, text)
	}
	kinds := []string{part, in("missing"), "../../experiment/testdata/reports/transport.json"}
	refused := map[string][]string{"report": kinds[:2:2], "compare": kinds[:2:2]} // without a report that can be compared
	for name, args := range map[string][]string{
		"run": {"run"}, "budget": {"run", "--set", "sender.budget=24kbit"}, "patches": {"run", "--preset", "patch-transfer"},
		"shadows": {"run", "--set", "shadow[0].name=rotor"}, "failed": {"run", "--set", `assert.payload_kbps="<= 0"`}, "udp": {"run", "--udp"}, "crowd": {"run", "--set", "crowd.clients=2"},
		"crowd-budget": {"run", "--set", "crowd.clients=2", "--set", "sender.budget=24kbit"},
		"one-run":      {"run", "--set", "sweep[0].key=seed", "--set", "sweep[0].values=[3]"},
		"crowds":       {"run", "--set", "crowd.clients=2", "--set", "sweep[0].key=down.loss", "--set", `sweep[0].values=["0%","9%"]`},
		"sweep":        {"sweep", "--preset", "loss-table", "--repeat", "1"}, "search": {"search", search},
	} {
		o := tui("", append(args, "--set", "duration=200ms", "--out", in(name), "--quiet")...)
		if o.code != exitDone && name != "failed" {
			t.Fatalf("%s: exit %d: %s", name, o.code, o.stderr)
		}
		kinds = append(kinds, in(name))
	}
	refused["report"] = append(refused["report"], in("sweep"), in("search"))
	refused["compare"] = append(refused["compare"], in("search"))
	sweeps := []string{in("sweep"), in("crowds"), in("patches")} // of points that no other report has
	for _, base := range kinds {
		for _, other := range kinds {
			for command, args := range map[string][]string{"report": {"--out", in("page.html")}, "compare": {"--unlike"}} {
				o := tui("", append([]string{command, base, other}, args...)...)
				want := exitDone
				hasPoints := slices.Contains(sweeps, base) || slices.Contains(sweeps, other)
				if slices.Contains(refused[command], base) || slices.Contains(refused[command], other) || command == "compare" && hasPoints && base != other {
					want = exitUsage
				}
				isSentence := strings.Count(o.stderr, "\n") == 1 && strings.HasPrefix(o.stderr, "tui: ") && strings.Contains(o.stderr, root)
				if o.code != want || want == exitUsage && !isSentence {
					t.Errorf("tui %s %s %s: exit %d, want %d: %s", command, base, other, o.code, want, o.stderr)
				}
			}
		}
	}
	o := tui("compare", in("run"), in("crowds"))
	if want := in("run") + " has a single run, and " + in("crowds") + " has down.loss=0%"; !strings.Contains(o.stderr, want) {
		t.Errorf("a run and a sweep: %q, want %q", o.stderr, want)
	}
}

// TestCompare checks that reports are compared by pairs with the same seed, and that regressions
// give exit code 1 and wrong arguments 2.
func TestCompare(t *testing.T) {
	root := t.TempDir()
	base, same, worse := filepath.Join(root, "base"), filepath.Join(root, "same"), filepath.Join(root, "worse")
	sweepInto(t, base)
	sweepInto(t, same)
	sweepInto(t, worse, "--set", "down.loss=40%")
	if o := tui("compare", base, same, "--max-regression", "payload_kbps=0%", "--max-regression", "decoded=0"); o.code != exitDone ||
		strings.Count(o.stdout, "within limit") != 4 {
		t.Errorf("the same: exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	checkErr(t, tui("compare", base, worse), exitUsage, `down.loss is "10%" and "40%"`)
	o := tui("compare --unlike", base, worse, "--max-regression", "sent=0%", "--max-regression", "lost=1%", "--json")
	var doc struct {
		Differences []struct {
			Set     map[string]string `json:"set"`
			Figure  string            `json:"figure"`
			Share   float64           `json:"share"`
			ShareLo *float64          `json:"share_lo"`
			ShareHi *float64          `json:"share_hi"`
			Pairs   int               `json:"pairs"`
			Worse   bool              `json:"regression"`
		} `json:"differences"`
		Regressions int `json:"regressions"`
	}
	document(t, o.stdout, &doc)
	if o.code != exitFailed || len(doc.Differences) != 4 || doc.Regressions != 2 {
		t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	for _, d := range doc.Differences {
		if d.Pairs != 3 || d.Worse != (d.Figure == "lost") || d.ShareLo == nil || *d.ShareLo > d.Share || d.Share > *d.ShareHi ||
			d.Set["encoder.name"] == "" || d.Set["seed"] != "" {
			t.Errorf("%+v", d)
		}
	}
	if !strings.Contains(o.stderr, "encoder.name=rotor: lost got worse by more than 1 %") {
		t.Errorf("stderr %q", o.stderr)
	}
	checkOut(t, tui("compare", base, worse, "--unlike"), exitDone, "payload_kbps")
	for limit, wantText := range map[string]string{
		"payload_kbs=1%": "did you mean payload_kbps?", "payload_kbps": "expected KEY=SHARE", "payload_kbps=-1%": "is not a share",
		"payload_kbps=x": "is not a share", "payload_kbps=inf": "is not a share",
	} {
		checkErr(t, tui("compare", base, worse, "--max-regression", limit), exitUsage, wantText)
	}
	checkErr(t, tui("compare", base), exitUsage)
}

// TestBench checks that benchstat reads the output of --bench: seeds are samples of one name, and
// the payload is that of report.json. It also checks that summary.csv has a row per run.
func TestBench(t *testing.T) {
	dir := t.TempDir()
	bench := filepath.Join(dir, "new.txt")
	sweepInto(t, filepath.Join(dir, "out"), "--bench", bench)
	text := read(t, bench)
	for _, name := range []string{"\nBenchmarkRun/encoder=rotor 1 ", "\nBenchmarkRun/encoder=quantized 1 "} {
		if n := strings.Count(string(text), name); n != 3 {
			t.Errorf("%d lines of %q, expected one for each of 3 seeds", n, name)
		}
	}
	file, err := os.Open(filepath.Join(dir, "out", "summary.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) != 7 || rows[0][0] != "encoder.name" || rows[0][1] != "seed" {
		t.Fatalf("summary.csv: %d rows, %v, %v", len(rows), rows[0], err)
	}
	tool := exec.CommandContext(t.Context(), "go", "tool", "benchstat", "-format", "csv", "-col", "/encoder", bench)
	var stderr strings.Builder
	tool.Stderr = &stderr
	out, err := tool.Output()
	if err != nil {
		for _, why := range []string{"dial tcp", "lookup ", "connection refused", "module lookup disabled", "proxyconnect", "executable file not found"} {
			if strings.Contains(stderr.String()+err.Error(), why) {
				t.Skipf("benchstat cannot be had: %v: %s", err, stderr.String())
			}
		}
		t.Fatalf("benchstat: %v: %s", err, stderr.String())
	}
	for _, what := range []string{"payload_kbps", "bits_per_changed_cube", "rotor", "quantized", "baseline_age_ticks.p50"} {
		if !strings.Contains(string(out), what) {
			t.Errorf("the output of benchstat lacks %s:\n%s", what, out)
		}
	}
	if strings.Contains(stderr.String(), "unknown") || strings.Contains(stderr.String(), "syntax") {
		t.Errorf("benchstat complains: %s", stderr.String())
	}
}

// TestJUnit checks that --junit reports every assertion, also those that fail, with any name.
func TestJUnit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.xml")
	o := tui("run --set duration=1s --set", `assert.payload_kbps="<= 1"`, "--set", `assert.wrong="== 0"`, "--junit", path)
	checkErr(t, o, exitFailed)
	text := read(t, path)
	var doc struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Suites   []struct {
			Cases []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Tests != 5 || doc.Failures != 1 || len(doc.Suites) != 1 {
		t.Fatalf("%+v", doc)
	}
	for _, c := range doc.Suites[0].Cases {
		if failed := c.Name == "payload_kbps <= 1"; failed != (c.Failure != nil) {
			t.Errorf("%s: %+v", c.Name, c.Failure)
		}
	}
	if !strings.HasPrefix(string(text), "<?xml") {
		t.Error("no declaration")
	}
}
