package proxyview

import (
	"context"
	"errors"
	"sync"
	"wirelab/cmd/tui/internal/ui"
)

// Run shows the screen until the person leaves or ctx ends; the terminal has been restored
// then. It returns ui.ErrInterrupted after Ctrl-C.
func Run(ctx context.Context, p Proxy, opt ui.Options) error {
	err := ui.Show(ctx, opt, func(opt ui.Options) *ui.Shell { return newModel(p, opt).Shell })
	if errors.Is(err, ui.ErrInterrupted) && ctx.Err() != nil {
		return nil
	}
	return err
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
