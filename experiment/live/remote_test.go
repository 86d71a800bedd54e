package live

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/remote"
	"wirelab/internal/testkit"
)

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

// world returns a configuration of the endless world.
func world(t *testing.T) *config.Config {
	c := config.Default()
	testkit.Set(t, c, "data.source", "world", "duration", "0")
	return c
}

// A live session over sockets is paused, changed and restarted. When the peer is gone, it ends with an error, and
// its results can be saved.
func TestRunnerOverNetwork(t *testing.T) {
	t.Parallel()
	near, far := newPeer(t)
	r := newLab(t, world(t), Options{Reports: t.TempDir(), Remote: near})
	r.Start(t.Context())
	decoded := func(n int64) func(*engine.Snapshot) bool {
		return func(s *engine.Snapshot) bool { return s.Lanes[0].Totals.Decoded > n }
	}
	r.await("frames at the far end", decoded(20))
	seek, fast := time.Hour, 2.0
	r.send(Command{Seek: &seek})
	r.send(Command{Speed: &fast})
	r.await("a refusal", func(s *engine.Snapshot) bool {
		return strings.HasSuffix(s.Notice.Text, "< and b look back") && s.Speed == 1 && s.State == engine.Running
	})
	on, off := true, false
	r.send(Command{Pause: &on})
	stood := r.await("a pause", func(s *engine.Snapshot) bool { return s.State == engine.Paused }).Now
	r.send(Command{Step: 3})
	r.await("steps", func(s *engine.Snapshot) bool { return s.State == engine.Paused && s.Now > stood })
	r.send(change("encoder", "rotor", "shadow", []config.Encoder{{Name: "raw"}})) // like the tour
	r.send(Command{Pause: &off})
	last := r.await("the other encoder", func(s *engine.Snapshot) bool { return s.Lanes[0].Encoder == "rotor" }).Lanes[0].Totals.Decoded
	x := r.await("more frames", decoded(last+20))
	if len(x.Lanes) != 1 || x.To == "" || x.Lanes[0].Totals.Wrong != 0 || x.Lanes[0].Totals.Remote.Differs != 0 {
		t.Errorf("to %q: %+v", x.To, x.Lanes[0].Totals)
	}
	r.send(change("seed", 99))
	r.await("a restarted session", func(s *engine.Snapshot) bool {
		return s.Lanes[0].Totals.Decoded < last && s.Lanes[0].Totals.Decoded > 5
	})
	_ = far.Close()
	lost := r.await("the loss of the peer", func(s *engine.Snapshot) bool { return s.State == engine.Broken })
	if err := lost.Err; !strings.Contains(err.Error(), "the peer closed the session") {
		t.Errorf("got %v", err)
	}
	r.Stop()
	if r.handleCommand(t.Context(), change("seed", 100)); r.notice.ID == lost.Notice.ID {
		t.Error("a change without a peer shows no notice")
	}
	path, err := r.Save("")
	if err != nil {
		t.Fatal(err)
	}
	_, err = experiment.Replay(t.Context(), path, experiment.RunOptions{})
	if !errors.Is(err, experiment.ErrNetworkRun) || !strings.Contains(err.Error(), path) {
		t.Errorf("replayed: %v", err)
	}
}
