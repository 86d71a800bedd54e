package ui

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/live"
	"wirelab/internal/panics"
	"wirelab/internal/testkit"

	"github.com/creack/pty"
)

// terminal is a pseudo-terminal that runs a dashboard.
type terminal struct {
	t       *testing.T
	master  *os.File
	tty     *os.File
	keepTTY bool // do not close tty at the end, because a program that was given up may still use it
	done    chan error
	mu      sync.Mutex
	out     strings.Builder
}

// startTerminal runs the dashboard of a lab in a terminal of 80 x 24.
func startTerminal(ctx context.Context, t *testing.T, lab room.Lab, opt Options) *terminal {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminal here: ", err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, master: master, tty: tty, done: make(chan error, 1)}
	opt.In, opt.Out, opt.Renderer = tty, tty, labtest.PlainRenderer()
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			term.mu.Lock()
			term.out.Write(buf[:n])
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() { term.done <- Run(ctx, lab, opt) }()
	t.Cleanup(func() {
		master.Close()
		if !term.keepTTY {
			tty.Close()
		}
	})
	return term
}

func (term *terminal) text() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.out.String()
}

// waitTimeout is the time limit for waiting in a test.
const waitTimeout = time.Minute

// waitFor waits until a text is on the terminal.
func (term *terminal) waitFor(text string) {
	term.t.Helper()
	for deadline := time.Now().Add(waitTimeout); !strings.Contains(term.text(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			term.t.Fatalf("%q never came; the terminal has %q", text, term.text())
		}
	}
}

func (term *terminal) typeKeys(keys string) {
	if _, err := io.WriteString(term.master, keys); err != nil {
		term.t.Fatal(err)
	}
}

// end waits for Run to return, and checks that the terminal is in its original state.
func (term *terminal) end() error {
	term.t.Helper()
	select {
	case err := <-term.done:
		const leaveAltScreen, showCursor, mouseOff = "\x1b[?1049l", "\x1b[?25h", "\x1b[?1002l"
		for deadline := time.Now().Add(waitTimeout); ; time.Sleep(5 * time.Millisecond) {
			out := term.text()
			if strings.Contains(out, leaveAltScreen) && strings.Contains(out, showCursor) && strings.Contains(out, mouseOff) {
				return err
			}
			if time.Now().After(deadline) {
				term.t.Fatalf("the terminal was not restored: %q", out[max(0, len(out)-300):])
			}
		}
	case <-time.After(waitTimeout):
		term.t.Fatal("the dashboard does not end")
		return nil
	}
}

func TestQuitByKey(t *testing.T) {
	term := startTerminal(context.Background(), t, labtest.NewLab(), Options{})
	term.waitFor("LIVE")
	term.typeKeys("qd")
	if err := term.end(); err != nil {
		t.Errorf("q ends with %v", err)
	}
}

func TestInterruptions(t *testing.T) {
	// Otherwise a signal before Run has installed its handler would end the test program.
	spare := make(chan os.Signal, 8)
	signal.Notify(spare, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(spare)
	for name, interrupt := range map[string]func(*terminal, context.CancelFunc){
		"ctrl-c":  func(term *terminal, _ context.CancelFunc) { term.typeKeys("\x03") },
		"SIGINT":  func(*terminal, context.CancelFunc) { kill(t, syscall.SIGINT) },
		"SIGTERM": func(*terminal, context.CancelFunc) { kill(t, syscall.SIGTERM) },
		"SIGHUP":  func(*terminal, context.CancelFunc) { kill(t, syscall.SIGHUP) },
		"SIGQUIT": func(*terminal, context.CancelFunc) { kill(t, syscall.SIGQUIT) },
		"context": func(_ *terminal, cancel context.CancelFunc) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			dir := t.TempDir()
			term := startTerminal(ctx, t, labtest.NewLab(), Options{CrashDir: dir})
			term.waitFor("LIVE")
			interrupt(term, cancel)
			if err := term.end(); !errors.Is(err, ErrInterrupted) {
				t.Errorf("ends with %v, want ErrInterrupted", err)
			}
			logs, _ := filepath.Glob(filepath.Join(dir, "wirelab-crash-*.log"))
			if len(logs) > 0 != (name == "SIGQUIT") {
				t.Fatalf("stacks are in %v", logs)
			}
			for _, log := range logs {
				if stacks, err := os.ReadFile(log); err != nil || !strings.Contains(string(stacks), "ui.TestInterruptions") {
					t.Errorf("the log lacks the stack of the test: %v\n%s", err, stacks)
				}
			}
		})
	}
}

func kill(t *testing.T, s syscall.Signal) {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Signal(s)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// badLab is a lab that panics or fails on request.
type badLab struct {
	labtest.Lab
	panics, breaks atomic.Bool
}

var errEngine = errors.New("the engine lost its keys")

func (l *badLab) Snapshot() *engine.Snapshot {
	if l.panics.Load() {
		panic("a bug")
	}
	snap := *l.Snap
	if l.breaks.Load() {
		snap.State, snap.Err = engine.Broken, errEngine
	}
	return &snap
}

func TestBrokenSessionEndsTheDashboard(t *testing.T) {
	lab := &badLab{Lab: *labtest.NewLab()}
	term := startTerminal(context.Background(), t, lab, Options{})
	term.waitFor("LIVE")
	lab.breaks.Store(true)
	if err := term.end(); !errors.Is(err, errBroken) || !errors.Is(err, errEngine) {
		t.Errorf("ends with %v, want the engine's error", err)
	}
}

// TestLostPeerKeepsTheDashboard checks that a session whose receiver is gone stays readable, and fails when the user quits.
func TestLostPeerKeepsTheDashboard(t *testing.T) {
	lab := newRemote()
	m := large(lab)
	snap := *lab.Snap
	snap.State, snap.Err = engine.Broken, &engine.NetworkError{To: snap.To, Problem: "the peer closed the session"}
	lab.Snap = &snap
	tick(m, 1)
	press(m, "3")
	for _, want := range []string{"ENDED", "· the peer closed the session"} {
		if view := m.View(); m.Err() != nil || !strings.Contains(view, want) {
			t.Errorf("error %v, the screen lacks %q:\n%s", m.Err(), want, view)
		}
	}
	if press(m, "<"); !m.lab.Past.Active {
		t.Error("no look back")
	}
	if press(m, "end q"); !errors.Is(m.Err(), errBroken) {
		t.Errorf("ends with %v", m.Err())
	}
}

func TestPanicRestoresTheTerminal(t *testing.T) {
	lab, dir := &badLab{Lab: *labtest.NewLab()}, t.TempDir()
	term := startTerminal(context.Background(), t, lab, Options{CrashDir: dir})
	term.waitFor("LIVE")
	lab.panics.Store(true)
	err := term.end()
	if !errors.Is(err, errPanic) || !strings.Contains(err.Error(), "a bug") {
		t.Fatalf("ends with %v, want ErrPanic", err)
	}
	logs, _ := filepath.Glob(filepath.Join(dir, "wirelab-crash-*.log"))
	if len(logs) != 1 || !strings.Contains(err.Error(), logs[0]) {
		t.Fatalf("error %v does not name the log, of which there are %v", err, logs)
	}
	account, readErr := os.ReadFile(logs[0])
	if readErr != nil || !strings.Contains(string(account), "badLab") {
		t.Errorf("the account does not say where it happened: %v\n%s", readErr, account)
	}
}

// panicking is a terminal that panics when the first frame is written to it.
type panicking struct{ frames atomic.Int64 }

func (p *panicking) Write(b []byte) (int, error) {
	if strings.HasPrefix(string(b), "\x1b[H") && p.frames.Add(1) == 1 {
		panic("a bug")
	}
	return len(b), nil
}

// TestPanicOfWriting checks that a panic in the goroutine that writes frames, which belongs to Bubble Tea, ends
// the dashboard with an error.
func TestPanicOfWriting(t *testing.T) {
	in, _ := io.Pipe()
	err := Run(context.Background(), labtest.NewLab(), Options{In: in, Out: &panicking{}, Renderer: labtest.PlainRenderer()})
	if !errors.Is(err, errPanic) || !errors.As(err, new(*panics.Error)) {
		t.Errorf("ends with %v, want a panic", err)
	}
}

// TestPanicOfReading does the same for the goroutine that reads keys.
func TestPanicOfReading(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, _ = io.WriteString(w, "\x1b[1;1R")
	w.Close()
	var reported error
	f := &replyFilter{File: r, report: func(bool) { panic("a bug") }, onPanic: func(err error) { reported = err }}
	f.expected.Store(true)
	if _, err := f.Read(make([]byte, 100)); err == nil || err != reported {
		t.Errorf("Read returns %v and reports %v", err, reported)
	}
}

func TestTypingInATerminal(t *testing.T) {
	lab := &lockedLab{Lab: *labtest.NewLab()}
	term := startTerminal(context.Background(), t, lab, Options{})
	term.waitFor("LIVE")
	term.typeKeys("/")
	term.waitFor("complete")
	term.typeKeys("loss 7%\r")
	testkit.WaitFor(t, "loss 7%", func() bool { return lab.spell() == "loss 7%" })
	term.typeKeys("qd")
	if err := term.end(); err != nil {
		t.Error(err)
	}
}

// lockedLab is a lab whose commands can be read while the dashboard runs.
type lockedLab struct {
	mu sync.Mutex
	labtest.Lab
}

func (l *lockedLab) Do(c live.Command) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Lab.Do(c)
}

func (l *lockedLab) spell() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return spell(l.Got)
}
