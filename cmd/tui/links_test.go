package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"wirelab/experiment/config"
	"wirelab/internal/testkit"
	"wirelab/lossmodel"
	"wirelab/lossmodel/measure"

	"github.com/klauspost/compress/zstd"
)

// compressed returns text compressed with zstd and with gzip.
func compressed(t *testing.T, text string) (zst, gz []byte) {
	t.Helper()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return enc.EncodeAll([]byte(text), nil), b.Bytes()
}

// TestLinksTraceAndFit checks that tui links fit finds the settings of the link that tui links
// trace has used, from plain and compressed captures, and that the result is a valid
// configuration.
func TestLinksTraceAndFit(t *testing.T) {
	t.Chdir(t.TempDir())
	const p, r = 0.02, 0.25
	traced := tui("links trace --packets", testkit.Choose("20000", "6000"), "--set", "down.loss=gilbert-elliott p=2% r=25%", "--set", "down.latency=50ms±10ms", "--set", "down.distribution=normal")
	if traced.code != exitDone || traced.stderr != "" {
		t.Fatalf("trace: exit %d, %q", traced.code, traced.stderr)
	}
	zst, gz := compressed(t, traced.stdout)
	write(t, "a.csv", traced.stdout)
	write(t, "a.csv.zst", string(zst))
	write(t, "a.csv.gz", string(gz))
	plain := tui("links fit a.csv")
	for _, file := range []string{"a.csv.zst", "a.csv.gz"} {
		if o := tui("links fit", file); o != plain {
			t.Errorf("%s: exit %d, %s\n%s\nwant what the plain file gives:\n%s", file, o.code, o.stderr, o.stdout, plain.stdout)
		}
	}
	var piped bytes.Buffer
	a := &app{stdin: bytes.NewReader(zst), stdout: newOutput(&piped), stderr: io.Discard, clock: metronome(),
		isTerminal: func(any) bool { return false }}
	if code := a.run(context.Background(), []string{"links", "fit", "-"}); code != exitDone || piped.String() != plain.stdout {
		t.Errorf("standard input: exit %d\n%s", code, piped.String())
	}
	if _, err := config.Parse("fitted", []byte(plain.stdout)); plain.code != exitDone || err != nil {
		t.Errorf("the fit is not a valid configuration: exit %d, %v", plain.code, err)
	}
	var fit fitInfo
	document(t, tui("links fit a.csv --json").stdout, &fit)
	found := map[string]measure.Estimate{}
	for _, e := range fit.Estimates {
		found[e.Name] = e
	}
	for name, want := range map[string]float64{"p": p, "r": r} {
		// Five times the half of a 95 % interval is ten standard errors.
		if e := found[name]; math.Abs(e.Value-want) > 2.5*(e.High-e.Low) || e.High <= e.Low {
			t.Errorf("%s is %g, from %g to %g; made with %g", name, e.Value, e.Low, e.High, want)
		}
	}
	if !strings.Contains(plain.stdout, fit.Table) {
		t.Errorf("the table of --json is not that of the text:\n%s", fit.Table)
	}
}

// TestLinksFitErrors checks that errors in a capture are reported with file and line.
func TestLinksFitErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	zst, gz := compressed(t, tui("links trace --profile fiedler --packets 2000").stdout)
	const head = "seq,send_us,recv_us\n0,0,1\n"
	for _, c := range []struct{ content, want string }{
		{head + "x,1,2\n", `a.csv:3: seq is "x"`},
		{head + "1,1,2\n\n# remark\n2,3,-x\n", `a.csv:6: recv_us is "-x"`},
		{head + "1,\"1,2\n", "a.csv:3: "},
		{"delay\n5\n", "a.csv:1: missing columns"},
		{head, "a.csv: capture too short: 1 packets, expected at least 50"},
		{"seq,send_us,recv_us\n1,0,1\n9999999999,0,1\n", "a.csv: "},
		{string(zst[:len(zst)/2]), "a.csv: the compressed data is incomplete"},
		{string(gz[:len(gz)/2]), "a.csv: the compressed data is incomplete"},
		{string(gz[:4]), "a.csv: the compressed data is incomplete"},
	} {
		write(t, "a.csv", c.content)
		o := tui("links fit a.csv")
		if o.code != exitUsage || o.stdout != "" || !strings.HasPrefix(o.stderr, "tui: "+c.want) || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%.40q: exit %d, %q; want one line that begins with %q", c.content, o.code, o.stderr, c.want)
		}
	}
	if o := tui("links fit ."); o.code != exitUsage || o.stderr != "tui: .: is a directory\n" {
		t.Errorf("a folder: exit %d, %q", o.code, o.stderr)
	}
}

// TestLinksTraceKernel checks that tui links trace gives every packet the outcome that a real
// kernel gave it.
func TestLinksTraceKernel(t *testing.T) {
	for name, c := range map[string]struct {
		line    string
		packets int
	}{
		"A01_loss10":            {"loss 10% seed 1", 100_000},
		"A12_dup10_loss10":      {"duplicate 10% loss 10% seed 1", 100_000},
		"C03_delay10_reorder25": {"delay 10ms reorder 25% seed 1", 50_000},
	} {
		packed, err := os.ReadFile(filepath.Join("../../../shared/data/netem", name+".csv.zst"))
		if err != nil {
			t.Skipf("no captures of a real kernel here: %v", err)
		}
		dec, err := zstd.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		kernel := arrivals(t, dec)
		dec.Close()
		o := tui("links trace --netem", c.line, "--packets", fmt.Sprint(c.packets), "--interval", "1ms", "--quiet")
		ours := arrivals(t, strings.NewReader(o.stdout))
		differ := 0
		for seq := range max(len(kernel), len(ours), c.packets) {
			if kernel[fmt.Sprint(seq)] != ours[fmt.Sprint(seq)] {
				differ++
			}
		}
		if differ > 0 || len(kernel) == 0 {
			t.Errorf("%s: %d of %d packets have a different outcome", name, differ, c.packets)
		}
	}
}

// arrivals counts how often each packet of a capture arrived. It does not use package capture, so
// that the test is independent of it.
func arrivals(t *testing.T, r io.Reader) map[string]int {
	t.Helper()
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	came := map[string]int{}
	for _, row := range rows[1:] {
		if row[2] != "lost" {
			came[row[0]]++
		}
	}
	return came
}

// TestLinksShow checks that pictures stay within their width and in ASCII, and that the output is
// a configuration that gives the same link.
func TestLinksShow(t *testing.T) {
	for _, p := range lossmodel.Profiles() {
		o := tui("links show", p.Name, "--packets", "600", "--ascii")
		for _, line := range strings.Split(o.stdout, "\n") {
			if strings.HasPrefix(line, "#") && utf8.RuneCountInString(line) > defaultWidth {
				t.Errorf("%s: wider than %d: %q", p.Name, defaultWidth, line)
			}
			if strings.ContainsFunc(line, func(r rune) bool { return r >= 0x80 }) {
				t.Errorf("%s: not ASCII: %q", p.Name, line)
			}
		}
		c, err := config.Parse("shown", []byte(o.stdout))
		if err != nil || c.Down != p.Down || c.Up != p.Up {
			t.Errorf("%s: what is shown is another link (%v):\n%s", p.Name, err, o.stdout)
		}
	}
	var info linkInfo
	document(t, tui("links show --netem", "loss 100%", "--json").stdout, &info)
	if got := info.Measured["down"]; got.LossRate != 1 || got.Sent != info.Packets || len(info.Measured) != 1 {
		t.Errorf("loss 100%%: %+v", info.Measured)
	}
}

// TestLinksWarn checks that faults of netem are reported on standard error by every command that
// uses a line of netem, unless --quiet is set.
func TestLinksWarn(t *testing.T) {
	args := []string{"links", "trace", "--netem", "loss 1% 25%", "--packets", "5"}
	loud, quiet := tui("", args...), tui("", append(args, "--quiet")...)
	if !strings.HasPrefix(loud.stderr, "tui: warning: down: netem") || quiet.stderr != "" || loud.stdout != quiet.stdout {
		t.Errorf("stderr %q, with --quiet %q", loud.stderr, quiet.stderr)
	}
	t.Chdir(t.TempDir())
	write(t, "a.toml", "duration = \"100ms\"\n[down]\nnetem = \"loss 1% 25%\"\n")
	for _, command := range []string{"check", "run"} {
		if o := tui("", command, "a.toml"); o.code != exitDone || o.stderr != loud.stderr {
			t.Errorf("tui %s: exit %d, stderr %q; want %q", command, o.code, o.stderr, loud.stderr)
		}
	}
}

// TestLinksTraceDown checks that the packets are sent over the downlink of a profile.
func TestLinksTraceDown(t *testing.T) {
	o := tui("links trace --profile lte --packets 1 --size 0")
	if want := "seq,send_us,recv_us,copy\n0,0,50004.48,0\n"; o.stdout != want {
		t.Errorf("%q, want %q", o.stdout, want)
	}
}

// TestLinksTraceClosedEarly checks that a reader who closes the pipe early is no error.
func TestLinksTraceClosedEarly(t *testing.T) {
	var stderr bytes.Buffer
	code := run(context.Background(), strings.NewReader(""),
		&failing{100, &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}}, &stderr,
		[]string{"links", "trace", "--profile", "lte", "--packets", "5000"})
	if code != exitDone || stderr.Len() > 0 {
		t.Errorf("exit %d, stderr %q", code, stderr.String())
	}
}

// TestAwait checks that await returns the result of a job, stops waiting when the context ends,
// and passes panics on.
func TestAwait(t *testing.T) {
	a := testApp()
	sentinel := errors.New("its result")
	if err := a.await(context.Background(), "job", func() error { return sentinel }); err != sentinel {
		t.Errorf("got %v, want what the job returned", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	defer close(release)
	if err := a.await(ctx, "job", func() error { cancel(); <-release; return nil }); exitCode(err) != exitInterrupted {
		t.Errorf("interrupted: %v", err)
	}
	defer func() {
		if text := fmt.Sprint(recover()); !strings.HasPrefix(text, "boom\n") || !strings.Contains(text, "links_test.go") {
			t.Errorf("a bug comes out as %q", text)
		}
	}()
	_ = a.await(context.Background(), "job", func() error { panic("boom") })
}

// TestProgressWaiting checks that a job of unknown length shows its elapsed time after two
// seconds.
func TestProgressWaiting(t *testing.T) {
	w, screen, p := progressOn(true, false)
	w.now = 1900 * time.Millisecond
	p.reportElapsed()
	if screen.Len() > 0 {
		t.Errorf("after 1.9 s: %q", screen)
	}
	w.now = 3 * time.Second
	p.reportElapsed()
	p.done()
	if !strings.HasPrefix(screen.String(), "\rwork, 3 s so far\r ") {
		t.Errorf("after 3 s: %q", screen)
	}
}
