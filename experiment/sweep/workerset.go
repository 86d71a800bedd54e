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
	byName  map[string]*workerInfo // by name
	refused map[string]bool        // names of workers that were refused; each is reported once
	dropped map[string]bool        // reports of damaged messages; each is made once
}

// workerInfo is a worker that takes jobs.
type workerInfo struct {
	jobs   int // number of jobs it runs in parallel
	missed int // checks since its last hello or result
}

// maxWorkers bounds the number of workers, and of refused workers that are reported to the user.
const maxWorkers = 10_000

// newWorkerSet returns an empty set, to which workers are added when they send a hello. The caller must
// unsubscribe sub after use.
func newWorkerSet(q *queue, s *activeSweep) (*workerSet, error) {
	c := &workerSet{s: s, byName: map[string]*workerInfo{}, refused: map[string]bool{}, dropped: map[string]bool{}}
	var err error
	c.sub, err = q.conn.Subscribe(helloSubject, func(m *nats.Msg) {
		panics.Guard(s.finish, func() { c.handleHello(m) })()
	})
	return c, err
}

// handleHello adds the worker that sent a hello, or refuses it if it runs another version. It ignores a
// hello that is malformed or has values that no Wirelab worker sends.
func (c *workerSet) handleHello(m *nats.Msg) {
	var h hello
	if json.Unmarshal(m.Data, &h) != nil || h.Name == "" || len(h.Name) > 200 || h.Jobs < 1 || h.Jobs > 4096 {
		return
	}
	if h.Version != c.s.plan.Version {
		c.refuse(m, h)
		return
	}
	c.mu.Lock()
	if c.byName[h.Name] == nil && len(c.byName) < maxWorkers {
		c.byName[h.Name] = &workerInfo{}
	}
	if w := c.byName[h.Name]; w != nil {
		w.jobs, w.missed = h.Jobs, 0
	}
	c.mu.Unlock()
	c.reportWorkers()
}

// refuse replies to a worker of another version with a refusal, and reports it to the user once.
func (c *workerSet) refuse(m *nats.Msg, h hello) {
	if m.Reply != "" {
		if data, err := json.Marshal(refusal{c.s.plan.Version, hostName()}); err == nil {
			_ = m.Respond(data)
		}
	}
	c.mu.Lock()
	report := !c.refused[h.Name] && len(c.refused) < maxWorkers
	if report {
		c.refused[h.Name] = true
	}
	c.mu.Unlock()
	if report {
		c.s.opt.OnNotice(fmt.Sprintf("worker %q refused: it has version %q, the sweep needs %s", h.Name, h.Version, c.s.plan.Version))
	}
}

// markAlive records that results of a worker have arrived: it is alive.
func (c *workerSet) markAlive(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.byName[name]; w != nil {
		w.missed = 0
	}
}

// removeSilent is called periodically. It removes workers that sent neither a hello nor results
// during the last maxMissedChecks calls.
func (c *workerSet) removeSilent() {
	c.mu.Lock()
	for name, w := range c.byName {
		w.missed++
		if w.missed > maxMissedChecks {
			delete(c.byName, name)
		}
	}
	c.mu.Unlock()
	c.reportWorkers()
}

// parallelJobs returns how many jobs all workers together run in parallel.
func (c *workerSet) parallelJobs() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.byName {
		n += w.jobs
	}
	return n
}

// reportWorkers reports the number of workers to the scheduler and to the user.
func (c *workerSet) reportWorkers() {
	c.s.scheduler.setWorkers(c.parallelJobs())
	c.mu.Lock()
	n := len(c.byName)
	c.mu.Unlock()
	c.s.setWorkers(n)
}
