package lineserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"
)

// echoAnswer is the answer of the sessions of these tests.
type echoAnswer struct {
	OK   bool   `json:"ok"`
	Line string `json:"line"`
}

func newEcho() func(string) any { return func(line string) any { return echoAnswer{true, line} } }

// serve starts a server of echoes, which ends with the test, and returns the path of its socket.
func serve(t *testing.T, token string) (s *Server, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s")
	s, err := Listen(t.Context(), "unix:"+path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	go func() {
		s.Serve(token, newEcho, func(err error) { t.Error(err) })
		close(done)
	}()
	t.Cleanup(func() { s.Close(); <-done })
	return s, path
}

// exchange sends text on a new connection and returns everything that is answered until the server closes it.
func exchange(t *testing.T, path, text string) string {
	t.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

func TestLines(t *testing.T) {
	_, open := serve(t, "")
	_, closed := serve(t, "secret")
	tooLong := strings.Repeat("x", maxLineBytes)
	for _, x := range []struct{ path, text, want string }{
		{open, "", ""},
		{open, " a\x1b  b \r\n\n", `{"ok":true,"line":"a\u001b  b"}` + "\n" + `{"ok":true,"line":""}` + "\n"},
		{open, "a\nb", `{"ok":true,"line":"a"}` + "\n" + `{"ok":false,"error":"the last line was not executed, because it may be incomplete; expected a newline after it"}` + "\n"},
		{open, tooLong[1:] + "\n", `{"ok":true,"line":"` + tooLong[1:] + `"}` + "\n"},
		{open, tooLong + "\na\n", `{"ok":false,"error":"a line is too long; expected at most 8192 bytes"}` + "\n"},
		{closed, "secret\na\n", `{"ok":true}` + "\n" + `{"ok":true,"line":"a"}` + "\n"},
		{closed, "secre\na\n", `{"ok":false,"error":"the first line is not the token; expected the text of --token-file"}` + "\n"},
	} {
		if got := exchange(t, x.path, x.text); got != x.want {
			t.Errorf("%.40q is answered with %.200q, want %.200q", x.text, got, x.want)
		}
	}
}

// TestLimits checks the largest number of connections, and that Close ends connections that are idle or within a line.
func TestLimits(t *testing.T) {
	s, path := serve(t, "")
	var list []net.Conn
	for i := range maxConnections + 1 {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		refused := i == maxConnections
		if !refused { // a write would fail if the server has already closed the connection
			if _, err := io.WriteString(conn, "a\nincomplete"); err != nil {
				t.Fatal(err)
			}
		}
		text, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || strings.Contains(text, "16 connections already") != refused {
			t.Errorf("connection %d: %q, %v", i, text, err)
		}
		list = append(list, conn)
	}
	start := time.Now()
	s.Close()
	if took := time.Since(start); took > 10*time.Second { // far below idleTimeout
		t.Errorf("Close took %v", took)
	}
	for _, conn := range list {
		if text, _ := io.ReadAll(conn); len(text) > 0 {
			t.Errorf("an incomplete line was answered: %q", text)
		}
	}
}

// TestSocketFile checks the mode of a unix socket, and when a file at its path is replaced and removed.
func TestSocketFile(t *testing.T) {
	s, path := serve(t, "")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || s.NeedsToken() {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := Listen(t.Context(), "unix:"+path); err == nil || !strings.Contains(err.Error(), "another program listens on") {
		t.Errorf("a socket in use: %v", err)
	}
	datagrams := filepath.Join(t.TempDir(), "d")
	other, err := net.ListenPacket("unixgram", datagrams)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	before, _ := os.Lstat(datagrams)
	if _, err := Listen(t.Context(), "unix:"+datagrams); err == nil || !strings.Contains(err.Error(), "may be in use") {
		t.Errorf("a socket for datagrams: %v", err)
	}
	if after, err := os.Lstat(datagrams); err != nil || !os.SameFile(before, after) {
		t.Errorf("a socket for datagrams was replaced: %v", err)
	}
	s.listener.Close() // as after a crash: the file stays
	second, err := Listen(t.Context(), "unix:"+path)
	if err != nil {
		t.Fatalf("a stale socket is not replaced: %v", err)
	}
	s.Close() // must not remove the socket of second
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	second.Close()
	if list, err := os.ReadDir(filepath.Dir(path)); err != nil || len(list) > 0 {
		t.Errorf("left behind: %v, %v", list, err)
	}
}

// Connections that do not send the token make room for others: those of another user cannot fill the server.
func TestWaitingConnections(t *testing.T) {
	_, path := serve(t, "secret")
	dial := func(text string) *bufio.Reader {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if text != "" { // a write fails if the server has already closed the connection
			if _, err := io.WriteString(conn, text); err != nil {
				t.Fatal(err)
			}
		}
		return bufio.NewReader(conn)
	}
	answer := func(r *bufio.Reader) string {
		line, _ := r.ReadString('\n')
		return line
	}
	first := dial("")
	for i := range maxConnections {
		if got := answer(dial("secret\n")); got != "{\"ok\":true}\n" { // the last one takes the place of first
			t.Fatalf("connection %d: %q", i, got)
		}
	}
	if got := answer(first); got != "" {
		t.Errorf("the connection without a token is answered with %q", got)
	}
	if got := answer(dial("")); !strings.Contains(got, "16 connections already") {
		t.Errorf("one connection too many: %q", got)
	}
}

// Of programs that begin to listen on one path at the same time, one succeeds, and its socket is at the path.
func TestRaceForPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	for round := range 100 {
		if round%2 == 0 { // a stale socket is there
			listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			listener.SetUnlinkOnClose(false)
			listener.Close()
		}
		servers := make(chan *Server, 4)
		for range cap(servers) {
			go func() {
				s, err := Listen(t.Context(), "unix:"+path)
				if err != nil && !errors.Is(err, syscall.EADDRINUSE) {
					t.Error(err)
				}
				servers <- s
			}()
		}
		var won []*Server
		for range cap(servers) {
			if s := <-servers; s != nil {
				won = append(won, s)
			}
		}
		info, err := os.Lstat(path)
		if len(won) != 1 || err != nil || !os.SameFile(info, won[0].socket) {
			t.Fatalf("round %d: %d programs listen; %v", round, len(won), err)
		}
		won[0].Close()
	}
}

// A memoryConn is a connection whose peer has sent in and closed its side.
type memoryConn struct {
	net.Conn // nil
	in       io.Reader
	out      bytes.Buffer
}

func (c *memoryConn) Read(p []byte) (int, error)       { return c.in.Read(p) }
func (c *memoryConn) Write(p []byte) (int, error)      { return c.out.Write(p) }
func (c *memoryConn) SetReadDeadline(time.Time) error  { return nil }
func (c *memoryConn) SetWriteDeadline(time.Time) error { return nil }

// FuzzConverse sends any bytes and checks that each complete line is executed once, and answered with one line of JSON.
func FuzzConverse(f *testing.F) {
	f.Add([]byte("down.loss 20%\ntotals\n"))
	f.Add([]byte("\r\n\x00\xff\nmark x"))
	f.Add(bytes.Repeat([]byte("x"), maxLineBytes+1))
	f.Fuzz(func(t *testing.T, text []byte) {
		var want, got []string
		rest := text
		for {
			line, after, complete := bytes.Cut(rest, []byte("\n"))
			if !complete || len(line) >= maxLineBytes {
				break
			}
			want, rest = append(want, strings.TrimSpace(string(line))), after
		}
		conn := &memoryConn{in: iotest.HalfReader(bytes.NewReader(text))}
		(&Server{}).converse(conn, "", func(line string) any { got = append(got, line); return echoAnswer{true, line} })
		answers := strings.SplitAfter(conn.out.String(), "\n")
		answers = answers[:len(answers)-1] // the rest after the last newline, which is empty
		for _, answer := range answers {
			if !json.Valid([]byte(answer)) {
				t.Errorf("not JSON: %q", answer)
			}
		}
		failures := min(len(rest), 1) // the answer about a line that is incomplete or too long
		if !slices.Equal(got, want) || len(answers) != len(want)+failures {
			t.Errorf("%d answers to %q, want %d to %q", len(answers), got, len(want)+failures, want)
		}
	})
}
