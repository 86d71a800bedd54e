package engine

import (
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
	"wirelab/lossmodel"
)

// runInspected runs a session of a crowd with Options.Inspect. settings are pairs of key and value.
func runInspected(t *testing.T, until time.Duration, settings ...string) *Session {
	t.Helper()
	c := config.Default()
	testkit.Set(t, c, settings...)
	s := mustOpen(t, c, labtest.NewCubeSource(100, 10, -1, 9), Options{Inspect: true, Endless: true, KeepPackets: 4096})
	mustRun(t, s, until)
	return s
}

// An opened packet agrees with its record, and its bits and the steps of its trail add up. Without
// Options.Inspect nothing is recorded, and with it the results do not change.
func TestOpenedPacketIsConsistent(t *testing.T) {
	settings := []string{"down.loss", "5%", "down.duplicate", "5%", "link.latency", "40ms", "link.jitter", "15ms", "down.corrupt",
		"2%", "down.rate", "2mbit"}
	s := runInspected(t, 10*time.Second, settings...)
	l := s.lanes[0]
	for _, rec := range l.log.Last(nil, 500) {
		o := l.inspector.Open(rec.ID())
		if o.Gone || o.Record != rec {
			t.Fatalf("packet %d: %+v, opened %+v", rec.Seq, rec, o.Record)
		}
		b := o.Inside.Spent.Budget()
		if b.Total() != int64(rec.Payload)*8<<16 {
			t.Fatalf("packet %d: %d units for %d bytes", rec.Seq, b.Total(), rec.Payload)
		}
		if rec.Arrived > 0 && o.Inside.Trail.Delay() != rec.Arrived-rec.Sent {
			t.Fatalf("packet %d.%d took %v by stages, %v as a whole", rec.Seq, rec.Copy, o.Inside.Trail.Delay(), rec.Arrived-rec.Sent)
		}
		if rec.Outcome == packetlog.Decoded && rec.Baseline > 0 && o.Inside.Base != inspector.BaseHeld {
			t.Fatalf("packet %d was decoded without its baseline: %d", rec.Seq, o.Inside.Base)
		}
		if rec.Outcome == packetlog.Lost && o.Inside.Trail.Step(lossmodel.StageLoss).Lost != rec.Cause {
			t.Fatalf("packet %d: lost by %v, steps %+v", rec.Seq, rec.Cause, o.Inside.Trail.All())
		}
		if rec.Outcome == packetlog.Decoded && o.Inside.AckDue == 0 && o.Inside.AckLost == lossmodel.None {
			t.Fatalf("packet %d set off no ack", rec.Seq)
		}
	}
	if !l.inspector.Open(packetlog.ID{Seq: 1 << 40}).Gone {
		t.Error("a packet of the future can be opened")
	}
	blind := mustOpen(t, s.start, labtest.NewCubeSource(100, 10, -1, 9), Options{Endless: true})
	mustRun(t, blind, 10*time.Second)
	if blind.lanes[0].digest.sum() != l.digest.sum() || blind.lanes[0].inspector != nil || !blind.lanes[0].inspector.Open(packetlog.ID{Seq: 5}).Gone {
		t.Error("to look changes what happens, or happens unasked")
	}
}

// The incident of a large packet is recorded when it is sent, and completed when it
// arrives or is lost.
func TestIncidentsOfLargePacketsAreCompleted(t *testing.T) {
	large := 0
	for _, loss := range []string{"0%", "100%"} {
		s := runInspected(t, 5*time.Second, "link.latency", "40ms")
		l := s.lanes[0]
		mustChange(t, s, config.NewChange("encoder.name", "raw", "down.loss", loss))
		mustRun(t, s, 8*time.Second)
		for _, i := range l.inspector.Incidents() {
			if !i.Reason.Large() || i.T < 5*time.Second {
				continue
			}
			large++
			if o := l.inspector.Open(i.Opened.ID); i.Opened.Record.Outcome == packetlog.InFlight || o.Gone || i.Opened != *o {
				t.Errorf("loss %s, %v: the incident has %+v, the packet is %+v", loss, i.Reason, i.Opened.Record, o.Record)
			}
		}
	}
	if large < 2 {
		t.Errorf("%d packets were large: the test tests nothing", large)
	}
}
