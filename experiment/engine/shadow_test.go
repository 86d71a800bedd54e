package engine

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// badLink turns on all impairments in both directions.
func badLink(t *testing.T, c *config.Config) *config.Config {
	t.Helper()
	testkit.Set(t, c, "link.loss", "8%", "link.burst", "2", "link.latency", "60ms", "link.jitter", "20ms",
		"link.reorder", "3%",
		"down.duplicate", "3%", "down.corrupt", "2%")
	return c
}

func changeAndRun(t *testing.T, s *Session, ch config.Change, then time.Duration) {
	t.Helper()
	mustChange(t, s, ch)
	mustRun(t, s, s.now+then)
}

func shadowsNamed(names ...string) (list []config.Encoder) {
	for _, n := range names {
		list = append(list, config.Encoder{Name: n})
	}
	return list
}

// The active encoder also joins late as a shadow. Every packet of the shadow is lost or delayed
// like the same packet of the first lane. Once the shadow's endpoints have caught up, the packets
// are equal and have the same baseline, which requires that the acks are lost alike, too. The test
// also joins after 65,536 packets, when sequence numbers have wrapped.
func TestLateShadowHasSameLosses(t *testing.T) {
	for _, joins := range []time.Duration{0, 2 * time.Second, 1200 * time.Second} {
		if joins > time.Minute && !testkit.Thorough() {
			continue
		}
		t.Run(joins.String(), func(t *testing.T) {
			s, err := NewSessionFromSource(badLink(t, config.Default()), labtest.NewCubeSource(20, 3, -1, 1),
				Options{KeepSamples: 100, KeepPackets: 600, Endless: true})
			if err != nil {
				t.Fatal(err)
			}
			mustRun(t, s, joins)
			if s.lanes[0].paths.downLink.InFlight() == 0 && joins > 0 {
				t.Fatal("nothing is in flight, which is the case to test")
			}
			twin := config.Encoder{Name: s.config.Encoder.Name, Own: map[string]string{"control": "off"}}
			changeAndRun(t, s, config.NewChange("shadow", []config.Encoder{twin}), 8*time.Second)
			comparePackets(t, s, joins)
			checkOutcomes(t, s)
		})
	}
}

func comparePackets(t *testing.T, s *Session, joins time.Duration) {
	t.Helper()
	twins := map[[2]uint64]packetlog.Record{}
	for _, p := range s.lanes[0].log.Last(nil, 600) {
		twins[[2]uint64{p.Seq, uint64(p.Copy)}] = p
	}
	same, lost := 0, 0
	for _, p := range s.lanes[1].log.Last(nil, 600) {
		want, known := twins[[2]uint64{p.Seq, uint64(p.Copy)}]
		if !known {
			continue
		}
		if p.Sent != want.Sent || p.Arrived != want.Arrived || p.Cause != want.Cause || p.Outcome != want.Outcome {
			t.Fatalf("packet %d.%d: %v %v at %v; the first lane's %v %v at %v", p.Seq, p.Copy, p.Outcome, p.Cause, p.Arrived, want.Outcome,
				want.Cause, want.Arrived)
		}
		if p.Cause != 0 {
			lost++
		}
		if p.Sent > joins+3*time.Second {
			if p.Baseline != want.Baseline || p.Payload != want.Payload {
				t.Fatalf("packet %d: %d bytes against %d back; the first lane's %d against %d", p.Seq, p.Payload, p.Baseline, want.Payload,
					want.Baseline)
			}
			same++
		}
	}
	if same < 200 || lost == 0 {
		t.Errorf("%d packets compared, %d lost: too few", same, lost)
	}
	if got := s.lanes[1].totals(s.Now()); got.Wrong != 0 || got.DecodeRefused != 0 || got.Failures.UnknownCodec != 0 {
		t.Errorf("the shadow: %+v", got)
	}
}

// Shadows that join and leave do not change the first lane, unless they have its configuration; see
// TestEqualLanesSendEqualBytes.
func TestShadowsDoNotChangeFirstLane(t *testing.T) {
	digests := map[bool]string{}
	for _, with := range []bool{false, true} {
		s := mustOpen(t, badLink(t, config.Default()), labtest.NewCubeSource(20, 3, -1, 1), Options{})
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range 30 {
			ch := config.NewChange("mark", "nothing")
			if on := s.config.Shadows; with && (len(on) == 0 || rng.IntN(2) == 0) {
				ch = config.NewChange("shadow", shadowsNamed([]string{"raw", "quantized", "zstd", "rotor"}[i%4]))
				if ch.Shadows()[0].IsIn(on) {
					ch = config.NewChange("shadow_off", []string{ch.Shadows()[0].Name})
				}
			}
			changeAndRun(t, s, ch, 100*time.Millisecond)
		}
		digests[with] = s.lanes[0].digest.sum()
		if with && len(s.log) < 20 {
			t.Error("too few changes")
		}
	}
	if digests[false] != digests[true] {
		t.Error("shadows changed what the first lane sent")
	}
}

// The memory of shadows does not grow, however long they run and however often they
// join and leave.
func TestShadowsAreBounded(t *testing.T) {
	s, err := NewSessionFromSource(badLink(t, config.Default()), labtest.NewCubeSource(10, 2, -1, 1),
		Options{KeepSamples: 50, KeepPackets: 3000, Endless: true})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"raw", "quantized", "zstd", "relative-index"}
	changeAndRun(t, s, config.NewChange("shadow", shadowsNamed(names...)), 20*time.Second)
	size := func() (n int) {
		for _, l := range s.lanes[1:] {
			n += l.log.Cap() + len(l.meter.Samples()) + l.flights.queue.Len() + int(s.feed.framesTaken-s.oldestDisplayedTick())
		}
		return n
	}
	before, most := size(), 0
	for i := range testkit.Choose(40, 12) {
		changeAndRun(t, s, config.NewChange("shadow_off", names[i%4:i%4+1]), 50*time.Millisecond)
		most = max(most, size())
		changeAndRun(t, s, config.NewChange("shadow", shadowsNamed(names[i%4])), 1500*time.Millisecond)
		most = max(most, size())
	}
	if most > before+before/10 {
		t.Errorf("%d entries are held, %d before", most, before)
	}
	for _, l := range s.lanes[1:] {
		if l.log.Cap() != minStoredPackets {
			t.Errorf("a shadow keeps %d packets", l.log.Cap())
		}
	}
}

// A shadow that leaves at the moment at which it joined, here at the beginning of a run, has measured
// nothing: it is in no report. It must not count as one that ran until the end.
func TestShadowLeavesAtOnce(t *testing.T) {
	c := config.Default()
	c.Shadows = shadowsNamed("zstd")
	s := mustOpen(t, c, labtest.NewCubeSource(10, 2, -1, 1), Options{Endless: true})
	changeAndRun(t, s, config.NewChange("shadow_off", []string{"zstd"}), time.Second)
	if r := s.Result(); len(r.Shadows) > 0 {
		t.Errorf("%d shadows, the first from %v s to %v s", len(r.Shadows), r.Shadows[0].FromS, r.Shadows[0].ToS)
	}
}

// A shadow copies the links of the first lane, so it can join although the trace file of a link was
// removed.
func TestShadowJoinsAfterTraceIsRemoved(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "loss.txt")
	if err := os.WriteFile(trace, []byte("seq,lost\n0,0\n1,0\n2,0\n3,1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	if err := c.Set("down.loss", "trace file="+trace); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, c, labtest.NewCubeSource(10, 3, -1, 4), Options{Endless: true})
	if err := errors.Join(s.RunUntil(time.Second), os.Remove(trace), s.Change(config.NewChange("shadow", "raw"))); err != nil {
		t.Fatal(err)
	}
	if err := s.RunUntil(2 * time.Second); err != nil || len(s.lanes) != 2 || s.lanes[1].totals(s.Now()).Decoded < 30 {
		t.Errorf("%v; %d lanes", err, len(s.lanes))
	}
}
