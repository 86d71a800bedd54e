package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// comparedSweep is a sweep of two points with two seeds.
const comparedSweep = `
duration = "1s"
encoder.name = "raw"
[sweep]
repeat = 2
[[sweep.axis]]
key = "down.loss"
values = ["0%", "20%"]
`

// TestCompareImpossible checks that compare refuses a report or a result of a sweep with a figure that no run
// can have, and names the file and the figure.
func TestCompareImpossible(t *testing.T) {
	dir := t.TempDir()
	base, bad := filepath.Join(dir, "base"), filepath.Join(dir, "bad")
	done(t, "run --set duration=1s --out", base)
	text := read(t, filepath.Join(base, "report.json"))
	if err := os.Mkdir(bad, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{"payload_kbps", "-1e308"}, {"payload_kbps", "1e308"}, {"wire_kbps", "-5"}, {"loss_rate", "1.5"}, {"decoded", "-1"}, {"sent", "7"}} {
		figure := regexp.MustCompile(`"` + c[0] + `":\s*[-0-9.e+]+`)
		if !figure.Match(text) {
			t.Fatalf("no %s in the report", c[0])
		}
		altered := figure.ReplaceAll(text, []byte(`"`+c[0]+`": `+c[1]))
		write(t, filepath.Join(bad, "report.json"), string(altered))
		for _, args := range [][]string{{base, bad}, {bad, base}} {
			o := tui("compare --max-regression payload_kbps=1%", args...)
			checkErr(t, o, exitUsage, c[0], "impossible", bad)
		}
	}
	done(t, "compare", base, base)
}

// TestCompareSweepFolders checks that compare reads the folders of tui sweep: it pairs the seeds of each point,
// and reports a missing run and a result of another sweep. It also checks that JUnit names the suites by the
// file and the point.
func TestCompareSweepFolders(t *testing.T) {
	dir := t.TempDir()
	file, base, lossy, junit := filepath.Join(dir, "loss.toml"), filepath.Join(dir, "base"), filepath.Join(dir, "lossy"), filepath.Join(dir, "junit.xml")
	write(t, file, comparedSweep)
	for out, latency := range map[string]string{base: "10ms", lossy: "90ms"} {
		done(t, "sweep", file, "--set", "down.latency="+latency, "--out", out, "--junit", junit)
	}
	o := tui("compare --unlike", base, filepath.Join(lossy, "report.json"), "--max-regression", "network.delay_ms.p50=1%", "--json")
	var doc struct {
		Differences []struct {
			Set   map[string]string
			Pairs int
			Worse bool `json:"regression"`
		}
	}
	document(t, o.stdout, &doc)
	if o.code != exitFailed || len(doc.Differences) != 2 {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	for i, d := range doc.Differences {
		if d.Pairs != 2 || !d.Worse || d.Set["down.loss"] != []string{"0%", "20%"}[i] {
			t.Errorf("%+v", d)
		}
	}

	text := read(t, junit)
	var names []string
	for _, m := range regexp.MustCompile(`<testsuite name="([^"]*)"`).FindAllSubmatch(text, -1) {
		names = append(names, string(m[1]))
	}
	var want []string
	for _, point := range []string{"down.loss=0% seed=7", "down.loss=0% seed=8", "down.loss=20% seed=7", "down.loss=20% seed=8"} {
		want = append(want, file+": "+point)
	}
	if !slices.Equal(names, want) {
		t.Errorf("suites %q, expected %q", names, want)
	}

	results, err := filepath.Glob(filepath.Join(base, "results", "*.json"))
	if err != nil || len(results) < 2 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	if err := os.Remove(results[0]); err != nil {
		t.Fatal(err)
	}
	checkErr(t, tui("compare", base, lossy, "--unlike"), exitDone, " of 4 runs are complete")
	other, err := filepath.Glob(filepath.Join(lossy, "results", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other[0], results[0]); err != nil {
		t.Fatal(err)
	}
	checkErr(t, tui("compare", base, lossy), exitUsage, "another sweep", results[0])
}

// TestCompareStretches: a run in which the encoder or the link was changed has a row for each stretch.
func TestCompareStretches(t *testing.T) {
	dir := t.TempDir()
	file, swapped, plain := filepath.Join(dir, "swap.toml"), filepath.Join(dir, "swapped"), filepath.Join(dir, "plain")
	text := "duration = \"2s\"\n[[at]]\nt = \"1s\"\nencoder = { name = \"raw\" }\n" +
		"[[at]]\nt = \"1.5s\"\ndown = { loss = \"5%\" }\n"
	write(t, file, text)
	for out, args := range map[string][]string{swapped: {file}, plain: {"--set", "duration=2s"}} {
		done(t, "", append([]string{"run", "--out", out}, args...)...)
	}
	o := tui("compare --unlike", plain, swapped)
	if rows := regexp.MustCompile(`(?m)^new +\S+ .*$`).FindAllString(o.stdout, -1); o.code != exitDone || len(rows) != 3 || !strings.Contains(rows[1], " raw over perfect ") || !strings.Contains(rows[2], " raw over down loss 5% ") {
		t.Errorf("exit %d, rows %q\n%s%s", o.code, rows, o.stdout, o.stderr)
	}
	if o := tui("compare", plain, plain); strings.Contains(o.stdout, "whole runs") {
		t.Errorf("without changes:\n%s", o.stdout)
	}
}
