package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/remote"
	"wirelab/internal/atomicfile/faultfs"
	"wirelab/lossmodel/capture"
)

// TestMeasureWritesWholeCaptures checks that each capture of a measurement is written completely
// or not at all, in a fixed order.
func TestMeasureWritesWholeCaptures(t *testing.T) {
	packets := func(n int) (c capture.Capture) {
		for seq := range n {
			c.Packets = append(c.Packets, capture.Packet{Seq: uint64(seq)})
		}
		return c
	}
	path := &remote.Path{Up: packets(2), Down: packets(3)}
	for n := 1; ; n++ {
		dir := t.TempDir()
		up, down := filepath.Join(dir, "x.up.csv"), filepath.Join(dir, "x.down.csv")
		if err := errors.Join(os.WriteFile(up, []byte("old"), 0o600), os.WriteFile(down, []byte("old"), 0o600)); err != nil {
			t.Fatal(err)
		}
		disk := faultfs.FailAt(n, false)
		var stderr bytes.Buffer
		a := &app{stdout: newOutput(io.Discard), stderr: &stderr, disk: &disk.Disk}
		err := (&measureFlags{record: filepath.Join(dir, "x.csv")}).writeCaptures(a, path)
		var rows [2]int
		for i, name := range []string{up, down} {
			text, err := os.ReadFile(name)
			rows[i] = strings.Count(string(text), "\n")
			if err != nil || string(text) != "old" && rows[i] != 1+2+i {
				t.Errorf("operation %d fails: %s holds %q, %v", n, name, text, err)
			}
		}
		if disk.Op == "" {
			if said := stderr.String(); n < 5 || err != nil || rows != [2]int{3, 4} || said != "wrote "+up+"\nwrote "+down+"\n" {
				t.Errorf("%v after %d operations; %v rows; %s", err, n-1, rows, said)
			}
			return
		}
		if err == nil || rows[1] > 0 && disk.Op != "remove" {
			t.Errorf("operation %d, %s of %s, fails: %v, %v rows", n, disk.Op, disk.Path, err, rows)
		}
	}
}

// startListener starts a listener at a free port and returns its address. args are further arguments.
func startListener(ctx context.Context, args ...string) (at string, ended <-chan outcome) {
	errors, written := io.Pipe()
	end := make(chan outcome, 1)
	go func() {
		end <- tuiTo(ctx, metronome(), written, append([]string{"listen", "127.0.0.1:0"}, args...)...)
		written.Close()
	}()
	for lines := bufio.NewScanner(errors); at == "" && lines.Scan(); {
		_, line, _ := strings.Cut(lines.Text(), "listening on ")
		at, _, _ = strings.Cut(line, ",")
	}
	go func() { _, _ = io.Copy(io.Discard, errors) }()
	return at, end
}

// TestMeasureOverListen measures a path over loopback and checks the reports of both ends. On a busy machine few of the 200
// datagrams arrive before the end.
func TestMeasureOverListen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	done(t, "listen 0 --token-file", token, "--duration", "1ms")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	at, there := startListener(ctx, "--once", "--json", "--token-file", token)
	here := tuiIn(ctx, metronome(), "links", "measure", "--to", at, "--token-file", token, "--seconds", "0.5", "--rate", "400", "--json",
		"--record", filepath.Join(dir, "path.csv"))
	var doc measuredPath
	if err := json.Unmarshal([]byte(here.stdout), &doc); err != nil || here.code != exitDone {
		t.Fatalf("exit %d, %v\n%s\n%s", here.code, err, here.stdout, here.stderr)
	}
	if doc.Up.Measured.Sent < 10 || doc.Down.Measured.Sent < 10 || doc.Trips.Min <= 0 || doc.Trips.Min > doc.Trips.P99 {
		t.Errorf("%+v", doc)
	}
	if !strings.Contains(doc.Table, "\n[up]\n") || !strings.Contains(doc.Table, "\n[down]\n") {
		t.Errorf("no tables:\n%s", doc.Table)
	}
	for name, sent := range map[string]int{"path.up.csv": doc.Up.Measured.Sent, "path.down.csv": doc.Down.Measured.Sent} {
		data := read(t, filepath.Join(dir, name))
		if c, err := capture.Read(bytes.NewReader(data)); err != nil || len(c.Packets) < sent {
			t.Errorf("%s: %v, %d rows of %d", name, err, len(c.Packets), sent)
		}
	}
	link := filepath.Join(dir, "path.toml")
	write(t, link, doc.Table)
	done(t, "check", link)

	o := <-there
	var events []listenEvent
	for _, line := range strings.Split(strings.TrimSpace(o.stdout), "\n") {
		var e listenEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		events = append(events, e)
	}
	if len(events) != 4 || events[0].Event != "listening" || events[0].Addr != at || events[0].Token != "" || events[1].Kind != "measure" ||
		events[2].Event != "ended" || events[2].Error != "" || events[3].Reason != "finished" || o.code != exitDone {
		t.Fatalf("exit %d\n%s\n%s", o.code, o.stdout, o.stderr)
	}
	if b := events[3].Counters; b["delivered"] == 0 || len(b) != 4 || doc.Datagrams["delivered"] == 0 {
		t.Errorf("%+v, here %+v", b, doc.Datagrams)
	}
}

// TestListenInterrupted checks that an interrupted listener has printed its token and address, and
// prints the number of sessions.
func TestListenInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(context.Background())
	at, ended := startListener(ctx)
	interrupt()
	o := <-ended
	if o.code != exitInterrupted || !strings.Contains(o.stderr, "@"+at) || !strings.Contains(o.stderr, "0 sessions") {
		t.Errorf("%+v", o)
	}
}

// TestListenEverywhere checks the warning about other machines, and that 0.0.0.0 is not printed
// as an address to connect to.
func TestListenEverywhere(t *testing.T) {
	o := tui("listen 0.0.0.0:0 --duration 1ms")
	checkErr(t, o, exitDone, "listening on 0.0.0.0:", "other machines can connect", "@HOST:")
}

const exampleToken = "x3DTpYxDSGjGDLrXv_WU35DB3EZdsuEPF_3S1afQXcssfJz9juhUMLOUQeqc99zc"

func TestListenRefuses(t *testing.T) {
	dir := t.TempDir()
	short, none := filepath.Join(dir, "short"), filepath.Join(dir, "none")
	write(t, short, "password")
	const token = exampleToken
	for _, c := range []struct {
		args     string
		code     int
		wantText string
	}{
		{"listen 70000", exitUsage, "is not an address"},
		{"listen " + echoServer(t).LocalAddr().String(), exitMachine, "address already in use"},
		{"listen 0 --token-file " + short, exitUsage, "it is not a token"},
		{"listen 0 --file " + none, exitUsage, "no such file"},
		{"listen 0 --file " + dir, exitUsage, "is not a regular file"},
		{"listen 0 --file " + short + " --file " + short, exitUsage, "the same base name"},
		{"listen 0 --max-sessions 0", exitUsage, "expected 1 to 1000"},
		{"links measure", exitUsage, "expects --to TOKEN@HOST:PORT"},
		{"links measure --to 127.0.0.1:1", exitUsage, "has no token"},
		{"links measure --to password@127.0.0.1:1", exitUsage, "it is not a token"},
		{"links measure --to " + token + "@127.0.0.1:1 --token-file " + short, exitUsage, "both contain a token"},
		{"links measure --to " + token + "@127.0.0.1:0", exitUsage, "has no port"},
		{"links measure --to " + token + "@0.0.0.0:5", exitUsage, "not the address of a single machine"},
		{"links measure --to " + token + "@127.0.0.1:1 --rate 0", exitUsage, "numbers above 0"},
		{"links measure --to " + token + "@127.0.0.1:1 --rate 2000", exitUsage, "expected 1ms to 1s"},
		{"links measure --to " + token + "@127.0.0.1:1 --seconds 1000", exitUsage, "at most 5m0s"},
		{"links measure --to " + token + "@127.0.0.1:1 --seconds 0.5", exitUsage, "too few"},
		{"links measure --to " + token + "@127.0.0.1:1 --up 20", exitUsage, "of 20 bytes up and 500 down, expected 28 to 1400"},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		if o := tuiIn(ctx, metronome(), strings.Fields(c.args)...); o.code != c.code || !strings.Contains(o.stderr, c.wantText) {
			t.Errorf("%v: exit %d, %s", c.args, o.code, o.stderr)
		}
		cancel()
	}
}
