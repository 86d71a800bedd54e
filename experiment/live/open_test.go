package live

import (
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/testkit"
)

// Every snapshot after Command.Open shows that packet. The newest incidents are
// always shown.
func TestRunnerOpensPackets(t *testing.T) {
	c := config.Default()
	testkit.Set(t, c, "down.loss", "20%", "link.latency", "30ms")
	r := newLab(t, c, Options{Clock: func() time.Duration { return 0 }})
	if r.Snapshot().Opened != nil {
		t.Error("a packet is open without a command")
	}
	r.handleCommand(t.Context(), Command{Open: &packetlog.ID{Seq: 59}})
	for _, at := range []time.Duration{time.Second, 2 * time.Second} {
		if err := r.current.RunUntil(at); err != nil {
			t.Fatal(err)
		}
		r.publish()
		o := r.Snapshot().Opened
		if o == nil || o.Gone || o.Record.Seq != 59 || (o.Record.Outcome == packetlog.InFlight) != (at == time.Second) {
			t.Fatalf("at %v: %+v", at, o)
		}
	}
	lane := &r.Snapshot().Lanes[0]
	if len(lane.Incidents) == 0 || lane.Incidents[0].Reason != inspector.BecauseLost || lane.Incidents[0].N != lane.Totals.Lost {
		t.Errorf("%d lost, troubles %+v", lane.Totals.Lost, lane.Incidents)
	}
}
