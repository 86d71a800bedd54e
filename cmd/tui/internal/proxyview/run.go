package proxyview

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"wirelab/cmd/tui/internal/repaint"
)

// ErrInterrupted says that the person did not leave by q.
var ErrInterrupted = errors.New("interrupted")

// Run shows the screen until the person leaves or ctx ends; the terminal has been restored
// then. It returns ErrInterrupted after Ctrl-C.
func Run(ctx context.Context, p Proxy, opt Options) error {
	if opt.Renderer == nil {
		opt.Renderer = lipgloss.NewRenderer(os.Stdout)
		opt.Renderer.SetHasDarkBackground(opt.Dark)
	}
	m := New(p, opt)
	program := tea.NewProgram(m, tea.WithOutput(repaint.New(os.Stdout).File()), tea.WithAltScreen(), tea.WithoutSignalHandler())
	stop := context.AfterFunc(ctx, program.Quit)
	defer stop()
	if _, err := program.Run(); err != nil && !errors.Is(err, tea.ErrInterrupted) {
		return fmt.Errorf("the screen of the proxy: %w", err)
	}
	if m.interrupted {
		return ErrInterrupted
	}
	return nil
}

// Notes are remarks for the person in front of the screen. Any goroutine may add one.
type Notes struct {
	mu   sync.Mutex
	list []string
}

// mostNotes bounds them.
const mostNotes = 1000

// Say adds a remark.
func (n *Notes) Say(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.list) < mostNotes {
		n.list = append(n.list, text)
	}
}

// All returns all remarks.
func (n *Notes) All() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.list...)
}
