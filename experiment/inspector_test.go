package experiment

import (
	"fmt"
	"testing"
	"time"

	"wirelab/lossmodel"
)

// A packet that is opened says what its record says, and its bits and its way add
// up; nothing is noted unless asked, and notes change nothing.
func TestOpenedPacketAddsUp(t *testing.T) {
	settings := []string{"down.loss", "5%", "down.duplicate", "5%", "link.latency", "40ms", "link.jitter", "15ms", "down.corrupt", "2%", "down.rate", "2mbit"}
	x := provoke(t, 10*time.Second, crowdOf(9), settings...)
	l := x.s.lanes[0]
	for _, rec := range l.records.last(nil, 500) {
		o := l.opened(PacketID{rec.Seq, rec.Copy})
		if o.Gone || o.Record != rec {
			t.Fatalf("packet %d: %+v, opened %+v", rec.Seq, rec, o.Record)
		}
		b := o.Inside.Spent.Budget()
		if b.Total() != int64(rec.Payload)*8<<16 {
			t.Fatalf("packet %d: %d units for %d bytes", rec.Seq, b.Total(), rec.Payload)
		}
		if rec.Arrived > 0 && o.Inside.Trail.Took() != rec.Arrived-rec.Sent {
			t.Fatalf("packet %d.%d took %v by stages, %v as a whole", rec.Seq, rec.Copy, o.Inside.Trail.Took(), rec.Arrived-rec.Sent)
		}
		if rec.Outcome == Decoded && rec.Baseline > 0 && o.Inside.Base != BaseHeld {
			t.Fatalf("packet %d was decoded without its baseline: %d", rec.Seq, o.Inside.Base)
		}
		if rec.Outcome == Lost && o.Inside.Trail.Of(lossmodel.StageLoss).Lost != rec.Cause {
			t.Fatalf("packet %d: lost by %v, the stage says %+v", rec.Seq, rec.Cause, o.Inside.Trail.All())
		}
		if rec.Outcome == Decoded && o.Inside.AckDue == 0 && o.Inside.AckLost == lossmodel.None {
			t.Fatalf("packet %d set off no ack", rec.Seq)
		}
	}
	if !l.opened(PacketID{Seq: 1 << 40}).Gone {
		t.Error("a packet of the future can be opened")
	}
	blind, err := newSession(x.s.start, crowdOf(9), SessionOptions{Endless: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := blind.RunUntil(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	if blind.lanes[0].digest.sum() != l.digest.sum() || blind.lanes[0].watch != nil || !blind.lanes[0].opened(PacketID{Seq: 5}).Gone {
		t.Error("to look changes what happens, or happens unasked")
	}
}

func TestInspectingAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates for itself")
	}
	for _, inspect := range []bool{false, true} {
		c := Default()
		for key, v := range map[string]any{"link.latency": "50ms", "link.jitter": "16ms", "down.loss": "5%", "down.duplicate": "2%", "receiver.history": 8} {
			if err := c.Set(key, v); err != nil {
				t.Fatal(err)
			}
		}
		s, err := newSession(c, newCrowd(200, 20, -1, 1), SessionOptions{KeepSamples: 20, Endless: true, Inspect: inspect})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RunUntil(30 * time.Second); err != nil {
			t.Fatal(err)
		}
		n := testing.AllocsPerRun(20, func() {
			if err := s.RunUntil(s.now + time.Second); err != nil {
				t.Fatal(err)
			}
		})
		if n > 1 { // the ring of samples is renewed every two seconds
			t.Errorf("inspect %v: %g allocations a second of virtual time", inspect, n)
		}
	}
}

// BenchmarkInspect compares a session that notes the insides of its packets with
// one that does not, on so few cubes that encoding them hides nothing.
func BenchmarkInspect(b *testing.B) {
	for _, inspect := range []bool{false, true} {
		b.Run(fmt.Sprintf("inspect=%v", inspect), func(b *testing.B) {
			c := Default()
			for key, v := range map[string]any{"link.latency": "50ms", "link.jitter": "16ms", "down.loss": "5%"} {
				if err := c.Set(key, v); err != nil {
					b.Fatal(err)
				}
			}
			s, err := newSession(c, newCrowd(10, 1, -1, 1), SessionOptions{KeepSamples: 20, KeepPackets: livePackets, Endless: true, Inspect: inspect})
			if err != nil {
				b.Fatal(err)
			}
			if err := s.RunUntil(5 * time.Second); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			n := s.sent
			for b.Loop() {
				if err := s.RunUntil(s.now + time.Second); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(s.sent-n), "ns/packet")
		})
	}
}

// A runner shows the packet that was asked for, in every snapshot from then on,
// and the newest troubles unasked.
func TestRunnerOpensPackets(t *testing.T) {
	c := Default()
	for key, v := range map[string]any{"down.loss": "20%", "link.latency": "30ms"} {
		if err := c.Set(key, v); err != nil {
			t.Fatal(err)
		}
	}
	r, err := NewRunner(c, RunnerOptions{Clock: func() time.Duration { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	if r.Snapshot().Opened != nil {
		t.Error("a packet is open that nobody asked for")
	}
	r.obey(Command{Open: &PacketID{Seq: 59}})
	for _, at := range []time.Duration{time.Second, 2 * time.Second} {
		if err := r.session.RunUntil(at); err != nil {
			t.Fatal(err)
		}
		r.publish()
		o := r.Snapshot().Opened
		if o == nil || o.Gone || o.Record.Seq != 59 || (o.Record.Outcome == InFlight) != (at == time.Second) {
			t.Fatalf("at %v: %+v", at, o)
		}
	}
	lane := &r.Snapshot().Lanes[0]
	if len(lane.Troubles) == 0 || lane.Troubles[0].Reason != BecauseLost || lane.Troubles[0].N != lane.Totals.Lost {
		t.Errorf("%d lost, troubles %+v", lane.Totals.Lost, lane.Troubles)
	}
}
