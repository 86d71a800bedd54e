package sweepview

import (
	"context"
	"errors"
	"fmt"
	"os"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"wirelab/cmd/tui/internal/repaint"
	"wirelab/experiment/sweep"
)

// Run shows the screen until the person leaves or ctx ends; the terminal has been restored
// then.
func Run(ctx context.Context, w *sweep.Watch, opt Options) error {
	if opt.Renderer == nil {
		opt.Renderer = lipgloss.NewRenderer(os.Stdout)
		opt.Renderer.SetHasDarkBackground(opt.Dark)
	}
	p := tea.NewProgram(New(w, opt), tea.WithOutput(repaint.New(os.Stdout).File()), tea.WithAltScreen(), tea.WithoutSignalHandler())
	stop := context.AfterFunc(ctx, p.Quit)
	defer stop()
	if _, err := p.Run(); err != nil && !errors.Is(err, tea.ErrInterrupted) {
		return fmt.Errorf("the screen of the sweep: %w", err)
	}
	return nil
}
