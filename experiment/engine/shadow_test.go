package engine

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
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
	if err := s.Change(ch); err != nil {
		t.Fatal(err)
	}
	if err := s.RunUntil(s.now + then); err != nil {
		t.Fatal(err)
	}
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
			if err := s.RunUntil(joins); err != nil {
				t.Fatal(err)
			}
			if s.lanes[0].paths.downLink.InFlight() == 0 && joins > 0 {
				t.Fatal("nothing is in flight, which is the case to test")
			}
			changeAndRun(t, s, config.NewChange("shadow", shadowsNamed(s.config.Encoder.Name)), 8*time.Second)
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
		s, err := NewSessionFromSource(badLink(t, config.Default()), labtest.NewCubeSource(20, 3, -1, 1), Options{})
		if err != nil {
			t.Fatal(err)
		}
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

// For any two lists of shadows, the change that undoes the step between them works, also after
// encoding as TOML.
func TestUndoOfShadows(t *testing.T) {
	all := shadowsNamed("raw", "quantized", "zstd", "relative-orientation", "relative-position")
	other := all[4].Clone()
	other.Params = map[string]any{"xy_small": 5}
	all = append(all, other)
	rng := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		pick := func() *config.Config {
			c := config.Default()
			for _, i := range rng.Perm(len(all))[:rng.IntN(len(all)+1)] {
				c.Shadows = append(c.Shadows, all[i].Clone())
			}
			if err := errors.Join(c.Validate(), c.Normalise()); err != nil {
				t.Fatal(err)
			}
			return c
		}
		was, is := pick(), pick()
		ch := was.Undo(is)
		if !ch.IsZero() { // a scripted change must change something
			c := is.Clone()
			c.At = []config.StampedChange{config.Stamp(time.Second, ch)}
			text, err := c.TOML()
			if err != nil {
				t.Fatal(err)
			}
			if read, err := config.Parse("x.toml", text); err != nil || read.At[0].Change.Label() != ch.Label() {
				t.Fatalf("%s\ncame back as %+v, %v", text, read, err)
			}
		}
		if err := is.Apply(ch); err != nil {
			t.Fatalf("%s: %v", ch.Label(), err)
		}
		if !sameSet(was.Shadows, is.Shadows) {
			t.Fatalf("undone to %v, want %v", is.Shadows, was.Shadows)
		}
	}
}

func sameSet(a, b []config.Encoder) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(e config.Encoder) bool { return !e.IsIn(b) })
}

func TestInvalidShadows(t *testing.T) {
	c := config.Default()
	c.Shadows = shadowsNamed("raw")
	before := c.Values()
	for _, x := range []struct {
		ch   config.Change
		says string
	}{
		{config.NewChange("shadow", shadowsNamed("raw")), "already"},
		{config.NewChange("shadow", shadowsNamed("quantised")), "did you mean quantized?"},
		{config.NewChange("shadow_off", []string{"rav"}), "did you mean raw?"},
		{config.NewChange("shadow", []config.Encoder{{Name: "raw", Params: map[string]any{"small": 3}}}), "no params"},
	} {
		err := c.Check(x.ch)
		var ce *config.Error
		if !errors.As(err, &ce) || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %v, want a word of %q", x.ch.Label(), err, x.says)
		}
	}
	if !reflect.DeepEqual(before, c.Values()) {
		t.Error("what was refused was done")
	}
	s, err := NewSessionFromSource(config.Default(), labtest.NewCubeSource(3, 1, -1, 1), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Change(config.NewChange("shadow", shadowsNamed("row"))); err == nil || len(s.lanes) != 1 {
		t.Error("an encoder that does not exist joined")
	}
	for _, bad := range []any{3, []any{}, []any{"raw", 4}, ""} {
		var ch config.Change
		if err := ch.Set("shadow", bad); err == nil {
			t.Errorf("shadow = %v is accepted", bad)
		}
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
	names := []string{"raw", "quantized", "zstd", "relative-orientation"}
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
	s, err := NewSessionFromSource(c, labtest.NewCubeSource(10, 2, -1, 1), Options{Endless: true})
	if err != nil {
		t.Fatal(err)
	}
	changeAndRun(t, s, config.NewChange("shadow_off", []string{"zstd"}), time.Second)
	if r := s.Result(); len(r.Shadows) > 0 {
		t.Errorf("%d shadows, the first from %v s to %v s", len(r.Shadows), r.Shadows[0].FromS, r.Shadows[0].ToS)
	}
}

// With shadows that join and leave at random under random changes, no frame is wrong, and every
// packet of a shadow has one outcome.
func TestShadowsAreNeverWrong(t *testing.T) {
	for seed := range testkit.ChooseLong[uint64](24, 6, 3) {
		rng := rand.New(rand.NewPCG(seed, 17))
		c := config.Default()
		c.Seed = seed
		c.Sender.History, c.Receiver.History = 1+rng.IntN(255), 1+rng.IntN(255)
		s, err := NewSessionFromSource(badLink(t, c), labtest.NewCubeSource(1+rng.IntN(30), 4, -1, seed), Options{KeepPackets: 600})
		if err != nil {
			t.Fatal(err)
		}
		all := s.config.CodecTable()
		for range 25 {
			ch := randomChange(rng)
			if rng.IntN(2) == 0 {
				ch = config.NewChange("shadow", shadowsNamed(all[rng.IntN(len(all))].Name))
				if on := s.config.Shadows; len(on) > 3 {
					ch = config.NewChange("shadow_off", []string{on[rng.IntN(len(on))].Name})
				}
			}
			if err := s.Change(ch); err != nil { // it is already running, or cannot encode the data
				continue
			}
			if err := s.RunUntil(s.now + time.Duration(rng.IntN(300))*time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		for i, l := range s.lanes {
			x := l.totals(s.Now())
			if x.Wrong != 0 || x.DecodeRefused != 0 || x.InFlight < 0 {
				t.Errorf("seed %d, lane %d (%s): %+v, %v", seed, i, l.config.Name, x, l.lastErr)
			}
		}
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
	s, err := NewSessionFromSource(c, labtest.NewCubeSource(10, 3, -1, 4), Options{Endless: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.RunUntil(time.Second), os.Remove(trace), s.Change(config.NewChange("shadow", "raw"))); err != nil {
		t.Fatal(err)
	}
	if err := s.RunUntil(2 * time.Second); err != nil || len(s.lanes) != 2 || s.lanes[1].totals(s.Now()).Decoded < 30 {
		t.Errorf("%v; %d lanes", err, len(s.lanes))
	}
}
