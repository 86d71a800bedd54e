package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/script"
	"wirelab/experiment/config"
	"wirelab/internal/panics"
	"wirelab/lossmodel/relay"
)

// echoServer returns a socket that sends every datagram back.
func echoServer(t *testing.T) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	go func() {
		buf := make([]byte, 1<<16)
		for {
			n, from, err := c.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			_, _ = c.WriteToUDPAddrPort(buf[:n], from)
		}
	}()
	return c
}

// TestProxy sends through a proxy until its script has changed the link, and compares the report
// with the sent and received datagrams.
func TestProxy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "bad.toml")
	text := "[up]\nlatency = \"1ms\"\n[[at]]\nt = \"300ms\"\nfrom = \"first datagram\"\nup.loss = \"100%\"\n[[client]]\nturn = 2\nup.loss = \"100%\"\n"
	write(t, file, text)
	c := startControlled(t, "", "--seed", "5", "--record", filepath.Join(dir, "r.csv"), "--capture", filepath.Join(dir, "r.pcapng"), file)
	c.play(func(d *proxyDocument) bool { return d.Up.Out > 0 && d.Up.LostBy["loss"] > 0 })
	_, doc := c.end()
	up := doc.Up
	if up.In == 0 || up.Out == 0 || up.LostBy["loss"] == 0 || up.In != up.Out+up.Lost+uint64(up.Queued) {
		t.Errorf("up: %+v", up)
	}
	if doc.Down.In > up.Out || doc.Seed != 5 || len(doc.Changes) != 1 || up.Set["loss"] != "100%" {
		t.Errorf("%+v", doc)
	}
	for name, begins := range map[string]string{"r.up.csv": "seq,send_us,recv_us,copy", "r.down.csv": "seq,", "r.pcapng": "\n\r\r\n"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.HasPrefix(data, []byte(begins)) {
			t.Errorf("%s: %v %.40q", name, err, data)
		}
	}
}

// TestProxyWithFullDisk checks that a full disk does not end a proxy: it is reported once,
// immediately, and by the exit code.
func TestProxyWithFullDisk(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full")
	}
	o := tuiIn(context.Background(), metronome(), "proxy", "--listen", "0", "--to", "127.0.0.1:9", "--capture", "/dev/full", "--duration", "300ms")
	if o.code != exitMachine || strings.Count(o.stderr, "tui: warning: /dev/full cannot be written: ") < 1 || strings.Contains(o.stderr, "too slow") ||
		!strings.Contains(o.stdout, "0 clients joined") {
		t.Errorf("%+v", o)
	}
}

// TestProxyPanics checks that a panic in a goroutine of a proxy ends it, and that its files are
// complete.
func TestProxyPanics(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var stderr bytes.Buffer
	a := &app{stdout: newOutput(io.Discard), stderr: &stderr, isTerminal: func(any) bool { return false }, clock: metronome()}
	p := &runningProxy{app: a, flags: &proxyFlags{record: filepath.Join(dir, "x.csv")}}
	c := config.Default()
	s, err := script.New(c, "")
	if err != nil {
		t.Fatal(err)
	}
	p.live = script.NewLive(s, func(c relay.Conditions) (time.Duration, error) { return p.relay.Reshape(c) })
	if p.relay, err = relay.Open(relay.Options{Listen: netip.MustParseAddrPort("127.0.0.1:0"), Server: netip.MustParseAddrPort("127.0.0.1:9"),
		Conditions: p.live.Conditions()}); err != nil {
		t.Fatal(err)
	}
	files, err := p.openFiles()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = p.run(ctx, func(string, ...any) { panic("boom") }) // at the first line, after a second
	if !errors.As(err, new(*panics.Error)) || ctx.Err() != nil {
		t.Errorf("it ends with %v", err)
	}
	p.relay.Snapshot(&p.final)
	if err := files.close(a); err != nil || strings.Count(stderr.String(), "wrote ") != 2 {
		t.Errorf("%v; %s", err, stderr.String())
	}
}

// TestProxyFailedStartChangesNothing checks that a proxy that cannot open one file leaves the
// others unchanged and its port free.
func TestProxyFailedStartChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old, fresh := filepath.Join(dir, "old.pcapng"), filepath.Join(dir, "x.up.csv")
	if err := errors.Join(os.WriteFile(old, []byte("old"), 0o600), os.Mkdir(filepath.Join(dir, "x.down.csv"), 0o700)); err != nil {
		t.Fatal(err)
	}
	port := echoServer(t)
	listen := port.LocalAddr().(*net.UDPAddr)
	port.Close()
	o := tuiIn(t.Context(), metronome(), "proxy", "--listen", listen.String(), "--to", "127.0.0.1:9", "--capture", old,
		"--record", filepath.Join(dir, "x.csv"), "--duration", "1ms")
	if o.code != exitUsage || !strings.Contains(o.stderr, "x.down.csv cannot be written") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	if text, err := os.ReadFile(old); err != nil || string(text) != "old" {
		t.Errorf("the older capture holds %q, %v", text, err)
	}
	if _, err := os.Stat(fresh); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s was left behind: %v", fresh, err)
	}
	again, err := net.ListenUDP("udp4", listen)
	if err != nil {
		t.Fatalf("the port is still taken: %v", err)
	}
	again.Close()
}

// TestProxyFilesAreTruncatedLast checks that files stay unchanged, or do not exist, if a later
// file cannot be opened.
func TestProxyFilesAreTruncatedLast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old, last := filepath.Join(dir, "old.csv"), filepath.Join(dir, "last.csv")
	for _, name := range []string{old, last} {
		write(t, name, "old")
	}
	record := func(f *os.File) (relay.Writer, error) { return relay.NewRecord(f, relay.Up), nil }
	broken := errors.New("broken")
	files := &proxyFiles{list: []proxyFile{{name: old, newWriter: record}, {name: filepath.Join(dir, "fresh.csv"), newWriter: record},
		{name: last, newWriter: func(*os.File) (relay.Writer, error) { return nil, broken }}}}
	if _, err := files.open(""); !errors.Is(err, broken) || !strings.Contains(err.Error(), "last.csv cannot be written") {
		t.Errorf("%v, want the error of the last writer", err)
	}
	files.discard()
	for _, name := range []string{old, last} {
		if text, err := os.ReadFile(name); err != nil || string(text) != "old" {
			t.Errorf("%s holds %q, %v", name, text, err)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("the folder holds %v, %v", list, err)
	}
}

// TestProxyReplacesOlderFiles checks that a new capture replaces an existing one completely.
func TestProxyReplacesOlderFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.csv")
	older, up := strings.Repeat("old\n", 10_000), strings.TrimSuffix(path, ".csv")+".up.csv"
	write(t, up, older)
	o := tuiIn(t.Context(), metronome(), "proxy", "--listen", "0", "--to", "127.0.0.1:9", "--record", path, "--duration", "1ms")
	if text, err := os.ReadFile(up); o.code != exitDone || err != nil || string(text) != "seq,send_us,recv_us,copy,client,bytes,left_us\n" {
		t.Errorf("%+v; %q, %v", o, text, err)
	}
}

func TestProxyRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) string {
		name := filepath.Join(dir, "x.toml")
		write(t, name, text)
		return name
	}
	taken, same := echoServer(t).LocalAddr().String(), filepath.Join(dir, "x.up.csv")
	for _, c := range []struct {
		toml     string
		args     []string
		code     int
		wantText string
	}{
		{"", []string{"--to", "127.0.0.1:1"}, exitUsage, "expects --listen ADDR"},
		{"", []string{"--listen", "0"}, exitUsage, "expects --to ADDR"},
		{"", []string{"--listen", taken, "--to", "127.0.0.1:1"}, exitMachine, "address already in use"},
		{"", []string{"--listen", "70000", "--to", "127.0.0.1:1"}, exitUsage, "is not an address"},
		{"", []string{"--listen", "5000", "--to", "127.0.0.1:5000"}, exitUsage, "on which the proxy listens"},
		{"", []string{"--listen", "224.0.0.1:5000", "--to", "127.0.0.1:1"}, exitUsage, "not an address of this machine"},
		{"", []string{"--listen", "0", "--to", "0.0.0.0:5000"}, exitUsage, "not the address of a single machine"},
		{"", []string{"--listen", "0", "--to", "127.0.0.1:0"}, exitUsage, "has no port"},
		{"", []string{"--listen", "0", "--to", "127.0.0.1:1", "--max-clients", "0"}, exitUsage, "expected 1 to 1000"},
		{"", []string{"--listen", "0", "--to", "127.0.0.1:1", "--profile", "lte", "--netem", "delay 1ms"}, exitUsage, "are two links"},
		{"", []string{"--listen", "0", "--to", "127.0.0.1:1", "--set", "up.loss=x"}, exitUsage, "up.loss"},
		{"[[client]]\nup.loss = \"5%\"", nil, exitUsage, "either address"},
		{"[[client]]\nturn = 1\naddress = \"10.0.0.1\"", nil, exitUsage, "either address"},
		{"[[client]]\naddress = \"10.0.0.1:80\"", nil, exitUsage, "is invalid; expected an address"},
		{"[[client]]\nturn = 1\nencoder = \"rotor\"", nil, exitUsage, "a client can only set links"},
		{"[[client]]\nturn = 1\nup.los = \"5%\"", nil, exitUsage, "did you mean"},
		{"[down]\nloss = \"5%\"\n[sender]\nevery = 2", nil, exitUsage, "x.toml:4: sender.every: "},
		{"[[at]]\nt = \"1s\"\nencoder = \"rotor\"", nil, exitUsage, "x.toml:3: at[0].encoder.name: a proxy has no such setting"},
		{"", []string{"--listen", "0", "--to", "127.0.0.1:1", "--set", "encoder.name=rotor"}, exitUsage, "encoder.name: a proxy has no such setting"},
		{"", []string{"--listen", "0", "--to", "127.0.0.1:1", "--capture", same, "--record", filepath.Join(dir, "x.csv")}, exitUsage, "expected another file"},
		{"[up]\nloss = \"5%\"\n", []string{"--capture", filepath.Join(dir, "x.toml")}, exitUsage, "expected another file"},
		{"", []string{"--listen", "0", "--to", "127.0.0.1:1", "--theme", "pink"}, exitUsage, "--theme"},
		{"[[at]]\nt = \"1s\"\ndown.netem = \"delay 1ms\"\n[[client]]\nturn = 1\ndown.loss = \"5%\"", nil, exitUsage,
			"x.toml:1: at[0]: not valid together with client[0].down.loss"},
		{"[[client]]\nturn = 1\ndown.netem = \"delay 1ms\"\n[[client]]\naddress = \"10.0.0.1\"\ndown.loss = \"5%\"", nil, exitUsage,
			"x.toml:6: client[1].down.loss: a client may also match client[0]"},
		{"[[client]]\nturn = 1\nup.loss = \"5%\"\n[[client]]\nturn = 1\ndown.loss = \"5%\"", nil, exitUsage, "x.toml:4: client[1]: selects the same client as client[0]"},
		{"[[client]]\nturn = 1", nil, exitUsage, "x.toml:1: client[0]: sets nothing"},
		{"[[client]]\nturn = 1\nt = \"1s\"\nup.loss = \"5%\"", nil, exitUsage, "x.toml:3: client[0].t: settings of a client cannot change with time"},
	} {
		args := append([]string{"proxy"}, c.args...)
		if c.toml != "" {
			args = append(args, "--listen", "0", "--to", "127.0.0.1:1", write(c.toml))
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		if o := tuiIn(ctx, metronome(), args...); o.code != c.code || !strings.Contains(o.stderr, c.wantText) {
			t.Errorf("%v %q: exit %d, %s", args, c.toml, o.code, o.stderr)
		}
		cancel()
	}
}

// TestProxyTotalsPerClient checks that the totals contain each client with the settings of its own links, and that the
// totals of all clients do not claim a setting that one of them did not have.
func TestProxyTotalsPerClient(t *testing.T) {
	t.Parallel()
	c := config.Default()
	if err := c.Set("link.loss", "10%"); err != nil {
		t.Fatal(err)
	}
	s, err := script.New(c, "")
	if err != nil {
		t.Fatal(err)
	}
	var p runningProxy
	p.flags = &proxyFlags{}
	p.live = script.NewLive(s, func(relay.Conditions) (time.Duration, error) { return 0, nil })
	if p.relay, err = relay.Open(relay.Options{Listen: netip.MustParseAddrPort("127.0.0.1:0"), Server: netip.MustParseAddrPort("127.0.0.1:9")}); err != nil {
		t.Fatal(err)
	}
	defer p.relay.Close()
	for _, n := range []int{2, 1} {
		state := relay.ClientState{Client: relay.Client{Number: n, Addr: netip.MustParseAddrPort(fmt.Sprintf("127.0.0.1:500%d", n))}}
		state.Ways[relay.Down] = relay.ClientFlow{In: 200, Out: 150, Lost: uint64(50 * n), TotalDelay: 150 * 30 * time.Millisecond}
		p.final.Clients = append(p.final.Clients, state)
	}
	if _, err := p.live.Change(p.final.Clients[1].Client, config.NewChange("down.loss", "50%")); err != nil {
		t.Fatal(err)
	}
	doc := p.newDocument(&p.final, "finished")
	if n := len(doc.PerClient); n != 2 || doc.PerClient[0].Turn != 1 || doc.PerClient[0].Down.Set["loss"] != "50%" || doc.PerClient[1].Down.Set["loss"] != "10%" ||
		doc.PerClient[0].Up.Delay != nil || *doc.PerClient[0].Down.Delay != 30 {
		t.Errorf("%d clients: %+v", n, doc.PerClient)
	}
	var text strings.Builder
	p.writeTotals(&text, doc.PerClient, nil)
	for _, want := range []string{`loss set at the end +10% +differs by client: see below`, `1 +127.0.0.1:5001 +down +200 +150 +50% +25.00 +0ms +30.00`,
		`2 +127.0.0.1:5002 +down +200 +150 +10% +50.00 +0ms +30.00`} {
		if !regexp.MustCompile(want).MatchString(text.String()) {
			t.Errorf("the totals lack %q:\n%s", want, text.String())
		}
	}
}
