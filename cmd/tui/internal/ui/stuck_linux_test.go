package ui

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/experiment/engine"

	"golang.org/x/sys/unix"
)

// TestTerminalThatAcceptsNothing stops the output of the terminal, as a frozen connection does, so that writing
// blocks forever. A signal must still end Run, with the mode of the terminal restored, so that the caller can save
// the run.
func TestTerminalThatAcceptsNothing(t *testing.T) {
	spare := make(chan os.Signal, 8)
	signal.Notify(spare, syscall.SIGTERM)
	defer signal.Stop(spare)
	term := startTerminal(context.Background(), t, labtest.NewLab(), Options{})
	term.keepTTY = true
	fd := int(term.tty.Fd())
	term.waitFor("LIVE")
	raw, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil || raw.Lflag&unix.ICANON != 0 {
		t.Fatalf("not in raw mode: %v", err)
	}
	if err := unix.IoctlSetInt(fd, unix.TCXONC, unix.TCOOFF); err != nil {
		t.Fatal(err)
	}
	term.typeKeys("?") // the help cannot be written
	kill(t, syscall.SIGTERM)
	select {
	case err := <-term.done:
		if !errors.Is(err, ErrInterrupted) {
			t.Errorf("ends with %v, want ErrInterrupted", err)
		}
	case <-time.After(waitTimeout):
		t.Fatal("the dashboard does not end")
	}
	if mode, err := unix.IoctlGetTermios(fd, unix.TCGETS); err != nil || mode.Lflag&unix.ICANON == 0 {
		t.Errorf("the terminal stays in raw mode: %v", err)
	}
	if err := unix.IoctlSetInt(fd, unix.TCXONC, unix.TCOON); err != nil {
		t.Fatal(err)
	}
	term.waitFor("\x1b[?1049l")
	if strings.Count(term.text(), "\x1b[?1049h") != 1 {
		t.Error("the alternate screen was entered again")
	}
}

// stuckLab is a lab whose Snapshot does not return once stuck is set.
type stuckLab struct {
	labtest.Lab
	stuck   atomic.Bool
	once    sync.Once
	asked   chan struct{} // closed when Snapshot blocks
	release chan struct{}
}

func (l *stuckLab) Snapshot() *engine.Snapshot {
	if l.stuck.Load() {
		l.once.Do(func() { close(l.asked) })
		<-l.release
	}
	return l.Lab.Snapshot()
}

// TestScreenThatDoesNotRespond checks that a signal ends Run although an Update of the screen never returns, and
// that the terminal is restored.
func TestScreenThatDoesNotRespond(t *testing.T) {
	spare := make(chan os.Signal, 8)
	signal.Notify(spare, syscall.SIGTERM)
	defer signal.Stop(spare)
	lab := &stuckLab{Lab: *labtest.NewLab(), asked: make(chan struct{}), release: make(chan struct{})}
	defer close(lab.release)
	term := startTerminal(context.Background(), t, lab, Options{})
	term.keepTTY = true
	term.waitFor("LIVE")
	lab.stuck.Store(true)
	<-lab.asked
	kill(t, syscall.SIGTERM)
	if err := term.end(); !errors.Is(err, ErrInterrupted) {
		t.Errorf("ends with %v, want ErrInterrupted", err)
	}
}
