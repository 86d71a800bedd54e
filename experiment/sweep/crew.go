package sweep

import (
	"encoding/json"
	"fmt"
	"sync"

	"wirelab/internal/panics"

	"github.com/nats-io/nats.go"
)

// crew is who works on a sweep, as far as they have said so.
type crew struct {
	s   *state
	sub *nats.Subscription

	mu      sync.Mutex
	members map[string]*member
	refused map[string]bool
}

// member is a worker.
type member struct {
	jobs   int // side by side
	silent int // looks without a sign of life
}

// maxCrew bounds the workers that are told apart.
const maxCrew = 10_000

// newCrew returns the crew of a sweep, which workers join by their hellos. Close sub after use.
func newCrew(q *queue, s *state) (*crew, error) {
	c := &crew{s: s, members: map[string]*member{}, refused: map[string]bool{}}
	var err error
	c.sub, err = q.conn.Subscribe(helloSubject, func(m *nats.Msg) {
		panics.Guard(s.finish, func() { c.welcome(m) })()
	})
	return c, err
}

// welcome takes in a worker that says hello, or refuses it.
func (c *crew) welcome(m *nats.Msg) {
	var h hello
	if json.Unmarshal(m.Data, &h) != nil || h.Name == "" || len(h.Name) > 200 || h.Jobs < 1 || h.Jobs > 4096 {
		return
	}
	if h.Version != c.s.plan.Version {
		c.refuse(m, h)
		return
	}
	c.mu.Lock()
	if c.members[h.Name] == nil && len(c.members) < maxCrew {
		c.members[h.Name] = &member{}
	}
	if w := c.members[h.Name]; w != nil {
		w.jobs, w.silent = h.Jobs, 0
	}
	c.mu.Unlock()
	c.tell()
}

// refuse tells a worker of another version so, and the person who waits, once.
func (c *crew) refuse(m *nats.Msg, h hello) {
	if m.Reply != "" {
		if data, err := json.Marshal(refusal{c.s.plan.Version, hostName()}); err == nil {
			_ = m.Respond(data)
		}
	}
	c.mu.Lock()
	known := c.refused[h.Name] || len(c.refused) >= maxCrew
	c.refused[h.Name] = true
	c.mu.Unlock()
	if !known {
		c.s.opt.Say(fmt.Sprintf("worker %q was refused: it is of version %q, the sweep of %s", h.Name, h.Version, c.s.plan.Version))
	}
}

// worked notes that results of a worker have come.
func (c *crew) worked(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.members[name]; w != nil {
		w.silent = 0
	}
}

// forget counts the looks without a sign of life, and drops those who are gone.
func (c *crew) forget() {
	c.mu.Lock()
	for name, w := range c.members {
		w.silent++
		if w.silent > patience {
			delete(c.members, name)
		}
	}
	c.mu.Unlock()
	c.tell()
}

// count returns how many jobs the crew can do side by side.
func (c *crew) count() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.members {
		n += w.jobs
	}
	return n
}

func (c *crew) tell() {
	c.s.chunks.setWorkers(c.count())
	c.mu.Lock()
	n := len(c.members)
	c.mu.Unlock()
	c.s.alive(n)
}
