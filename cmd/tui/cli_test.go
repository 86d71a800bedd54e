package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wirelab/internal/golden"
)

// programEnv is set for a process that must run the program instead of the tests.
const programEnv = "WIRELAB_TEST_PROGRAM"

// gaugesEnv is set for a program that must report its resource usage: it answers each line on
// file descriptor 3 with a line on descriptor 4.
const gaugesEnv = "WIRELAB_TEST_GAUGES"

// answerGauges answers the requests for resource usage in such a program.
func answerGauges() {
	requests, answer := bufio.NewScanner(os.NewFile(3, "requests")), os.NewFile(4, "answer")
	for requests.Scan() {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		fmt.Fprintln(answer, m.HeapAlloc, runtime.NumGoroutine())
	}
}

// TestMain runs the program or a process of an audit instead of the tests if the environment or
// the arguments request it: os.Executable names this binary while tests run.
func TestMain(m *testing.M) {
	if os.Getenv(programEnv) != "" || len(os.Args) > 1 && os.Args[1] == auditCommandName {
		if os.Getenv(gaugesEnv) != "" {
			go answerGauges()
		}
		main()
	}
	// Otherwise the race detector makes every process sleep a second before it exits.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// metronome returns a clock that advances by a microsecond at each reading, so that timings are
// the same in every run.
func metronome() func() time.Duration {
	var reads atomic.Int64
	return func() time.Duration { return time.Duration(reads.Add(1)) * time.Microsecond }
}

// outcome is the result of running the program.
type outcome struct {
	code           int
	stdout, stderr string
}

// tui runs the program without a terminal, as a script does: with the words of a line, and then further arguments, which
// may contain blanks.
func tui(line string, more ...string) outcome {
	return tuiIn(context.Background(), metronome(), append(strings.Fields(line), more...)...)
}

// done is tui for a call that must succeed.
func done(t *testing.T, line string, more ...string) outcome {
	t.Helper()
	o := tui(line, more...)
	if o.code != exitDone {
		t.Fatalf("tui %s %q: exit %d: %s%s", line, more, o.code, o.stdout, o.stderr)
	}
	return o
}

// checkErr checks the exit code, and that the error output contains texts.
func checkErr(t *testing.T, o outcome, code int, texts ...string) {
	t.Helper()
	checkTexts(t, o, code, o.stderr, texts)
}

// checkOut checks the exit code, and that the output contains texts.
func checkOut(t *testing.T, o outcome, code int, texts ...string) {
	t.Helper()
	checkTexts(t, o, code, o.stdout, texts)
}

func checkTexts(t *testing.T, o outcome, code int, printed string, texts []string) {
	t.Helper()
	for _, text := range append(texts, "") {
		if o.code != code || !strings.Contains(printed, text) {
			t.Errorf("exit %d, want %d and %q:\n%s%s", o.code, code, text, o.stdout, o.stderr)
			return
		}
	}
}

func tuiIn(ctx context.Context, clock func() time.Duration, args ...string) outcome {
	return tuiTo(ctx, clock, io.Discard, args...)
}

// tuiTo is tuiIn, and also writes the error output to errors while the program runs.
func tuiTo(ctx context.Context, clock func() time.Duration, errors io.Writer, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	a := &app{
		stdin: strings.NewReader(""), stdout: newOutput(&stdout), stderr: io.MultiWriter(&stderr, errors), clock: clock,
		isTerminal: func(any) bool { return false }, auditProcess: auditProcess,
	}
	code := a.run(ctx, args)
	return outcome{code, stdout.String(), stderr.String()}
}

// TestGolden compares output, error output and exit code of commands with golden files; those of calls with errors are
// together in errors.golden. Lists of encoders are checked by TestLists instead, because they grow. Figures are those of
// the encoder raw, which will not change.
func TestGolden(t *testing.T) {
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // relative paths below are the same everywhere
	write(t, "empty.bin", "")
	write(t, "short.bin", strings.Repeat("x", 901*32+5))
	write(t, "bad.toml", "seed = 7\n\n[down]\nloss = \"140%\"\n")
	write(t, "broken.toml", "seed = \n")
	write(t, "ok.toml", "seed = 9\nduration = \"1s\"\n[encoder]\nname = \"quantized\"\n[assert]\nwrong = \"== 0\"\n")
	write(t, "never.toml", "duration = \"500ms\"\n[encoder]\nname = \"quantized\"\n[assert]\npayload_kbps = \"< 1\"\n")
	write(t, "report.json", "{}")
	write(t, "bad-row.csv", "seq,send_us,recv_us\n0,0,5\n1,10,soon\n")
	write(t, "bad-columns.csv", "seq,recv_us\n0,5\n")
	write(t, "short.csv", "seq,send_us,recv_us\n0,0,5\n1,10,lost\n")
	write(t, "capture.csv", tui("links trace --set", "down.loss=gilbert mean=10% burst=3", "--set", "down.latency=20ms±4ms", "--packets", "3000").stdout)
	transcript := func(line string) string {
		o := tui(line)
		return fmt.Sprintf("$ tui %s\nexit %d\n--- stdout\n%s--- stderr\n%s", line, o.code, o.stdout, o.stderr)
	}
	for name, line := range map[string]string{
		"walkoff":      "walkoff --data demo --frames 66 --encoder quantized --audit",
		"walkoff-json": "walkoff --data demo --frames 66 --encoder quantized --audit --json",
		"run":          "run --encoder quantized --set duration=2s --set link.loss=2% --set link.latency=50ms",
		"run-sweep":    `run --encoder quantized --set duration=500ms --set sweep[0].key=down.loss --set sweep[0].values=["0%","10%"] --quiet --jobs 1`, // both runs read one clock
		"run-assert":   "run never.toml --quiet",
		"links-show":   "links show fiedler --ascii --packets 2000",
		"links-trace":  "links trace --set down.loss=20% --set down.duplicate=20% --set down.latency=5ms±2ms --packets 12",
		"links-fit":    "links fit capture.csv",
	} {
		golden.Compare(t, filepath.Join(dir, name+".golden"), transcript(line))
	}
	errors := ""
	for _, line := range []string{
		"",
		"walkof",
		"ok.toml nowhere.toml",
		"nowhere.csv",
		"walkoff --encodr raw",
		"walkoff -x",
		"walkoff --frames",
		"walkoff --frames many",
		"walkoff --all --encoder raw",
		"walkoff --frames 6",
		"walkoff demo",
		"replay",
		"replay a.json b.json",
		"run --set loss",
		"run --set down.loss=140%",
		"run bad.toml",
		"check broken.toml",
		"run --seed -1",
		"run nowhere.toml",
		"walkoff --data nowhere.bin",
		"walkoff --data empty.bin",
		"walkoff --data file:short.bin",
		"run --data empty.bin",
		"run ok.toml --preset ladder",
		"replay report.json",
		"run ok.toml --out ok.toml",
		"record",
		"record --out no/such/folder/a.bin",
		"record --out a.bin --seconds 0",
		"tune",
		"tune --field positon",
		"links fit bad-row.csv",
		"links fit bad-columns.csv",
		"links fit short.csv",
		"links fit -",
		"links fit nowhere.csv.zst",
		"links fit",
		"links trace --packets 10",
		"links show lte --netem loss",
		"links trace --profile ltee",
		"links trace --set down.los=5%",
		"links trace --set down.loss=140%",
		"links trace --netem losss",
		"check --preset lossy --set down.delay_trace=nowhere.csv",
		"links trace --profile lte --interval 5",
		"--ascci",
	} {
		errors += transcript(line)
	}
	golden.Compare(t, filepath.Join(dir, "errors.golden"), errors)
}

// TestNearNames checks that a mistyped name gives one line with the right name, and exit code 2.
func TestNearNames(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "typo.toml", "[down]\nlatencyy = \"5ms\"\n")
	for _, c := range []struct{ line, near string }{
		{"walkof", "walkoff"},
		{"walkoff --encoder relative-orientatoin", "relative-orientation"},
		{"walkoff --data demoo", "demo"},
		{"run --encoder roter", "rotor"},
		{"run --preset ladde", "ladder"},
		{"run --set down.latencyy=5ms", "latency"},
		{"run --set encoder.params.xy_smal=5", "xy_small"},
		{"run --set profile=ltee", "lte"},
		{"run --data demoo", "demo"},
		{"run typo.toml", "latency"},
		{"check --preset losy", "lossy"},
		{"record --out a.bin --script katamary", "katamari"},
		{"encoders roter", "rotor"},
		{"links show ltee", "lte"},
		{"tune --field positon", "position"},
		{"walkoff --encodr raw", "--encoder"},
	} {
		o := tui(c.line)
		if o.code != exitUsage || o.stdout != "" || strings.Count(o.stderr, "\n") != 1 ||
			!strings.Contains(o.stderr, "; did you mean "+c.near+"?") {
			t.Errorf("tui %s: exit %d, %q; want a line with: did you mean %s?", c.line, o.code, o.stderr, c.near)
		}
	}
	for _, args := range []string{"encoders xyzzy", "links show xyzzy", "datasets stats xyzzy", "train --data demo --out x --encoder xyzzy"} {
		if o := tui(args); o.code != exitUsage || strings.Count(o.stderr, "expected ") != 1 {
			t.Errorf("tui %q: exit %d, %q; want one list of the names", args, o.code, o.stderr)
		}
	}
	if o := tui("links show xyzzy"); o.code != exitUsage || strings.Contains(o.stderr, "did you mean") {
		t.Errorf("of a name like no other: exit %d, %q", o.code, o.stderr)
	}
}

// TestParamsWithoutEncoder checks that parameters belong to the default encoder of the data if no
// encoder is named.
func TestParamsWithoutEncoder(t *testing.T) {
	for line, want := range map[string]string{
		"run --data text --set encoder.params.order=4":          "order: got 4; expected an integer from 0 to 3",
		"run --set encoder.params.ordr=2 --data text":           "did you mean order?",
		"run --data text:none.txt --set encoder.params.order=2": "none.txt: no such file",
		"run --data rpc --set encoder.params.order=2":           "encoder rpc-adaptive has no params",
	} {
		checkErr(t, tui(line), exitUsage, want)
	}
	o := tui("run --quiet --data text --set encoder.params.order=0 --set duration=1s")
	if o.code != exitDone || !strings.HasPrefix(o.stdout, "text with receiver-adaptive") {
		t.Errorf("exit %d, %q %q", o.code, o.stdout, o.stderr)
	}
}

// TestEmptyNames checks that empty names, which come from unset variables in scripts, are
// refused.
func TestEmptyNames(t *testing.T) {
	for _, args := range [][]string{
		{"run", "--encoder", ""}, {"run", "--preset", ""}, {"run", ""}, {"run", "--out", ""},
		{"walkoff", "--data", ""}, {"tune", "--field", ""}, {"encoders", ""}, {"replay", ""}, {"--profile", ""},
	} {
		checkErr(t, tui("", args...), exitUsage, " is empty; expected ")
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// document decodes stdout, which must be a single JSON document.
func document(t *testing.T, stdout string, into any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(stdout))
	if err := dec.Decode(into); err != nil {
		t.Fatalf("stdout is no JSON: %v\n%s", err, stdout)
	}
	if dec.More() {
		t.Errorf("stdout holds more than one document:\n%s", stdout)
	}
}
