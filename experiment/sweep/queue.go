package sweep

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"wirelab/internal/boundedio"
	"wirelab/internal/panics"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Names on the server. The subjects of jobs contain the version of the program and the plan, those of
// results the plan.
const (
	jobStream    = "WIRELAB-JOBS"
	resultStream = "WIRELAB-RESULTS"
	fileBucket   = "wirelab-files"
	helloSubject = "wirelab.hello"
)

// Limits of the streams. The server refuses messages beyond them, and the sender tries again.
const (
	maxJobBytes        = 64 << 20
	maxResultBytes     = 2 << 30
	maxFileBytes       = 8 << 30 // all files together
	maxSingleFileBytes = 2 << 30
	fileTTL            = 7 * 24 * time.Hour
	messageTTL         = 7 * 24 * time.Hour // messages of abandoned sweeps expire
)

// defaultLease is the default time after which the server gives a job to another worker, unless its
// worker reports progress.
const defaultLease = 20 * time.Second

// queue is a connection to a NATS server with JetStream.
type queue struct {
	conn  *nats.Conn
	js    jetstream.JetStream
	lease time.Duration
	id    string // unique to this connection
}

// QueueOptions are the options of a connection.
type QueueOptions struct {
	URL       string
	Token     string                     // "" means none
	TLS       *tls.Config                // nil means that the scheme of the URL decides
	Lease     time.Duration              // 0 means the default of 20 s
	inProcess nats.InProcessConnProvider // the server, if it is in this process; URL is then ignored
}

// OpenQueue connects to a server. A connection that is lost later is reestablished without limit.
func OpenQueue(ctx context.Context, o QueueOptions) (*queue, error) {
	opts := []nats.Option{nats.Name("wirelab " + hostName()), nats.MaxReconnects(-1), nats.ReconnectWait(500 * time.Millisecond),
		nats.ReconnectJitter(250*time.Millisecond, 250*time.Millisecond), nats.Timeout(5 * time.Second)}
	if o.Token != "" {
		opts = append(opts, nats.Token(o.Token))
	}
	if o.TLS != nil {
		opts = append(opts, nats.Secure(o.TLS))
	}
	if o.inProcess != nil {
		opts = append(opts, nats.InProcessServer(o.inProcess))
	}
	conn, err := nats.Connect(o.URL, opts...)
	if err != nil {
		return nil, &QueueError{"cannot be reached", err}
	}
	js, err := jetstream.New(conn)
	q := &queue{conn: conn, js: js, lease: o.Lease, id: nats.NewInbox()}
	if q.lease == 0 {
		q.lease = defaultLease
	}
	if err == nil {
		err = q.createStreams(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return q, nil
}

// QueueError is an error of the queue's server or of the network, not of the sweep.
type QueueError struct {
	Problem string // predicate of a sentence: "cannot be reached"
	Err     error  // of the NATS library
}

// Error returns "the queue", the problem and the cause.
func (e *QueueError) Error() string { return fmt.Sprintf("the queue %s: %v", e.Problem, e.Err) }

// Unwrap returns Err.
func (e *QueueError) Unwrap() error { return e.Err }

// Close closes the connection.
func (q *queue) Close() { q.conn.Close() }

// createStreams creates the streams of jobs and results if they do not exist.
func (q *queue) createStreams(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	for _, c := range []jetstream.StreamConfig{
		{Name: jobStream, Subjects: []string{"wirelab.jobs.>"}, Retention: jetstream.WorkQueuePolicy, MaxBytes: maxJobBytes,
			MaxAge: messageTTL, Discard: jetstream.DiscardNew},
		{Name: resultStream, Subjects: []string{"wirelab.results.>"}, Retention: jetstream.WorkQueuePolicy, MaxBytes: maxResultBytes,
			MaxAge: messageTTL, Discard: jetstream.DiscardNew},
	} {
		if _, err := q.js.CreateOrUpdateStream(ctx, c); err != nil {
			if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
				return &QueueError{"has no JetStream", errors.New("start nats-server with -js")}
			}
			return &QueueError{"cannot be set up", err}
		}
	}
	return nil
}

// subjectToken hashes a text to a valid token of a subject.
func subjectToken(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// jobSubject returns the subject of a job. It ends in the job's key, so that the server can list the
// jobs that it holds by subject.
func jobSubject(version, plan, key string) string {
	return "wirelab.jobs." + subjectToken(version) + "." + plan + "." + key
}

func resultSubject(plan string) string { return "wirelab.results." + plan }

// resultConsumerName returns the name of the coordinator's consumer of results. It contains half of the
// plan's ID, which suffices to distinguish plans.
func resultConsumerName(p *Plan) string { return "results-" + p.ID[:32] }

// withTransferTimeout returns a context with a deadline that suffices to transfer bytes over a slow
// line. Without a deadline the library would give up after five seconds.
func withTransferTimeout(ctx context.Context, bytes int64) (context.Context, context.CancelFunc) {
	const slow = 128 << 10 // bytes per second
	return context.WithTimeout(ctx, time.Minute+time.Duration(bytes/slow)*time.Second)
}

// fileStore returns the object store of data files, whose names are their SHA-256, and of plans.
func (q *queue) fileStore(ctx context.Context) (jetstream.ObjectStore, error) {
	return q.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: fileBucket, TTL: fileTTL, MaxBytes: maxFileBytes})
}

// planText is the form in which a plan is sent to workers.
type planText struct {
	Manifest manifest `json:"manifest"`
	TOML     string   `json:"toml"`
}

// publish uploads the plan and those of its files that the server does not have.
func (q *queue) publish(ctx context.Context, p *Plan) error {
	store, err := q.fileStore(ctx)
	if err != nil {
		return &QueueError{"cannot store files", err}
	}
	for _, f := range p.Files {
		if f.Bytes > maxSingleFileBytes {
			return fmt.Errorf("%s has %.1f GB, expected at most %d GB for a sweep with a queue", f.Name, float64(f.Bytes)/1e9, maxSingleFileBytes>>30)
		}
		if info, err := store.GetInfo(ctx, f.SHA256); err == nil && info.Size == uint64(f.Bytes) {
			continue
		}
		if err := putFile(ctx, store, f.SHA256, p.filePath(f.Name)); err != nil {
			return &QueueError{"did not accept " + f.Name, err}
		}
	}
	text, err := json.Marshal(planText{p.manifest(p.Files), string(p.TOML)})
	if err != nil {
		return err
	}
	if _, err := store.PutBytes(ctx, "plan-"+p.ID, text); err != nil {
		return &QueueError{"did not accept the plan", err}
	}
	return nil
}

// filePath returns the path of the file that the configuration names.
func (p *Plan) filePath(name string) string {
	if p.Config.ResolvePath == nil {
		return name
	}
	return p.Config.ResolvePath(name)
}

// putFile uploads the file at path under a name.
func putFile(ctx context.Context, store jetstream.ObjectStore, name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	ctx, cancel := withTransferTimeout(ctx, info.Size())
	defer cancel()
	_, err = store.Put(ctx, jetstream.ObjectMeta{Name: name}, f)
	return err
}

// hello is the message that a worker sends every few seconds.
type hello struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Jobs    int    `json:"jobs"` // number of jobs it runs in parallel
}

// refusal is the reply to the hello of a worker with another version.
type refusal struct {
	Version string `json:"version"` // that the sweep needs
	Sweep   string `json:"sweep"`   // host that coordinates the sweep
}

// maxMissedChecks is the number of checks, four in each lease, after which a silent worker no
// longer counts.
const maxMissedChecks = 4

// coordinate publishes the plan, queues the runs without a result, and collects results until ctx
// ends. It then removes the sweep's jobs from the server.
func (q *queue) coordinate(ctx context.Context, s *activeSweep) error {
	release, err := q.claim(s.plan)
	if err != nil {
		return err
	}
	defer release()
	if err := q.publish(ctx, s.plan); err != nil {
		return err
	}
	subject := jobSubject(s.plan.Version, s.plan.ID, "*")
	jobs, err := q.js.Stream(ctx, jobStream)
	if err == nil {
		err = jobs.Purge(ctx, jetstream.WithPurgeSubject(subject)) // jobs of an earlier coordinator of this sweep
	}
	if err != nil {
		return &QueueError{"cannot be set up", err}
	}
	workers, err := newWorkerSet(q, s)
	if err != nil {
		return &QueueError{"cannot be set up", err}
	}
	defer func() { _ = workers.sub.Unsubscribe() }()
	results, err := q.js.CreateOrUpdateConsumer(ctx, resultStream, jetstream.ConsumerConfig{Durable: resultConsumerName(s.plan),
		FilterSubject: resultSubject(s.plan.ID), AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Minute, MaxAckPending: 1000})
	if err != nil {
		return &QueueError{"cannot be set up", err}
	}
	wake := make(chan struct{}, 1) // receives when a result arrived: feed may queue the next job
	consumption, err := results.Consume(func(m jetstream.Msg) {
		panics.Guard(s.finish, func() { workers.handleResult(m, wake) })()
	})
	if err != nil {
		return &QueueError{"cannot be read", err}
	}
	defer q.removeSweep(s)
	defer func() { consumption.Stop(); <-consumption.Closed() }()
	q.feed(ctx, s, workers, wake)
	q.drain(s, results)
	return nil
}

// handleResult adds the results in a message to the sweep and wakes the coordinator. A message is not
// acknowledged if its results could not be stored: the coordinator that resumes the sweep gets it
// again. A damaged message is dropped; its runs are queued again when they are overdue.
func (c *workerSet) handleResult(m jetstream.Msg, wake chan<- struct{}) {
	result, err := decodeResult(m.Data())
	switch {
	case err != nil:
		c.reportDropped(err)
	default:
		result.Queued = true
		if err := c.s.addResult(result, storeResult); err != nil {
			c.s.finish(err)
			if notStored := (*notStoredError)(nil); errors.As(err, &notStored) {
				return
			}
		}
		c.markAlive(result.Worker)
	}
	_ = m.Ack() // also a damaged message; after an error it is delivered again, which is harmless
	select {
	case wake <- struct{}{}:
	default: // wake is full: the coordinator will check anyway
	}
}

// reportDropped reports a damaged message to the user, once for each kind of damage.
func (c *workerSet) reportDropped(err error) {
	text := fmt.Sprintf("results from a worker were dropped and are run again: %.200v", err)
	c.mu.Lock()
	isNew := !c.dropped[text] && len(c.dropped) < maxDropped
	if isNew {
		c.dropped[text] = true
	}
	c.mu.Unlock()
	if isNew {
		c.s.opt.OnNotice(text)
	}
}

// maxDropped bounds the number of notices about damaged messages.
const maxDropped = 20

// drain waits, after an interruption, at most five seconds for the results that are under way: those
// of this machine's workers, then those on the server.
func (q *queue) drain(s *activeSweep, results jetstream.Consumer) {
	if missing, _ := s.scheduler.unfinished(); missing == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if s.localWorkersDone != nil {
		select {
		case <-s.localWorkersDone:
		case <-ctx.Done():
		}
	}
	for ctx.Err() == nil {
		info, err := results.Info(ctx)
		if err != nil || info.NumPending == 0 && info.NumAckPending == 0 {
			return
		}
		pause(ctx, 20*time.Millisecond)
	}
}

// claim makes this process the only coordinator of the plan on the server: two would consume each
// other's results. It fails if another process coordinates the plan. The caller must call release at the
// end.
//
// The coordinator subscribes to a subject of the plan and answers requests there. If two claim at the
// same moment, each receives the other's request, and the one with the smaller id answers.
func (q *queue) claim(p *Plan) (release func(), err error) {
	subject := "wirelab.claim." + p.ID
	if m, err := q.conn.Request(subject, []byte(q.id), 2*time.Second); err == nil { // without a subscriber it fails at once
		return nil, &QueueError{"is already used for this sweep", fmt.Errorf("coordinated by %.80q", m.Data)}
	}
	settling := true // the claim is not yet settled
	var mu sync.Mutex
	sub, err := q.conn.Subscribe(subject, func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		if other := string(m.Data); other != q.id && (!settling || q.id < other) {
			_ = m.Respond([]byte(hostName()))
		}
	})
	if err == nil {
		err = q.conn.Flush()
	}
	if err != nil {
		return nil, &QueueError{"cannot be set up", err}
	}
	m, err := q.conn.Request(subject, []byte(q.id), 100*time.Millisecond) // its own subscription ignores it
	if err == nil {
		_ = sub.Unsubscribe()
		return nil, &QueueError{"is already used for this sweep", fmt.Errorf("coordinated by %.80q", m.Data)}
	}
	mu.Lock()
	settling = false
	mu.Unlock()
	return func() { _ = sub.Unsubscribe() }, nil
}

// feed keeps enough jobs in the queue that no worker waits. It queues jobs when wake receives, which
// means that a result arrived, and periodically; it then also queues lost jobs again. It runs until
// ctx ends.
func (q *queue) feed(ctx context.Context, s *activeSweep, workers *workerSet, wake <-chan struct{}) {
	tick := time.NewTicker(q.lease / 4)
	defer tick.Stop()
	lastError := ""
	for {
		for {
			// For each job that a worker runs, one waits in the queue; 4 more are for workers that join.
			if _, outstanding := s.scheduler.unfinished(); outstanding >= 2*workers.parallelJobs()+4 {
				break
			}
			j, ok := s.scheduler.assignJob()
			if !ok {
				break
			}
			if err := q.publishJob(ctx, s.plan, j); err != nil {
				if text := fmt.Sprintf("a job cannot be queued: %v", err); text != lastError && ctx.Err() == nil {
					s.opt.OnNotice(text)
					lastError = text
				}
				break // requeued when it is overdue
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-tick.C:
			workers.removeSilent()
			q.requeueLost(ctx, s)
		}
	}
}

// publishJob queues a job. The message ID contains the attempt, so that the server discards
// duplicates of one attempt but accepts another attempt.
func (q *queue) publishJob(ctx context.Context, p *Plan, j job) error {
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err = q.js.Publish(ctx, jobSubject(p.Version, p.ID, j.Key), data, jetstream.WithMsgID(fmt.Sprintf("%s %s %d", q.id, j.Key, j.Attempt)))
	return err
}

// requeueLost queues the overdue jobs that the server no longer holds: the server was restarted, or the
// results of a worker were lost.
func (q *queue) requeueLost(ctx context.Context, s *activeSweep) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	stream, err := q.js.Stream(ctx, jobStream)
	if err != nil {
		_ = q.createStreams(ctx) // the server may have lost its streams
		return
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(jobSubject(s.plan.Version, s.plan.ID, "*")))
	if err != nil {
		return
	}
	queued := func(key string) bool { return info.State.Subjects[jobSubject(s.plan.Version, s.plan.ID, key)] > 0 }
	for _, j := range s.scheduler.overdue(q.lease, queued) {
		_ = q.publishJob(ctx, s.plan, j)
	}
}

// removeSweep removes the jobs of the sweep from the server, and its results if the sweep is complete.
// Otherwise results that were not consumed stay for the coordinator that resumes the sweep.
func (q *queue) removeSweep(s *activeSweep) {
	p := s.plan
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if stream, err := q.js.Stream(ctx, jobStream); err == nil {
		_ = stream.Purge(ctx, jetstream.WithPurgeSubject(jobSubject(p.Version, p.ID, "*")))
	}
	if missing, _ := s.scheduler.unfinished(); missing == 0 {
		if stream, err := q.js.Stream(ctx, resultStream); err == nil {
			_ = stream.Purge(ctx, jetstream.WithPurgeSubject(resultSubject(p.ID)))
		}
	}
	_ = q.js.DeleteConsumer(ctx, resultStream, resultConsumerName(p))
}

// maxMessageJSON is the maximum size of the JSON in a message, in bytes. Decoded, it uses a multiple of
// that memory.
const maxMessageJSON = 16 << 20

// errMessageTooLarge means that results do not fit into one message.
var errMessageTooLarge = errors.New("results too large for a message")

// encodeResult encodes results as the data of a message: JSON, compressed with zstd.
func encodeResult(result jobResult) ([]byte, error) {
	data, err := json.Marshal(result)
	if err == nil && len(data) > maxMessageJSON {
		err = errMessageTooLarge
	}
	if err != nil {
		return nil, err
	}
	enc, err := resultEncoder()
	if err != nil {
		return nil, err
	}
	return enc.EncodeAll(data, nil), nil
}

// resultEncoder returns the shared compressor, whose EncodeAll is safe for concurrent use.
var resultEncoder = sync.OnceValues(func() (*zstd.Encoder, error) { return zstd.NewWriter(nil) })

// decodeResult decodes the data of a message, which may be malicious. Every run must have its hash.
func decodeResult(data []byte) (result jobResult, err error) {
	dec, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxMessageJSON))
	if err != nil {
		return result, err
	}
	defer dec.Close()
	text, err := boundedio.ReadAll(dec, "a message", maxMessageJSON)
	if err != nil {
		return result, err
	}
	err = json.Unmarshal(text, &result)
	if err == nil && result.unhashed {
		err = errUnhashed
	}
	return result, err
}
