//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// screen collects the output of a program to a terminal, and emulates the terminal.
type screen struct {
	mu    sync.Mutex
	text  bytes.Buffer // the last of the output
	drawn int64        // bytes of output
	vt    *vt
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drawn += int64(len(p))
	if s.text.Len() > 1<<20 { // a long test
		s.text.Reset()
	}
	_, _ = s.vt.Write(p)
	return s.text.Write(p)
}

// shown returns the content of the screen.
func (s *screen) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.vt.String()
}

// written returns the number of bytes of output.
func (s *screen) written() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drawn
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// resize changes the size of the terminal.
func (s *screen) resize(rows, cols int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.vt.resize(rows, cols)
}

// session is a run of the program in a terminal of its own.
type session struct {
	t      testing.TB
	cmd    *exec.Cmd
	tty    *os.File
	screen screen
	stderr bytes.Buffer
	read   chan struct{} // closed at the end of the terminal's output
}

// patience is the time limit for waiting in a test.
const patience = time.Minute

// startSession runs the program on a terminal, with a folder of reports.
func startSession(t testing.TB, reports string, args ...string) *session {
	t.Helper()
	s := newSession(t, append(args, "--reports", reports)...)
	s.start(48, 160)
	return s
}

// newSession returns a run of the program that has not begun, with a terminal that is not queried for its background.
func newSession(t testing.TB, args ...string) *session {
	s := &session{t: t, read: make(chan struct{})}
	s.cmd = exec.Command(os.Args[0], args...)
	s.cmd.Env = append(os.Environ(), programEnv+"=1", "TERM=tmux-256color", "TMPDIR="+t.TempDir())
	s.cmd.Stderr = &s.stderr
	return s
}

// press sends keys to the program.
func (s *session) press(keys string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.t.Fatalf("the terminal is gone: %v; %s", err, s.stderr.String())
	}
}

// signal sends a signal to the program; nil for none.
func (s *session) signal(signal os.Signal) {
	s.t.Helper()
	if signal == nil {
		return
	}
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for the end of the program and checks its exit code.
func (s *session) ends(want int) {
	s.t.Helper()
	if code := s.end(); code != want {
		s.t.Errorf("exit %d, want %d: %s\n%s", code, want, s.stderr.String(), s.screen.shown())
	}
}

// start runs the command on a terminal of its own.
func (s *session) start(rows, cols uint16) {
	s.t.Helper()
	tty, err := pty.StartWithSize(s.cmd, &pty.Winsize{Rows: rows, Cols: cols})
	if err != nil {
		s.t.Fatal(err)
	}
	s.tty, s.screen.vt = tty, newVT(int(rows), int(cols))
	s.t.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = tty.Close() })
	go func() {
		_, _ = io.Copy(&s.screen, tty) // returns EIO when the program ends
		close(s.read)
	}()
}

// see waits until the program has drawn text.
func (s *session) see(text string) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if strings.Contains(s.screen.shown(), text) {
			return
		}
	}
	s.t.Fatalf("never drew %q; stderr %q; the screen is\n%s", text, s.stderr.String(), s.screen.shown())
}

// end waits for the end of the program and returns its exit code.
func (s *session) end() int {
	s.t.Helper()
	stuck := time.AfterFunc(patience, func() { _ = s.cmd.Process.Kill() })
	defer stuck.Stop()
	err := s.cmd.Wait()
	<-s.read
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return s.cmd.ProcessState.ExitCode()
}

// Sequences with which a program enters and leaves the screen of a dashboard.
const enterAltScreen, leaveAltScreen = "\x1b[?1049h", "\x1b[?1049l"

// TestDashboardQuits checks that the terminal is restored however the program is ended, and that
// all ways except q save the run, which can then be replayed.
func TestDashboardQuits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys   string
		signal os.Signal
		code   int
	}{
		"q":       {"q", nil, exitDone},
		"ctrl-c":  {"\x03", nil, exitInterrupted},
		"SIGINT":  {"", os.Interrupt, exitInterrupted},
		"SIGTERM": {"", syscall.SIGTERM, exitInterrupted},
		"SIGHUP":  {"", syscall.SIGHUP, exitInterrupted},
		"SIGQUIT": {"", syscall.SIGQUIT, exitInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			reports := t.TempDir()
			s := startSession(t, reports, "--seed", "11", "--encoder", "relative-orientation")
			s.see("relative-orientation")
			s.press("/encoder rotor\r") // to be replayed
			s.see("rotor")
			s.press(c.keys)
			s.signal(c.signal)
			s.ends(c.code)
			if !strings.Contains(s.screen.String(), leaveAltScreen) {
				t.Error("the terminal was not restored")
			}
			saved, err := filepath.Glob(filepath.Join(reports, "*", "report.json"))
			isSaved := c.code == exitInterrupted
			if err != nil || len(saved) > 0 != isSaved {
				t.Fatalf("saved %v, %v; want a report: %v", saved, err, isSaved)
			}
			if !isSaved {
				return
			}
			if folder := filepath.Dir(saved[0]); !strings.Contains(s.stderr.String(), folder) {
				t.Errorf("stderr does not name %s: %q", folder, s.stderr.String())
			}
			done(t, "replay", saved[0])
		})
	}
}

// TestDefaultReports checks the folder of reports against the XDG Base Directory Specification.
func TestDefaultReports(t *testing.T) {
	t.Setenv("HOME", "/home/ada")
	for state, want := range map[string]string{
		"":           "/home/ada/.local/state/wirelab/reports",
		"/var/state": "/var/state/wirelab/reports",
		"relative":   "/home/ada/.local/state/wirelab/reports",
	} {
		t.Setenv("XDG_STATE_HOME", state)
		if got := defaultReports(); got != want {
			t.Errorf("XDG_STATE_HOME=%q: %s, want %s", state, got, want)
		}
	}
}

// On a real network the dashboard begins without modelled losses, unless --set asks for them.
func TestLinksOfRealNetwork(t *testing.T) {
	for _, set := range [][]string{nil, {"down.loss=10%"}} {
		f := dashboardFlags{remote: remoteFlags{udp: true}, config: configFlags{set: set}}
		f.choosePreset()
		c, err := f.config.load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if isLossy := c.Down.Loss != nil; isLossy != (set != nil) || c.Up.Loss != nil {
			t.Errorf("with %v: down %v, up %v", set, c.Down.Loss, c.Up.Loss)
		}
	}
}

// A file is opened as the argument of the program, and then another in its place. Ctrl-C saves the run of the second.
func TestDashboardOpensFiles(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	write(t, "first.csv", "tick,id,x\n0,1,5\n0,2,6\n1,1,7\n1,2,8\n")
	write(t, "second.toml", "[data]\nsource = \"rpc\"\n")
	reports := t.TempDir()
	s := startSession(t, reports, "first.csv")
	s.see("first.csv · ")
	for _, c := range []struct{ keys, shows string }{
		{"/open nothing.csv\r", "nothing.csv: does not exist"},
		{"/open second.toml\r", "opened second.toml"},
		{"/open\r", "configuration, rpc"},
		{"\x1b", "rpc · "},
	} {
		s.press(c.keys)
		s.see(c.shows)
	}
	s.signal(os.Interrupt)
	s.ends(exitInterrupted)
	saved, err := filepath.Glob(filepath.Join(reports, "*", "experiment.toml"))
	if err != nil || len(saved) != 1 {
		t.Fatalf("saved %v, %v", saved, err)
	}
	text, err := os.ReadFile(saved[0])
	if err != nil || !strings.Contains(string(text), `source = 'rpc'`) && !strings.Contains(string(text), `source = "rpc"`) {
		t.Errorf("it saved, %v:\n%s", err, text)
	}
}

// The first start is recorded, so that it is the first only once. Without a folder there is none.
func TestFirstStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "wirelab")
	for i, want := range []bool{true, false, false} {
		if got := isFirstStart(dir); got != want {
			t.Errorf("start %d is the first: %v", i+1, got)
		}
	}
	file := filepath.Join(dir, "started")
	if isFirstStart(file) {
		t.Error("a start that cannot be recorded is the first")
	}
}
