package live

import (
	"testing"
	"testing/synctest"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
)

// While the runner is paused, snapshots share one slice of all stored packets. While it runs, a
// snapshot contains as many as a screen can show.
func TestPausedSnapshotHoldsAllPackets(t *testing.T) { synctest.Test(t, pausedSnapshotHoldsAllPackets) }

func pausedSnapshotHoldsAllPackets(t *testing.T) {
	r := startLab(t, labtest.QuickConfig(t))
	far := 20 * time.Second
	r.send(Command{Seek: &far})
	r.await("20 s", func(s *engine.Snapshot) bool { return s.Now >= far })
	if n := len(r.Snapshot().Lanes[0].Packets); n > engine.ShownPackets {
		t.Errorf("%d packets in a snapshot of a running session", n)
	}
	r.send(Command{Pause: new(true)})
	whole := func(s *engine.Snapshot) bool { return len(s.Lanes[0].Packets) >= int(s.Lanes[0].Totals.Sent) }
	a := r.await("all packets", whole)
	b := r.await("another snapshot", func(s *engine.Snapshot) bool { return s != a })
	if &a.Lanes[0].Packets[0] != &b.Lanes[0].Packets[0] {
		t.Error("the packets are copied for every snapshot")
	}
	if first := a.Lanes[0].Packets[0]; first.Sent > 100*time.Millisecond {
		t.Errorf("the first packet shown was sent at %v", first.Sent)
	}
	r.send(Command{Step: 1})
	r.await("a step", func(s *engine.Snapshot) bool { return s.Lanes[0].Totals.Sent > a.Lanes[0].Totals.Sent && whole(s) })
	r.send(Command{Pause: new(false)})
	r.await("time going on", func(s *engine.Snapshot) bool {
		return s.State == engine.Running && len(s.Lanes[0].Packets) <= engine.ShownPackets
	})
}
