package sweep

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"wirelab/experiment/config"
	"wirelab/internal/atomicfile"
	"wirelab/internal/panics"
	"wirelab/internal/wallclock"
	"wirelab/internal/words"
)

// WorkerOptions are the options of Work.
type WorkerOptions struct {
	Clock    wallclock.Clock
	Jobs     int    // number of jobs to run in parallel; less than 1 means 1
	Name     string // name of the worker in results; "" means host name and process ID
	Version  string // of the program
	Cache    string // folder for data files of sweeps; "" means one in the user's cache directory
	Disk     *atomicfile.Disk
	OnNotice func(text string) // called with messages for the user; may be nil
	OnRuns   func(n int)       // called with the number of runs whose results were sent; may be nil
	local    *executor         // of the sweep that this process coordinates; nil if none
	add      func(batch) error // adds results to that sweep; nil means that they are sent
}

// RefusedError means that the coordinator of a sweep refused this worker because it has another
// version of the program.
type RefusedError struct{ Mine, Theirs, Sweep string }

// Error names both versions.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("this is version %s, but the sweep of %s needs version %s", e.Mine, e.Sweep, e.Theirs)
}

// maxDeliveries is how often the server delivers a job, so that a job that crashes its workers does
// not crash all of them.
const maxDeliveries = 5

// worker runs jobs of a queue.
type worker struct {
	q   *queue
	opt WorkerOptions

	fail func(error) // stops the worker with an error

	mu   sync.Mutex
	exec *executor // of the plan of the newest job; nil before the first job
}

// Work runs jobs from the queue until ctx ends; unfinished jobs return to the queue. It returns a
// *RefusedError if the coordinator needs another version, a *QueueError if the connection cannot be
// made or was closed by the server, and a *panics.Error after a panic.
func Work(ctx context.Context, q *queue, opt WorkerOptions) error {
	if opt.Name == "" {
		opt.Name = fmt.Sprintf("%s-%d", hostName(), os.Getpid())
	}
	if opt.OnNotice == nil {
		opt.OnNotice = func(string) {}
	}
	w := &worker{q: q, opt: opt, exec: opt.local} // a local worker need not download the plan
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w.fail = cancel
	if err := w.announce(ctx); err != nil {
		return err
	}
	var wg sync.WaitGroup
	for range max(opt.Jobs, 1) {
		wg.Go(panics.Guard(w.fail, func() { w.runJobs(ctx) }))
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

// announce starts sending a hello every few seconds. If the coordinator refuses the worker, it stops
// with a *RefusedError.
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
	data, err := json.Marshal(hello{w.opt.Name, w.opt.Version})
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

// runJobs runs one job after the other until ctx ends or the connection is closed permanently.
func (w *worker) runJobs(ctx context.Context) {
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
			jobs = nil               // create the consumer again, in case the server lost it
			pause(ctx, w.q.lease/20) // the server is not available, or has no streams yet
			continue
		}
		if m != nil {
			w.handleJob(ctx, m)
		}
	}
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// fetch waits for a job. It returns nil if none arrives within an eighth of the lease.
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
	case <-ctx.Done(): // a job that still arrives goes to another worker after the lease
		return nil, nil
	}
}

// consumer returns the durable consumer of jobs that all workers of one version share.
func (w *worker) consumer(ctx context.Context) (jetstream.Consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	version := subjectToken(w.opt.Version)
	return w.q.js.CreateOrUpdateConsumer(ctx, jobStream,
		jetstream.ConsumerConfig{Durable: "workers-" + version,
			FilterSubject: "wirelab.jobs." + version + ".>", AckPolicy: jetstream.AckExplicitPolicy,
			AckWait: w.q.lease, MaxAckPending: 10_000})
}

// handleJob runs the job in a message, sends its results and acknowledges the message. If the plan
// cannot be loaded here, the job returns to the queue; after maxDeliveries attempts of all workers the
// error is sent as its result.
func (w *worker) handleJob(ctx context.Context, m jetstream.Msg) {
	var j job
	subject := m.Subject()
	if err := json.Unmarshal(m.Data(), &j); err != nil || subject != jobSubject(w.opt.Version, j.Plan) {
		_ = m.Term() // malformed: never deliver it again
		return
	}
	leaseCtx, stop := context.WithCancel(ctx)
	defer stop()
	go panics.Guard(w.fail, func() { // renews the lease
		wallclock.Every(w.q.lease/4, leaseCtx.Done(), func() { _ = m.InProgress() })
	})()
	exec, err := w.executor(ctx, j.Plan)
	meta, metaErr := m.Metadata()
	if err != nil && ctx.Err() == nil && metaErr == nil && meta.NumDelivered < maxDeliveries {
		// The cause may be local, such as a full disk: another worker, or this one later, may succeed.
		w.opt.OnNotice(fmt.Sprintf("sweep %.12s cannot be run here: %v", j.Plan, err))
		_ = m.Nak()
		stop()
		pause(ctx, w.q.lease) // so that another worker gets the job
		return
	}
	if err == nil {
		err = exec.plan.checkJob(j)
	}
	sent := false
	send := func(b batch) error {
		if len(b.Runs) == 0 && b.Error == "" {
			return nil // stopped during the first run
		}
		sent = true
		if w.opt.add != nil {
			return w.opt.add(b)
		}
		err := w.sendResult(ctx, j.Plan, b)
		if err == nil && w.opt.OnRuns != nil {
			w.opt.OnRuns(len(b.Runs))
		}
		return err
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		err = send(batch{Worker: w.opt.Name, Error: err.Error()})
	case metaErr == nil && meta.NumDelivered > maxDeliveries:
		err = send(batch{Worker: w.opt.Name, Error: fmt.Sprintf("given up: %d workers started the job of runs %d to %d, none finished it",
			maxDeliveries, j.Runs[0], j.Runs[len(j.Runs)-1])})
	default:
		err = exec.runJob(ctx, j.Runs, send)
	}
	switch {
	case ctx.Err() != nil && !sent:
		_ = m.Nak() // so that another worker gets the job at once
	case err == nil:
		_ = m.Ack() // even if some runs are missing: the coordinator puts them into other jobs
	} // otherwise another worker gets it when the lease expires
}

// maxMessageOverhead bounds the bytes of a message in addition to its data.
const maxMessageOverhead = 4096

// sendResult publishes a batch of a plan and retries until it succeeds, ctx ends or the connection is closed.
// Results that are too large for a message are sent in two halves. If ctx has ended already,
// sendResult tries once.
func (w *worker) sendResult(ctx context.Context, plan string, b batch) error {
	data, err := b.seal(plan, w.opt.Version)
	if err == nil {
		data, err = compress(data)
	}
	isTooLarge := errors.Is(err, errMessageTooLarge) ||
		int64(len(data)) > w.q.conn.MaxPayload()-maxMessageOverhead
	switch n := len(b.Runs); {
	case isTooLarge && n > 1:
		head, tail := batch{Worker: b.Worker, Runs: b.Runs[:n/2]}, b
		tail.Runs = b.Runs[n/2:]
		if err := w.sendResult(ctx, plan, head); err != nil {
			return err
		}
		return w.sendResult(ctx, plan, tail)
	case isTooLarge && n == 1:
		return w.sendResult(ctx, plan, batch{Worker: b.Worker,
			Error: fmt.Sprintf("the result of run %d is larger than the server's maximum message of %d bytes", b.Runs[0].Run, w.q.conn.MaxPayload())})
	case err != nil:
		return err
	}
	if ctx.Err() != nil { // one attempt with a context of its own
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
	}
	for lastError := ""; ; {
		attemptCtx, cancel := context.WithTimeout(ctx, 5*time.Second)
		_, err := w.q.js.Publish(attemptCtx, resultSubject(plan), data)
		cancel()
		if err == nil || ctx.Err() != nil || w.q.conn.IsClosed() {
			return err
		}
		if text := fmt.Sprintf("results cannot be sent, retrying: %v", err); text != lastError {
			w.opt.OnNotice(text)
			lastError = text
		}
		pause(ctx, w.q.lease/20)
	}
}

// executor returns the executor for the plan with an ID. It downloads the plan unless it is that of the
// last job.
func (w *worker) executor(ctx context.Context, id string) (*executor, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.exec != nil && w.exec.plan.ID == id {
		return w.exec, nil
	}
	p, err := w.fetchPlan(ctx, id)
	if err != nil {
		return nil, err
	}
	w.opt.OnNotice(fmt.Sprintf("sweep %.12s: %d points with %s each", id, len(p.Points),
		words.Count(p.Repeat, "seed")))
	w.exec = newExecutor(p, w.opt.Name, w.opt.Clock)
	return w.exec, nil
}

// maxPlanBytes is the maximum size of a published plan.
const maxPlanBytes = 4 << 20

// fetchPlan downloads the plan with an ID and its files. The file names in its configuration are
// mapped to the downloaded files. Any other name is mapped to a path that does not exist, so that a
// plan from the network cannot read files of this machine.
func (w *worker) fetchPlan(ctx context.Context, id string) (*Plan, error) {
	store, err := w.q.fileStore(ctx)
	if err != nil {
		return nil, err
	}
	info, err := store.GetInfo(ctx, "plan-"+id)
	if err != nil {
		return nil, err
	}
	if info.Size > maxPlanBytes {
		return nil, fmt.Errorf("the plan has %d bytes, expected at most %d", info.Size, maxPlanBytes)
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
		if found[f.Name], err = cache.download(ctx, store, f); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	c, err := config.Parse("the sweep", []byte(t.TOML))
	if err != nil {
		return nil, err
	}
	c.ResolvePath = func(name string) string {
		if path := found[name]; path != "" {
			return path
		}
		return filepath.Join(cache.dir, "not-part-of-the-sweep-"+url.QueryEscape(name))
	}
	p, err := newPlan(c, w.opt.Version, t.Manifest.Files)
	if err != nil {
		return nil, err
	}
	if p.ID != id {
		return nil, errors.New("the plan does not match its ID")
	}
	return p, nil
}
