//go:build unix

package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"wirelab/internal/testkit"
)

// startProxy runs a proxy on a terminal, with a client that sends to an echo server.
func startProxy(t *testing.T, args ...string) *session {
	t.Helper()
	s := newSession(t, append([]string{"proxy", "--listen", "127.0.0.1:0", "--to", echoServer(t).LocalAddr().String()}, args...)...)
	s.start(48, 160)
	client, err := net.Dial("udp4", s.proxyAddress())
	if err != nil {
		t.Fatal(err)
	}
	quit := make(chan struct{})
	t.Cleanup(func() { close(quit); client.Close() })
	go func() {
		for {
			select {
			case <-quit:
				return
			case <-time.After(2 * time.Millisecond):
				_, _ = client.Write(make([]byte, 100)) // fails after the proxy has ended
			}
		}
	}()
	return s
}

// proxyAddress waits until a proxy has drawn the address that its clients send to, and returns it.
func (s *session) proxyAddress() (at string) {
	s.t.Helper()
	testkit.WaitFor(s.t, "the address of the proxy", func() bool {
		if m := regexp.MustCompile(`(127\.0\.0\.1:\d+) → `).FindStringSubmatch(s.screen.String()); m != nil {
			at = m[1]
		}
		return at != ""
	})
	return at
}

// TestProxyDashboard controls a proxy with keys: typed commands change the links of real
// datagrams, space pauses only the display, and q restores the terminal and prints the totals.
func TestProxyDashboard(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.toml")
	write(t, file, "[[at]]\nt = \"300ms\"\nup.latency = \"3ms\"\n")
	s := startProxy(t, file)
	s.see("LIVE")
	s.see("up latency 3ms") // set by the script
	s.see("joined 1")
	s.after("/down loss 100\r", "down loss 100%")
	s.see("lost (loss)")
	s.after("u", "undo: down loss 0%")
	s.after(" ", "DISPLAY STOPPED")
	s.after("x", "Numbers are drawn from")
	s.gone("x", "Numbers are drawn from")
	s.gone(" ", "DISPLAY STOPPED")
	s.after("/loss 140%\r", "expected a percentage")
	s.gone("\x1b", "expected a percentage")
	s.after("?", "Everywhere")
	s.gone("\x1b", "Everywhere")
	s.screen.resize(18, 60)
	if err := pty.Setsize(s.tty, &pty.Winsize{Rows: 18, Cols: 60}); err != nil {
		t.Fatal(err)
	}
	s.see("[Controls]")
	s.press("qy")
	s.ends(exitDone)
	all := s.screen.String()
	at := strings.LastIndex(all, leaveAltScreen)
	if at < 0 || !strings.Contains(all[at:], "1 clients joined") || !strings.Contains(all[at:], "latency set") {
		t.Errorf("after the end: %q", all[max(at, 0):])
	}
}

// TestProxyDashboardQuits checks that the terminal is restored and totals are printed, however
// the proxy is ended.
func TestProxyDashboardQuits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys   string
		signal os.Signal
		args   []string
		code   int
	}{
		"ctrl-c":   {"\x03", nil, nil, exitInterrupted},
		"SIGTERM":  {"", syscall.SIGTERM, nil, exitInterrupted},
		"SIGQUIT":  {"", syscall.SIGQUIT, nil, exitInterrupted},
		"duration": {"", nil, []string{"--duration", "1500ms"}, exitDone},
	} {
		t.Run(name, func(t *testing.T) {
			var s *session
			if c.args != nil { // it may end before it has drawn anything
				s = newSession(t, append([]string{"proxy", "--listen", "127.0.0.1:0", "--to", echoServer(t).LocalAddr().String()}, c.args...)...)
				s.start(48, 160)
			} else {
				s = startProxy(t)
				s.see("LIVE")
				s.press(c.keys)
				s.signal(c.signal)
			}
			s.ends(c.code)
			all := s.screen.String()
			at := max(strings.LastIndex(all, leaveAltScreen), 0)
			if strings.Contains(all[at:], enterAltScreen) || !strings.Contains(all[at:], "clients joined") {
				t.Errorf("after the end: %q", all[at:])
			}
		})
	}
}

// TestProxyWithoutScreen checks that there is no dashboard with --json, or if standard output is
// not a terminal.
func TestProxyWithoutScreen(t *testing.T) {
	server := echoServer(t)
	s := newSession(t, "proxy", "--listen", "0", "--to", server.LocalAddr().String(), "--duration", "50ms", "--json")
	s.start(48, 160)
	if code := s.end(); code != exitDone || strings.Contains(s.screen.String(), leaveAltScreen) || !strings.Contains(s.screen.String(), `"lies"`) {
		t.Error(fmt.Sprint(code, s.screen.String()))
	}
}
