package live

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
)

// lab is a runner of a test.
type lab struct {
	*Runner
	t *testing.T
}

// newLab opens an experiment of c with the real clock, unless opt has another. It stops at the end of
// the test.
func newLab(t *testing.T, c *config.Config, opt Options) lab {
	t.Helper()
	if opt.Clock == nil {
		opt.Clock = labtest.WallClock()
	}
	r, err := New(t.Context(), c, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	if list := r.Snapshot().Config.Warnings(); len(list) > 0 { // also what a live session sets itself causes none
		t.Errorf("warnings %q", list)
	}
	return lab{r, t}
}

// startLab starts an experiment of c.
func startLab(t *testing.T, c *config.Config) lab {
	t.Helper()
	r := newLab(t, c, Options{Reports: t.TempDir()})
	r.Start(context.Background())
	return r
}

// endless returns labtest.QuickConfig without a script and an end.
func endless(t *testing.T) *config.Config {
	c := labtest.QuickConfig(t)
	c.At, c.Duration = nil, 0
	return c
}

// change returns a command that sets keys.
func change(pairs ...any) Command { ch := config.NewChange(pairs...); return Command{Change: &ch} }

// patience is the timeout of await.
const patience = time.Minute

// await polls snapshots until ok accepts one.
func (r lab) await(what string, ok func(*engine.Snapshot) bool) *engine.Snapshot {
	r.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		s := r.Snapshot()
		if ok(s) {
			return s
		}
		if s.State == engine.Broken {
			r.t.Fatalf("the lab broke: %v", s.Err)
		}
	}
	r.t.Fatalf("never saw %s", what)
	return nil
}

// send sends a command when the queue has room.
func (r lab) send(c Command) {
	r.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if r.Do(c) {
			return
		}
	}
	r.t.Fatal("the queue of commands stays full")
}

// play runs a lab that was not started for d of the time of its manual clock.
func (r lab) play(clock *manualClock, d time.Duration) {
	for end := clock.Load() + int64(d); clock.Load() < end; clock.Add(int64(tickInterval)) {
		r.advance(r.t.Context())
	}
	r.publish()
}

// manualClock is a clock that only a test advances. The goroutine that saves reads it too.
type manualClock struct{ atomic.Int64 }

func (c *manualClock) now() time.Duration { return time.Duration(c.Load()) }

// saveAndReplay stops the lab, saves its report, and checks that it replays to the same digest.
func (r lab) saveAndReplay() {
	r.t.Helper()
	r.Stop()
	path, err := r.Save("")
	if err != nil {
		r.t.Fatal(err)
	}
	r.checkReplay(path)
}

// checkReplay checks that the report in a folder replays to the same digest.
func (r lab) checkReplay(path string) {
	r.t.Helper()
	again, err := experiment.Replay(r.t.Context(), path, experiment.RunOptions{})
	if err != nil || !again.Same {
		r.t.Errorf("replayed: %v, %+v", err, again)
	}
}

// A wrong command has a notice and no other effect. An error of the source ends the session with a message, not
// with a panic.
func TestRunnerReportsErrors(t *testing.T) {
	r, clock := newManual(t, endless(t))
	r.handleCommand(t.Context(), change("encoder.name", "relative-orientatoin"))
	r.publish()
	if s := r.Snapshot(); s.State != engine.Running || !strings.Contains(s.Notice.Text, "did you mean relative-orientation?") {
		t.Errorf("%v, %q", s.State, s.Notice.Text)
	}
	s, err := engine.NewSessionFromSource(config.Default(), failingCubes{labtest.NewCubeSource(3, 1, -1, 1)}, engine.Options{Endless: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.replace(&session{s, config.Default()}); err != nil {
		t.Fatal(err)
	}
	r.play(clock, time.Second)
	if s := r.Snapshot(); s.State != engine.Broken || !strings.Contains(s.Err.Error(), "frame 5 is bad") {
		t.Errorf("%v, %v", s.State, s.Err)
	}
}

// failingCubes is a CubeSource whose Next returns an error instead of frame 5.
type failingCubes struct{ *labtest.CubeSource }

func (f failingCubes) Next(dst *frame.Frame) error {
	if f.Tick == 5 {
		return errors.New("frame 5 is bad")
	}
	return f.CubeSource.Next(dst)
}

// Seeking back and forth does not change a session: changes after the target are repeated, unless a
// new change is made first.
func TestSeekReplaysLaterChanges(t *testing.T) {
	r, clock := newManual(t, labtest.QuickConfig(t))
	seek := func(to time.Duration) *engine.Snapshot {
		r.handleCommand(t.Context(), Command{Seek: &to, Pause: new(true)})
		if r.past != nil {
			r.finishPast(t.Context())
		}
		r.play(clock, 2*time.Second)
		if now := r.current.Now(); now != to {
			t.Fatalf("sought %v, at %v", to, now)
		}
		return r.Snapshot()
	}
	seek(5 * time.Second)
	r.handleCommand(t.Context(), change("encoder.name", "rotor", "encoder.params.xy_small", "7"))
	want := seek(9 * time.Second)
	if v := want.Log[len(want.Log)-1].Change.Params()["xy_small"]; v != int64(7) {
		t.Errorf("a typed 7 was noted as %#v", v)
	}
	if s := seek(time.Second); s.Config.Encoder.Name == "rotor" {
		t.Error("the change is there before it was made")
	}
	got := seek(9 * time.Second)
	if got.Config.Encoder.Name != "rotor" || !reflect.DeepEqual(got.Lanes[0].Totals, want.Lanes[0].Totals) {
		t.Errorf("after a jump back and forth: %s, %+v", got.Config.Encoder.Name, got.Lanes[0].Totals)
	}
	seek(time.Second)
	r.handleCommand(t.Context(), change("down.loss", "1%"))
	if s := seek(9 * time.Second); s.Config.Encoder.Name == "rotor" {
		t.Error("the change is repeated although another was made before it")
	}
}

// A tick is bounded, whatever the clock does, also if it stands or goes back during a run that is not paced.
// Commands are executed between two ticks. What was measured is saved, and replays.
func TestTicksAreBounded(t *testing.T) {
	for name, first := range map[string]Command{"real time": {}, "maximum speed": {Speed: new(0.0)}, "seek": {Seek: new(30 * time.Minute)}} {
		c := endless(t)
		c.Sender.RateHz = 10 // without pacing a tick runs maxSteps
		r, clock := newManual(t, c)
		r.handleCommand(t.Context(), first)
		for _, jump := range []time.Duration{10 * time.Millisecond, 7 * time.Hour, 0, -9 * time.Hour, 10 * time.Millisecond} {
			from := r.current.Now()
			clock.Add(int64(jump))
			r.advance(t.Context())
			limit := maxSteps * 20 * time.Millisecond
			if name == "real time" {
				limit = max(0, min(jump, maxElapsed)) + 20*time.Millisecond
			}
			if went := r.current.Now() - from; went > limit || went == 0 && limit > time.Second {
				t.Errorf("%s, after %v: virtual time went %v, limit %v", name, jump, went, limit)
			}
		}
		r.handleCommand(t.Context(), change("down.loss", "3%"))
		r.saveAndReplay()
		if log := r.session().Log(); len(log) != 1 {
			t.Errorf("%s: changes %v", name, log)
		}
	}
}

// An encoder that fails on every frame does not stop the session. The error is reported, and frames
// are sent after a swap to a working encoder.
func TestEncoderThatAlwaysFails(t *testing.T) {
	c := endless(t)
	c.Codecs = append(table.All(), encoders.Codec{ID: 120, Name: "refuser", Suits: func(*frame.Schema) bool { return true },
		New: func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) { return refuser{}, nil, nil }})
	r, clock := newManual(t, c)
	lane := func(encoder string) *engine.Lane {
		r.handleCommand(t.Context(), change("encoder.name", encoder))
		r.play(clock, time.Second)
		if s := r.Snapshot(); s.State != engine.Running {
			t.Fatalf("%v, %v", s.State, s.Err)
		}
		return &r.Snapshot().Lanes[0]
	}
	before := lane("raw").Totals
	failing := lane("refuser")
	if x := failing.Totals; !errors.Is(failing.Err, errRefused) || x.EncodeFailed < 20 || x.Sent > before.Sent+5 {
		t.Errorf("%v, %+v", failing.Err, x)
	}
	if after := lane("raw").Totals; after.Wrong != 0 || after.Sent < failing.Totals.Sent+20 {
		t.Errorf("after it: %+v", after)
	}
}

// refuser is an encoder that fails on every frame.
type refuser struct{}

var errRefused = errors.New("this encoder never encodes")

func (refuser) Encode(dst []byte, _ *frame.Frame, _ []encoders.Ref, _ encoders.Memo, _ *encoders.Budget) ([]byte, encoders.Memo, error) {
	return dst, nil, errRefused
}
