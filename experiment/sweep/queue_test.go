//go:build unix

package sweep

import (
	"bytes"
	"context"
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
	noError(t, cmd.Start())
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
	l := must(net.Listen("tcp", "127.0.0.1:0"))
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
	q := must(OpenQueue(t.Context(), o))
	t.Cleanup(q.Close)
	return q
}

func served(t *testing.T) (*queueServer, *queue) {
	t.Helper()
	s := must(Serve("127.0.0.1:0", "secret", nil))
	t.Cleanup(s.Close)
	return s, opened(t, QueueOptions{Token: "secret", inProcess: s.ns})
}

// remote returns a connection to s as from another machine.
func remote(t *testing.T, s *queueServer) *queue {
	t.Helper()
	return opened(t, QueueOptions{URL: "nats://secret@" + s.Addr()})
}

// work starts a worker of s until the test ends.
func work(t *testing.T, s *queueServer, o WorkerOptions) {
	t.Helper()
	o.Clock, o.Version = clock, "v1"
	q := remote(t, s)
	go func() { _ = Work(t.Context(), q, o) }()
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
	other := remote(t, s)
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
	noError(t, os.WriteFile(path, []byte(strings.Repeat("the quick brown fox jumps over the lazy dog. ", 400)), 0o644))
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
	cacheDir := t.TempDir()
	noError(t, q.publish(t.Context(), p))
	if err := os.Rename(path, path+".gone"); err != nil { // the worker is on another machine
		t.Fatal(err)
	}
	var sent atomic.Int64
	work(t, s, WorkerOptions{Cache: cacheDir, OnRuns: func(n int) { sent.Add(int64(n)) }})
	if got := runSweep(t, p, Options{Queue: q}).Digest; got != want {
		t.Errorf("digest %.12s, with the file %.12s", got, want)
	}
	testkit.WaitFor(t, "the count of all runs", func() bool { return sent.Load() == int64(p.Runs()) })
	w := &worker{q: q, opt: WorkerOptions{Clock: clock, Version: "v1", Cache: cacheDir, OnNotice: func(string) {}}}
	noError(t, os.Rename(path+".gone", path))
	bad := must(newPlan(p.Config, "v1", nil)) // it names a file that does not come with it
	noError(t, q.publish(t.Context(), bad))
	got := must(w.fetchPlan(t.Context(), bad.ID))
	if d := newExecutor(got, "w", clock).runBatch(t.Context(), []int{0}); d.Error == "" || len(d.Runs) > 0 {
		t.Errorf("a file of the worker's own machine was read: %q", d.Error)
	}
}

// Jobs and results that do not match the plan are not run, and not added.
func TestHostileJobs(t *testing.T) {
	p := newTestPlan(t, small)
	for name, j := range map[string]job{
		"no runs":      {Plan: p.ID},
		"another plan": {Plan: "x", Runs: []int{1, 2}},
		"beyond":       {p.ID, []int{1, 1 << 30}},
		"negative":     {p.ID, []int{-1}},
		"disorder":     {p.ID, []int{2, 1}},
		"too many":     {p.ID, make([]int, maxJobRuns+1)},
	} {
		if p.checkJob(j) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	s := newActiveSweep(p, Options{Clock: clock})
	for _, d := range []batch{{Runs: []Outcome{{Run: 1 << 30}}}, {Runs: []Outcome{{Run: 1}}}, {Runs: []Outcome{outcome(3), outcome(4), outcome(3)}}} {
		if err := s.addBatch(d, false); err != nil || s.progress.Runs != 0 {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

// A message of exactly the limit is decoded; a longer one is refused by both sides.
func TestMessageLimit(t *testing.T) {
	largest := bytes.Repeat([]byte("x"), maxMessageJSON)
	data := must(compress(largest))
	if text, err := decompress(data); err != nil || !bytes.Equal(text, largest) {
		t.Errorf("%d bytes arrived, want %d; %v", len(text), len(largest), err)
	}
	largest = append(largest, 'x')
	if _, err := compress(largest); !errors.Is(err, errMessageTooLarge) {
		t.Errorf("one byte more is packed: %v", err)
	}
	enc := must(resultEncoder())
	var out bytes.Buffer // a stream, whose length stands nowhere
	w, err := zstd.NewWriter(&out)
	if err == nil {
		_, err = w.Write(largest)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{out.Bytes(), enc.EncodeAll(largest, nil)} {
		var tooLarge *boundedio.SizeError
		if _, err := decompress(data); !errors.As(err, &tooLarge) && !errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			t.Errorf("a message that is too large: %v", err)
		}
	}
}

// FuzzUnpack checks that arbitrary messages are refused in bounded memory.
func FuzzUnpack(f *testing.F) {
	text, err := (&batch{Runs: []Outcome{outcome(1)}}).seal("p", "v1")
	if err != nil {
		f.Fatal(err)
	}
	data, err := compress(text)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := decompress(data)
		if err != nil {
			return
		}
		if _, err := open(text, "p", "v1"); err == nil && !bytes.Contains(text, []byte(`"p"`)) {
			t.Error("results of another plan are accepted")
		}
	})
}
