package experiment

import (
	"context"
	"errors"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/remote"
	"wirelab/internal/testkit"
)

func loopback(t *testing.T) *remote.Link {
	t.Helper()
	l, closeBoth, err := remote.NewLoopback(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = closeBoth() })
	return l
}

// newPeer returns a link to a peer that ends when its listener is closed.
func newPeer(t *testing.T) (*remote.Link, *remote.Listener) {
	t.Helper()
	id, err := remote.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	far, err := remote.Listen(netip.MustParseAddrPort("127.0.0.1:0"), id, remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	near, err := remote.Dial(t.Context(), far.Addr(), id.Token(), remote.SessionPurpose)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		if s, err := far.Accept(context.Background()); err == nil {
			_, _ = remote.Serve(context.Background(), s, func(string) string { return "" })
		}
	}()
	t.Cleanup(func() { _, _ = near.Close(), far.Close(); <-served })
	return remote.NewLink(near, far.Addr().String()), far
}

func worldFor(t *testing.T, duration string) *config.Config {
	t.Helper()
	c := config.Default()
	testkit.Set(t, c, "data.source", "world", "duration", duration)
	return c
}

// checkReplay checks that the report at a path replays to the same digest.
func checkReplay(t *testing.T, path string) {
	t.Helper()
	again, err := Replay(t.Context(), path, RunOptions{})
	if err != nil || !again.Same {
		t.Errorf("replayed: %v, %+v", err, again)
	}
}

// checkNotReplayed checks that the report in a folder cannot be replayed, and that its replay says so.
func checkNotReplayed(t *testing.T, dir string) {
	t.Helper()
	_, err := Replay(t.Context(), dir, RunOptions{})
	if !errors.Is(err, ErrNetworkRun) || !strings.Contains(err.Error(), dir) {
		t.Errorf("replayed: %v", err)
	}
}

// A run over sockets, also with redundancy and messages, is measured and reported.
func TestRunOverNetwork(t *testing.T) {
	t.Parallel()
	for _, pairs := range [][]any{nil, {"sender.redundancy", "rs data=2 parity=1", "down.loss", "20%", "messages.rate_hz", 100, "messages.delivery", "rto"}} {
		c := worldFor(t, "1500ms")
		testkit.Set(t, c, pairs...)
		dir := t.TempDir()
		r, err := Run(t.Context(), c, RunOptions{Clock: wallClock(), Dir: dir, Remote: loopback(t)})
		if err != nil {
			t.Fatal(err)
		}
		x := r.Runs[0].Totals // a busy machine decodes and delivers less
		if x.Wrong != 0 || x.Decoded == 0 || x.Remote == nil || x.Playout.Displayed == 0 || x.Playout.ClockLagMS.Text(0) != "-" {
			t.Errorf("%+v", x)
		}
		if m := x.Messages; pairs != nil && (m.Wrong > 0 || m.Delivered == 0 || x.Redundancy.Repaired == 0) {
			t.Errorf("%+v, %+v", x.Redundancy, m)
		}
		checkNotReplayed(t, dir)
	}
}

// Settings that are impossible over a network are refused with an error.
func TestUnsupportedOverNetwork(t *testing.T) {
	link := loopback(t)
	for key, want := range map[string]string{
		"sweep":       "cannot run over a real network",
		"shadow":      "two encoders alike",
		"data.source": "does not have the old file",
	} {
		c := worldFor(t, "1s")
		switch key {
		case "sweep":
			c.Sweep = []config.Axis{{Key: "down.loss", Values: []any{"1%", "2%"}}}
		case "shadow":
			c.Shadows = []config.Encoder{{Name: "rotor"}}
		default:
			if err := c.Set(key, "files"); err != nil {
				t.Fatal(err)
			}
		}
		_, err := Run(t.Context(), c, RunOptions{Clock: wallClock(), Remote: link})
		var x *config.Error
		if !errors.As(err, &x) || x.Key != key || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", key, err)
		}
	}
}

// A live session over sockets is paused, changed, restarted and saved.
func TestRunnerOverNetwork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, err := NewRunner(t.Context(), worldFor(t, "0"), RunnerOptions{Clock: wallClock(), Reports: dir, Remote: loopback(t)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.Start(ctx)
	decoded := func(n int64) func(*engine.Snapshot) bool {
		return func(s *engine.Snapshot) bool { return s.Lanes[0].Totals.Decoded > n }
	}
	await(t, r, "frames at the far end", decoded(20))
	seek, fast := time.Hour, 2.0
	send(t, r, Command{Seek: &seek})
	send(t, r, Command{Speed: &fast})
	await(t, r, "a refusal", func(s *engine.Snapshot) bool { return s.Notice.Bad && s.Speed == 1 && s.State == engine.Running })
	on, off := true, false
	send(t, r, Command{Pause: &on})
	stood := await(t, r, "a pause", func(s *engine.Snapshot) bool { return s.State == engine.Paused }).Now
	send(t, r, Command{Step: 3})
	await(t, r, "steps", func(s *engine.Snapshot) bool { return s.State == engine.Paused && s.Now > stood })
	send(t, r, changing("encoder", "rotor", "shadow", []config.Encoder{{Name: "raw"}})) // like the tour
	send(t, r, Command{Pause: &off})
	last := await(t, r, "the other encoder", func(s *engine.Snapshot) bool { return s.Lanes[0].Encoder == "rotor" }).Lanes[0].Totals.Decoded
	x := await(t, r, "more frames", decoded(last+20))
	if len(x.Lanes) != 1 || x.To == "" || x.Lanes[0].Totals.Wrong != 0 || x.Lanes[0].Totals.Remote.Differs != 0 {
		t.Errorf("to %q: %+v", x.To, x.Lanes[0].Totals)
	}
	send(t, r, Command{Save: new(string)})
	await(t, r, "a report", func(s *engine.Snapshot) bool { return s.Saved > 0 })
	saved, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(saved) != 1 {
		t.Fatal(saved, err)
	}
	checkNotReplayed(t, saved[0])
	send(t, r, changing("seed", 99))
	await(t, r, "a restarted session", func(s *engine.Snapshot) bool {
		return s.Lanes[0].Totals.Decoded < last && s.Lanes[0].Totals.Decoded > 5
	})
	r.Stop()
}

// If the peer is gone, the session ends with an error, and its results can be saved.
func TestRunnerLosesPeer(t *testing.T) {
	link, far := newPeer(t)
	dir := t.TempDir()
	r, err := NewRunner(t.Context(), worldFor(t, "0"), RunnerOptions{Clock: wallClock(), Reports: dir, Remote: link})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.Start(ctx)
	await(t, r, "frames at the far end", func(s *engine.Snapshot) bool { return s.Lanes[0].Totals.Decoded > 10 })
	_ = far.Close()
	for end := time.Now().Add(patience); r.Snapshot().State != engine.Broken && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	if err := r.Snapshot().Err; err == nil || !strings.Contains(err.Error(), "the peer closed the session") {
		t.Fatalf("got %v", err)
	}
	r.Stop()
	path, err := r.Save("")
	if err != nil {
		t.Fatal(err)
	}
	checkNotReplayed(t, path)
}

func changing(pairs ...any) Command {
	ch := config.NewChange(pairs...)
	return Command{Change: &ch}
}
