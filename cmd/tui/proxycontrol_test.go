package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirelab/internal/testkit"
)

// A controlled is a connection to a proxy's control socket.
type controlled struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

// connectControl connects to the control socket of a proxy that has been started, and waits until it exists.
func connectControl(t *testing.T, network, address string) *controlled {
	t.Helper()
	var conn net.Conn
	testkit.WaitFor(t, "a proxy on "+address, func() bool {
		var err error
		conn, err = net.Dial(network, address)
		return err == nil
	})
	t.Cleanup(func() { conn.Close() })
	return &controlled{t, conn, bufio.NewReader(conn)}
}

// playProxy sends datagrams from a client to a proxy with a control socket until its totals are enough, and then ends
// the proxy. Each datagram has other contents.
func playProxy(t *testing.T, socket string, client net.Conn, enough func(*proxyDocument) bool) {
	t.Helper()
	c := connectControl(t, "unix", socket)
	i := 0
	testkit.WaitFor(t, "enough datagrams", func() bool {
		i++
		if _, err := client.Write([]byte{byte(i), byte(i >> 8), 1}); err != nil {
			t.Fatal(err)
		}
		var now proxyDocument
		if problem := c.send("totals", &now); problem != "" {
			t.Fatal(problem)
		}
		return enough(&now)
	})
	if problem := c.send("quit now", nil); problem != "" {
		t.Fatal(problem)
	}
}

// send sends a line and stores the answer in answer, or returns the text of the answer's error.
func (c *controlled) send(line string, answer any) (problem string) {
	c.t.Helper()
	if _, err := fmt.Fprintln(c.conn, line); err != nil {
		c.t.Fatal(err)
	}
	text, err := c.in.ReadBytes('\n')
	if err != nil {
		c.t.Fatalf("%s: %v", line, err)
	}
	var failed struct {
		OK    bool   `json:"ok"`
		Error string `json:"error"`
	}
	if err := json.Unmarshal(text, &failed); err != nil || failed.OK == (failed.Error != "") {
		c.t.Fatalf("%s: %v, answer %s", line, err, text)
	}
	if failed.OK && answer != nil {
		if err := json.Unmarshal(text, answer); err != nil {
			c.t.Fatal(err)
		}
	}
	return failed.Error
}

// TestProxyControl is a test as users of the proxy would write it: it starts a proxy, sends datagrams through it, changes
// the loss, and reads the totals.
func TestProxyControl(t *testing.T) {
	t.Parallel()
	server, listen, socket := echoServer(t), freePort(t), filepath.Join(t.TempDir(), "control")
	ended := make(chan outcome, 1)
	go func() {
		ended <- tuiIn(context.Background(), metronome(), "proxy", "--listen", listen, "--to", server.LocalAddr().String(), "--headless",
			"--json", "--control", "unix:"+socket)
	}()
	c := connectControl(t, "unix", socket)
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info.Mode(), err)
	}
	game, err := net.Dial("udp4", listen)
	if err != nil {
		t.Fatal(err)
	}
	defer game.Close()
	// exchange sends 100 datagrams, waits until the proxy has read them, and returns how many it sent on.
	var before proxyDocument
	exchange := func() uint64 {
		t.Helper()
		for i := range 100 {
			if _, err := game.Write([]byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
		}
		for {
			var now proxyDocument
			if problem := c.send("totals", &now); problem != "" || now.Reason != "running" {
				t.Fatalf("%q, %+v", problem, now)
			}
			if now.Up.In >= before.Up.In+100 {
				sent := now.Up.Out - before.Up.Out
				before = now
				return sent
			}
			time.Sleep(time.Millisecond)
		}
	}
	if sent := exchange(); sent != 100 {
		t.Errorf("without loss %d of 100 datagrams were sent on", sent)
	}
	var answer controlAnswer
	for _, x := range []struct {
		line, change string
		client       int
	}{
		{"up.loss 100%", "up loss 100%", 0}, {"mark level 2", "level 2", 0}, {"down latency 5", "down latency 5ms", 0},
		{"client 1", "", 0}, {"link.loss 30%", "loss 30%", 1}, {"undo", "up loss 100%, down loss 0%", 1},
		{"redo", "loss 30%", 1}, {"undo", "up loss 100%, down loss 0%", 1}, {"client all", "", 0},
	} {
		answer = controlAnswer{}
		if problem := c.send(x.line, &answer); problem != "" || !sameWords(answer.Change, x.change) || answer.Client != x.client || answer.At <= 0 {
			t.Errorf("%s: %q, %+v, want %q", x.line, problem, answer, x.change)
		}
	}
	if sent := exchange(); sent != 0 {
		t.Errorf("with a loss of 100 %% %d datagrams were sent on", sent)
	}
	for line, want := range map[string]string{"up.loss 120%": "loss", "down.los 1%": "did you mean loss", "": "is not a command",
		"encoder rotor": "unknown command", "client 9": "no client 9", "profile lta": "did you mean lte", "totals now": "unknown command", "\x00\xff": "unknown command"} {
		if problem := c.send(line, nil); !strings.Contains(problem, want) {
			t.Errorf("%q: %q, want %q", line, problem, want)
		}
	}
	if problem := c.send("quit", nil); problem != "" {
		t.Error(problem)
	}
	o := <-ended
	var doc proxyDocument
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil || o.code != exitDone || doc.Reason != "finished" {
		t.Fatalf("exit %d, %v\n%s\n%s", o.code, err, o.stdout, o.stderr)
	}
	if doc.Up.In != 200 || doc.Up.Out != 100 || doc.Up.LostBy["loss"] != 100 || len(doc.Changes) != 7 || doc.Changes[1].Change.Mark() != "level 2" {
		t.Errorf("%+v", doc)
	}
	if !strings.Contains(o.stderr, "s  control: up loss 100%\n") || !strings.Contains(o.stderr, "s  control: client 1: undo: ") {
		t.Errorf("the log does not contain the changes:\n%s", o.stderr)
	}
	if _, err := os.Lstat(socket); !os.IsNotExist(err) {
		t.Errorf("the socket was left behind: %v", err)
	}
}

// sameWords reports whether two lists, separated by commas, have the same elements in any order.
func sameWords(a, b string) bool {
	words := map[string]int{}
	for _, w := range strings.Split(a, ", ") {
		words[w]++
	}
	for _, w := range strings.Split(b, ", ") {
		words[w]--
	}
	for _, n := range words {
		if n != 0 {
			return false
		}
	}
	return true
}

// TestProxyScriptFromFirstDatagram checks that the times of a script with from = "first datagram" count from the first
// datagram of a client, however late it arrives.
func TestProxyScriptFromFirstDatagram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, socket := filepath.Join(dir, "x.toml"), filepath.Join(dir, "control")
	text := "[[at]]\nt = \"0s\"\nfrom = \"first datagram\"\nmark = \"begin\"\n[[at]]\nt = \"20ms\"\nfrom = \"first datagram\"\nup.loss = \"50%\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	checked := tui("check", file, "--set", "client[0].turn=1", "--set", "client[0].down.loss=5%") // prints a file for the same proxy
	if checked.code != exitDone || !strings.Contains(checked.stdout, "first datagram") || strings.Contains(checked.stdout, "encoder") ||
		checked.stderr != "" {
		t.Fatalf("check: %+v", checked)
	}
	if err := os.WriteFile(file, []byte(checked.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := tui("check", file, "--set", "encoder.name=rotor"); o.code != exitUsage || !strings.Contains(o.stderr, "a proxy has no such setting") {
		t.Errorf("a setting that no proxy has: %+v", o)
	}
	server, listen := echoServer(t), freePort(t)
	ended := make(chan outcome, 1)
	go func() {
		ended <- tuiIn(context.Background(), metronome(), "proxy", "--listen", listen, "--to", server.LocalAddr().String(), "--headless",
			"--json", "--control", "unix:"+socket, file)
	}()
	c := connectControl(t, "unix", socket)
	time.Sleep(50 * time.Millisecond) // longer than the script
	var doc proxyDocument
	if c.send("totals", &doc); len(doc.Changes) > 0 {
		t.Errorf("changed before the first datagram: %+v", doc.Changes)
	}
	game, err := net.Dial("udp4", listen)
	if err != nil {
		t.Fatal(err)
	}
	defer game.Close()
	if _, err := game.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	for len(doc.Changes) < 2 {
		time.Sleep(time.Millisecond)
		c.send("totals", &doc)
	}
	joined := doc.PerClient[0].Joined
	if joined < 0.05 || doc.Changes[0].TS < joined || doc.Changes[1].TS < joined+0.02 {
		t.Errorf("the first datagram at %v s, changes at %v and %v s", joined, doc.Changes[0].TS, doc.Changes[1].TS)
	}
	c.send("quit now", nil)
	if o := <-ended; o.code != exitDone || !strings.Contains(o.stderr, "first datagram: the times of [[at]] count from here") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
}

// TestProxyControlRefuses checks the errors of the flags of the control socket, and of a wrong token.
func TestProxyControlRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain, used := filepath.Join(dir, "plain"), filepath.Join(dir, "used")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
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
		o := tui(append([]string{"proxy", "--listen", "0", "--to", "127.0.0.1:9", "--duration", "1ms"}, x.args...)...)
		if o.code != x.code || !strings.Contains(o.stderr, x.want) {
			t.Errorf("%v: exit %d, %s", x.args, o.code, o.stderr)
		}
	}
}

// TestProxyControlOverTCP checks that a proxy demands the token of --token-file, which it creates, on TCP.
func TestProxyControlOverTCP(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, file := free.Addr().String(), filepath.Join(t.TempDir(), "token")
	free.Close()
	ended := make(chan outcome, 1)
	go func() {
		ended <- tuiIn(context.Background(), metronome(), "proxy", "--listen", "0", "--to", "127.0.0.1:9", "--headless", "--control", "tcp:"+address,
			"--token-file", file)
	}()
	wrong := connectControl(t, "tcp", address)
	if problem := wrong.send("GET / HTTP/1.1", nil); !strings.Contains(problem, "is not the token") {
		t.Errorf("a wrong token: %q", problem)
	}
	if _, err := wrong.in.ReadByte(); err == nil {
		t.Error("the connection was not closed")
	}
	token, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := connectControl(t, "tcp", address)
	if problem := c.send(strings.TrimSpace(string(token)), nil) + c.send("down.loss 5%", nil) + c.send("quit", nil); problem != "" {
		t.Error(problem)
	}
	if o := <-ended; o.code != exitDone || !strings.Contains(o.stderr, "control: tcp:"+address) {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
}
