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

	"wirelab/experiment/engine"
	"wirelab/internal/boundedio"
	"wirelab/internal/panics"
	"wirelab/internal/wallclock"

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
	opts := []nats.Option{nats.Name("wirelab " + hostName()), nats.MaxReconnects(-1),
		nats.ReconnectWait(500 * time.Millisecond),
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
		{Name: jobStream, Subjects: []string{"wirelab.jobs.>"}, Retention: jetstream.WorkQueuePolicy,
			MaxBytes: maxJobBytes,
			MaxAge:   messageTTL, Discard: jetstream.DiscardNew},
		{Name: resultStream, Subjects: []string{"wirelab.results.>"}, Retention: jetstream.WorkQueuePolicy,
			MaxBytes: maxResultBytes,
			MaxAge:   messageTTL, Discard: jetstream.DiscardNew},
	} {
		if _, err := q.js.CreateOrUpdateStream(ctx, c); err != nil {
			if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err,
				jetstream.ErrJetStreamNotEnabledForAccount) {
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

// jobSubject returns the subject of the jobs of a plan.
func jobSubject(version, plan string) string {
	return "wirelab.jobs." + subjectToken(version) + "." + plan
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
	return q.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: fileBucket, TTL: fileTTL,
		MaxBytes: maxFileBytes})
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
			return fmt.Errorf("%s has %.1f GB, expected at most %d GB for a sweep with a queue", f.Name,
				float64(f.Bytes)/1e9, maxSingleFileBytes>>30)
		}
		if info, err := store.GetInfo(ctx, f.SHA256); err == nil && info.Size == uint64(f.Bytes) {
			continue
		}
		if err := putFile(ctx, store, f, p.filePath(f.Name)); err != nil {
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

// putFile uploads file f, which is at path, under its hash.
func putFile(ctx context.Context, store jetstream.ObjectStore, f engine.DataFile, path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	ctx, cancel := withTransferTimeout(ctx, f.Bytes)
	defer cancel()
	_, err = store.Put(ctx, jetstream.ObjectMeta{Name: f.SHA256}, in)
	return err
}

// hello is the message that a worker sends every few seconds.
type hello struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// refusal is the reply to the hello of a worker with another version.
type refusal struct {
	Version string `json:"version"` // that the sweep needs
	Sweep   string `json:"sweep"`   // host that coordinates the sweep
}

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
	workers, err := newWorkerSet(q, s)
	if err != nil {
		return &QueueError{"cannot be set up", err}
	}
	defer func() { _ = workers.sub.Unsubscribe() }()
	results, err := q.js.CreateOrUpdateConsumer(ctx, resultStream,
		jetstream.ConsumerConfig{Durable: resultConsumerName(s.plan),
			FilterSubject: resultSubject(s.plan.ID), AckPolicy: jetstream.AckExplicitPolicy,
			AckWait: time.Minute, MaxAckPending: 1000})
	if err != nil {
		return &QueueError{"cannot be set up", err}
	}
	consumption, err := results.Consume(func(m jetstream.Msg) {
		panics.Guard(s.finish, func() { workers.handleResult(m) })()
	})
	if err != nil {
		return &QueueError{"cannot be read", err}
	}
	defer q.removeSweep(s)
	defer func() { consumption.Stop(); <-consumption.Closed() }()
	q.purgeJobs(ctx, s.plan) // of an earlier coordinator of this sweep
	check := func() {
		workers.removeSilent()
		if err := q.queueMissing(ctx, s, results); err != nil && ctx.Err() == nil {
			workers.notify(fmt.Sprintf("jobs cannot be queued: %v", err))
		}
	}
	check()
	wallclock.Every(q.lease/4, ctx.Done(), check)
	q.drain(s, results)
	return nil
}

// handleResult adds the results in a message to the sweep. A message is not acknowledged if its results
// could not be stored: the coordinator that resumes the sweep gets it again. A damaged message is
// dropped; its runs are queued again with the lost ones.
func (c *workerSet) handleResult(m jetstream.Msg) {
	data, err := decompress(m.Data())
	var b batch
	if err == nil {
		b, err = open(data, c.s.plan.ID, c.s.plan.Version)
	}
	switch {
	case errors.Is(err, errOtherSweep):
	case err != nil:
		c.notify(fmt.Sprintf("results from a worker were dropped and are run again: %.200v", err))
	default:
		b.Queued = true
		if err := c.s.addBatch(b, storeBatch); err != nil {
			c.s.finish(err)
			if errors.As(err, new(*notStoredError)) {
				return
			}
		}
		c.markAlive(b.Worker)
	}
	_ = m.Ack() // also a damaged message; after an error it is delivered again, which is harmless
}

// drain waits, after an interruption, at most five seconds for the results on the server.
func (q *queue) drain(s *activeSweep, results jetstream.Consumer) {
	if len(s.missing()) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		if isDrained, err := isDrained(ctx, results); err != nil || isDrained {
			return
		}
		pause(ctx, 20*time.Millisecond)
	}
}

// isDrained reports whether all results on the server were handled.
func isDrained(ctx context.Context, results jetstream.Consumer) (bool, error) {
	info, err := results.Info(ctx)
	return err == nil && info.NumPending == 0 && info.NumAckPending == 0, err
}

// claim makes this process the only coordinator of the plan on the server: two would consume each
// other's results. It fails if another process coordinates the plan. The caller must call release at the
// end.
//
// The coordinator subscribes to a subject of the plan and answers requests there. If two claim at the
// same moment, each receives the other's request, and the one with the smaller id answers.
func (q *queue) claim(p *Plan) (release func(), err error) {
	subject := "wirelab.claim." + p.ID
	if m, err := q.conn.Request(subject, []byte(q.id),
		2*time.Second); err == nil { // without a subscriber it fails at once
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

// queuedJobs is the number of jobs into which the runs of a sweep are divided for an unknown number of
// workers.
const queuedJobs = 250

// queueMissing queues the runs without a result if the server has no jobs and no results of the sweep:
// at the begin, and after it lost them or a worker did not finish all runs of a job. A worker sends its
// results before it acknowledges the job, which removes it from the server.
func (q *queue) queueMissing(ctx context.Context, s *activeSweep, results jetstream.Consumer) error {
	shortly := func() (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, 5*time.Second) }
	request, cancel := shortly()
	defer cancel()
	stream, err := q.js.Stream(request, jobStream)
	if err != nil {
		return q.createStreams(ctx) // the server may have lost its streams
	}
	subject := jobSubject(s.plan.Version, s.plan.ID)
	info, err := stream.Info(request, jetstream.WithSubjectFilter(subject))
	if err != nil || info.State.Subjects[subject] > 0 {
		return err
	}
	if isDrained, err := isDrained(request, results); err != nil || !isDrained {
		return err
	}
	for _, j := range s.plan.jobs(s.missing(), queuedJobs, s.opt.maxJobRuns) {
		data, err := json.Marshal(j)
		if err != nil {
			return err
		}
		request, cancel := shortly()
		_, err = q.js.Publish(request, subject, data)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// purgeJobs removes the jobs of a sweep from the server.
func (q *queue) purgeJobs(ctx context.Context, p *Plan) {
	if stream, err := q.js.Stream(ctx, jobStream); err == nil {
		_ = stream.Purge(ctx, jetstream.WithPurgeSubject(jobSubject(p.Version, p.ID)))
	}
}

// removeSweep removes the jobs of the sweep from the server, and its results if the sweep is complete.
// Otherwise results that were not consumed stay for the coordinator that resumes the sweep.
func (q *queue) removeSweep(s *activeSweep) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	q.purgeJobs(ctx, s.plan)
	if len(s.missing()) == 0 {
		if stream, err := q.js.Stream(ctx, resultStream); err == nil {
			_ = stream.Purge(ctx, jetstream.WithPurgeSubject(resultSubject(s.plan.ID)))
		}
	}
	_ = q.js.DeleteConsumer(ctx, resultStream, resultConsumerName(s.plan))
}

// maxMessageJSON is the maximum size of the JSON in a message, in bytes. Decoded, it uses a multiple of
// that memory.
const maxMessageJSON = 16 << 20

// errMessageTooLarge means that results do not fit into one message.
var errMessageTooLarge = errors.New("results too large for a message")

// compress returns the data of a message with the JSON of a batch, or errMessageTooLarge.
func compress(text []byte) ([]byte, error) {
	if len(text) > maxMessageJSON {
		return nil, errMessageTooLarge
	}
	enc, err := resultEncoder()
	if err != nil {
		return nil, err
	}
	return enc.EncodeAll(text, nil), nil
}

// resultEncoder returns the shared compressor, whose EncodeAll is safe for concurrent use.
var resultEncoder = sync.OnceValues(func() (*zstd.Encoder, error) { return zstd.NewWriter(nil) })

// decompress returns the JSON in a message, which may be malicious.
func decompress(data []byte) ([]byte, error) {
	dec, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxMemory(maxMessageJSON))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	return boundedio.ReadAll(dec, "a message", maxMessageJSON)
}
