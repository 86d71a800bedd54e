//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// after types keys and waits until text is on the screen.
func (s *session) after(typed, text string) {
	s.t.Helper()
	if strings.Contains(s.screen.shown(), text) {
		s.t.Fatalf("%q is on the screen before %q is typed", text, typed)
	}
	s.press(typed)
	s.see(text)
}

// gone types keys and waits until text is no longer on the screen.
func (s *session) gone(typed, text string) {
	s.t.Helper()
	s.press(typed)
	for deadline := time.Now().Add(patience); strings.Contains(s.screen.shown(), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("after %q there still is %q:\n%s", typed, text, s.screen.shown())
		}
	}
}

// TestSessionByKeys runs a session with keys on a terminal and checks the screen after every key.
func TestSessionByKeys(t *testing.T) {
	t.Parallel()
	reports := t.TempDir()
	s := startSession(t, reports, "--seed", "11", "--encoder", "relative-index", "--theme", "monochrome")
	s.see("LIVE")
	const down, end, esc = "\x1b[B", "\x1b[F", "\x1b"
	s.after("/encoder relative-position\r", "● encoder relative-position")
	s.after("u", "undone: encoder relative-position")
	s.after(" ", "‖ PAUSED")
	s.after("/seek 3s\r", "at 00:03.0")
	s.after("<", "1.0 s AGO")
	s.gone(end, "AGO")
	s.after(" ", "▶ LIVE")
	s.after("m", "● mark 1")
	s.after("/loss 140%\r", `got "140%"`)
	s.after("\x15loss 20%\r", "● loss 20%") // ctrl-u clears the line
	s.after("p", "Link profile")
	s.after("/lte\r", "● profile lte")
	s.after("e", "swap, stay")
	s.after(down+" ", "● encoder relative-position")
	s.gone(esc, "swap, stay")
	s.after("?", "━ Help")
	s.gone(esc, "━ Help")
	s.after("4", "─ Receiver")
	s.after("1", "─ Bandwidth")
	s.after("/tour\r", "Tour 1 of 8")
	s.after("\r", "Tour 2 of 8")
	s.after("\x7f", "Tour 1 of 8")
	s.after(esc, "your settings are restored")
	s.after("/theme light\r", "● theme light")
	s.after("s", "● saved as")
	s.after("+", "● speed ×2")
	s.press("q")
	s.ends(exitDone)
	saved, err := filepath.Glob(filepath.Join(reports, "*", "report.json"))
	if err != nil || len(saved) != 1 {
		t.Fatalf("saved %v, %v", saved, err)
	}
	done(t, "replay", saved[0])
}

// TestTourCommand checks that tui tour opens the tour.
func TestTourCommand(t *testing.T) {
	s := startSession(t, t.TempDir(), "tour", "--ascii")
	s.see("Tour 1 of 8")
	s.after("\r", "Tour 2 of 8")
	s.press("q")
	s.ends(exitDone)
}

// TestQueriesBackgroundOnce checks that a terminal with colours is queried for its background
// exactly once, and that the reply is used. On a slow connection every query costs time, and a
// later query, after a change of the theme, could mistake keys for the reply.
func TestQueriesBackgroundOnce(t *testing.T) {
	s := newSession(t, "--reports", t.TempDir(), "--theme", "light")
	s.cmd.Env = append(s.cmd.Env, "TERM=xterm-256color", "NO_COLOR=", "CI=")
	s.start(48, 160)
	const question, light = "\x1b]11;?", "\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[1;1R"
	for deadline := time.Now().Add(patience); !strings.Contains(s.screen.String(), "\x1b[6n"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no query: %q", s.screen.String())
		}
	}
	s.press(light)
	s.see("LIVE")
	s.after("/theme light\r", "theme light")
	s.after("?", "━ Help")
	s.press("xq")
	s.ends(exitDone)
	if n := strings.Count(s.screen.String(), question); n != 1 {
		t.Errorf("queried %d times", n)
	}
}

// TestTerminalWithoutReply checks that the program draws on a terminal that does not reply, and
// that keys pressed during the wait are not lost.
func TestTerminalWithoutReply(t *testing.T) {
	t.Parallel()
	s := newSession(t, "--reports", t.TempDir())
	s.cmd.Env = append(s.cmd.Env, "TERM=xterm-256color", "NO_COLOR=", "CI=")
	s.start(48, 160)
	for deadline := time.Now().Add(patience); !strings.Contains(s.screen.String(), "\x1b[6n"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no query: %q", s.screen.String())
		}
	}
	s.press("3 ")
	s.see("PAUSED")
	s.see("[3 Packets]")
	s.press("q")
	s.ends(exitDone)
}

// TestTerminalShrinksAndGrows resizes the terminal to a single cell and back several times.
func TestTerminalShrinksAndGrows(t *testing.T) {
	t.Parallel()
	s := startSession(t, t.TempDir())
	s.see("LIVE")
	for _, size := range [][2]uint16{{1, 1}, {24, 80}, {1, 200}, {200, 1}, {5, 20}, {20, 60}, {1, 1}, {48, 160}} {
		s.screen.resize(int(size[0]), int(size[1]))
		if err := pty.Setsize(s.tty, &pty.Winsize{Rows: size[0], Cols: size[1]}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(80 * time.Millisecond) // enough for one or two redraws
	}
	s.see("─ Bandwidth")
	s.after("?", "━ Help")
	s.gone("x", "━ Help")
	s.press("q")
	s.ends(exitDone)
}

// TestSuspendAndResume checks that ctrl-z returns the terminal to the shell, and that fg draws
// the screen again.
func TestSuspendAndResume(t *testing.T) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash: job control needs a shell")
	}
	// A program can be stopped only under a shell with job control.
	s := newSession(t)
	s.cmd.Path = shell
	s.cmd.Stderr = nil
	s.cmd.Args = []string{shell, "-mc", `"$0" --reports "$1"; echo given back; read -r line; fg >/dev/null`, os.Args[0], t.TempDir()}
	s.start(48, 160)
	s.see("LIVE")
	s.after("\x1a", "given back")
	if !strings.Contains(s.screen.String(), leaveAltScreen) {
		t.Error("the shell got the terminal as it was")
	}
	s.screen.resize(48, 160) // clear the output of the shell
	s.after("\n", "─ Bandwidth")
	s.see("LIVE")
	s.after(" ", "PAUSED")
	s.press("q")
	s.ends(exitDone)
}

// TestTerminalVanishes closes the terminal, which sends SIGHUP and makes writes fail, and checks
// that the run is saved.
func TestTerminalVanishes(t *testing.T) {
	reports := t.TempDir()
	s := startSession(t, reports)
	s.see("LIVE")
	s.signal(syscall.SIGHUP)
	_ = s.tty.Close()
	s.ends(exitInterrupted)
	if saved, err := filepath.Glob(filepath.Join(reports, "*", "report.json")); err != nil || len(saved) != 1 {
		t.Errorf("saved %v, %v", saved, err)
	}
}

// TestTerminalVanishesUnderNohup checks that the program, which gets no SIGHUP under nohup,
// notices the closed terminal when it reads, saves the run and ends.
func TestTerminalVanishesUnderNohup(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	reports := t.TempDir()
	s := newSession(t)
	s.cmd.Path = shell
	s.cmd.Args = []string{shell, "-c", `trap "" HUP; exec "$0" --reports "$1"`, os.Args[0], reports}
	s.start(48, 160)
	s.see("LIVE")
	_ = s.tty.Close()
	s.ends(exitInterrupted)
	if saved, err := filepath.Glob(filepath.Join(reports, "*", "report.json")); err != nil || len(saved) != 1 {
		t.Errorf("saved %v, %v", saved, err)
	}
}

// TestPipeClosed checks that the program survives a closed pipe at --json without a message, with
// the exit code of the run.
func TestPipeClosed(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "run", "--set", "duration=300ms", "--encoder", "raw", "--json", "--quiet", "--out", out)
	var stderr bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), programEnv+"=1"), w, &stderr
	_ = r.Close()
	err = cmd.Run()
	_ = w.Close()
	if err != nil || stderr.Len() > 0 {
		t.Errorf("%v, %q", err, stderr.String())
	}
	done(t, "replay", out)
}

// BenchmarkFirstChart measures the time from the start of the program to the first chart. The
// test binary runs as the program.
func BenchmarkFirstChart(b *testing.B) {
	var total time.Duration
	for b.Loop() {
		start := time.Now()
		s := startSession(b, b.TempDir())
		s.see("Bandwidth kbps")
		total += time.Since(start)
		s.press("q")
		s.end()
	}
	b.ReportMetric(float64(total.Milliseconds())/float64(b.N), "ms/start")
}

// BenchmarkKeyToScreen measures the time from a key to its effect on the screen: mean and
// maximum.
func BenchmarkKeyToScreen(b *testing.B) {
	s := startSession(b, b.TempDir(), "--theme", "monochrome")
	s.see("LIVE")
	var total, worst time.Duration
	for i := 0; b.Loop(); i++ {
		text := fmt.Sprintf("● loss %d%%", 10+i%80)
		s.press("/loss " + fmt.Sprintf("%d%%", 10+i%80))
		time.Sleep(time.Duration(100+7*i%50) * time.Millisecond) // varying moments between two redraws
		start := time.Now()
		s.press("\r")
		for !strings.Contains(s.screen.shown(), text) {
			time.Sleep(time.Millisecond / 2)
		}
		took := time.Since(start)
		total, worst = total+took, max(worst, took)
	}
	b.ReportMetric(float64(total.Microseconds())/1000/float64(b.N), "ms/key")
	b.ReportMetric(float64(worst.Microseconds())/1000, "ms/worst")
	s.press("q")
	s.end()
}
