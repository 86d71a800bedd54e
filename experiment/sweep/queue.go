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

// Names on the server. Jobs wait under the version that can run them and the plan that
// they are of, results under their plan.
const (
	jobStream    = "WIRELAB-JOBS"
	resultStream = "WIRELAB-RESULTS"
	fileBucket   = "wirelab-files"
	helloSubject = "wirelab.hello"
)

// Bounds of what a queue holds. What is beyond is refused by the server, and tried again.
const (
	maxJobBytes    = 64 << 20
	maxResultBytes = 2 << 30
	maxFileBytes   = 8 << 30 // of all files together
	maxOneFile     = 2 << 30
	keepFiles      = 7 * 24 * time.Hour
	keepMessages   = 7 * 24 * time.Hour // of sweeps that nobody goes on with
)

// lease is how long a job is a worker's without a sign of life from it.
const lease = 20 * time.Second

// queue is a connection to a NATS server with JetStream.
type queue struct {
	conn  *nats.Conn
	js    jetstream.JetStream
	lease time.Duration
	id    string // of this connection, among all that there ever were
}

// QueueOptions say how to connect.
type QueueOptions struct {
	URL       string
	Token     string
	TLS       *tls.Config // nil: as the URL says
	Lease     time.Duration
	inProcess nats.InProcessConnProvider // instead of the URL
}

// OpenQueue connects to a server. A connection that is lost later is made again, for ever.
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
		q.lease = lease
	}
	if err == nil {
		err = q.setUp(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return q, nil
}

// QueueError says what is wrong with a queue: the machine's to mend, or the network's.
type QueueError struct {
	Problem string
	Err     error
}

// Error puts it in one sentence.
func (e *QueueError) Error() string { return fmt.Sprintf("the queue %s: %v", e.Problem, e.Err) }

// Unwrap returns what the library said.
func (e *QueueError) Unwrap() error { return e.Err }

// Close ends the connection.
func (q *queue) Close() { q.conn.Close() }

// setUp makes the streams that there must be.
func (q *queue) setUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	for _, c := range []jetstream.StreamConfig{
		{Name: jobStream, Subjects: []string{"wirelab.jobs.>"}, Retention: jetstream.WorkQueuePolicy, MaxBytes: maxJobBytes,
			MaxAge: keepMessages, Discard: jetstream.DiscardNew},
		{Name: resultStream, Subjects: []string{"wirelab.results.>"}, Retention: jetstream.WorkQueuePolicy, MaxBytes: maxResultBytes,
			MaxAge: keepMessages, Discard: jetstream.DiscardNew},
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

// token is what stands for any text in a subject.
func token(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// A job's subject ends in its key: the server can say which jobs it holds.
func jobSubject(version, plan, key string) string {
	return "wirelab.jobs." + token(version) + "." + plan + "." + key
}
func resultSubject(plan string) string { return "wirelab.results." + plan }

// forTransfer gives a file the time that it takes over a slow line: without a deadline of
// its own, the library gives all of them five seconds.
func forTransfer(ctx context.Context, bytes int64) (context.Context, context.CancelFunc) {
	const slow = 128 << 10 // bytes a second
	return context.WithTimeout(ctx, time.Minute+time.Duration(bytes/slow)*time.Second)
}

// files returns the store of files, by the hash of what is in them.
func (q *queue) files(ctx context.Context) (jetstream.ObjectStore, error) {
	return q.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: fileBucket, TTL: keepFiles, MaxBytes: maxFileBytes})
}

// planText is what a worker needs to know of a plan.
type planText struct {
	Manifest manifest `json:"manifest"`
	TOML     string   `json:"toml"`
}

// publish brings the plan and its files to the server, each once.
func (q *queue) publish(ctx context.Context, p *Plan) error {
	store, err := q.files(ctx)
	if err != nil {
		return &QueueError{"has no room for files", err}
	}
	for _, f := range p.Files {
		if f.Bytes > maxOneFile {
			return fmt.Errorf("%s has %.1f GB; files of a sweep over machines may have %d GB", f.Name, float64(f.Bytes)/1e9, maxOneFile>>30)
		}
		if info, err := store.GetInfo(ctx, f.SHA256); err == nil && info.Size == uint64(f.Bytes) {
			continue
		}
		if err := putFile(ctx, store, f.SHA256, p.where(f.Name)); err != nil {
			return &QueueError{"did not take " + f.Name, err}
		}
	}
	text, err := json.Marshal(planText{manifest{p.ID, p.Version, p.Runs(), len(p.Points), p.Repeat, p.Files}, string(p.TOML)})
	if err != nil {
		return err
	}
	if _, err := store.PutBytes(ctx, "plan-"+p.ID, text); err != nil {
		return &QueueError{"did not take the plan", err}
	}
	return nil
}

// where returns where a file of the configuration lies.
func (p *Plan) where(name string) string {
	if p.Config.Find == nil {
		return name
	}
	return p.Config.Find(name)
}

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
	ctx, cancel := forTransfer(ctx, info.Size())
	defer cancel()
	_, err = store.Put(ctx, jetstream.ObjectMeta{Name: name}, f)
	return err
}

// hello is what a worker says of itself, every few seconds.
type hello struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Jobs    int    `json:"jobs"` // side by side
}

// refusal is what a worker hears that cannot take part.
type refusal struct {
	Version string `json:"version"` // that the sweep needs
	Sweep   string `json:"sweep"`   // who runs it
}

// patience is how many signs of life a worker may miss.
const patience = 4

// coordinate queues what is missing and takes what comes back, until ctx ends.
func (q *queue) coordinate(ctx context.Context, s *state) error {
	leave, err := q.claim(s.plan)
	if err != nil {
		return err
	}
	defer leave()
	if err := q.publish(ctx, s.plan); err != nil {
		return err
	}
	subject := jobSubject(s.plan.Version, s.plan.ID, "*")
	jobs, err := q.js.Stream(ctx, jobStream)
	if err == nil {
		err = jobs.Purge(ctx, jetstream.WithPurgeSubject(subject)) // of an earlier attempt: the results say what is missing
	}
	if err != nil {
		return &QueueError{"cannot be set up", err}
	}
	crew, err := newCrew(q, s)
	if err != nil {
		return &QueueError{"cannot be set up", err}
	}
	defer func() { _ = crew.sub.Unsubscribe() }()
	results, err := q.js.CreateOrUpdateConsumer(ctx, resultStream, jetstream.ConsumerConfig{Durable: "results-" + s.plan.ID[:32],
		FilterSubject: resultSubject(s.plan.ID), AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Minute, MaxAckPending: 1000})
	if err != nil {
		return &QueueError{"cannot be set up", err}
	}
	wake := make(chan struct{}, 1)
	feed, err := results.Consume(func(m jetstream.Msg) {
		panics.Guard(s.finish, func() { crew.receive(m, wake) })()
	})
	if err != nil {
		return &QueueError{"cannot be read", err}
	}
	defer q.clear(s)
	defer func() { feed.Stop(); <-feed.Closed() }()
	q.feed(ctx, s, crew, wake)
	q.drain(s, results)
	return nil
}

// receive takes what a job came to, and wakes the coordinator.
func (c *crew) receive(m jetstream.Msg, wake chan<- struct{}) {
	if d, err := unpack(m.Data()); err == nil {
		if err := c.s.take(d, true); err != nil {
			c.s.finish(err)
			if nk := (*notKept)(nil); errors.As(err, &nk) {
				return // not acknowledged: who goes on gets it again
			}
		}
		c.worked(d.Worker)
	}
	_ = m.Ack() // or it comes again, which changes nothing
	select {
	case wake <- struct{}{}:
	default:
	}
}

// drain takes the results that are on their way when the work is broken off: those of this
// machine's own workers, and those that the server has.
func (q *queue) drain(s *state, results jetstream.Consumer) {
	if missing, _ := s.chunks.unfinished(); missing == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if s.helpers != nil {
		select {
		case <-s.helpers:
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

// claim says to all others on this server that the plan is being run, and fails if somebody
// runs it already: two would take each other's results away.
func (q *queue) claim(p *Plan) (leave func(), err error) {
	subject := "wirelab.claim." + p.ID
	if m, err := q.conn.Request(subject, []byte(q.id), 2*time.Second); err == nil { // nobody there is said at once
		return nil, &QueueError{"has this sweep already", fmt.Errorf("%.80q runs it", m.Data)}
	}
	first := true // of two who ask at once one gives way
	var mu sync.Mutex
	sub, err := q.conn.Subscribe(subject, func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		if other := string(m.Data); other != q.id && (!first || q.id < other) {
			_ = m.Respond([]byte(hostName()))
		}
	})
	if err == nil {
		err = q.conn.Flush()
	}
	if err != nil {
		return nil, &QueueError{"cannot be set up", err}
	}
	m, err := q.conn.Request(subject, []byte(q.id), 100*time.Millisecond) // it hears itself, and is silent
	if err == nil {
		_ = sub.Unsubscribe()
		return nil, &QueueError{"has this sweep already", fmt.Errorf("%.80q runs it", m.Data)}
	}
	mu.Lock()
	first = false
	mu.Unlock()
	return func() { _ = sub.Unsubscribe() }, nil
}

// feed keeps enough jobs in the queue that no worker waits, and queues again what the
// server has lost or nobody finished.
func (q *queue) feed(ctx context.Context, s *state, crew *crew, wake <-chan struct{}) {
	tick := time.NewTicker(q.lease / 4)
	defer tick.Stop()
	said := ""
	for {
		for {
			if _, out := s.chunks.unfinished(); out >= 2*crew.count()+4 {
				break
			}
			j, ok := s.chunks.take()
			if !ok {
				break
			}
			if err := q.put(ctx, s.plan, j); err != nil {
				if text := fmt.Sprintf("a job cannot be queued: %v", err); text != said && ctx.Err() == nil {
					s.opt.Say(text)
					said = text
				}
				break // it is overdue soon
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-tick.C:
			crew.forget()
			q.again(ctx, s)
		}
	}
}

// put queues a job. The server keeps apart one that it has from one that is queued again.
func (q *queue) put(ctx context.Context, p *Plan, j job) error {
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err = q.js.Publish(ctx, jobSubject(p.Version, p.ID, j.Key), data, jetstream.WithMsgID(fmt.Sprintf("%s %s %d", q.id, j.Key, j.Attempt)))
	return err
}

// again queues jobs that are out for long and that the server does not hold any more: it
// was begun anew, or a worker finished them and its results were lost.
func (q *queue) again(ctx context.Context, s *state) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	stream, err := q.js.Stream(ctx, jobStream)
	if err != nil {
		_ = q.setUp(ctx) // a server that lost its disk
		return
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(jobSubject(s.plan.Version, s.plan.ID, "*")))
	if err != nil {
		return
	}
	held := func(key string) bool { return info.State.Subjects[jobSubject(s.plan.Version, s.plan.ID, key)] > 0 }
	for _, j := range s.chunks.overdue(q.lease, held) {
		_ = q.put(ctx, s.plan, j)
	}
}

// clear takes what is left of a sweep off the server. Results that nobody took stay for who
// goes on.
func (q *queue) clear(s *state) {
	p := s.plan
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if stream, err := q.js.Stream(ctx, jobStream); err == nil {
		_ = stream.Purge(ctx, jetstream.WithPurgeSubject(jobSubject(p.Version, p.ID, "*")))
	}
	if missing, _ := s.chunks.unfinished(); missing == 0 {
		if stream, err := q.js.Stream(ctx, resultStream); err == nil {
			_ = stream.Purge(ctx, jetstream.WithPurgeSubject(resultSubject(p.ID)))
		}
	}
	_ = q.js.DeleteConsumer(ctx, resultStream, "results-"+p.ID[:32])
}

// maxUnpacked bounds the text of a message: what is in it takes a multiple of that in memory.
const maxUnpacked = 16 << 20

// errTooMuch says that results do not fit into one message.
var errTooMuch = errors.New("more than a message may hold")

// pack compresses results for a message.
func pack(d jobResult) ([]byte, error) {
	data, err := json.Marshal(d)
	if err == nil && len(data) > maxUnpacked {
		err = errTooMuch
	}
	if err != nil {
		return nil, err
	}
	enc, err := packer()
	if err != nil {
		return nil, err
	}
	return enc.EncodeAll(data, nil), nil
}

// packer is shared: EncodeAll may be called by several goroutines.
var packer = sync.OnceValues(func() (*zstd.Encoder, error) { return zstd.NewWriter(nil) })

// unpack is the reverse of pack, of a message that anybody may have sent.
func unpack(data []byte) (d jobResult, err error) {
	dec, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxUnpacked))
	if err != nil {
		return d, err
	}
	defer dec.Close()
	text, err := boundedio.ReadAll(dec, "a message", maxUnpacked)
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(text, &d)
}
