package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"wirelab/cmd/tui/internal/repaint"
	"wirelab/cmd/tui/internal/room"
	"wirelab/internal/panics"
)

// Run shows the dashboard of a lab until the person leaves, as Show does.
func Run(ctx context.Context, lab room.Lab, opt Options) error {
	return Show(ctx, opt, func(opt Options) *Shell { return newDashboard(lab, opt).Shell })
}

// Show shows a screen until the person leaves. It returns nil for a normal
// quit, else an error that wraps ErrInterrupted, ErrBroken or ErrPanic; whatever
// it returns, the terminal has been restored.
func Show(ctx context.Context, opt Options, open func(Options) *Shell) error {
	if opt.Out == nil {
		opt.Out = os.Stdout
	}
	in := &answers{File: os.Stdin}
	if opt.Renderer == nil {
		opt.Renderer = rendererOf(opt.Out)
		in.due.Store(opt.In == nil && opt.Out == os.Stdout && canQuery(opt.Renderer))
	}
	s := open(opt)
	out := repaint.New(opt.Out)
	s.output.written = out.Written
	options := []tea.ProgramOption{tea.WithOutput(out.File()), tea.WithAltScreen(), tea.WithMouseCellMotion(), tea.WithoutSignalHandler()}
	if opt.In != nil {
		options = append(options, tea.WithInput(opt.In))
	} else if in.due.Load() {
		options = append(options, tea.WithInput(in))
		out.First(ask)
		s.patience.ticks = patientTicks
	}
	p := tea.NewProgram(s, options...)
	in.report = func(dark bool) { p.Send(groundMsg{dark}) }
	bugs := make(chan error, 2)
	stop := leaveOnSignal(ctx, p, func(bug error) {
		bugs <- bug
		p.Kill()
	})
	_, err := p.Run()
	stop()
	select {
	case bug := <-bugs:
		return fmt.Errorf("%w: %w", errPanic, bug)
	default:
	}
	switch {
	case s.Err() != nil:
		return s.Err()
	case errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("%w: %w", errPanic, err)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrInterrupted, err)
	}
	return nil
}

// rendererOf paints as the terminal behind out can, on the ground that the environment
// tells of.
func rendererOf(out io.Writer) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(out)
	r.SetHasDarkBackground(darkByName())
	return r
}

// leaveOnSignal asks the program to leave when a signal comes or ctx ends, and
// makes it leave if a second signal finds it still there. The function that it
// returns ends the watch. broken is called with a panic.
func leaveOnSignal(ctx context.Context, p *tea.Program, broken func(error)) (stop func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go panics.Guard(broken, func() {
		select {
		case <-done:
			return
		case <-ctx.Done():
		case s := <-signals:
			if s == syscall.SIGHUP { // a window that closes sends several; the run is still to be saved
				signal.Ignore(syscall.SIGHUP)
			}
		}
		go panics.Guard(broken, func() { p.Send(interruptMsg{}) })()
		select {
		case <-done:
		case <-signals:
			p.Kill()
		}
	})()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}
