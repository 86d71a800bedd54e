package sweep

import (
	"encoding/json"
	"fmt"
	"sync"

	"wirelab/internal/panics"

	"github.com/nats-io/nats.go"
)

// workerSet holds the workers of a sweep that have sent a hello recently.
type workerSet struct {
	s   *activeSweep
	sub *nats.Subscription // to hellos

	mu      sync.Mutex
	missed  map[string]int  // by name of a worker: checks since its last hello or result
	notices map[string]bool // notices for the user; each is reported once
}

// Bounds of a workerSet: the number of workers, and of notices to the user.
const (
	maxWorkers = 10_000
	maxNotes   = 10_000
)

// newWorkerSet returns an empty set, to which workers are added when they send a hello. The caller must
// unsubscribe sub after use.
func newWorkerSet(q *queue, s *activeSweep) (*workerSet, error) {
	c := &workerSet{s: s, missed: map[string]int{}, notices: map[string]bool{}}
	var err error
	c.sub, err = q.conn.Subscribe(helloSubject, func(m *nats.Msg) {
		panics.Guard(s.finish, func() { c.handleHello(m) })()
	})
	return c, err
}

// handleHello adds the worker that sent a hello, or refuses it if it runs another version. It ignores a
// hello that is malformed or has a name that no Wirelab worker has.
func (c *workerSet) handleHello(m *nats.Msg) {
	var h hello
	if json.Unmarshal(m.Data, &h) != nil || h.Name == "" || len(h.Name) > 200 {
		return
	}
	if h.Version != c.s.plan.Version {
		if data, err := json.Marshal(refusal{c.s.plan.Version, hostName()}); err == nil && m.Reply != "" {
			_ = m.Respond(data)
		}
		c.notify(fmt.Sprintf("worker %q refused: it has version %q, the sweep needs %s", h.Name, h.Version,
			c.s.plan.Version))
		return
	}
	c.mu.Lock()
	if _, known := c.missed[h.Name]; known || len(c.missed) < maxWorkers {
		c.missed[h.Name] = 0
	}
	n := len(c.missed)
	c.mu.Unlock()
	c.s.setWorkers(n)
}

// notify reports a notice to the user, unless it was reported before or there were too many.
func (c *workerSet) notify(text string) {
	c.mu.Lock()
	isNew := !c.notices[text] && len(c.notices) < maxNotes
	if isNew {
		c.notices[text] = true
	}
	c.mu.Unlock()
	if isNew {
		c.s.opt.OnNotice(text)
	}
}

// markAlive records that results of a worker have arrived: it is alive.
func (c *workerSet) markAlive(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.missed[name]; known {
		c.missed[name] = 0
	}
}

// maxMissedChecks is the number of checks, four in each lease, after which a silent worker no
// longer counts.
const maxMissedChecks = 4

// removeSilent is called periodically. It removes workers that sent neither a hello nor results
// during the last maxMissedChecks calls.
func (c *workerSet) removeSilent() {
	c.mu.Lock()
	for name := range c.missed {
		c.missed[name]++
		if c.missed[name] > maxMissedChecks {
			delete(c.missed, name)
		}
	}
	n := len(c.missed)
	c.mu.Unlock()
	c.s.setWorkers(n)
}
