package live

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// A runner describes the requested packet and the costs of rows, also after a seek into the past, until
// the costs are no longer requested.
func TestRunnerTracesPackets(t *testing.T) { synctest.Test(t, runnerTracesPackets) }

func runnerTracesPackets(t *testing.T) {
	r := startLab(t, config.Default())
	fast := 0.0
	r.send(Command{Speed: &fast})
	r.await("three seconds", func(s *engine.Snapshot) bool { return s.Now > 3*time.Second })
	pause, on := true, true
	r.send(Command{Pause: &pause, RowCosts: &on})
	snap := r.await("costs of rows", func(s *engine.Snapshot) bool { return s.State == engine.Paused && s.RowCosts != nil })
	if sum := snap.RowCosts.Total; sum <= 0 || snap.RowCosts.Packets == 0 {
		t.Errorf("costs of %d packets sum to %d", snap.RowCosts.Packets, sum)
	}
	packets := snap.Lanes[0].Packets
	newest := &packets[len(packets)-1]
	seq, payload := newest.Seq, newest.Payload
	r.send(Command{Trace: &seq})
	described := func(s *engine.Snapshot) bool { return s.Traced != nil && s.Traced.Seq == seq && s.Traced.Packet != nil }
	first := r.await("the packet", described).Traced.Packet
	if got := first.Payload.Total(); got != int64(payload)*8*encoders.BitUnit {
		t.Errorf("the trace of %d bytes sums to %d units", payload, got)
	}
	for row := range snap.Schema.Rows {
		want := slices.ContainsFunc(first.Payload.Spans, func(span encoders.Span) bool { return span.Row == row })
		if carries, known := snap.RowCosts.Carries(seq, row); !known || carries != want {
			t.Fatalf("packet %d carries row %d: %v, known: %v; its bits say %v", seq, row, carries, known, want)
		}
	}
	if _, known := snap.RowCosts.Carries(0, 0); known {
		t.Error("the rows of packet 0 are known after three seconds")
	}
	// A filter of rows needs the same, and neither it nor the view of costs shows or ends the other.
	off := false
	r.send(Command{RowCosts: &off, Carried: &on})
	r.await("only the rows that packets carry", func(s *engine.Snapshot) bool { return s.RowCosts == nil && s.Carried != nil })
	r.send(Command{RowCosts: &on, Carried: &off})
	r.await("only costs of rows", func(s *engine.Snapshot) bool { return s.RowCosts != nil && s.Carried == nil })
	start, after := time.Second, snap.Now
	r.send(Command{Seek: &start})
	r.await("the past", func(s *engine.Snapshot) bool {
		return s.State == engine.Paused && s.Now < 2*time.Second && !described(s)
	})
	r.send(Command{Seek: &after, RowCosts: &off})
	again := r.await("the packet after the replay", described)
	if string(again.Traced.Packet.Datagram) != string(first.Datagram) || again.RowCosts != nil {
		t.Error("the replay describes another packet, or costs that were not requested")
	}
}
