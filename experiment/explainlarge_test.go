package experiment

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/lossmodel"
)

// before returns the means over the 64 packets before seq, by the records.
func (x *trouble) before(seq uint64) (payload, changed, baseline float64) {
	const n = 64
	for k := seq - n; k < seq; k++ {
		r := x.lives.of(x.T, k)
		payload, changed, baseline = payload+float64(r.Payload)/n, changed+float64(r.Changed)/n, baseline+float64(r.Baseline)/n
	}
	return payload, changed, baseline
}

func (x *trouble) head(rec *PacketRecord) string {
	payload, _, _ := x.before(rec.Seq)
	return fmt.Sprintf("packet %d has %s bytes, %.1f times the mean: ", rec.Seq, thousands(int64(rec.Payload)), float64(rec.Payload)/payload)
}

// shaken is a crowd in which all cubes move at once now and then.
type shaken struct{ *crowd }

func (s shaken) Next(f *frame.Frame) error {
	if s.moving = 10; s.tick%200 == 199 {
		s.moving = 400
	}
	return s.crowd.Next(f)
}

func TestExplainMoreChanged(t *testing.T) {
	x := provoke(t, 5*time.Second, shaken{newCrowd(100, 10, -1, 1)})
	i := x.newest(BecauseChanged)
	rec := x.lives.of(t, i.Opened.Record.Seq)
	_, changed, _ := x.before(rec.Seq)
	x.says(i, "%s%d of 100 changed against its baseline, usually %.0f", x.head(rec), rec.Changed, changed)
	if rec.Seq != 199 || i.N != 1 {
		t.Errorf("packet %d, one of %d", rec.Seq, i.N)
	}
}

func TestExplainOldBaseline(t *testing.T) {
	x := provoke(t, 3*time.Second, newCrowd(200, 5, -1, 1), "link.latency", "30ms")
	x.change(Change{Up: map[string]string{"loss": "100%"}})
	x.run(3*time.Second + 700*time.Millisecond)
	x.change(Change{Up: map[string]string{"loss": "0%"}})
	x.run(5 * time.Second)
	i := x.newest(BecauseOldBase)
	rec := x.lives.of(t, i.Opened.Record.Seq)
	_, _, baseline := x.before(rec.Seq)
	vain, under := 0, 0
	for seq := rec.Seq - uint64(rec.Baseline) + 1; seq < rec.Seq; seq++ {
		switch r := x.lives.of(t, seq); {
		case r.Arrived > rec.Sent || r.Arrived > 3*time.Second+700*time.Millisecond:
			under++
		default:
			vain++
		}
	}
	if vain < 10 {
		t.Fatalf("%d acks were lost: nothing is tested", vain)
	}
	x.says(i, "%sit builds on snapshot %d, %d back instead of the usual %.0f, because of the packets since %d had their acks lost, %d are under way, or their acks are",
		x.head(rec), rec.Seq-uint64(rec.Baseline), rec.Baseline, baseline, vain, under)
}

func TestExplainSwap(t *testing.T) {
	t.Run("to a costlier encoder", func(t *testing.T) {
		x := provoke(t, 3*time.Second, crowdOf(1), "encoder.name", "relative-orientation")
		x.change(Change{Encoder: "raw"})
		first := uint64(x.s.sent)
		x.run(4 * time.Second)
		i := x.newest(BecauseSwapped)
		rec := x.lives.of(t, i.Opened.Record.Seq)
		x.says(i, "%sthe encoder was swapped from relative-orientation to raw %d packets before", x.head(rec), rec.Seq-first)
	})
	t.Run("to one that has learnt nothing yet", func(t *testing.T) {
		// Cubes fly straight on: who remembers, pays little.
		x := provoke(t, 3*time.Second, newFlight(), "encoder.name", "adaptive", "link.latency", "20ms")
		first := uint64(x.s.sent)
		x.change(Change{Encoder: "predictive"})
		x.run(4 * time.Second)
		for seq := first; ; seq++ {
			o := x.s.lanes[0].opened(PacketID{Seq: seq})
			if o.Gone {
				t.Fatal("no packet lacked the memory of its baseline")
			}
			if o.Inside.Untaught {
				if rec := x.lives.of(t, seq); o.Inside.Previous != "adaptive" || rec.Epoch != 1 || x.lives.of(t, seq-uint64(rec.Baseline)).Epoch != 0 {
					t.Errorf("packet %d of epoch %d lacks the memory of one of epoch %d", seq, rec.Epoch, x.lives.of(t, seq-uint64(rec.Baseline)).Epoch)
				}
				want := fmt.Sprintf("the encoder was swapped from adaptive to predictive %s, and has no memory of snapshot %d to predict from yet",
					map[bool]string{true: "with this packet", false: count(o.Inside.Age, "packet") + " before"}[o.Inside.Age == 0], seq-uint64(o.Record.Baseline))
				if got := o.Explain(BecauseSwapped, x.s.config); !strings.HasSuffix(got, want) || uint64(o.Inside.Age) > seq-first {
					t.Errorf("it says\n%s\nwant\n%s", got, want)
				}
				break
			}
		}
	})
}

// newFlight is a crowd in which every fourth cube flies on and on.
func newFlight() *crowd { return newCrowd(100, 20, -1, 3) }

func TestExplainSeam(t *testing.T) {
	if raceEnabled {
		t.Skip("two minutes of the demo take long under the race detector, and nothing races here")
	}
	c := Default()
	if err := c.Set("data.source", "demo"); err != nil {
		t.Fatal(err)
	}
	c.Data.Loop = true
	s, err := NewSession(c, SessionOptions{Inspect: true, Endless: true, KeepPackets: 4096})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 120 {
		if err := s.RunUntil(s.now + time.Second); err != nil {
			t.Fatal(err)
		}
		for _, i := range s.lanes[0].troubles() {
			if i.Reason == BecauseSeam {
				if !i.Opened.Record.Seam {
					t.Error("no seam was there")
				}
				return
			}
		}
	}
	t.Fatal("the demo began anew without a leap in size")
}

func TestExplainNoAck(t *testing.T) {
	// The uplink fails for longer than the histories reach.
	x := provoke(t, 3*time.Second, newCrowd(200, 5, -1, 1), "sender.history", "30", "receiver.history", "30")
	x.change(Change{Up: map[string]string{"loss": "100%"}})
	x.run(4 * time.Second)
	i := x.newest(BecauseNoAck)
	rec := x.lives.of(t, i.Opened.Record.Seq)
	if rec.Baseline != 0 {
		t.Errorf("it builds on one %d back", rec.Baseline)
	}
	x.says(i, "%sno ack that counts has come, so it builds on the initial state", x.head(rec))
}

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
