package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/script"
	"wirelab/internal/testkit"
)

// A controlled is a running proxy with a control socket.
type controlled struct {
	t       *testing.T
	network string // of the control socket
	address string
	client  http.Client
	token   string
	game    net.Conn // a client of the proxy
	stop    context.CancelFunc
	ended   chan outcome
}

// startControlled starts a proxy before an echo server with a control socket, which is a unix socket unless it is given as
// tcp:ADDR, and waits until it listens. args are further arguments.
func startControlled(t *testing.T, control string, args ...string) *controlled {
	t.Helper()
	network, address, _ := strings.Cut(control, ":")
	if control == "" {
		network, address = "unix", filepath.Join(t.TempDir(), "control")
	}
	ctx, stop := context.WithCancel(t.Context())
	c := &controlled{t: t, network: network, stop: stop, ended: make(chan outcome, 1)}
	c.client.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, c.address)
	}}
	t.Cleanup(c.client.CloseIdleConnections)
	args = append([]string{"proxy", "--listen", "127.0.0.1:0", "--to", echoServer(t).LocalAddr().String(), "--headless", "--json",
		"--control", network + ":" + address}, args...)
	errors, written := io.Pipe()
	go func() {
		c.ended <- tuiTo(ctx, metronome(), written, args...)
		written.Close()
	}()
	var listen string
	for lines := bufio.NewScanner(errors); c.address == "" && lines.Scan(); {
		if at, _, ok := strings.Cut(lines.Text(), " -> "); ok {
			listen = at
		}
		if at, ok := strings.CutPrefix(lines.Text(), "control: "+network+":"); ok {
			c.address = at
		}
	}
	go func() { _, _ = io.Copy(io.Discard, errors) }()
	game, err := net.Dial("udp4", listen)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { game.Close() })
	c.game = game
	return c
}

// send sends a request, such as "PATCH /", and stores the answer in answer. It returns the text of the answer's error.
func (c *controlled) send(request, body string, answer any) (problem string) {
	c.t.Helper()
	method, path, _ := strings.Cut(request, " ")
	r, err := http.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.client.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	var failed struct{ Error string }
	var into any = &failed
	if resp.StatusCode == http.StatusOK {
		into = answer
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil || (resp.StatusCode != http.StatusOK) != (failed.Error != "") {
		c.t.Fatalf("%s %s: status %d, %v", request, body, resp.StatusCode, err)
	}
	return failed.Error
}

// totals returns the totals until now.
func (c *controlled) totals() (now proxyDocument) {
	c.t.Helper()
	if problem := c.send("GET /", "", &now); problem != "" || now.Reason != "running" {
		c.t.Fatalf("%q, %+v", problem, now)
	}
	return now
}

// play sends datagrams from a client, each with other contents, until the totals are enough.
func (c *controlled) play(enough func(*proxyDocument) bool) {
	c.t.Helper()
	i := 0
	testkit.WaitFor(c.t, "enough datagrams", func() bool {
		i++
		if _, err := c.game.Write([]byte{byte(i), byte(i >> 8), 1}); err != nil {
			c.t.Fatal(err)
		}
		now := c.totals()
		return enough(&now)
	})
}

// end interrupts the proxy and returns what it wrote.
func (c *controlled) end() (o outcome, doc proxyDocument) {
	c.t.Helper()
	c.stop()
	o = <-c.ended
	if document(c.t, o.stdout, &doc); o.code != exitInterrupted || doc.Reason != "interrupted" || !strings.Contains(o.stderr, "interrupted") {
		c.t.Fatalf("exit %d: %s\n%s", o.code, o.stdout, o.stderr)
	}
	return o, doc
}

// TestProxyControl is a test as users of the proxy would write it: it starts a proxy, sends datagrams through it, changes
// the loss, and reads the totals.
func TestProxyControl(t *testing.T) {
	t.Parallel()
	c := startControlled(t, "")
	if info, err := os.Stat(c.address); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info.Mode(), err)
	}
	// exchange sends 100 datagrams, waits until the proxy has read them, and returns how many it sent on.
	var before proxyDocument
	exchange := func() (sent uint64) {
		t.Helper()
		for i := range 100 {
			if _, err := c.game.Write([]byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
		}
		testkit.WaitFor(t, "100 datagrams", func() bool {
			now := c.totals()
			sent = now.Up.Out - before.Up.Out
			done := now.Up.In >= before.Up.In+100
			if done {
				before = now
			}
			return done
		})
		return sent
	}
	if sent := exchange(); sent != 100 {
		t.Errorf("without loss %d of 100 datagrams were sent on", sent)
	}
	var labels []string
	for _, x := range []struct{ request, body, change string }{
		{"PATCH /", `{"up.loss": "100%"}`, "up loss 100%"}, {"POST /mark", `{"text": "level 2"}`, "level 2"},
		{"PATCH /", `{"profile": "lte", "up.loss": "100%", "down.latency": "5ms"}`, "profile lte, down latency 5ms, up loss 100%"},
		{"PATCH /?client=1", `{"down.loss": "30%"}`, "client 1: down loss 30%"},
	} {
		var made script.AppliedChange
		if problem := c.send(x.request, x.body, &made); problem != "" || made.Label() != x.change || made.TS <= 0 {
			t.Errorf("%s %s: %q, %s, want %q", x.request, x.body, problem, made.Label(), x.change)
		}
		labels = append(labels, x.change)
	}
	if sent := exchange(); sent != 0 {
		t.Errorf("with a loss of 100 %% %d datagrams were sent on", sent)
	}
	for _, x := range []struct{ request, body, want string }{
		{"PATCH /", `{"up.loss": "120%"}`, "loss"}, {"PATCH /", `{"down.los": "1%"}`, "did you mean"}, {"PATCH /", `{}`, "is no JSON object"},
		{"PATCH /", "", "is no JSON object"}, {"PATCH /", `{"up.loss": `, "is no JSON object"}, {"PATCH /", `[1]`, "is no JSON object"},
		{"PATCH /", `{"encoder": "rotor"}`, "is no setting of a link"}, {"PATCH /", `{"profile": "lta"}`, "did you mean lte"},
		{"PATCH /?client=9", `{"loss": "1%"}`, "no client 9"}, {"PATCH /?client=x", `{"loss": "1%"}`, "is not a number"},
		{"POST /mark", `{}`, "has no text"}, {"POST /totals", "", "expected GET /, PATCH /, POST /mark or GET /events"}, {"DELETE /", "", "is unknown"},
	} {
		if problem := c.send(x.request, x.body, nil); !strings.Contains(problem, x.want) {
			t.Errorf("%s %q: %q, want %q", x.request, x.body, problem, x.want)
		}
	}
	if got := c.events(len(labels)); strings.Join(got, "; ") != strings.Join(labels, "; ") {
		t.Errorf("the events are %q, want %q", got, labels)
	}
	o, doc := c.end()
	if doc.Up.In != 200 || doc.Up.Out != 100 || doc.Up.LostBy["loss"] != 100 || len(doc.Changes) != len(labels) || doc.Changes[1].Change.Mark() != "level 2" {
		t.Errorf("%+v", doc)
	}
	if !strings.Contains(o.stderr, "s  control: up loss 100%\n") || !strings.Contains(o.stderr, "s  control: client 1: down loss 30%") {
		t.Errorf("the log does not contain the changes:\n%s", o.stderr)
	}
	if _, err := os.Lstat(c.address); !os.IsNotExist(err) {
		t.Errorf("the socket was left behind: %v", err)
	}
}

// events returns the descriptions of the first n events.
func (c *controlled) events(n int) (labels []string) {
	c.t.Helper()
	resp, err := c.client.Get("http://localhost/events")
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); len(labels) < n && lines.Scan(); {
		var made script.AppliedChange
		if err := json.Unmarshal(lines.Bytes(), &made); err != nil {
			c.t.Fatalf("%s: %v", lines.Bytes(), err)
		}
		labels = append(labels, made.Label())
	}
	return labels
}

// TestProxyScriptFromFirstDatagram checks that the times of a script with from = "first datagram" count from the first
// datagram of a client, however late it arrives.
func TestProxyScriptFromFirstDatagram(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.toml")
	write(t, file, "[[at]]\nt = \"0s\"\nfrom = \"first datagram\"\nmark = \"begin\"\n[[at]]\nt = \"20ms\"\nfrom = \"first datagram\"\nup.loss = \"50%\"\n")
	checked := tui("check", file, "--set", "client[0].turn=1", "--set", "client[0].down.loss=5%") // prints a file for the same proxy
	if checked.code != exitDone || !strings.Contains(checked.stdout, "first datagram") || strings.Contains(checked.stdout, "encoder") ||
		checked.stderr != "" {
		t.Fatalf("check: %+v", checked)
	}
	write(t, file, checked.stdout)
	checkErr(t, tui("check", file, "--set", "encoder.name=rotor"), exitUsage, "a proxy has no such setting")
	c := startControlled(t, "", file)
	time.Sleep(50 * time.Millisecond) // longer than the script
	doc := c.totals()
	if len(doc.Changes) > 0 {
		t.Errorf("changed before the first datagram: %+v", doc.Changes)
	}
	if _, err := c.game.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	testkit.WaitFor(t, "the changes", func() bool { doc = c.totals(); return len(doc.Changes) >= 2 })
	joined := doc.PerClient[0].Joined
	if joined < 0.05 || doc.Changes[0].TS < joined || doc.Changes[1].TS < joined+0.02 {
		t.Errorf("the first datagram at %v s, changes at %v and %v s", joined, doc.Changes[0].TS, doc.Changes[1].TS)
	}
	if o, _ := c.end(); !strings.Contains(o.stderr, "first datagram: the times of [[at]] count from here") {
		t.Error(o.stderr)
	}
}

// TestProxyControlRefuses checks the errors of the flags of the control socket, and of a wrong token.
func TestProxyControlRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain, used := filepath.Join(dir, "plain"), filepath.Join(dir, "used")
	write(t, plain, "")
	other, err := net.Listen("unix", used)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, x := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--token-file", plain}, exitUsage, "no effect without --control"},
		{[]string{"--control", "tcp:0"}, exitUsage, "expects --token-file FILE"},
		{[]string{"--control", "tcp:0.0.0.0:0", "--token-file", "t"}, exitUsage, "expected a loopback address"},
		{[]string{"--control", "pipe:x"}, exitUsage, "expected unix:PATH or tcp:ADDR"},
		{[]string{"--control", "unix:"}, exitUsage, "expected unix:PATH or tcp:ADDR"},
		{[]string{"--control", "unix:" + plain}, exitUsage, "is not a socket"},
		{[]string{"--control", "unix:" + used}, exitMachine, "another program listens on"},
		{[]string{"--control", "unix:" + filepath.Join(dir, "none", "x")}, exitUsage, "x cannot be created: no such"},
		{[]string{"--control", "unix:" + filepath.Join(dir, strings.Repeat("x", 120))}, exitUsage, "too long for a socket"},
	} {
		o := tui("proxy --listen 0 --to 127.0.0.1:9 --duration 1ms", x.args...)
		checkErr(t, o, x.code, x.want)
	}
}

// TestProxyControlOverTCP checks that a proxy demands the token of --token-file, which it creates, on TCP.
func TestProxyControlOverTCP(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	c := startControlled(t, "tcp:127.0.0.1:0", "--token-file", file)
	if problem := c.send("GET /", "", nil); !strings.Contains(problem, "the token is missing or wrong") {
		t.Errorf("without the token: %q", problem)
	}
	token := read(t, file)
	c.token = string(bytes.TrimSpace(token))
	if problem := c.send("PATCH /", `{"down.loss": "5%"}`, new(script.AppliedChange)); problem != "" {
		t.Error(problem)
	}
	c.end()
}
