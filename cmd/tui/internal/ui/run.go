package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"wirelab/cmd/tui/internal/repaint"
	"wirelab/cmd/tui/internal/room"
	"wirelab/internal/panics"
)

// Run shows the dashboard of a lab until the user quits; see Show.
func Run(ctx context.Context, lab room.Lab, opt Options) error {
	return Show(ctx, opt, func(opt Options) *Shell { return newDashboard(lab, opt).Shell })
}

// Show shows a screen until the user quits. open makes the screen; its options have Out and
// Renderer set. Show returns nil after a normal quit, otherwise an error that wraps ErrInterrupted,
// errBroken or errPanic. The terminal is restored in all cases.
func Show(ctx context.Context, opt Options, open func(Options) *Shell) error {
	if opt.Out == nil {
		opt.Out = os.Stdout
	}
	in := &replyFilter{File: os.Stdin}
	if opt.Renderer == nil {
		opt.Renderer = newRenderer(opt.Out)
		in.expected.Store(opt.In == nil && opt.Out == os.Stdout && canQuery(opt.Renderer))
	}
	s := open(opt)
	var p *tea.Program
	bugs := make(chan error, 8) // the first panics in goroutines that Bubble Tea does not recover
	onPanic := func(err error) {
		select {
		case bugs <- err:
		default:
		}
		p.Kill()
	}
	in.onPanic = onPanic
	out := repaint.New(opt.Out)
	out.OnPanic = onPanic
	s.output.written, s.sendFirst = out.Written, out.SendFirst
	options := []tea.ProgramOption{tea.WithOutput(out.File()), tea.WithAltScreen(), tea.WithMouseCellMotion(), tea.WithoutSignalHandler()}
	if opt.In != nil {
		options = append(options, tea.WithInput(opt.In))
	} else if in.expected.Load() { // query the background, and delay the first drawing until the reply
		options = append(options, tea.WithInput(in))
		out.SendFirst(backgroundQuery)
		s.startDelay.ticks = maxWaitTicks
	}
	p = tea.NewProgram(s, options...)
	in.report = func(dark bool) { p.Send(backgroundMsg{dark}) }
	restore := terminalState(opt)
	interruption := watchSignals(ctx, p, opt.CrashDir, onPanic)
	ended := make(chan error, 1)
	go func() {
		ended <- panics.Call(func() error {
			last, err := p.Run()
			if shell, ok := last.(*Shell); ok { // the shell of a run that was opened replaces the first one
				s = shell
			}
			return err
		})
	}()
	var err error
	select {
	case err = <-ended:
		interruption.stop()
	case <-interruption.stuck:
		restore()
		return fmt.Errorf("%w: the screen does not respond", ErrInterrupted)
	}
	select {
	case text := <-interruption.stacks:
		fmt.Fprintln(os.Stderr, text)
	case err := <-bugs:
		return fmt.Errorf("%w: %w", errPanic, err)
	default:
	}
	switch {
	case s.Err() != nil:
		return s.Err()
	case errors.Is(err, tea.ErrProgramPanic), errors.As(err, new(*panics.Error)):
		return fmt.Errorf("%w: %w", errPanic, err)
	case err != nil: // killed at a second signal
		return fmt.Errorf("%w: %w", ErrInterrupted, err)
	}
	return nil
}

// terminalState records the mode of the terminal from which opt reads. The returned function restores the mode,
// and leaves the alternate screen within restoreTimeout unless the terminal accepts no output. It is for the
// case that Bubble Tea, which normally does this, does not respond.
func terminalState(opt Options) (restore func()) {
	in, ok := opt.In.(*os.File)
	if !ok {
		in = os.Stdin
	}
	mode, modeErr := term.GetState(int(in.Fd()))
	return func() {
		if modeErr == nil {
			_ = term.Restore(int(in.Fd()), mode)
		}
		written := make(chan struct{})
		go panics.Guard(func(error) {}, func() {
			defer close(written)
			_, _ = io.WriteString(opt.Out, ansi.ResetModeBracketedPaste+ansi.ResetModeMouseButtonEvent+ansi.ResetModeMouseExtSgr+
				ansi.ResetModeAltScreenSaveCursor+ansi.ShowCursor)
		})()
		select {
		case <-written:
		case <-time.After(restoreTimeout):
		}
	}
}

const (
	quitTimeout    = 3 * time.Second // from a signal to the end of the program; then it counts as stuck
	restoreTimeout = time.Second / 2 // for the output that restores a terminal
)

// newRenderer returns a renderer with the colours of the terminal at out and the background
// according to the environment.
func newRenderer(out io.Writer) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(out)
	r.SetHasDarkBackground(isDarkByEnv())
	return r
}

// An interruption is the state of watchSignals.
type interruption struct {
	stop   func()          // ends the watch
	stuck  <-chan struct{} // closed if the program has not ended quitTimeout after a signal
	stacks <-chan string   // receives, after SIGQUIT, the sentence that names the log with the stacks
}

// watchSignals sends the program interruptMsg when a signal arrives or ctx ends, and kills it at a second signal.
// If the signal is SIGQUIT, it also writes the stacks of all goroutines to a log in crashDir. onPanic is called if
// one of its goroutines panics.
func watchSignals(ctx context.Context, p *tea.Program, crashDir string, onPanic func(error)) interruption {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	done, stuck, stacks := make(chan struct{}), make(chan struct{}), make(chan string, 1)
	go panics.Guard(onPanic, func() {
		select {
		case <-done:
			return
		case <-ctx.Done():
		case s := <-signals:
			switch s {
			case syscall.SIGHUP: // a closed window sends several of these, and the run must still be saved
				signal.Ignore(syscall.SIGHUP)
			case syscall.SIGQUIT:
				stacks <- "ended by SIGQUIT" + storeStack(crashDir, s, allStacks())
			}
		}
		go panics.Guard(onPanic, func() { p.Send(interruptMsg{}) })() // Send blocks while the program is busy
		timeout := time.After(quitTimeout)
		for {
			select {
			case <-done:
				return
			case <-signals:
				p.Kill()
			case <-timeout:
				p.Kill()
				signal.Stop(signals) // the next signal ends the program
				close(stuck)
				return
			}
		}
	})()
	return interruption{stuck: stuck, stacks: stacks, stop: func() {
		signal.Stop(signals)
		close(done)
	}}
}

// allStacks returns the stacks of all goroutines, at most 16 MB.
func allStacks() []byte {
	stacks := make([]byte, 16<<20)
	return stacks[:runtime.Stack(stacks, true)]
}
