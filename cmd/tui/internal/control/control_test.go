package control

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// serve starts a server that answers with the body of each request, which ends with the test, and returns the path of its
// socket.
func serve(t *testing.T, token string) (s *Server, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s")
	s, err := Listen(t.Context(), "unix:"+path)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		echo := func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				Fail(w, http.StatusRequestEntityTooLarge, err)
				return
			}
			Reply(w, http.StatusOK, string(body))
		}
		s.Serve(token, http.HandlerFunc(echo), func(bug error) { t.Error(bug) })
	}()
	t.Cleanup(func() { s.Close(); <-ended })
	return s, path
}

// request sends a request to the server at path and returns its status and the body of the answer.
func request(t *testing.T, path, url, body string, header ...string) (status int, answer string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(text))
}

func TestRequests(t *testing.T) {
	_, open := serve(t, "")
	_, secret := serve(t, "secret")
	for _, c := range []struct {
		path, url, body string
		header          []string
		status          int
		answer          string
	}{
		{open, "http://localhost/", "<a>\u202e", nil, 200, "\"<a>\\u202e\""},
		{open, "http://127.0.0.1:80/", "", nil, 200, `""`},
		{open, "http://[::1]/", "", nil, 200, `""`},
		{open, "http://example.org/", "", nil, 403, `"error":"the host is`},
		{open, "http://localhost/", "", []string{"Origin", "http://localhost"}, 403, `"error":"requests of web pages are refused`},
		{open, "http://localhost/", strings.Repeat("x", maxBodyBytes+1), nil, 413, "too large"},
		{secret, "http://localhost/", "", nil, 401, "the token is missing or wrong"},
		{secret, "http://localhost/", "", []string{"Authorization", "Bearer secre"}, 401, "the token is missing or wrong"},
		{secret, "http://localhost/", "x", []string{"Authorization", "Bearer secret"}, 200, `"x"`},
	} {
		status, answer := request(t, c.path, c.url, c.body, c.header...)
		if status != c.status || !strings.Contains(answer, c.answer) {
			t.Errorf("%s with %q: %d %s; want %d %s", c.url, c.header, status, answer, c.status, c.answer)
		}
	}
}

// Close ends requests that are still in progress.
func TestCloseEndsRequests(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	s, err := Listen(t.Context(), "unix:"+path)
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve("", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		go s.Close()
		<-r.Context().Done()
	}), func(bug error) { t.Error(bug) })
	if status, _ := request(t, path, "http://localhost/", ""); status != http.StatusOK {
		t.Errorf("status %d", status)
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
