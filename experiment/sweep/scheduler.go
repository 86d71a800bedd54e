package sweep

import (
	"sync"
	"time"

	"wirelab/internal/wallclock"
)

// targetJobSeconds is the target duration of a job: long enough that the cost of the queue is small,
// short enough that a worker that fails loses little work.
const targetJobSeconds = 8

// firstJobRuns is the number of runs of a job while the duration of a run is unknown.
const firstJobRuns = 1

// scheduler assigns the runs without a result to workers, as jobs. It is safe for concurrent use.
type scheduler struct {
	plan  *Plan
	clock wallclock.Clock

	mu        sync.Mutex
	done      []bool // runs that have a result
	assigned  []bool // runs that are in a job now
	remaining int    // number of runs without a result
	next      int    // every run below is done or assigned
	jobs      map[string]*assignedJob
	perRun    float64 // seconds per run, a moving average; 0 if unknown
	workers   int     // number of workers; 0 if unknown
	maxRuns   int     // maximum number of runs of a job
}

// assignedJob is a job that a worker has or that is queued.
type assignedJob struct {
	job job
	at  int64 // time of the scheduler's clock when the job was assigned, in ns
}

// newScheduler returns a scheduler of all runs of a plan, none with a result.
func newScheduler(p *Plan, clock wallclock.Clock) *scheduler {
	n := p.Runs()
	return &scheduler{plan: p, clock: clock, done: make([]bool, n), assigned: make([]bool, n), remaining: n, jobs: map[string]*assignedJob{}, maxRuns: maxJobRuns}
}

// assignJob returns the next job and marks its runs as assigned; false if every run is done or
// assigned. A job is sized to take targetJobSeconds. Near the end jobs are smaller, so that all workers
// finish at about the same time.
func (c *scheduler) assignJob() (job, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	limit := firstJobRuns
	if c.perRun > 0 { // the seconds per run are known
		halfShare := c.remaining/(2*max(c.workers, 1)) + 1 // half of each worker's share of the remaining runs
		limit = max(min(int(targetJobSeconds/c.perRun), c.maxRuns, halfShare), 1)
	}
	var runs []int
	for n := c.next; n < len(c.done) && len(runs) < limit; n++ {
		if c.done[n] || c.assigned[n] {
			if len(runs) == 0 {
				c.next = n + 1 // all runs up to n are done or assigned
			}
			continue
		}
		runs = append(runs, n)
	}
	if len(runs) == 0 {
		return job{}, false
	}
	for _, n := range runs {
		c.assigned[n] = true
	}
	j := c.plan.job(runs)
	c.jobs[j.Key] = &assignedJob{j, c.clock.Now()}
	return j, true
}

// markDone records that a run has a result.
func (c *scheduler) markDone(run int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.done[run] {
		c.done[run] = true
		c.remaining--
	}
}

// endJob records the end of the job with a key. seconds is the time that the worker spent on it, runs
// the number of runs that it completed; they update the mean duration of a run. Runs of the job without
// a result can be assigned again. An unknown key is ignored.
func (c *scheduler) endJob(key string, seconds float64, runs int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if assigned := c.jobs[key]; assigned != nil && runs > 0 {
		// seconds is by the worker's clock; the clock here gives an upper bound.
		seconds = max(min(seconds, time.Duration(c.clock.Now()-assigned.at).Seconds()), 0)
		perRun := seconds / float64(runs)
		if c.perRun == 0 {
			c.perRun = perRun
		}
		c.perRun += (perRun - c.perRun) / 4 // exponential moving average
		c.perRun = max(c.perRun, 1e-6)      // not 0, which means unknown
	}
	if assigned := c.jobs[key]; assigned != nil {
		delete(c.jobs, key)
		for _, n := range assigned.job.Runs {
			c.assigned[n] = false
			if !c.done[n] {
				c.next = min(c.next, n)
			}
		}
	}
}

// overdue returns the jobs that were assigned more than age ago and that are not in the queue, as
// reported by queued. The caller queues them again; their time and attempt are updated.
func (c *scheduler) overdue(age time.Duration, queued func(key string) bool) (list []job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	for _, assigned := range c.jobs {
		if now-assigned.at > int64(age) && !queued(assigned.job.Key) {
			assigned.at = now
			assigned.job.Attempt++
			list = append(list, assigned.job)
		}
	}
	return list
}

// setWorkers sets the number of workers that share the work.
func (c *scheduler) setWorkers(workers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.workers = workers
}

// unfinished returns the number of runs without a result, and the number of jobs that have not ended.
func (c *scheduler) unfinished() (runs, jobs int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.remaining, len(c.jobs)
}
