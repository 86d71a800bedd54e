package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wirelab/dataset"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
	"wirelab/internal/units"
	"wirelab/internal/words"
	"wirelab/lossmodel"
)

// packetRecorder collects the packets of a session. The tests compute from them the facts that the
// sentences must contain.
type packetRecorder struct{ all []packetlog.Record }

func (l *packetRecorder) Sample(*meters.Sample)                         {}
func (l *packetRecorder) Settled(uint64)                                {}
func (l *packetRecorder) Packet(r *packetlog.Record, _ *engine.Problem) { l.all = append(l.all, *r) }

// record returns the record of packet seq itself.
func (l *packetRecorder) record(t *testing.T, seq uint64) *packetlog.Record {
	t.Helper()
	for i := range l.all {
		if l.all[i].Seq == seq && l.all[i].Copy == 0 {
			return &l.all[i]
		}
	}
	t.Fatalf("packet %d has no outcome", seq)
	return nil
}

// problemSession is a session whose packets have problems.
type problemSession struct {
	*testing.T
	s       *engine.Session
	packets *packetRecorder
}

// runWithProblems runs a session of a crowd of cubes until t. settings are pairs of key and value.
func runWithProblems(t *testing.T, until time.Duration, src dataset.Source, settings ...string) *problemSession {
	t.Helper()
	c := config.Default()
	testkit.Set(t, c, settings...)
	return runConfigWithProblems(t, until, src, c)
}

func runConfigWithProblems(t *testing.T, until time.Duration, src dataset.Source, c *config.Config) *problemSession {
	t.Helper()
	x := &problemSession{t, nil, &packetRecorder{}}
	var err error
	if x.s, err = engine.NewSessionFromSource(c, src, engine.Options{Inspect: true, Endless: true, KeepPackets: 4096,
		Observer: x.packets}); err != nil {
		t.Fatal(err)
	}
	x.run(until)
	return x
}

func (x *problemSession) run(until time.Duration) {
	x.Helper()
	if err := x.s.RunUntil(until); err != nil {
		x.Fatal(err)
	}
}

func (x *problemSession) change(ch config.Change) {
	x.Helper()
	if err := x.s.Change(ch); err != nil {
		x.Fatal(err)
	}
}

// nextSeq returns the sequence number of the next packet.
func (x *problemSession) nextSeq() uint64 { return uint64(x.s.Result().Totals.Sent) }

func reasonNamed(t testing.TB, name string) inspector.Reason {
	t.Helper()
	for r := inspector.NoReason; r.String() != "?"; r++ {
		if r.String() == name {
			return r
		}
	}
	t.Fatalf("no reason is named %q", name)
	return inspector.NoReason
}

// newestIncident returns the newest incident of the reason with the given name.
func (x *problemSession) newestIncident(reason string) *inspector.Incident {
	x.Helper()
	why := reasonNamed(x, reason)
	for _, i := range x.s.View(0).Lanes[0].Incidents {
		if i.Reason == why {
			return &i
		}
	}
	for _, i := range x.s.View(0).Lanes[0].Incidents {
		x.Logf("%v x %d: %s", i.Reason, i.N, Explain(&i.Opened, i.Reason, x.s.Config()))
	}
	x.Fatalf("there is no trouble of the kind %q", why)
	return nil
}

// checkSentence checks the sentence about an incident.
func (x *problemSession) checkSentence(i *inspector.Incident, format string, facts ...any) {
	x.Helper()
	if got, want := Explain(&i.Opened, i.Reason, x.s.Config()), fmt.Sprintf(format, facts...); got != want {
		x.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func newCrowd(seed uint64) dataset.Source { return labtest.NewCubeSource(100, 10, -1, seed) }

func ms(d time.Duration) string {
	if d < 9950*time.Microsecond {
		return fmt.Sprintf("%.1f ms", d.Seconds()*1000)
	}
	return fmt.Sprintf("%.0f ms", d.Seconds()*1000)
}

func TestExplainDropped(t *testing.T) {
	// The round trip takes a little more than 19 frames, the history has 16.
	x := runWithProblems(t, 3*time.Second, newCrowd(1), "receiver.history", "16", "down.latency", "160ms", "up.latency", "155ms")
	i := x.newestIncident("no baseline: dropped")
	rec := x.packets.record(t, i.Opened.Record.Seq)
	need := rec.Seq - uint64(rec.Baseline)
	if x.packets.record(t, need).Outcome != packetlog.Decoded || rec.Outcome != packetlog.NoBaseline {
		t.Fatalf("%+v needed %+v", rec, x.packets.record(t, need))
	}
	dropped := time.Duration(1 << 62) // arrival of the first packet more than 16 after the baseline
	for _, r := range x.packets.all {
		if r.Outcome == packetlog.Decoded && r.Seq > need+16 {
			dropped = min(dropped, r.Arrived)
		}
	}
	if dropped > rec.Arrived {
		t.Fatal("by the records it had not been dropped")
	}
	x.checkSentence(i, "packet %d needed snapshot %d, which had left the receiver's history %s before: the history holds 16 frames, and the round trip takes %d packets",
		rec.Seq, need, ms(rec.Arrived-dropped), rec.Baseline)
	if rec.Baseline < 19 {
		t.Errorf("a round trip of 315 ms takes %d frames", rec.Baseline)
	}
}

func TestExplainDroppedWithoutAcks(t *testing.T) {
	// The round trip takes 4 frames, but for a while nearly all acks are lost.
	x := runWithProblems(t, 2*time.Second, newCrowd(1), "receiver.history", "16", "down.latency", "30ms", "up.latency", "30ms")
	x.change(config.NewChange("up.loss", "100%"))
	x.run(2*time.Second + 400*time.Millisecond)
	i := x.newestIncident("no baseline: dropped")
	rec := x.packets.record(t, i.Opened.Record.Seq)
	acked, failed, under := 0, 0, 0 // packets between the baseline and rec, by their state when rec was sent
	for seq := rec.Seq - uint64(rec.Baseline) + 1; seq < rec.Seq; seq++ {
		switch r := x.packets.record(t, seq); {
		case r.Arrived > rec.Sent:
			under++
		case r.Outcome == packetlog.Decoded:
			acked++
		default:
			failed++
		}
	}
	if acked < 10 || failed == 0 || under != 1 {
		t.Fatalf("%d acked, %d failed, %d in flight: the test needs other settings", acked, failed, under)
	}
	got := Explain(&i.Opened, i.Reason, x.s.Config())
	want := fmt.Sprintf("%d packets have passed, although the round trip takes 4: of the packets since, %d could not be decoded, %d had their acks lost, 1 is not acknowledged yet",
		rec.Baseline, failed, acked)
	if !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\nwant suffix\n%s", got, want)
	}
}

func TestExplainLost(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings []string
		cause    lossmodel.Cause
		want     string // after the packet's number
	}{
		{"by itself", []string{"down.loss", "10%"}, lossmodel.Loss, "was lost: the loss stage dropped it"},
		{"burst", []string{"down.loss", "10%", "down.burst", "4"}, lossmodel.Burst,
			"was lost: the loss stage dropped it in its bad state, in which it loses packets in bursts"},
		{"fragment", []string{"down.loss", "1%", "down.mtu", "200", "encoder.name", "raw"}, lossmodel.Fragment,
			"was lost: the loss stage dropped one of its %d fragments"},
		{"netem", []string{"down.netem", "loss 10% seed 1"}, lossmodel.Loss, "was lost: the netem stage dropped it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := runWithProblems(t, 5*time.Second, newCrowd(2), c.settings...)
			i := x.newestIncident("lost")
			rec := x.packets.record(t, i.Opened.Record.Seq)
			if rec.Outcome != packetlog.Lost || rec.Cause != c.cause {
				t.Fatalf("outcome %v, cause %v", rec.Outcome, rec.Cause)
			}
			if c.cause == lossmodel.Fragment {
				_, n := lossmodel.WireBytes(rec.Payload+i.Opened.Inside.Header, 200)
				c.want = fmt.Sprintf(c.want, n)
			}
			row := 1 // consecutive losses up to this packet
			for seq := rec.Seq; seq > 0 && x.packets.record(t, seq-1).Outcome == packetlog.Lost; seq-- {
				row++
			}
			if row > 1 {
				c.want += fmt.Sprintf(", the %s consecutive loss", words.Ordinal(row))
			}
			x.checkSentence(i, "packet %d %s", rec.Seq, c.want)
			lost := int64(0)
			for _, r := range x.packets.all {
				if r.Outcome == packetlog.Lost {
					lost++
				}
			}
			if lost != i.N {
				t.Errorf("%d incidents of %d lost packets", i.N, lost)
			}
		})
	}
}

func TestExplainFullQueue(t *testing.T) {
	x := runWithProblems(t, 2*time.Second, newCrowd(3), "encoder.name", "raw", "down.rate", "400kbit", "down.queue", "8KB")
	i := x.newestIncident("lost")
	rec := x.packets.record(t, i.Opened.Record.Seq)
	// What is in the queue, by the records: all packets that were queued and arrive
	// after this one was sent. Without latency, packets arrive when they leave the queue.
	waiting, bytes := 0, 0
	for _, r := range x.packets.all {
		if r.Outcome != packetlog.Lost && r.Seq < rec.Seq && r.Due > rec.Sent {
			waiting, bytes = waiting+1, bytes+r.Wire
		}
	}
	for _, r := range x.s.View(1 << 14).Lanes[0].Packets { // those still in flight
		if r.Outcome == packetlog.InFlight && r.Seq < rec.Seq && r.Due > rec.Sent {
			waiting, bytes = waiting+1, bytes+r.Wire
		}
	}
	x.checkSentence(i, "packet %d was lost: the queue of the rate stage was full: it held %s of %s bytes in %s", rec.Seq, units.Thousands(int64(bytes)),
		units.Thousands(i.Opened.Inside.Trail.Step(lossmodel.StageRate).QueueLimit), words.Count(waiting, "packet"))
	if room := i.Opened.Inside.Trail.Step(lossmodel.StageRate).QueueLimit; int64(bytes) > room || int64(bytes+rec.Wire) <= room {
		t.Errorf("%d bytes would have fit next to %d of %d", rec.Wire, bytes, room)
	}
}

func TestExplainLate(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings []string
		want     string
	}{
		{"jitter", []string{"down.latency", "60ms", "down.jitter", "25ms"}, ": jitter added %s to the latency of 60 ms"},
		{"reorder", []string{"down.latency", "20ms", "down.reorder", "5%", "down.reorder_delay", "45ms"},
			": the reorder stage delayed it by 45 ms"},
		{"netem", []string{"down.netem", "delay 60ms 25ms seed 4"}, ": the netem stage added %s to the latency of 60 ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := runWithProblems(t, 5*time.Second, newCrowd(4), append(c.settings, "receiver.playout_delay", "500ms")...)
			i := x.newestIncident("stale")
			rec := x.packets.record(t, i.Opened.Record.Seq)
			if rec.Outcome != packetlog.Stale {
				t.Fatalf("outcome %v", rec.Outcome)
			}
			var newer *packetlog.Record // the newest packet that arrived before rec
			for k := range x.packets.all {
				if r := &x.packets.all[k]; r.Outcome == packetlog.Decoded && r.Arrived <= rec.Arrived && (newer == nil || r.Seq > newer.Seq) {
					newer = r
				}
			}
			took := rec.Arrived - rec.Sent
			if strings.Contains(c.want, "%s") {
				c.want = fmt.Sprintf(c.want, ms(took-60*time.Millisecond))
			}
			x.checkSentence(i, "packet %d took %s and arrived %s after packet %d, which was sent %s later%s", rec.Seq, ms(took),
				ms(rec.Arrived-newer.Arrived), newer.Seq, ms(newer.Sent-rec.Sent), c.want)
		})
	}
}

func TestExplainLateInQueue(t *testing.T) {
	// The rate suffices for 5 of 6 packets: the queue grows until packets arrive after their display time.
	x := runWithProblems(t, 3*time.Second, newCrowd(4), "encoder.name", "raw", "down.rate", "600kbit", "down.latency", "10ms",
		"receiver.playout_delay", "40ms")
	i := x.newestIncident("late")
	rec := x.packets.record(t, i.Opened.Record.Seq)
	bytes := 0
	for _, r := range x.packets.all {
		if r.Seq < rec.Seq && r.Due-10*time.Millisecond > rec.Sent {
			bytes += r.Wire
		}
	}
	took := rec.Arrived - rec.Sent
	got := Explain(&i.Opened, i.Reason, x.s.Config())
	head, tail := fmt.Sprintf("packet %d took %s and arrived ", rec.Seq, ms(took)),
		fmt.Sprintf(" (fastest recent delay + playout delay 40 ms): it spent %s in the queue, behind %s bytes",
			ms(took-10*time.Millisecond), units.Thousands(int64(bytes)))
	if !strings.HasPrefix(got, head) || !strings.HasSuffix(got, tail) || rec.Outcome != packetlog.Decoded || bytes == 0 {
		t.Errorf("got\n%s\nwant\n%s...%s", got, head, tail)
	}
}

// With a latency that no playout delay of this length allows, every packet is late, whatever its jitter is.
func TestExplainAlwaysLate(t *testing.T) {
	x := runWithProblems(t, time.Second, newCrowd(1), "down.latency", "20ms", "down.jitter", "5ms", "receiver.playout_delay", "85ms")
	x.change(config.NewChange("down.latency", "300ms"))
	x.run(3 * time.Second)
	i := x.newestIncident("late")
	const want = "(fastest recent delay + playout delay 85 ms): the latency of 300 ms alone is longer than this playout delay allows"
	if got := Explain(&i.Opened, i.Reason, x.s.Config()); !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\nwant\n...%s", got, want)
	}
}

// A packet that was not late is not always late, however fast its stages were.
func TestFastPacketIsNotLate(t *testing.T) {
	in := &inspector.Inside{}
	in.Trail.N = 1
	in.Trail.Steps[0] = lossmodel.Step{Stage: lossmodel.StageDelay, Delay: 8 * time.Millisecond, BaseDelay: 20 * time.Millisecond}
	for late, want := range map[time.Duration]bool{0: false, time.Millisecond: true} {
		if got := (explained{Record: &packetlog.Record{Late: late}, In: in}).AlwaysLate(); got != want {
			t.Errorf("%v late: %v, want %v", late, got, want)
		}
	}
}

// The error of a receiver appears in sentences without the name of its package.
func TestProblemWithoutPackageName(t *testing.T) {
	in := &inspector.Inside{AtReceiver: inspector.AtReceiver{Err: endpoint.ErrMalformed}}
	if got, want := (explained{In: in}).Problem(), "malformed datagram"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
