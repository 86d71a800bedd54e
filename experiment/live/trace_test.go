package live

import (
	"slices"
	"testing"
	"time"

	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// A runner describes the requested packet and the costs of rows, also after a seek into the past, until
// the costs are no longer requested.
func TestRunnerTracesPackets(t *testing.T) {
	r, clock := newManual(t, config.Default())
	r.play(clock, 3*time.Second)
	do := func(c Command) *engine.Snapshot {
		r.handleCommand(t.Context(), c)
		if r.past != nil {
			r.finishPast(t.Context())
		}
		clock.Add(int64(rowCostEvery))
		r.publish()
		return r.Snapshot()
	}
	on, off := true, false
	snap := do(Command{Pause: &on, RowCosts: &on})
	packets := snap.Lanes[0].Packets
	seq, payload := packets[len(packets)-1].Seq, packets[len(packets)-1].Payload
	first := do(Command{Trace: &seq}).Traced.Packet
	if got := first.Payload.Total(); got != int64(payload)*8*encoders.BitUnit {
		t.Errorf("the trace of %d bytes sums to %d units", payload, got)
	}
	costs := snap.RowCosts
	for row := range snap.Schema.Rows {
		want := slices.ContainsFunc(first.Payload.Spans, func(span encoders.Span) bool { return span.Row == row })
		if carries, known := costs.Carries(seq, row); !known || carries != want {
			t.Fatalf("packet %d carries row %d: %v, known: %v; its bits say %v", seq, row, carries, known, want)
		}
	}
	if _, known := costs.Carries(0, 0); known || costs.Total <= 0 || costs.Packets == 0 {
		t.Errorf("the rows of packet 0 are known after three seconds: %v; costs of %d packets: %d", known, costs.Packets, costs.Total)
	}
	// A filter of rows needs the same, and neither it nor the view of costs shows or ends the other.
	if s := do(Command{RowCosts: &off, Carried: &on}); s.RowCosts != nil || s.Carried == nil {
		t.Error("not only the rows that packets carry")
	}
	if s := do(Command{RowCosts: &on, Carried: &off}); s.RowCosts == nil || s.Carried != nil {
		t.Error("not only costs of rows")
	}
	after := snap.Now
	if s := do(Command{Seek: new(time.Second)}); s.Now != time.Second || s.Traced.Packet != nil {
		t.Errorf("at %v packet %d is described", s.Now, seq)
	}
	r.handleCommand(t.Context(), Command{Seek: &after, RowCosts: &off})
	r.play(clock, time.Second)
	if s := r.Snapshot(); string(s.Traced.Packet.Datagram) != string(first.Datagram) || s.RowCosts != nil {
		t.Error("the replay describes another packet, or costs that were not requested")
	}
}
