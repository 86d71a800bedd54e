package sweep

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"wirelab/experiment/config"
	"wirelab/internal/atomicfile"
	"wirelab/internal/panics"
	"wirelab/internal/wallclock"
)

// WorkerOptions are how a worker works.
type WorkerOptions struct {
	Clock   wallclock.Clock
	Jobs    int    // side by side, at least 1
	Name    string // under which its results come; "": the host's name and the process
	Version string // of the program
	Cache   string // folder for files of sweeps; "": the user's
	Disk    *atomicfile.Disk
	Say     func(text string)
	Ran     func(runs int) // hears of jobs that were finished
	known   *executor      // of a plan that is here already; nil: none
}

// RefusedError says that a sweep is for another version of the program.
type RefusedError struct{ Mine, Theirs, Sweep string }

// Error names both versions.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("this is version %s, and the sweep of %s is for version %s", e.Mine, e.Sweep, e.Theirs)
}

// maxDeliveries is how often a job is tried: one that kills whoever takes it must not
// kill them all.
const maxDeliveries = 5

// worker takes jobs from a queue.
type worker struct {
	q   *queue
	opt WorkerOptions

	fail func(error) // ends the worker

	mu    sync.Mutex
	plans map[string]*executor // by ID
	order []string             // of the plans, the oldest first
}

// maxPlans is how many plans a worker remembers.
const maxPlans = 4

// Work takes jobs from the queue and runs them, until ctx ends: whatever it has not
// finished then another takes. A *RefusedError says that nobody wants it.
func Work(ctx context.Context, q *queue, opt WorkerOptions) error {
	if opt.Name == "" {
		opt.Name = fmt.Sprintf("%s-%d", hostName(), os.Getpid())
	}
	if opt.Say == nil {
		opt.Say = func(string) {}
	}
	w := &worker{q: q, opt: opt, plans: map[string]*executor{}}
	if x := opt.known; x != nil {
		w.plans[x.plan.ID], w.order = x, []string{x.plan.ID}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w.fail = cancel
	if err := w.announce(ctx); err != nil {
		return err
	}
	var wg sync.WaitGroup
	for range max(opt.Jobs, 1) {
		wg.Go(panics.Guard(w.fail, func() { w.loop(ctx) }))
	}
	wg.Wait()
	cause := context.Cause(ctx)
	if errors.As(cause, new(*RefusedError)) || errors.As(cause, new(*panics.Error)) {
		return cause
	}
	if ctx.Err() == nil && q.conn.IsClosed() {
		return &QueueError{"has closed the connection", cmp.Or(q.conn.LastError(), nats.ErrConnectionClosed)}
	}
	return nil
}

// announce reports every few seconds that this worker runs, and ends the worker if it is refused.
func (w *worker) announce(ctx context.Context) error {
	inbox := nats.NewInbox()
	sub, err := w.q.conn.Subscribe(inbox, func(m *nats.Msg) {
		panics.Guard(w.fail, func() {
			var r refusal
			if json.Unmarshal(m.Data, &r) == nil && r.Version != w.opt.Version {
				w.fail(&RefusedError{w.opt.Version, r.Version, r.Sweep})
			}
		})()
	})
	if err != nil {
		return &QueueError{"cannot be reached", err}
	}
	data, err := json.Marshal(hello{w.opt.Name, w.opt.Version, max(w.opt.Jobs, 1)})
	if err != nil {
		return err
	}
	go panics.Guard(w.fail, func() {
		defer func() { _ = sub.Unsubscribe() }()
		hello := func() { _ = w.q.conn.PublishRequest(helloSubject, inbox, data) }
		hello()
		wallclock.Every(w.q.lease/8, ctx.Done(), hello)
	})()
	return nil
}

// loop takes one job after the other.
func (w *worker) loop(ctx context.Context) {
	var jobs jetstream.Consumer
	for ctx.Err() == nil && !w.q.conn.IsClosed() {
		var err error
		if jobs == nil {
			jobs, err = w.consumer(ctx)
		}
		var m jetstream.Msg
		if err == nil {
			m, err = w.fetch(ctx, jobs)
		}
		if err != nil {
			jobs = nil
			pause(ctx, w.q.lease/20) // the server is gone, or has no streams yet
			continue
		}
		if m != nil {
			w.handle(ctx, m)
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// fetch waits for a job; nil if there was none for a while.
func (w *worker) fetch(ctx context.Context, jobs jetstream.Consumer) (jetstream.Msg, error) {
	batch, err := jobs.Fetch(1, jetstream.FetchMaxWait(w.q.lease/8))
	if err != nil {
		return nil, err
	}
	select {
	case m, ok := <-batch.Messages():
		if ok {
			return m, nil
		}
		return nil, batch.Error()
	case <-ctx.Done(): // what comes all the same is not acknowledged, and another's after the lease
		return nil, nil
	}
}

// consumer is what all workers of one version take jobs from.
func (w *worker) consumer(ctx context.Context) (jetstream.Consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	v := token(w.opt.Version)
	return w.q.js.CreateOrUpdateConsumer(ctx, jobStream, jetstream.ConsumerConfig{Durable: "workers-" + v,
		FilterSubject: "wirelab.jobs." + v + ".>", AckPolicy: jetstream.AckExplicitPolicy, AckWait: w.q.lease, MaxAckPending: 10_000})
}

// handle runs a job and sends what it came to.
func (w *worker) handle(ctx context.Context, m jetstream.Msg) {
	var j job
	subject := m.Subject()
	if err := json.Unmarshal(m.Data(), &j); err != nil || subject != jobSubject(w.opt.Version, j.Plan, j.Key) {
		_ = m.Term() // nobody could run it
		return
	}
	beating, stop := context.WithCancel(ctx)
	defer stop()
	go panics.Guard(w.fail, func() { // the server gives the job to another worker otherwise
		wallclock.Every(w.q.lease/4, beating.Done(), func() { _ = m.InProgress() })
	})()
	x, err := w.executor(ctx, j.Plan)
	meta, merr := m.Metadata()
	if err != nil && ctx.Err() == nil && merr == nil && meta.NumDelivered < maxDeliveries {
		// Its disk may be full, or its line bad: another may do better, and this one later.
		w.opt.Say(fmt.Sprintf("sweep %.12s cannot be run here: %v", j.Plan, err))
		_ = m.Nak()
		stop()
		pause(ctx, w.q.lease)
		return
	}
	if err == nil {
		err = x.plan.check(j)
	}
	d := jobResult{Key: j.Key, Plan: j.Plan, Version: w.opt.Version, Worker: w.opt.Name}
	switch {
	case ctx.Err() != nil:
		_ = m.Nak()
		return
	case err != nil:
		d.Error = err.Error()
	case merr == nil && meta.NumDelivered > maxDeliveries:
		d.Error = fmt.Sprintf("given up: %d workers took the job of runs %d to %d, and none came back", maxDeliveries, j.Runs[0], j.Runs[len(j.Runs)-1])
	default:
		d, _ = x.do(ctx, j) // stopped: d holds what was finished
	}
	if len(d.Runs) == 0 && d.Error == "" {
		_ = m.Nak() // stopped before the first was done
		return
	}
	if w.send(ctx, d) != nil {
		return // the lease runs out, and another takes it
	}
	_ = m.Ack() // of a worker that was stopped, too: who has the plan sees what is missing
	if w.opt.Ran != nil {
		w.opt.Ran(len(d.Runs))
	}
}

// maxHeader is what a message has besides its data.
const maxHeader = 4096

// send brings results to the server, for as long as that takes or ctx lasts: in halves if
// they are more than its messages may hold.
func (w *worker) send(ctx context.Context, d jobResult) error {
	data, err := pack(d)
	if err == nil && int64(len(data)) > w.q.conn.MaxPayload()-maxHeader {
		err = errTooMuch
	}
	if n := len(d.Runs); errors.Is(err, errTooMuch) && n > 0 {
		if n == 1 {
			d.Error = fmt.Sprintf("the result of run %d is more than a message of the server may hold, %d bytes", d.Runs[0].Run, w.q.conn.MaxPayload())
			d.Runs = nil
			return w.send(ctx, d)
		}
		head, tail := d, d
		head.Runs, head.Error, head.Seconds, head.Key = d.Runs[:n/2], "", d.Seconds/2, "" // the job ends with the tail
		tail.Runs, tail.Seconds = d.Runs[n/2:], d.Seconds/2
		if err := w.send(ctx, head); err != nil {
			return err
		}
		return w.send(ctx, tail)
	}
	if err != nil {
		return err
	}
	if ctx.Err() != nil { // stopped: one try, without ctx
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
	}
	for said := ""; ; {
		once, cancel := context.WithTimeout(ctx, 5*time.Second)
		_, err := w.q.js.Publish(once, resultSubject(d.Plan), data)
		cancel()
		if err == nil || ctx.Err() != nil || w.q.conn.IsClosed() {
			return err
		}
		if text := fmt.Sprintf("results cannot be sent, and are tried again: %v", err); text != said {
			w.opt.Say(text)
			said = text
		}
		pause(ctx, w.q.lease/20)
	}
}

// executor returns who runs jobs of a plan, which it brings here if it is not yet.
func (w *worker) executor(ctx context.Context, id string) (*executor, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if x := w.plans[id]; x != nil {
		return x, nil
	}
	p, err := w.plan(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(w.order) == maxPlans {
		delete(w.plans, w.order[0])
		w.order = w.order[1:]
	}
	w.opt.Say(fmt.Sprintf("sweep %.12s: %d points with %d seeds each", id, len(p.Points), p.Repeat))
	w.plans[id], w.order = newExecutor(p, w.opt.Name, w.opt.Clock), append(w.order, id)
	return w.plans[id], nil
}

// maxPlanBytes bounds the text of a plan.
const maxPlanBytes = 4 << 20

// plan brings a plan and its files here. The configuration may name files: those that
// came with the plan are read, by their hashes, and no other.
func (w *worker) plan(ctx context.Context, id string) (*Plan, error) {
	store, err := w.q.files(ctx)
	if err != nil {
		return nil, err
	}
	info, err := store.GetInfo(ctx, "plan-"+id)
	if err != nil {
		return nil, err
	}
	if info.Size > maxPlanBytes {
		return nil, fmt.Errorf("a plan of %d bytes", info.Size)
	}
	text, err := store.GetBytes(ctx, "plan-"+id)
	if err != nil {
		return nil, err
	}
	var t planText
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, err
	}
	cache, err := openCache(w.opt.Disk, w.opt.Cache)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, f := range t.Manifest.Files {
		if found[f.Name], err = cache.bring(ctx, store, f); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	c, err := config.Parse("the sweep", []byte(t.TOML))
	if err != nil {
		return nil, err
	}
	c.Find = func(name string) string {
		if path := found[name]; path != "" {
			return path
		}
		return filepath.Join(cache.dir, "not-part-of-the-sweep-"+strings.Map(safe, name))
	}
	p, err := plan(c, w.opt.Version)
	if err != nil {
		return nil, err
	}
	p.TOML, p.Files = []byte(t.TOML), t.Manifest.Files
	if err := p.identify(); err != nil {
		return nil, err
	}
	if p.ID != id {
		return nil, errors.New("a plan that is not the one it is called")
	}
	return p, nil
}

// safe keeps what may stand in the name of a file.
func safe(r rune) rune {
	if r == '/' || r == '\\' || r < ' ' || r == ':' {
		return '_'
	}
	return r
}
