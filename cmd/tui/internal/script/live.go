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
	reshape func(relay.Conditions) (time.Duration, error) // see NewLive

	mu       sync.Mutex
	now      state           // replaced as a whole by each change
	undoable []undoStep      // oldest first
	redoable []undoStep      // the step to redo next is the last
	changes  []AppliedChange // applied so far, at most maxChanges
}

// AppliedChange is an applied change and the client that it applies to.
type AppliedChange struct {
	config.StampedChange
	Client int `json:"client,omitempty"` // number of the client in the order of joining; 0 means all
}

// Label describes the change briefly: "client 2: undo: down loss 5%".
func (c *AppliedChange) Label() string {
	label := c.Change.Label()
	if c.Undo {
		label = "undo: " + label
	}
	if c.Client > 0 {
		label = fmt.Sprintf("client %d: %s", c.Client, label)
	}
	return label
}

// state contains all settings at one moment. It is immutable.
type state struct {
	configForAll *config.Config       // for clients without conditions of their own
	clients      map[int]clientChange // changes by the user for single clients, by number
}

// clientChange is all changes by the user for one client, combined.
type clientChange struct {
	client relay.Client
	change config.Change
}

// undoStep is a change that can be undone.
type undoStep struct {
	client        relay.Client  // zero for a change for all clients
	touches       string        // the setting that was changed, see config.Change.Touches
	at            time.Duration // when the change took effect
	before, after state
}

// mergeWindow is the time within which changes of the same setting become one undo step.
const mergeWindow = time.Second

// NewLive returns the links of a script. reshape applies new conditions to the relay and returns
// the time at which they take effect.
func NewLive(s *Script, reshape func(relay.Conditions) (time.Duration, error)) *Live {
	return &Live{Script: s, reshape: reshape, now: state{configForAll: s.Base, clients: map[int]clientChange{}}}
}

// Config returns the settings for a client or, for the zero client, for clients without
// conditions of their own. The caller must not modify them.
func (l *Live) Config(client relay.Client) *config.Config {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, err := l.now.configFor(l.Script, client)
	if err != nil { // cannot happen: check has validated all combinations
		return l.now.configForAll
	}
	return c
}

// Changes returns the changes so far, by the script and by the user, without the first n.
func (l *Live) Changes(n int) []AppliedChange {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.changes[min(n, len(l.changes)):])
}

// DefaultLinks returns the links of clients without conditions of their own.
func (l *Live) DefaultLinks() (up, down lossmodel.Spec) {
	c := l.Config(relay.Client{})
	return c.Up, c.Down
}

// configFor returns the settings of a client: those for all, changed first by the matching
// [[client]] entries of the configuration and then by the user's changes for this client. The zero
// client has the settings for all. It fails if the combination is invalid.
func (s state) configFor(script *Script, client relay.Client) (c *config.Config, err error) {
	c = s.configForAll
	if client.Number == 0 {
		return c, nil
	}
	for i := range script.Base.Clients {
		if entry := &script.Base.Clients[i]; entry.Matches(client.Addr.Addr(), client.Number) {
			if c, err = c.WithChange(entry.Change); err != nil {
				return nil, err
			}
		}
	}
	if ch := s.clients[client.Number].change; !ch.IsZero() {
		return c.WithChange(ch)
	}
	return c, nil
}

// check validates the settings of all clients with conditions of their own: those that match a
// [[client]] entry, and those that the user has changed. It also fails if a file that the settings name,
// such as a trace, cannot be used; PinFiles reads it.
func (s state) check(script *Script) error {
	if err := script.checkClients(s.configForAll); err != nil {
		return fmt.Errorf("not valid for a client with conditions of its own: %w", err)
	}
	for _, number := range slices.Sorted(maps.Keys(s.clients)) { // in order, so that the same error is reported each time
		byUser := s.clients[number]
		if byUser.change.IsZero() {
			continue
		}
		c, err := s.configFor(script, byUser.client)
		if err == nil {
			err = c.PinFiles()
		}
		if err != nil {
			return fmt.Errorf("not valid for client %d, which has conditions of its own: %w", number, err)
		}
	}
	return nil
}

// Conditions returns the function from which a relay gets the current links of each client.
func (l *Live) Conditions() relay.Conditions {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conditions()
}

// conditions is Conditions for callers that hold l.mu. The function uses the state of this moment,
// which is immutable, and needs no lock.
func (l *Live) conditions() relay.Conditions {
	now := l.now
	return func(client relay.Client) (up, down lossmodel.Spec) {
		c, err := now.configFor(l.Script, client)
		if err != nil { // cannot happen: check has validated all combinations
			c = now.configForAll
		}
		return c.Up, c.Down
	}
}

// Change changes the links of a client or, for the zero client, of all. It returns the time at
// which the change takes effect. The change can be undone; changes that were undone before can no
// longer be redone. After an error the settings are unchanged.
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
	step := undoStep{client: client, touches: ch.TouchedKeys(), at: at, before: previous, after: l.now}
	if step.touches == "" { // the change sets nothing, such as a mark: there is nothing to undo
		return at, nil
	}
	if n := len(l.undoable); n > 0 {
		last := l.undoable[n-1]
		if last.client == client && last.touches == step.touches && at-last.at < mergeWindow { // merge both
			step.before, l.undoable = last.before, l.undoable[:n-1]
		}
	}
	l.undoable = append(l.undoable, step)
	l.undoable = l.undoable[max(len(l.undoable)-maxUndoSteps, 0):]
	return at, nil
}

// maxUndoSteps and maxChanges bound the memory of a proxy that runs for days: of the changes that
// can be undone, and of those that Changes returns.
const maxUndoSteps, maxChanges = 200, 100_000

// after returns the state after a change for a client or, for the zero client, for all. It fails
// if settings would be invalid. The mark of a change for one client is not stored with its
// settings.
func (s state) after(script *Script, client relay.Client, ch config.Change) (next state, err error) {
	next = s
	if client.Number == 0 {
		if next.configForAll, err = s.configForAll.WithChange(ch); err == nil {
			err = next.configForAll.PinFiles()
		}
		if err != nil {
			return s, err
		}
		return next, next.check(script)
	}
	next.clients = maps.Clone(s.clients)
	next.clients[client.Number] = clientChange{client, s.clients[client.Number].change.Merge(ch.WithMark(""))}
	return next, next.check(script)
}

// apply makes next the current state, passes its conditions to the relay, and adds ch to the
// changes. It returns the time at which the change takes effect. If the relay refuses the
// conditions, apply restores the previous ones.
func (l *Live) apply(next state, client relay.Client, ch config.Change) (time.Duration, error) {
	previous := l.now
	l.now = next
	at, err := l.reshape(l.conditions())
	if err != nil {
		l.now = previous
		_, _ = l.reshape(l.conditions()) // the previous conditions were accepted before
		return at, err
	}
	if len(l.changes) < maxChanges {
		l.changes = append(l.changes, AppliedChange{config.Stamp(at, ch), client.Number})
	}
	return at, nil
}

// Undo undoes the last change, by the user or by the script, and returns the change that was
// applied. It returns nil, nil without a change to undo.
func (l *Live) Undo() (*AppliedChange, error) {
	const isRedo = false
	return l.restore(&l.undoable, &l.redoable, isRedo)
}

// Redo applies the last undone change again; see Undo.
func (l *Live) Redo() (*AppliedChange, error) {
	const isRedo = true
	return l.restore(&l.redoable, &l.undoable, isRedo)
}

// restore applies the state of the last step in from: the one before the change or, if isRedo is
// set, the one after it. It moves the step to the end of list to, and returns the applied change, or
// nil, nil if list from is empty. After an error nothing is changed.
func (l *Live) restore(from, to *[]undoStep, isRedo bool) (*AppliedChange, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(*from)
	if n == 0 {
		return nil, nil
	}
	step := (*from)[n-1]
	next := step.before
	if isRedo {
		next = step.after
	}
	var ch config.Change         // from the current settings to those of next
	if step.client.Number == 0 { // the change was for all clients
		ch = next.configForAll.Undo(l.now.configForAll)
	} else {
		current, currentErr := l.now.configFor(l.Script, step.client)
		target, targetErr := next.configFor(l.Script, step.client)
		if currentErr == nil && targetErr == nil { // always, because check has validated both states
			ch = target.Undo(current)
		}
	}
	if _, err := l.apply(next, step.client, ch); err != nil {
		return nil, err
	}
	*from, *to = (*from)[:n-1], append(*to, step)
	made := AppliedChange{config.Stamp(0, ch), step.client.Number}
	if n := len(l.changes); n > 0 { // apply has recorded the change, with its time
		l.changes[n-1].Undo = !isRedo
		made = l.changes[n-1]
	}
	return &made, nil
}

// Play applies the changes of the script at their times until quit is closed. start is the start of the relay. The
// times of the script count from offset after it. Play calls report after each change, with the time since start
// at which the change took effect or, if err is not nil, at which it should have.
func (l *Live) Play(start time.Time, offset time.Duration, quit <-chan struct{}, report func(at time.Duration, ch config.Change, err error)) {
	for _, change := range l.Script.Changes {
		timer := time.NewTimer(time.Until(start.Add(offset + change.T)))
		select {
		case <-quit:
			timer.Stop()
			return
		case <-timer.C:
		}
		at, err := l.Change(relay.Client{}, change.Change)
		if err != nil {
			at = offset + change.T
		}
		report(at, change.Change, err)
	}
}
