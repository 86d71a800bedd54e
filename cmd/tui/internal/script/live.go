package script

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"wirelab/experiment/config"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"
)

// Live contains the current settings of the links of a running proxy: those of the script, and
// changes by the user for all clients or for a single one. It is safe for concurrent use.
type Live struct {
	Script  *Script
	reshape func(relay.Conditions) (time.Duration, error)

	mu       sync.Mutex
	now      state // replaced as a whole by each change
	undoable []undoStep
	redoable []undoStep
	changes  []Made
}

// Made is an applied change and the client that it applies to.
type Made struct {
	config.StampedChange
	Client int `json:"client,omitempty"` // number of the client in the order of joining; 0 means all
}

// state contains all settings at one moment. It is immutable.
type state struct {
	all     *config.Config
	clients map[int]clientChange // changes by the user for single clients, by number
}

// clientChange is the sum of all changes for one client.
type clientChange struct {
	who    relay.Client
	change config.Change
}

// undoStep is a change that can be undone.
type undoStep struct {
	client        relay.Client
	touches       string // the setting that was changed, see config.Change.Touches
	at            time.Duration
	before, after state
}

// mergeWindow is the time within which changes of the same setting become one undo step.
const mergeWindow = time.Second

// NewLive returns the links of a script. reshape applies new conditions to the relay and returns
// the time at which they take effect.
func NewLive(s *Script, reshape func(relay.Conditions) (time.Duration, error)) *Live {
	return &Live{Script: s, reshape: reshape, now: state{all: s.Base, clients: map[int]clientChange{}}}
}

// Config returns the settings for a client or, for the zero client, for clients without
// conditions of their own. The caller must not modify them.
func (l *Live) Config(client relay.Client) *config.Config {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, err := l.now.configFor(l.Script, client)
	if err != nil {
		return l.now.all
	}
	return c
}

// Changes returns the changes so far, by the script and by the user, starting with number n.
func (l *Live) Changes(n int) []Made {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.changes[min(n, len(l.changes)):])
}

// DefaultLinks returns the links of clients without conditions of their own.
func (l *Live) DefaultLinks() (up, down lossmodel.Spec) {
	c := l.Config(relay.Client{})
	return c.Up, c.Down
}

// configFor returns the settings of a client: those for all, changed by the matching [[client]]
// entries and by the user's changes for this client.
func (s state) configFor(script *Script, who relay.Client) (c *config.Config, err error) {
	c = s.all
	if who.Turn == 0 {
		return c, nil
	}
	for i := range script.Base.Clients {
		if client := &script.Base.Clients[i]; client.In(who.Addr.Addr(), who.Turn) {
			if c, err = c.After(client.Change); err != nil {
				return nil, err
			}
		}
	}
	if ch := s.clients[who.Turn].change; !ch.IsZero() {
		return c.After(ch)
	}
	return c, nil
}

// check returns an error if the settings of a client with conditions of its own would be invalid.
func (s state) check(script *Script) error {
	if err := script.checkClients(s.all); err != nil {
		return fmt.Errorf("not for a client with conditions of its own: %w", err)
	}
	for _, turn := range slices.Sorted(maps.Keys(s.clients)) { // the error is about the first client
		own := s.clients[turn]
		if own.change.IsZero() {
			continue
		}
		c, err := s.configFor(script, own.who)
		if err == nil {
			err = c.Pin()
		}
		if err != nil {
			return fmt.Errorf("not for client %d, which has conditions of its own: %w", turn, err)
		}
	}
	return nil
}

// Conditions returns the function that gives a relay the current links of each client.
func (l *Live) Conditions() relay.Conditions {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conditions()
}

func (l *Live) conditions() relay.Conditions {
	now := l.now
	return func(who relay.Client) (up, down lossmodel.Spec) {
		c, err := now.configFor(l.Script, who)
		if err != nil { // cannot happen: check has validated all combinations
			c = now.all
		}
		return c.Up, c.Down
	}
}

// Change changes the links of a client or, for the zero client, of all. It returns the time at
// which the change takes effect. After an error the settings are unchanged.
func (l *Live) Change(client relay.Client, ch config.Change) (time.Duration, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next, err := l.now.after(l.Script, client, ch)
	if err != nil {
		return 0, err
	}
	previous := l.now
	at, err := l.apply(next, client, ch)
	if err != nil {
		return at, err
	}
	l.redoable = nil
	s := undoStep{client: client, touches: ch.Touches(), at: at, before: previous, after: l.now}
	// Merge the step with the last one if both change the same setting within mergeWindow.
	if n := len(l.undoable); n > 0 && s.touches != "" && l.undoable[n-1].client == client && l.undoable[n-1].touches == s.touches && at-l.undoable[n-1].at < mergeWindow {
		s.before, l.undoable = l.undoable[n-1].before, l.undoable[:n-1]
	}
	if s.touches != "" {
		l.undoable = append(l.undoable, s)
		l.undoable = l.undoable[max(len(l.undoable)-maxUndoSteps, 0):]
	}
	return at, nil
}

// maxUndoSteps and mostChanges bound what is remembered.
const maxUndoSteps, maxChanges = 200, 100_000

// after is what holds after a change; nothing is done yet.
func (s state) after(script *Script, client relay.Client, ch config.Change) (next state, err error) {
	next = s
	if client.Turn == 0 {
		if next.all, err = s.all.After(ch); err == nil {
			err = next.all.Pin()
		}
		if err != nil {
			return s, err
		}
		return next, next.check(script)
	}
	next.clients = maps.Clone(s.clients)
	next.clients[client.Turn] = clientChange{client, s.clients[client.Turn].change.Then(ch.WithMark(""))}
	return next, next.check(script)
}

// apply makes next the current state and records the change.
func (l *Live) apply(next state, client relay.Client, ch config.Change) (time.Duration, error) {
	previous := l.now
	l.now = next
	at, err := l.reshape(l.conditions())
	if err != nil {
		l.now = previous
		_, _ = l.reshape(l.conditions())
		return at, err
	}
	if len(l.changes) < maxChanges {
		l.changes = append(l.changes, Made{config.Stamp(at, ch), client.Turn})
	}
	return at, nil
}

// Undo undoes the last change, by the user or by the script, and returns the change that was
// applied. It returns nil, nil without a change to undo.
func (l *Live) Undo() (*Made, error) { return l.restore(&l.undoable, &l.redoable, false) }

// Redo applies the last undone change again; see Undo.
func (l *Live) Redo() (*Made, error) { return l.restore(&l.redoable, &l.undoable, true) }

// restore moves the last step from one list to the other and restores its state: before the
// change or, if isRedo is set, after it.
func (l *Live) restore(from, to *[]undoStep, isRedo bool) (*Made, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(*from)
	if n == 0 {
		return nil, nil
	}
	s := (*from)[n-1]
	next := s.before
	if isRedo {
		next = s.after
	}
	var inverse config.Change // the change from the current settings to those of next
	if s.client.Turn == 0 {
		inverse = next.all.Undo(l.now.all)
	} else {
		is, err := l.now.configFor(l.Script, s.client)
		then, err2 := next.configFor(l.Script, s.client)
		if err == nil && err2 == nil {
			inverse = then.Undo(is)
		}
	}
	if _, err := l.apply(next, s.client, inverse); err != nil {
		return nil, err
	}
	*from, *to = (*from)[:n-1], append(*to, s)
	made := Made{config.Stamp(0, inverse), s.client.Turn}
	if k := len(l.changes); k > 0 {
		l.changes[k-1].Undo = !isRedo
		made = l.changes[k-1]
	}
	return &made, nil
}

// Play applies the changes of the script at their times, relative to start, until quit is closed.
// It calls report after each change.
func (l *Live) Play(start time.Time, quit <-chan struct{}, report func(at time.Duration, ch config.Change, err error)) {
	for _, change := range l.Script.Changes {
		timer := time.NewTimer(time.Until(start.Add(change.T)))
		select {
		case <-quit:
			timer.Stop()
			return
		case <-timer.C:
		}
		at, err := l.Change(relay.Client{}, change.Change)
		if err != nil {
			at = change.T
		}
		report(at, change.Change, err)
	}
}
