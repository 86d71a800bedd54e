//go:build unix

package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/atomicfile"
	"wirelab/internal/testkit"
)

// stored runs the sweep of small in a folder and returns the folder and the result files.
func stored(t *testing.T) (dir string, files []string) {
	t.Helper()
	p := newTestPlan(t, small)
	dir, store := newTestStore(t, p)
	runSweep(t, p, Options{Jobs: 2, Store: store, maxJobRuns: 3})
	store.Close()
	files, err := filepath.Glob(filepath.Join(dir, resultsName, "*.json"))
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	return dir, files
}

// resume continues the sweep in dir. said contains its notices.
func resume(t *testing.T, dir string, o Options) (sum *Summary, said string, err error) {
	t.Helper()
	store, p, err := OpenStore(nil, dir, "v1")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	o.Clock, o.Jobs, o.Store, o.OnNotice = clock, 2, store, func(text string) { said += text + "\n" }
	sum, err = Run(t.Context(), p, o)
	return sum, said, err
}

// rewrite changes the first run of a result file as someone would who computes a new hash.
func rewrite(t *testing.T, file string, change func(*sealedBatch, *engine.Result)) {
	t.Helper()
	var x sealedBatch
	var r *engine.Result
	noError(t, json.Unmarshal(must(os.ReadFile(file)), &x))
	noError(t, json.Unmarshal(x.Runs[0].Result, &r))
	change(&x, r)
	x.Runs[0].Result = must(json.Marshal(r))
	x.Runs[0].SHA256 = x.Runs[0].hash(x.Plan)
	noError(t, os.WriteFile(file, must(json.Marshal(x)), 0o644))
}

// A figure that was altered in a file is noticed: without a new hash or with an impossible value when it is
// read, otherwise when the run is repeated. The digest, which is unchanged, does not show it.
func TestAlteredFile(t *testing.T) {
	dir, files := stored(t)
	want, _, err := resume(t, dir, Options{Verify: 1})
	if err != nil || want.Verified.Runs != 30 {
		t.Fatal(want.Verified, err)
	}
	good := must(os.ReadFile(files[0]))
	restore := func() {
		noError(t, os.WriteFile(files[0], good, 0o644))
	}
	for _, value := range []float64{1e308, -5, 0.001} {
		rewrite(t, files[0], func(_ *sealedBatch, r *engine.Result) { r.Totals.PayloadKbps = value })
		altered := must(os.ReadFile(files[0]))
		// With the old hash.
		hash := func(data []byte) []byte {
			i := bytes.Index(data, []byte(`"sha256":"`))
			return data[i : i+len(`"sha256":"`)+64]
		}
		noError(t, os.WriteFile(files[0], bytes.Replace(altered, hash(altered), hash(good), 1), 0o644))
		sum, said, err := resume(t, dir, Options{Verify: 1})
		if err != nil || !strings.Contains(said, filepath.Base(files[0])) || !strings.Contains(said, "damaged") {
			t.Errorf("%g without a new hash: %v, notices %q", value, err, said)
		}
		if !maps.EqualFunc(sum.Points[0].Figures, want.Points[0].Figures, func(a, b figures.Mean) bool { return a.Mean == b.Mean }) {
			t.Errorf("%g without a new hash is in the summary: %+v", value, sum.Points[0].Figures["payload_kbps"])
		}
		restore()
		rewrite(t, files[0], func(_ *sealedBatch, r *engine.Result) { r.Totals.PayloadKbps = value })
		_, said, err = resume(t, dir, Options{Verify: 1})
		switch {
		case value == 0.001:
			if err == nil || !strings.HasSuffix(err.Error(), filepath.Base(files[0])) || !strings.Contains(err.Error(), hostName()) ||
				!strings.Contains(err.Error(), "payload_kbps is 0.001, then ") {
				t.Errorf("%g with a new hash: %v", value, err)
			}
		case err != nil || !strings.Contains(said, "impossible figure: payload_kbps"):
			t.Errorf("%g with a new hash: %v, notices %q", value, err, said)
		}
		restore()
	}
	// Two files with different results of one run.
	copied := filepath.Join(filepath.Dir(files[0]), "copied.json")
	noError(t, os.WriteFile(copied, good, 0o644))
	rewrite(t, copied, func(_ *sealedBatch, r *engine.Result) { r.Totals.Reordered++ })
	_, _, err = resume(t, dir, Options{})
	if err == nil || !strings.Contains(err.Error(), ": reordered is ") || !strings.Contains(err.Error(), "copied.json") || strings.Count(err.Error(), "results/") != 2 {
		t.Errorf("two files: %v; want both, and the figure", err)
	}
	noError(t, os.Remove(copied))
	// Results of another run, plan or seed do not pass for this one.
	for name, change := range map[string]func(*sealedBatch, *engine.Result){
		"another seed": func(_ *sealedBatch, r *engine.Result) { r.Seed++ },
		"another plan": func(x *sealedBatch, _ *engine.Result) { x.Plan = strings.Repeat("0", 64) },
	} {
		rewrite(t, files[0], change)
		if sum, said, err := resume(t, dir, Options{}); err != nil || sum.Digest != want.Digest || !strings.HasPrefix(said, "1 file ") {
			t.Errorf("%s: %v, notices %q", name, err, said)
		}
		restore()
	}
	// Damaged files.
	for i, damage := range [][]byte{good[:len(good)/2], []byte("{}"), bytes.Replace(good, []byte(`"plan":"`), []byte(`"plan":"x`), 1), nil} {
		noError(t, os.WriteFile(files[i], damage, 0o644))
	}
	if sum, said, err := resume(t, dir, Options{}); err != nil || sum.Digest != want.Digest || !strings.HasPrefix(said, "4 files ") {
		t.Errorf("damaged files: %v, notices %q", err, said)
	}
}

// rich has what a result can contain: shadows and their comparison, changes, a budget, assertions, and a
// seed that a float64 cannot represent.
const rich = `
seed = 9007199254740993
duration = "3s"
encoder.name = "adaptive"
down.loss = "5%"
[[shadow]]
name = "rotor"
[[at]]
t = "1s"
down.latency = "30ms"
[assert]
wrong = "== 0"
`

// Every deterministic value of a result is compared: a change of any number, Boolean or text in the JSON
// changes the content hash, except times and what depends on the machine. A transfer as JSON does not
// change it.
func TestContentHash(t *testing.T) {
	p := newTestPlan(t, rich)
	done := newExecutor(p, "w", clock).runBatch(t.Context(), []int{0})
	if done.Error != "" {
		t.Fatal(done.Error)
	}
	r := done.Runs[0].Result
	want := must(hashContent(r))
	data := must(json.Marshal(r))
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // keeps all digits
	var tree any
	noError(t, decoder.Decode(&tree))
	hashed := func() (contentHash, error) {
		var r engine.Result
		data, err := json.Marshal(tree)
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err != nil {
			return contentHash{}, err
		}
		return hashContent(&r)
	}
	if got, err := hashed(); err != nil || got != want {
		t.Fatalf("another hash after a transfer: %v", err)
	}
	changed, free := 0, 0
	var each func(key string, v any, set func(any))
	each = func(key string, v any, set func(any)) {
		switch x := v.(type) {
		case map[string]any:
			for k, v := range x {
				each(key+"."+k, v, func(v any) { x[k] = v })
			}
			return
		case []any:
			for i, v := range x {
				each(fmt.Sprintf("%s.%d", key, i), v, func(v any) { x[i] = v })
			}
			return
		case nil:
			return
		case json.Number:
			set(json.Number("7"))
			if x == "7" {
				set(json.Number("8"))
			}
		case bool:
			set(!x)
		case string:
			set(x + "x")
		}
		got, err := hashed()
		set(v)
		isFree := strings.HasPrefix(key, ".timing.") || strings.HasPrefix(key, ".shadows.0.timing.") || strings.HasPrefix(key, ".warnings.") ||
			strings.HasPrefix(key, ".files.")
		switch {
		case err != nil: // the change is not even a result
		case isFree && got == want:
			free++
		case !isFree && got != want:
			changed++
		default:
			t.Errorf("%s changes the hash: %v", key, got != want)
		}
	}
	each("", tree, nil)
	if changed < 200 || free < 10 {
		t.Errorf("%d values change the hash, %d do not", changed, free)
	}
}

// liar is an executor that returns true digests and invented figures.
func liar(p *Plan, change func(c *config.Config, r *engine.Result)) *executor {
	x := newExecutor(p, "liar", clock)
	honest := x.run
	x.run = func(ctx context.Context, c *config.Config) (*engine.Result, error) {
		r, err := honest(ctx, c)
		if err == nil {
			change(c, r)
		}
		return r, err
	}
	return x
}

// A worker with true digests and invented figures is found: at once if no run can have them, otherwise
// by the runs that are repeated by default. The error names the worker and the figure. If both a liar
// and an honest worker run the same run, the results are compared too.
func TestLyingWorker(t *testing.T) {
	t.Parallel()
	p := newTestPlan(t, small)
	for name, c := range map[string]struct {
		change func(c *config.Config, r *engine.Result)
		o      Options
		want   string
	}{
		"every run, default share": {func(_ *config.Config, r *engine.Result) { r.Totals.PayloadKbps *= 0.9 }, Options{VerifyQueued: 0.01}, "payload_kbps is "},
		"one run of 30": {func(c *config.Config, r *engine.Result) {
			if c.Seed == 9 && c.Encoder.Name == "at-rest" {
				r.Budget[0].Bits++
			}
		}, Options{Verify: 1}, "budget.0.bits is "},
		"impossible":    {func(_ *config.Config, r *engine.Result) { r.Totals.Lost = -1 }, Options{}, "impossible figure: lost is -1"},
		"not adding up": {func(_ *config.Config, r *engine.Result) { r.Totals.Decoded++ }, Options{}, "impossible figure: sent is "},
		"beyond any":    {func(_ *config.Config, r *engine.Result) { r.Totals.WireKbps = 1e308 }, Options{}, "wire_kbps is 1e+308"},
	} {
		t.Run(name, func(t *testing.T) {
			s, q := served(t)
			work(t, s, WorkerOptions{Name: "liar", local: liar(p, c.change)})
			c.o.Clock, c.o.Queue = clock, q
			_, err := Run(t.Context(), p, c.o)
			if err == nil || !strings.Contains(err.Error(), "liar") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want the worker and %q", err, c.want)
			}
		})
	}
	sweep := newActiveSweep(p, Options{Clock: clock})
	for _, x := range []*executor{newExecutor(p, "honest", clock), liar(p, func(_ *config.Config, r *engine.Result) { r.Totals.Network.QueuePeakBytes = figures.Known(1) })} {
		err := sweep.addBatch(x.runBatch(t.Context(), []int{4}), storeBatch)
		if x.name == "liar" && (err == nil || !strings.Contains(err.Error(), "network.queue_peak_bytes is 0, then 1") || !strings.Contains(err.Error(), "honest and liar") || !strings.Contains(err.Error(), "seed 11")) {
			t.Errorf("the same run of two workers: %v", err)
		} else if x.name == "honest" && err != nil {
			t.Error(err)
		}
	}
}

// A share of the results of workers is repeated by default, whatever their names, and agrees. Results of this
// process are not repeated.
func TestVerifyQueued(t *testing.T) {
	p := newTestPlan(t, small)
	s, q := served(t)
	for name, o := range map[string]Options{"no queue": {Jobs: 2, VerifyQueued: 1}, "only this process": {Queue: q, Jobs: 2, VerifyQueued: 1}} {
		if sum := runSweep(t, p, o); sum.Verified != nil {
			t.Errorf("%s: verified %+v", name, sum.Verified)
		}
	}
	work(t, s, WorkerOptions{Name: hostName(), Cache: t.TempDir()}) // it has the name of the coordinator's own one
	if sum := runSweep(t, p, Options{Queue: q, VerifyQueued: 0.01}); sum.Verified == nil || sum.Verified.Runs != 1 {
		t.Errorf("verified %+v, want 1 of 30 runs", sum.Verified)
	}
}

// The runs to repeat are chosen anew each time, so that a worker cannot know which of its results are
// checked.
func TestSampleIsNotForeseen(t *testing.T) {
	p := newTestPlan(t, small)
	seen := map[int]bool{}
	for range 2000 {
		picked := newActiveSweep(p, Options{Clock: clock, Verify: 0.01}).sampleRuns()
		if len(picked) != 1 {
			t.Fatalf("%d runs, want 1", len(picked))
		}
		seen[picked[0]] = true
	}
	if len(seen) != p.Runs() { // one is missing with a probability of 30 (29/30)^2000 < 1e-27
		t.Errorf("%d of %d runs were chosen in 2000 samples", len(seen), p.Runs())
	}
}

// Results with a damaged message, without hashes, or of another version are dropped, and their runs are run
// again by an honest worker. The user is told of each kind of damage.
func TestDamagedMessages(t *testing.T) {
	t.Parallel()
	p := newTestPlan(t, small)
	want := runSweep(t, p, Options{Jobs: 1}).Digest
	s, q := served(t)
	there := remote(t, s)
	done := liar(p, func(_ *config.Config, r *engine.Result) { r.Digest = strings.Repeat("0", 64) }).runBatch(t.Context(), []int{0})
	text := must(done.seal(p.ID, "v1"))
	enc := must(resultEncoder())
	old := must(done.seal(p.ID, "v0"))
	messages := [][]byte{
		enc.EncodeAll(old, nil),
		enc.EncodeAll(bytes.Replace(text, []byte(`"payload_kbps":`), []byte(`"payload_kbps":1`), 1), nil),
		enc.EncodeAll(bytes.Replace(text, []byte(`"sha256"`), []byte(`"sha512"`), 1), nil),
		[]byte("no zstd"),
	}
	for _, data := range messages { // before the sweep begins: its coordinator reads them first
		must(there.js.Publish(t.Context(), resultSubject(p.ID), data))
	}
	said := ""
	sum := runSweep(t, p, Options{Queue: q, Jobs: 1, OnNotice: func(text string) { said += text + "\n" }})
	if sum.Digest != want {
		t.Errorf("digest %.12s, want %.12s", sum.Digest, want)
	}
	if strings.Count(said, "results from a worker were dropped") != 2 || !strings.Contains(said, "hash") {
		t.Errorf("notices %q", said)
	}
}

// A worker does not run what a hostile coordinator offers: a plan that does not match its ID, another
// file under the hash of a file, a job of other runs. It remains usable for an honest coordinator.
func TestHostileCoordinator(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "text.txt")
	p := newTextPlan(t, path, 4)
	s, q := served(t)
	there := remote(t, s)
	w := &worker{q: there, opt: WorkerOptions{Clock: clock, Version: "v1", Disk: &atomicfile.Disk{}, OnNotice: func(string) {}}}
	store := must(q.fileStore(t.Context()))
	publish := func(m manifest, toml string) {
		t.Helper()
		must(store.PutBytes(t.Context(), "plan-"+p.ID, must(json.Marshal(planText{m, toml}))))
	}
	noError(t, q.publish(t.Context(), p))
	sum := p.Files[0].SHA256
	escaped := slices.Clone(p.Files)
	escaped[0].SHA256 = "../../escaped"
	for name, offer := range map[string]func(){
		"another configuration": func() { publish(p.manifest(p.Files), string(p.TOML)+"\nseed = 99\n") },
		"another file": func() {
			must(store.PutBytes(t.Context(), sum, bytes.Repeat([]byte("x"), int(p.Files[0].Bytes))))
			publish(p.manifest(p.Files), string(p.TOML))
		},
		"a path for a hash": func() { publish(p.manifest(escaped), string(p.TOML)) },
		"no file":           func() { publish(p.manifest(nil), string(p.TOML)) },
	} {
		offer()
		w.opt.Cache = t.TempDir()
		if x, err := w.executor(t.Context(), p.ID); err == nil {
			t.Errorf("%s: accepted a plan of %d runs", name, x.plan.Runs())
		}
	}
	noError(t, putFile(t.Context(), store, p.Files[0], path))
	publish(p.manifest(p.Files), string(p.TOML))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, data := range [][]byte{[]byte("garbage"), fmt.Appendf(nil, `{"plan":%q,"runs":[3,4]}`, p.ID)} {
		must(q.js.Publish(ctx, jobSubject("v1", p.ID), data))
	}
	results := must(q.conn.SubscribeSync(resultSubject(p.ID)))
	work(t, s, WorkerOptions{Cache: filepath.Join(dir, "cache")})
	m := must(results.NextMsgWithContext(ctx))
	text := must(decompress(m.Data))
	if r, err := open(text, p.ID, "v1"); err != nil || len(r.Runs) > 0 || !strings.Contains(r.Error, "does not belong to this sweep") {
		t.Errorf("a job with other runs: %d results, %q, %v", len(r.Runs), r.Error, err)
	}
	// If the lease of the job expires before its ack, it is delivered again, and its result must not come
	// after the purge.
	testkit.WaitFor(t, "the ack of the job", func() bool {
		jobs, err := q.js.Consumer(ctx, jobStream, "workers-"+subjectToken("v1"))
		if err != nil {
			return false
		}
		info, err := jobs.Info(ctx)
		return err == nil && info.NumAckPending == 0 && info.NumPending == 0
	})
	noError(t, must(q.js.Stream(ctx, resultStream)).Purge(ctx))
	if got := runSweep(t, p, Options{Queue: q}).Digest; got != runSweep(t, p, Options{Jobs: 1}).Digest {
		t.Error("another digest afterwards")
	}
}
