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
	out := repaint.New(opt.Out)
	s.output.written = out.Written
	options := []tea.ProgramOption{tea.WithOutput(out.File()), tea.WithAltScreen(), tea.WithMouseCellMotion(), tea.WithoutSignalHandler()}
	if opt.In != nil {
		options = append(options, tea.WithInput(opt.In))
	} else if in.expected.Load() { // query the background, and delay the first drawing until the reply
		options = append(options, tea.WithInput(in))
		out.SendFirst(backgroundQuery)
		s.startDelay.ticks = maxWaitTicks
	}
	p := tea.NewProgram(s, options...)
	in.report = func(dark bool) { p.Send(backgroundMsg{dark}) }
	signalPanics := make(chan error, 2) // at most one panic of each of the two goroutines of watchSignals
	stop := watchSignals(ctx, p, func(err error) {
		signalPanics <- err
		p.Kill()
	})
	_, err := p.Run()
	stop()
	select {
	case err := <-signalPanics:
		return fmt.Errorf("%w: %w", errPanic, err)
	default:
	}
	switch {
	case s.Err() != nil:
		return s.Err()
	case errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("%w: %w", errPanic, err)
	case err != nil: // killed at a second signal
		return fmt.Errorf("%w: %w", ErrInterrupted, err)
	}
	return nil
}

// newRenderer returns a renderer with the colours of the terminal at out and the background
// according to the environment.
func newRenderer(out io.Writer) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(out)
	r.SetHasDarkBackground(isDarkByEnv())
	return r
}

// watchSignals sends the program interruptMsg when a signal arrives or ctx ends, and kills it at a
// second signal. onPanic is called if one of its goroutines panics. stop ends the watch.
func watchSignals(ctx context.Context, p *tea.Program, onPanic func(error)) (stop func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go panics.Guard(onPanic, func() {
		select {
		case <-done:
			return
		case <-ctx.Done():
		case s := <-signals:
			if s == syscall.SIGHUP { // a closed window sends several of these, and the run must still be saved
				signal.Ignore(syscall.SIGHUP)
			}
		}
		go panics.Guard(onPanic, func() { p.Send(interruptMsg{}) })() // Send blocks while the program is busy
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
