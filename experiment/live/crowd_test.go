package live

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/testkit"
)

// newCrowd returns a crowd of the demo recording that was not started, and its clock.
func newCrowd(t *testing.T, clients int) (lab, *manualClock) {
	t.Helper()
	c := config.Default()
	testkit.Set(t, c, []any{"crowd.clients", clients, "crowd.rtt", "uniform min=20ms max=200ms", "crowd.loss", "5%"}...)
	return newManual(t, c)
}

// newManual returns a lab that was not started, and its clock.
func newManual(t *testing.T, c *config.Config) (lab, *manualClock) {
	t.Helper()
	clock := new(manualClock)
	return newLab(t, c, Options{Clock: clock.now, Reports: t.TempDir()}), clock
}

// eachKind calls f with a session and with a crowd. set is a change that both can make.
func eachKind(t *testing.T, f func(t *testing.T, r lab, clock *manualClock, set Command)) {
	t.Run("session", func(t *testing.T) {
		r, clock := newManual(t, config.Default())
		f(t, r, clock, change("down.loss", "5%"))
	})
	t.Run("crowd", func(t *testing.T) {
		r, clock := newCrowd(t, 20)
		f(t, r, clock, change("clients", 25))
	})
}

// TestFollowsTheClock checks pausing, stepping, speed and seeking in both directions.
func TestFollowsTheClock(t *testing.T) {
	eachKind(t, func(t *testing.T, r lab, clock *manualClock, _ Command) {
		r.play(clock, time.Second)
		if at := r.current.Now(); at < 900*time.Millisecond || at > 1010*time.Millisecond {
			t.Errorf("after a second virtual time is %v", at)
		}
		r.handleCommand(t.Context(), Command{Toggle: true})
		stood := r.current.Now()
		r.handleCommand(t.Context(), Command{Step: 3})
		r.play(clock, time.Second)
		if d := r.current.Now() - stood; r.Snapshot().State != engine.Paused || d < 33*time.Millisecond || d > 51*time.Millisecond {
			t.Errorf("state %v, %v later", r.Snapshot().State, d)
		}
		if n := r.current.FrameAt(0); n > r.current.Now()+20*time.Millisecond {
			t.Errorf("the next frame is at %v, now is %v", n, r.current.Now())
		}
		r.handleCommand(t.Context(), Command{Toggle: true, Speed: new(4.0)})
		before := r.current.Now()
		r.play(clock, time.Second)
		if d := r.current.Now() - before; d < 3500*time.Millisecond || d > 4100*time.Millisecond {
			t.Errorf("at speed 4 a second takes %v", d)
		}
		back := 700 * time.Millisecond
		r.handleCommand(t.Context(), Command{Seek: &back, Pause: new(true)})
		r.finishPast(t.Context())
		r.play(clock, time.Second)
		if r.current.Now() != back {
			t.Errorf("sought %v, at %v", back, r.current.Now())
		}
	})
}

// TestSaves checks that reports saved while the run continues, after a seek back, and after its end have
// the digest of a headless run of the same duration, and can be replayed.
func TestSaves(t *testing.T) {
	eachKind(t, func(t *testing.T, r lab, clock *manualClock, set Command) {
		r.play(clock, time.Second)
		r.handleCommand(t.Context(), set)
		r.play(clock, 500*time.Millisecond)
		r.handleCommand(t.Context(), Command{Save: new("")})
		r.play(clock, 100*time.Millisecond)
		r.finishSave()
		back := 300 * time.Millisecond // a change follows
		r.handleCommand(t.Context(), Command{Seek: &back, Pause: new(true)})
		r.finishPast(t.Context())
		r.play(clock, 100*time.Millisecond)
		r.handleCommand(t.Context(), Command{Save: new("")})
		r.finishSave()
		r.handleCommand(t.Context(), Command{Pause: new(false)})
		r.play(clock, 1500*time.Millisecond)
		r.saveAndReplay()
		folders, _ := filepath.Glob(filepath.Join(r.opt.Reports, "*"))
		if len(folders) != 3 {
			t.Fatalf("%d reports: %v", len(folders), folders)
		}
		for _, path := range folders {
			r.checkReplay(path)
		}
	})
}

// TestCrowdChanges checks that another number of clients takes effect at once, that other changes
// restart the run, that undo and redo return, and that refused changes keep the run.
func TestCrowdChanges(t *testing.T) {
	r, clock := newCrowd(t, 20)
	r.play(clock, time.Second)
	marks := func() int { r.publish(); return len(r.Snapshot().Marks) }
	do := func(c Command, clients int, notice string) {
		t.Helper()
		r.notice.Text = ""
		r.handleCommand(t.Context(), c)
		if got := r.current.Config().Crowd.Clients; got != clients || r.notice.Text != notice {
			t.Errorf("%d clients, want %d; notice %q, want %q", got, clients, r.notice.Text, notice)
		}
	}
	do(change("clients", 30), 30, "")
	if r.current.Now() == 0 || marks() != 1 {
		t.Errorf("the run continues at %v with %d marks", r.current.Now(), marks())
	}
	do(change("clients", 0), 30, "crowd.clients: cannot begin or end a crowd during a run; expected 1 to 10000 in a run that begins with crowd.clients")
	do(Command{Undo: true}, 20, "undone: clients 30")
	do(Command{Undo: true}, 20, "nothing to undo")
	do(change("clients", 30), 30, "")
	do(Command{Undo: true}, 20, "undone: clients 30")
	do(Command{Redo: true}, 30, "redone: clients 30")
	r.play(clock, time.Second)
	before := marks()
	do(change("mark", "here"), 30, "")
	do(change("control", "ack-clock"), 30, `sender.control: a crowd sends every packet; expected "off"`)
	if marks() != before+1 || r.current.Now() == 0 {
		t.Errorf("%d marks at %v: a refused change restarted the run", marks(), r.current.Now())
	}
	do(change("encoder.name", "rotor"), 30, "run restarted: encoder rotor")
	if r.current.Now() != 0 || marks() != 0 {
		t.Errorf("a new run begins at %v with %d marks", r.current.Now(), marks())
	}
	do(Command{Undo: true}, 30, "nothing to undo")
}

// TestCrowdPackets checks the packets of a client against its counts.
func TestCrowdPackets(t *testing.T) {
	r, clock := newCrowd(t, 600) // two shards
	r.publish()
	if got := r.Snapshot().Crowd; got.Selected != 0 || got.Packets != nil {
		t.Error("packets of a client without a selection")
	}
	r.handleCommand(t.Context(), Command{Client: 550})
	r.play(clock, 900*time.Millisecond) // fewer packets than are kept, and nine samples
	r.publish()
	view := r.Snapshot().Crowd
	var n [packetlog.NumOutcomes]int
	sent := 0 // in the samples
	for i, p := range view.Packets {
		if p.Sent >= view.Samples[len(view.Samples)-1].T {
			break
		}
		sent++
		n[p.Outcome]++
		if int(p.Seq) != i || p.Wire <= p.Payload || p.Payload == 0 || p.Outcome == packetlog.Decoded && p.Arrived <= p.Sent {
			t.Errorf("%+v", p)
		}
	}
	x := &view.Clients[view.Selected-1]
	if lost := float64(n[packetlog.Lost]) / float64(sent); view.Selected != 550 || sent < 50 || lost != x.LossRatio.Or(-1) {
		t.Errorf("client %d: %d packets, lost %v, want %v", view.Selected, sent, lost, x.LossRatio)
	}
	if n[packetlog.Decoded] < 40 || n[packetlog.InFlight] > 20 {
		t.Errorf("outcomes %v", n)
	}
	sum := 0
	for _, e := range view.Encodings {
		sum += e.Clients
	}
	if sum != 600 {
		t.Errorf("the encodings have %d clients", sum)
	}
}

// TestCrowdRuns checks that a started crowd runs, obeys commands of other goroutines, and saves after it was
// stopped.
func TestCrowdRuns(t *testing.T) { synctest.Test(t, crowdRuns) }

func crowdRuns(t *testing.T) {
	c := config.Default()
	c.Crowd.Clients = 30
	r := startLab(t, c)
	r.send(Command{Client: 3})
	r.await("packets of a client", func(s *engine.Snapshot) bool { return len(s.Crowd.Packets) > 0 })
	r.send(change("clients", 40))
	r.await("more clients", func(s *engine.Snapshot) bool { return len(s.Crowd.Clients) == 40 })
	r.saveAndReplay()
	if r.Do(Command{}) {
		t.Error("a stopped crowd accepts a command")
	}
}

// awaitClient publishes snapshots until the session of the selected client is at the present, and returns its snapshot.
func (l lab) awaitClient() *engine.Snapshot {
	l.t.Helper()
	x := l.current.(*receivers)
	l.publish()
	if x.client.next != nil {
		<-x.client.next.finished
	}
	l.publish()
	snap := l.Snapshot()
	if c := snap.Crowd.Client; c != nil && c.Client == snap.Crowd.Selected && len(c.Lanes) > 0 {
		return c
	}
	l.t.Fatalf("no session of client %d: %q", snap.Crowd.Selected, snap.Crowd.NoClient)
	return nil
}

// The session of a client has the packets of the crowd: sizes, baselines, outcomes and times of arrival, also after
// changes, of codecs with memos, and of a client that is selected late.
func TestClientSession(t *testing.T) {
	budget := change("sender.budget", "48kbit")
	for name, x := range map[string]struct {
		settings []any
		change   Command
	}{
		"whole frames":    {settings: []any{"encoder.name", "relative-orientation"}},
		"memos":           {settings: []any{"encoder.name", "adaptive"}},
		"two references":  {settings: []any{"encoder.name", "kinetic"}},
		"profiles":        {settings: []any{"crowd.profiles", "lte 50%, unity-4g 50%", "client[0].turn", "9", "client[0].down.duplicate", "20%"}},
		"more clients":    {change: change("clients", 30)},
		"budget":          {settings: []any{"sender.budget", "64kbit", "crowd.player_rows", "4", "sender.priority", "fiedler first=1"}, change: budget},
		"scripted budget": {settings: []any{"sender.budget", "64kbit", "at[0].t", "300ms", "at[0].budget", "32kbit"}, change: budget},
	} {
		t.Run(name, func(t *testing.T) {
			c := config.Default()
			testkit.Set(t, c, append([]any{"crowd.clients", 20, "crowd.rtt", "uniform min=20ms max=200ms", "crowd.loss", "5%"}, x.settings...)...)
			r, clock := newManual(t, c)
			check := func(want int) {
				t.Helper()
				r.play(clock, 500*time.Millisecond)
				alone := r.awaitClient()
				packets := map[packetlog.ID]packetlog.Record{}
				for _, p := range alone.Lanes[0].Packets {
					packets[packetlog.ID{Seq: p.Seq, Copy: p.Copy}] = p
				}
				list := r.Snapshot().Crowd.Packets
				for _, p := range list {
					got := packets[packetlog.ID{Seq: p.Seq}]
					isSame := got.Payload == p.Payload && got.Wire == p.Wire && got.Baseline == p.Baseline
					isOpen := p.Outcome == packetlog.InFlight // a session handles arrivals after the last slot too
					if !isSame || !isOpen && (got.Outcome != p.Outcome || got.Arrived != p.Arrived || got.Cause != p.Cause) {
						t.Fatalf("client %d: the session has\n%+v, the crowd\n%+v", want, got, p)
					}
				}
				if alone.Client != want || len(list) < 20 {
					t.Errorf("client %d has %d packets, want client %d", alone.Client, len(list), want)
				}
			}
			r.handleCommand(t.Context(), Command{Client: 9})
			check(9)
			r.handleCommand(t.Context(), x.change)
			check(9)
			r.handleCommand(t.Context(), Command{Client: 14})
			r.publish()
			if c := r.Snapshot().Crowd.Client; len(c.Lanes) > 0 || c.Client != 0 || c.Past.To != r.current.Now() {
				t.Errorf("before the run of client 14 is repeated, %d lanes of client %d are shown", len(c.Lanes), c.Client)
			}
			check(14)
		})
	}
}
