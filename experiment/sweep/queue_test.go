//go:build unix

package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/internal/boundedio"
	"wirelab/internal/testkit"

	"github.com/klauspost/compress/zstd"
)

// workerURL is an environment variable that makes the test binary a worker of the queue at that URL.
const workerURL = "WIRELAB_TEST_WORKER"

// testLease is short, so that jobs of a dead worker soon go to others.
const testLease = 2 * time.Second

func TestMain(m *testing.M) {
	if url := os.Getenv(workerURL); url != "" {
		q, err := OpenQueue(context.Background(), QueueOptions{URL: url, Lease: testLease})
		if err == nil {
			err = Work(context.Background(), q, WorkerOptions{Clock: clock, Jobs: 1, Version: "v1", Cache: os.Getenv("WIRELAB_TEST_CACHE")})
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(m.Run())
}

// startWorker starts the test binary as a worker.
func startWorker(t *testing.T, url string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), workerURL+"="+url, "WIRELAB_TEST_CACHE="+t.TempDir())
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// natsServer is a NATS server in another process.
type natsServer struct {
	t    *testing.T
	path string
	addr string
	dir  string
	cmd  *exec.Cmd
}

func startServer(t *testing.T) *natsServer {
	t.Helper()
	out, err := exec.Command("go", "tool", "-n", "nats-server").Output()
	if err != nil {
		t.Skip("NOT RUN: nats-server cannot be built here:", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	s := &natsServer{t: t, path: strings.TrimSpace(string(out)), addr: addr, dir: t.TempDir()}
	s.start()
	t.Cleanup(s.kill)
	return s
}

func (s *natsServer) start() {
	s.t.Helper()
	host, port, _ := net.SplitHostPort(s.addr)
	s.cmd = exec.Command(s.path, "-a", host, "-p", port, "-js", "-sd", s.dir)
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	testkit.WaitFor(s.t, "nats-server", func() bool {
		c, err := net.Dial("tcp", s.addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

func (s *natsServer) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func opened(t *testing.T, o QueueOptions) *queue {
	t.Helper()
	o.Lease = testLease
	q, err := OpenQueue(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return q
}

func served(t *testing.T) (*queueServer, *queue) {
	t.Helper()
	s, err := Serve("127.0.0.1:0", "secret", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, opened(t, QueueOptions{Token: "secret", inProcess: s.ns})
}

const medium = `
duration = "1500ms"
encoder.name = "changed-index"
[sweep]
repeat = 30
[[sweep.axis]]
key = "down.loss"
values = ["0%", "10%", "30%", "50%"]
`

// A sweep with three worker processes, one of which is killed and one stopped, and a server that is
// killed and restarted, has every result once and the same digest as a sweep without a queue.
func TestQueueSurvives(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("processes that are killed: under WIRELAB_THOROUGH=1")
	}
	p := newTestPlan(t, medium)
	want := runSweep(t, p, Options{Jobs: 2}).Digest
	server := startServer(t)
	url := "nats://" + server.addr
	q := opened(t, QueueOptions{URL: url})
	workers := []*exec.Cmd{startWorker(t, url), startWorker(t, url), startWorker(t, url)}
	var ran atomic.Int64
	times := make([]int, p.Runs())
	var once [3]sync.Once
	sum := runSweep(t, p, Options{Queue: q, maxJobRuns: 3, OnResult: func(o Outcome) {
		times[o.Run]++
		n := int(ran.Add(1))
		for i, do := range []func(){
			func() { _ = workers[0].Process.Kill() },
			func() { _ = workers[1].Process.Signal(syscall.SIGSTOP) },
			func() { server.kill(); server.start() },
		} {
			if n > (i+1)*p.Runs()/5 {
				once[i].Do(func() { go do() })
			}
		}
	}})
	for n, k := range times {
		if k != 1 {
			t.Errorf("the result of run %d was reported %d times", n, k)
		}
	}
	if sum.Digest != want {
		t.Errorf("digest %.12s, on one machine %.12s", sum.Digest, want)
	}
}

// The embedded server works with and without workers in other processes.
func TestEmbeddedServer(t *testing.T) {
	t.Parallel()
	p := newTestPlan(t, small)
	want := runSweep(t, p, Options{Jobs: 1}).Digest
	s, q := served(t)
	if got := runSweep(t, p, Options{Queue: q, Jobs: 2, maxJobRuns: 4}).Digest; got != want {
		t.Errorf("its own cores alone: digest %.12s, expected %.12s", got, want)
	}
	startWorker(t, "nats://secret@"+s.Addr())
	if got := runSweep(t, p, Options{Queue: q, maxJobRuns: 4}).Digest; got != want {
		t.Errorf("a worker from outside alone: digest %.12s, expected %.12s", got, want)
	}
	if _, err := OpenQueue(t.Context(), QueueOptions{URL: "nats://wrong@" + s.Addr()}); err == nil {
		t.Error("a wrong token lets in")
	}
	if _, err := OpenQueue(t.Context(), QueueOptions{URL: "nats://" + s.Addr()}); err == nil {
		t.Error("no token lets in")
	}
}

// A worker with another version gets a RefusedError with the version needed; the coordinator reports
// the worker's name.
func TestOtherVersion(t *testing.T) {
	p := newTestPlan(t, small)
	s, q := served(t)
	other := opened(t, QueueOptions{URL: "nats://secret@" + s.Addr()})
	refused := make(chan error, 1)
	said := make(chan string, 8)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		_, _ = Run(ctx, p, Options{Clock: clock, Queue: q, OnNotice: func(text string) { said <- text }})
	}()
	go func() { refused <- Work(ctx, other, WorkerOptions{Clock: clock, Name: "old-one", Version: "v0"}) }()
	var r *RefusedError
	if err := <-refused; !errors.As(err, &r) || r.Mine != "v0" || r.Theirs != "v1" {
		t.Errorf("the worker ended with %v", err)
	}
	if text := <-said; !strings.Contains(text, "old-one") || !strings.Contains(text, "v0") || !strings.Contains(text, "v1") {
		t.Errorf("notices %q", text)
	}
}

// newTextPlan writes a text to path and returns a sweep that sends it repeat times.
func newTextPlan(t *testing.T, path string, repeat int) *Plan {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Repeat("the quick brown fox jumps over the lazy dog. ", 400)), 0o644); err != nil {
		t.Fatal(err)
	}
	return newTestPlan(t, fmt.Sprintf("duration = \"1s\"\n[data]\nsource = \"text:%s\"\n[sweep]\nrepeat = %d\n", path, repeat))
}

// Workers read files of the sweep by their hash, and never files of their own machine that a
// configuration names.
func TestFilesOfSweep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text.txt")
	p := newTextPlan(t, path, 4)
	if len(p.Files) != 1 {
		t.Fatalf("the plan names the files %v, expected one", p.Files)
	}
	want := runSweep(t, p, Options{Jobs: 1}).Digest
	s, q := served(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cacheDir := t.TempDir()
	there := opened(t, QueueOptions{URL: "nats://secret@" + s.Addr()})
	if err := q.publish(ctx, p); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".gone"); err != nil { // the worker is on another machine
		t.Fatal(err)
	}
	go func() { _ = Work(ctx, there, WorkerOptions{Clock: clock, Version: "v1", Cache: cacheDir}) }()
	if got := runSweep(t, p, Options{Queue: q}).Digest; got != want {
		t.Errorf("digest %.12s, with the file %.12s", got, want)
	}
	w := &worker{q: there, opt: WorkerOptions{Clock: clock, Version: "v1", Cache: cacheDir, OnNotice: func(string) {}}}
	if err := os.Rename(path+".gone", path); err != nil {
		t.Fatal(err)
	}
	bad := *p
	bad.Files = nil // it names a file that does not come with it
	if err := bad.setID(); err != nil {
		t.Fatal(err)
	}
	if err := q.publish(ctx, &bad); err != nil {
		t.Fatal(err)
	}
	got, err := w.fetchPlan(ctx, bad.ID)
	if err != nil {
		t.Fatal(err)
	}
	d, err := newExecutor(got, "w", clock).runJob(ctx, got.job([]int{0}))
	if err != nil || d.Error == "" || len(d.Runs) > 0 {
		t.Errorf("a file of the worker's own machine was read: %v, %q", err, d.Error)
	}
}

// Jobs that do not match the plan are not run.
func TestHostileJobs(t *testing.T) {
	p := newTestPlan(t, small)
	good := p.job([]int{1, 2})
	if err := p.checkJob(good); err != nil {
		t.Fatal(err)
	}
	for name, j := range map[string]job{
		"no runs":      {Key: good.Key, Plan: p.ID},
		"another plan": {Key: good.Key, Plan: "x", Runs: good.Runs},
		"another key":  {Key: "x", Plan: p.ID, Runs: good.Runs},
		"beyond":       p.job([]int{1, 1 << 30}),
		"negative":     p.job([]int{-1}),
		"disorder":     p.job([]int{2, 1}),
		"too many":     p.job(make([]int, maxJobRuns+1)),
	} {
		if p.checkJob(j) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	s := newActiveSweep(p, Options{Clock: clock})
	for _, d := range []jobResult{{Plan: p.ID, Version: "v0"}, {Plan: "x", Version: "v1"}, {Plan: p.ID, Version: "v1", Runs: []Outcome{{Run: 1 << 30}}},
		{Plan: p.ID, Version: "v1", Runs: []Outcome{{Run: 1}}}} {
		if err := s.addResult(d, false); err != nil || s.progress.Runs != 0 {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

// A message of exactly the limit is decoded; a longer one is refused by both sides.
func TestMessageLimit(t *testing.T) {
	empty, err := json.Marshal(jobResult{})
	if err != nil {
		t.Fatal(err)
	}
	largest := jobResult{Error: strings.Repeat("x", maxMessageJSON-len(empty)-len(`"error":"",`))}
	if text, err := json.Marshal(largest); err != nil || len(text) != maxMessageJSON {
		t.Fatalf("%d bytes, want %d; %v", len(text), maxMessageJSON, err)
	}
	data, err := encodeResult(largest)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := decodeResult(data); err != nil || len(d.Error) != len(largest.Error) {
		t.Errorf("%d bytes arrived, want %d; %v", len(d.Error), len(largest.Error), err)
	}
	largest.Error += "x"
	if _, err := encodeResult(largest); !errors.Is(err, errMessageTooLarge) {
		t.Errorf("one byte more is packed: %v", err)
	}
	enc, err := resultEncoder()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer // a stream, whose length stands nowhere
	w, err := zstd.NewWriter(&out)
	if err == nil {
		_, err = w.Write(append(bytes.Repeat([]byte(" "), maxMessageJSON-2), "{}x"...))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{out.Bytes(), enc.EncodeAll(bytes.Repeat([]byte(" "), maxMessageJSON+1), nil)} {
		var tooLarge *boundedio.SizeError
		if _, err := decodeResult(data); !errors.As(err, &tooLarge) && !errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			t.Errorf("a message that is too large: %v", err)
		}
	}
}

// FuzzUnpack checks that arbitrary messages are refused in bounded memory.
func FuzzUnpack(f *testing.F) {
	data, err := encodeResult(jobResult{Key: "k", Plan: "p", Runs: []Outcome{{Run: 1}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte{})
	c, err := config.Parse("test.toml", []byte(small))
	if err != nil {
		f.Fatal(err)
	}
	p, err := newPlan(c, "v1")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := decodeResult(data)
		if err != nil {
			return
		}
		if d.Plan != p.ID && p.checkResult(&d) == nil {
			t.Error("results of another plan are accepted")
		}
	})
}

// BenchmarkQueue measures the cost of the queue, with runs that take no time.
func BenchmarkQueue(b *testing.B) {
	s, err := Serve("127.0.0.1:0", "secret", nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	q, err := s.Open(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer q.Close()
	c, err := config.Parse("test.toml", []byte("duration = \"100ms\"\n[sweep]\nrepeat = 1000\n[[sweep.axis]]\nkey = \"sender.window\"\nvalues = ["+
		strings.TrimSuffix(strings.Repeat("1, ", (b.N+999)/1000), ", ")+"]\n"))
	if err != nil {
		b.Fatal(err)
	}
	p, err := NewPlan(b.Context(), c, "v1")
	if err != nil {
		b.Fatal(err)
	}
	one, err := newExecutor(p, "w", clock).runJob(b.Context(), p.job([]int{0}))
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	sum, err := Run(b.Context(), p, Options{Clock: clock, Queue: q, Jobs: 2, maxJobRuns: 1,
		run: func(_ context.Context, c *config.Config) (*engine.Result, error) {
			r := *one.Runs[0].Result
			r.Seed = c.Seed
			return &r, nil
		}})
	if err != nil || sum.Done != p.Runs() {
		b.Fatal(err)
	}
	b.ReportMetric(float64(sum.Done)/b.Elapsed().Seconds(), "jobs/s")
}
