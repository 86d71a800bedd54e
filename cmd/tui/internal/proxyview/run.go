package proxyview

import (
	"context"
	"errors"
	"sync"
	"wirelab/cmd/tui/internal/ui"
)

// Run shows the screen until the user quits or ctx ends, and restores the terminal before it
// returns. It returns ui.ErrInterrupted after Ctrl-C, but nil if ctx ended, because the caller ended it.
func Run(ctx context.Context, p Proxy, opt ui.Options) error {
	err := ui.Show(ctx, opt, func(opt ui.Options) *ui.Shell { return newModel(p, opt).Shell })
	if errors.Is(err, ui.ErrInterrupted) && ctx.Err() != nil {
		return nil
	}
	return err
}

// Notes collects messages for the user of the screen. It is safe for concurrent use.
type Notes struct {
	mu   sync.Mutex
	list []string
}

// maxNotes bounds the memory of Notes; later messages are dropped.
const maxNotes = 1000

// Add adds a message.
func (n *Notes) Add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.list) < maxNotes {
		n.list = append(n.list, text)
	}
}

// All returns a copy of all messages, oldest first.
func (n *Notes) All() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.list...)
}
