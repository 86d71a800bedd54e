package walkoff

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// stepClock returns a clock that advances by a microsecond with each call.
func stepClock() func() time.Duration {
	var now time.Duration
	return func() time.Duration { now += time.Microsecond; return now }
}

func codecs(t *testing.T, names ...string) (list []*encoders.Codec) {
	t.Helper()
	for _, name := range names {
		c := must(lookup(name))
		list = append(list, c)
	}
	return list
}

func score(t *testing.T, name string, audit processCommand) Result {
	t.Helper()
	board := must(Run(context.Background(), "walk", openWalk(100), codecs(t, name), Options{Clock: stepClock(), Audit: audit}))
	return board.Results[0]
}

// Codecs that follow the rules pass the audit, and others fail it. Without the audit all of them seem lossless.
func TestAudit(t *testing.T) {
	for _, c := range []struct{ codec, problem string }{
		{"honest", ""},
		{"gambler", ""},
		{"borrower", "differs if it is decoded only from packets with n mod 6 = 0"},
		{"counter", "differs if it is decoded only from packets with n mod 6 = 0"},
		{"smuggler", "the audit process failed"},
		{"restless", "frame 6 has a different packet if it is encoded by a new process"},
	} {
		t.Run(c.codec, func(t *testing.T) {
			if r := score(t, c.codec, nil); !r.Lossless || r.Audit != auditOff || r.Problem != "" {
				t.Errorf("without audit: lossless %v, audit %q, problem %q", r.Lossless, r.Audit, r.Problem)
			}
			want := auditPass
			if c.problem != "" {
				want = auditFail
			}
			r := score(t, c.codec, testProcess)
			if r.Audit != want || !r.Lossless {
				t.Errorf("audit %q, want %q; lossless %v", r.Audit, want, r.Lossless)
			}
			if !strings.Contains(r.Problem, c.problem) || (c.problem == "") != (r.Problem == "") {
				t.Errorf("problem %q, want %q", r.Problem, c.problem)
			}
		})
	}
}

// A wrong value is reported with its field, with and without an audit, and the encoder counts as failed.
func TestLossless(t *testing.T) {
	for _, c := range []struct {
		codec, problem string
		packets        int
	}{
		{"liar", "frame 6, cube 1: x decoded as 1, expected 0", 1},
		{"gagged", "frame 6 cannot be decoded: payload corrupt: no idea", 0},
		{"mute", "frame 6 cannot be encoded: cannot speak", 0},
	} {
		for _, audit := range []processCommand{nil, testProcess} {
			r := score(t, c.codec, audit)
			if r.Lossless || r.Problem != c.problem || r.Packets != c.packets {
				t.Errorf("%s: lossless %v after %d packets, problem %q; want %q after %d", c.codec, r.Lossless, r.Packets, r.Problem,
					c.problem,
					c.packets)
			}
			if audit != nil && r.Audit != auditFail {
				t.Errorf("%s: audit %q, want %q", c.codec, r.Audit, auditFail)
			}
			checkNulls(t, &r)
		}
	}
	b := Scoreboard{Results: []Result{{Encoder: "a", Lossless: true, Audit: auditOff}, {Encoder: "b", Problem: "no"},
		{Encoder: "c", Lossless: true, Audit: auditFail, Problem: "cheat"}}}
	if got := strings.Join(b.Failed(), "; "); got != "b: no; c: cheat" {
		t.Errorf("Failed: %q", got)
	}
}

// checkNulls checks that the JSON of r, an encoder that failed, has the keys of one that did not, in which all figures but
// packets and bytes are null.
func checkNulls(t *testing.T, r *Result) {
	t.Helper()
	keys := func(r *Result) (m map[string]any) {
		text, err := json.Marshal(r)
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	scored := *r
	scored.Lossless = true
	got, want := keys(r), keys(&scored)
	for key, v := range want {
		x, ok := got[key]
		_, isText := v.(string)
		isKept := isText || slices.Contains([]string{"packets", "bytes", "version", "lossless"}, key)
		if !ok || (x == nil) == isKept {
			t.Errorf("%s: %s is %v (%t), without the failure %v", r.Encoder, key, x, ok, v)
		}
	}
	if len(got) != len(want) || want["bits_per_cube"] == nil {
		t.Errorf("%d keys, without the failure %d", len(got), len(want))
	}
}

// The result of a codec agrees with a direct computation from the rules.
func TestScore(t *testing.T) {
	const frames = 50
	src, _ := openWalk(frames)()
	all := make([]*frame.Frame, frames)
	for n := range all {
		all[n] = src.Schema().NewFrame()
		if n < Delay {
			src.Initial(all[n])
		} else {
			noError(t, src.Next(all[n]))
		}
	}
	bytesSent, changed, least, most := 0, 0, 1<<30, 0
	hash := sha256.New()
	for n, f := range all {
		hash.Write(appendTable(nil, f))
		if n < Delay {
			continue
		}
		size := len(appendDelta(nil, f, all[n-Delay]))
		bytesSent += size
		least, most = min(least, size), max(most, size)
		changed += f.ChangedRows(all[n-Delay], frame.CubeFields)
	}

	board := must(Run(context.Background(), "walk", openWalk(1000), codecs(t, "honest"), Options{Clock: stepClock(), Frames: frames}))
	if want := (datasetInfo{Spec: "walk", SHA256: hex.EncodeToString(hash.Sum(nil)), Frames: frames, Cubes: walkCubes, Item: "cube",
		Items: walkCubes, Baselines: walkoffRule}); !reflect.DeepEqual(board.Dataset, want) {
		t.Errorf("dataset %+v, want %+v", board.Dataset, want)
	}
	r := board.Results[0]
	mean := float64(bytesSent) / (frames - Delay)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"packets", float64(r.Packets), frames - Delay},
		{"bytes", float64(r.Bytes), float64(bytesSent)},
		{"bytes_per_packet", r.BytesPerPacket, mean},
		{"kbps", r.Kbps, mean * 60 * 8 / 1000},
		{"bits_per_cube", r.BitsPerCube, mean * 8 / walkCubes},
		{"bits_per_changed_cube", r.BitsPerChangedCube, float64(bytesSent) * 8 / float64(changed)},
		{"changed_cubes_per_packet", r.ChangedCubesPerPacket, float64(changed) / (frames - Delay)},
		{"min", float64(r.PacketBytes.Min), float64(least)},
		{"max", float64(r.PacketBytes.Max), float64(most)},
		{"encode_us", r.EncodeUS.P50, 1},
		{"decode_us", r.DecodeUS.P99, 1},
	} {
		if d := c.got - c.want; d > 1e-4 || d < -1e-4 {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
}

// After an interruption, Run returns the results so far.
func TestInterrupted(t *testing.T) {
	for _, audit := range []processCommand{nil, testProcess} {
		ctx, cancel := context.WithCancel(context.Background())
		opt := Options{Clock: stepClock(), Audit: audit, Progress: func(done, total float64) {
			if done > total*2/3 {
				cancel()
			}
		}}
		board, err := Run(ctx, "walk", openWalk(300), codecs(t, "honest", "gambler", "honest"), opt)
		if !errors.Is(err, context.Canceled) || !board.Interrupted || len(board.Results) != 2 {
			t.Errorf("error %v, interrupted %v, %d results; want canceled, true, 2", err, board.Interrupted, len(board.Results))
		}
	}
}

func TestProgressAndClose(t *testing.T) {
	last, closed, opened := 0.0, 0, 0
	open := func() (dataset.Source, error) {
		src, err := openWalk(200)()
		src.(*walk).closing = &closed
		opened++
		return src, err
	}
	opt := Options{Clock: stepClock(), Progress: func(done, total float64) {
		if done < last || done > total {
			t.Errorf("progress went from %v to %v of %v", last, done, total)
		}
		last = done / total * total
	}}
	if _, err := Run(context.Background(), "walk", open, codecs(t, "honest", "honest"), opt); err != nil {
		t.Fatal(err)
	}
	if want := 2 * 194.0; last != want {
		t.Errorf("progress ended at %v, want %v", last, want)
	}
	if closed != opened || opened != 3 {
		t.Errorf("opened %d times, closed %d times; want 3 each", opened, closed)
	}
}

// Data that cannot be scored is an error before any encoder runs.
func TestBadData(t *testing.T) {
	broken := func() (dataset.Source, error) {
		src, err := openWalk(20)()
		src.(*walk).broken = dataset.ErrTruncated
		return src, err
	}
	rpc := func() (dataset.Source, error) {
		src, err := openWalk(20)()
		src.(*walk).schema = &frame.Schema{Name: "rpc", Rows: 1}
		return src, err
	}
	for _, c := range []struct {
		name   string
		open   Open
		frames int
		want   error
	}{
		{"truncated", broken, 0, dataset.ErrTruncated},
		{"frames 1..5 that are no initial state", openBadPreamble, 0, dataset.ErrPreamble},
		{"not cubes", rpc, 0, errUnsuitable},
		{"only the initial state", openWalk(6), 0, errUnsuitable},
		{"too few frames asked for", openWalk(20), 6, errUnsuitable},
		{"cannot be opened", func() (dataset.Source, error) { return nil, os.ErrNotExist }, 0, os.ErrNotExist},
	} {
		if _, err := Run(context.Background(), "walk", c.open, codecs(t, "honest"),
			Options{Clock: stepClock(), Frames: c.frames}); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
}

func TestAuditCannotStart(t *testing.T) {
	nowhere := func(ctx context.Context) *exec.Cmd { return exec.CommandContext(ctx, "/no/such/program") }
	_, err := Run(context.Background(), "walk", openWalk(20), codecs(t, "honest"), Options{Clock: stepClock(), Audit: nowhere})
	if err == nil || !strings.Contains(err.Error(), "cannot start an audit process") {
		t.Errorf("error %v", err)
	}
}

// must returns v, and panics on an error.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// noError ends the test if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
