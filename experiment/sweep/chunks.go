package sweep

import (
	"sync"
	"time"

	"wirelab/internal/wallclock"
)

// chunkSeconds is how long a job should take: long enough that the queue costs nothing,
// short enough that a worker that dies loses little.
const chunkSeconds = 8

// firstChunk is how many runs a job has before anything is known of their length.
const firstChunk = 1

// chunks hands out what is missing, as jobs. It may be used by several goroutines.
type chunks struct {
	plan  *Plan
	clock wallclock.Clock

	mu      sync.Mutex
	have    []bool // runs whose results are there
	out     []bool // runs that somebody has now
	left    int    // runs whose results are not there
	next    int    // no run below it is both missing and not out
	jobs    map[string]*taken
	perRun  float64 // seconds, a moving average
	workers int     // that share the work, as far as is known
	most    int     // runs of a job
}

// taken is a job that somebody has.
type taken struct {
	job job
	at  int64 // when it was handed out
}

func newChunks(p *Plan, clock wallclock.Clock) *chunks {
	n := p.Runs()
	return &chunks{plan: p, clock: clock, have: make([]bool, n), out: make([]bool, n), left: n, jobs: map[string]*taken{}, most: maxChunk}
}

// take hands out the next job; false if nothing is missing that nobody has.
func (c *chunks) take() (job, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	want := firstChunk
	if c.perRun > 0 {
		fair := c.left/(2*max(c.workers, 1)) + 1 // at the end all should stop at once
		want = max(min(int(chunkSeconds/c.perRun), c.most, fair), 1)
	}
	var runs []int
	for n := c.next; n < len(c.have) && len(runs) < want; n++ {
		if c.have[n] || c.out[n] {
			if len(runs) == 0 {
				c.next = n + 1
			}
			continue
		}
		runs = append(runs, n)
	}
	if len(runs) == 0 {
		return job{}, false
	}
	for _, n := range runs {
		c.out[n] = true
	}
	j := c.plan.job(runs)
	c.jobs[j.Key] = &taken{j, c.clock.Now()}
	return j, true
}

// arrived notes that the result of a run is there.
func (c *chunks) arrived(run int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.have[run] {
		c.have[run] = true
		c.left--
	}
}

// ended notes that a job has ended; runs of it without a result are missing again.
func (c *chunks) ended(key string, seconds float64, runs int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.jobs[key]; t != nil && runs > 0 {
		// Its clock is the worker's; ours says how long the job took at most.
		seconds = max(min(seconds, time.Duration(c.clock.Now()-t.at).Seconds()), 0)
		each := seconds / float64(runs)
		if c.perRun == 0 {
			c.perRun = each
		}
		c.perRun += (each - c.perRun) / 4
		c.perRun = max(c.perRun, 1e-6)
	}
	if t := c.jobs[key]; t != nil {
		delete(c.jobs, key)
		for _, n := range t.job.Runs {
			c.out[n] = false
			if !c.have[n] {
				c.next = min(c.next, n)
			}
		}
	}
}

// overdue returns the jobs that were handed out more than age ago and that the queue does
// not hold, to be queued again.
func (c *chunks) overdue(age time.Duration, held func(key string) bool) (list []job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	for _, t := range c.jobs {
		if now-t.at > int64(age) && !held(t.job.Key) {
			t.at = now
			t.job.Attempt++
			list = append(list, t.job)
		}
	}
	return list
}

// shared notes how many workers share the work.
func (c *chunks) shared(workers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.workers = workers
}

// missing returns how many runs have no result, and how many jobs are out.
func (c *chunks) missing() (runs, jobs int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left, len(c.jobs)
}
