package engine

import (
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// numberDamage is a session without UDP's checksum, of which one packet in ten is damaged for
// five seconds. trusting is how sessions were before the receiver doubted any number.
func numberDamage(t *testing.T, encoder string, digest int, seed uint64, trusting bool) *Session {
	t.Helper()
	version := currentDigestVersion
	if trusting {
		version = 1
	}
	return numberDamageOf(t, encoder, digest, seed, version)
}

// numberDamageOf is numberDamage as reports with that digest_version are replayed.
func numberDamageOf(t *testing.T, encoder string, digest int, seed uint64, version int) *Session {
	t.Helper()
	c := config.Default()
	c.Seed, c.Encoder.Name, c.Receiver.DigestBits = seed, encoder, digest
	c.Trusting, c.WholeFrames = version < 2, version < 3
	for key, v := range map[string]any{"down.corrupt": "10%", "down.checksum": false, "link.latency": "30ms"} {
		if err := c.Set(key, v); err != nil {
			t.Fatal(err)
		}
	}
	s, err := NewSessionOf(c, labtest.NewCrowd(20, 5, -1, seed), Options{Endless: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RunUntil(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	if err := s.Change(config.NewChange("down.corrupt", "0%")); err != nil {
		t.Fatal(err)
	}
	return s
}

// off returns by how many packets the receiver's newest differs from the sender's.
func off(l *lane) int64 {
	newest, _ := l.rcv.History().Newest()
	return int64(newest) - int64(l.snd.Seq()-1)
}

// failures counts what arrived and was of no use, or was not what was sent.
func failures(l *lane) int64 {
	t := l.totals(time.Second)
	return t.Failed() + t.Wrong + t.Duplicate + t.Undetected
}

// One damaged sequence number used to move the receiver by 65,536 for good. Ten seconds
// after the damage, both ends count alike, and every packet is what was sent.
func TestDamagedSequencesRecover(t *testing.T) {
	moved := 0
	for seed := range testkit.Choose[uint64](30, 10) {
		for _, x := range []struct {
			encoder string
			digest  int
		}{{"relative-orientation", 16}, {"quantized", 0}} { // what follows a packet of quantized does not depend on it
			s := numberDamage(t, x.encoder, x.digest, seed, false)
			l := s.lanes[0]
			if err := s.RunUntil(15 * time.Second); err != nil {
				t.Fatal(err)
			}
			before := failures(l)
			if err := s.RunUntil(18 * time.Second); err != nil {
				t.Fatal(err)
			}
			if n := failures(l) - before; n != 0 || off(l) > 0 || off(l) < -5 {
				t.Errorf("seed %d, %s: %d packets of no use ten seconds after the damage, the receiver is %d ahead", seed, x.encoder, n,
					off(l))
			}
			total := l.totals(s.Now())
			if behind, ok := total.Playout.BehindMS.Value(); !ok || behind < 0 || behind > 1000 || total.Wrong != 0 || total.DecodeRefused != 0 {
				t.Errorf("seed %d, %s: shown %g ms behind, %d wrong, %d refused", seed, x.encoder, behind, total.Wrong, total.DecodeRefused)
			}
		}
		if s := numberDamage(t, "quantized", 0, seed, true); s.RunUntil(7*time.Second) == nil && off(s.lanes[0]) > 60_000 {
			moved++
		}
	}
	if moved == 0 {
		t.Error("no number of any seed was damaged: the test tests nothing")
	}
}

// Packets that were damaged while the checksum was off arrive after it was turned on.
func TestDamageInFlight(t *testing.T) {
	for seed := range uint64(15) {
		c := config.Default()
		c.Seed, c.Encoder.Name = seed, "quantized"
		for key, v := range map[string]any{"down.corrupt": "90%", "down.checksum": false, "link.latency": "1s"} {
			if err := c.Set(key, v); err != nil {
				t.Fatal(err)
			}
		}
		s, err := NewSessionOf(c, labtest.NewCrowd(5, 1, -1, seed), Options{Endless: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RunUntil(1100 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if err := s.Change(config.NewChange("down.checksum", true, "down.corrupt", "0%")); err != nil {
			t.Fatal(err)
		}
		if err := s.RunUntil(8 * time.Second); err != nil {
			t.Fatal(err)
		}
		if n := off(s.lanes[0]); n > 0 {
			t.Errorf("seed %d: the receiver is %d ahead", seed, n)
		}
	}
}

// A frame that is taken for another packet's is not what the sender meant: it is counted,
// and not displayed.
func TestFramesWithWrongSequenceCount(t *testing.T) {
	for seed := range uint64(40) {
		s := numberDamage(t, "quantized", 0, seed, true)
		l := s.lanes[0]
		if off(l) < 60_000 {
			continue
		}
		before, shown := l.meter.Undetected, l.meter.Display.DisplayCounts
		if err := s.RunUntil(8 * time.Second); err != nil {
			t.Fatal(err)
		}
		x, after := l.totals(s.Now()), l.meter.Display.DisplayCounts
		if n := l.meter.Undetected - before; n < 170 || x.Wrong != 0 || x.Tainted < n {
			t.Errorf("of 180 frames taken for others %d are counted, %d tainted, %d wrong", n, x.Tainted, x.Wrong)
		}
		if starved := after.Starved - shown.Starved; starved < 160 || x.Playout.BehindMS.Or(-1) < 0 || x.Playout.Late > 10 {
			t.Errorf("%d of 180 display ticks starved, %v ms behind, %d late", starved, x.Playout.BehindMS, x.Playout.Late)
		}
		return
	}
	t.Error("no seed moved the receiver: the test tests nothing")
}

// A receiver that doubts goes on within a few packets after ten minutes without any, and
// one with digests even after the 16 bits have gone all the way round.
func TestOutageWithGuard(t *testing.T) {
	cases := []struct{ digest, packets int }{{0, 36_000}, {16, 65_536 - 2000}, {16, 36_000}, {8, 65_536 + 70}}
	for _, x := range testkit.Choose(cases, cases[:2]) {
		c := config.Default()
		c.Receiver.DigestBits = x.digest
		for key, v := range map[string]any{"link.latency": "20ms", "down.checksum": false} {
			if err := c.Set(key, v); err != nil {
				t.Fatal(err)
			}
		}
		s, err := NewSessionOf(c, labtest.NewCrowd(3, 1, -1, 2), Options{KeepSamples: 10, Endless: true})
		if err != nil {
			t.Fatal(err)
		}
		run := func(packets int) {
			t.Helper()
			if err := s.RunUntil(s.now + endpoint.TickTime(uint64(packets), 60)); err != nil {
				t.Fatal(err)
			}
		}
		run(300)
		if err := s.Change(config.NewChange("down.loss", "100%")); err != nil {
			t.Fatal(err)
		}
		run(x.packets)
		before := failures(s.lanes[0])
		if err := s.Change(config.NewChange("down.loss", "0%")); err != nil {
			t.Fatal(err)
		}
		run(60)
		if n := failures(s.lanes[0]) - before; n > 3 || off(s.lanes[0]) > 0 || off(s.lanes[0]) < -5 {
			t.Errorf("%d bits: %d of 60 packets of no use after %d lost ones, the receiver is %d ahead", x.digest, n, x.packets, off(s.lanes[0]))
		}
	}
}

// A report without a version of its digest is of a receiver that doubted nothing, and
// replays as it was; so does one whose digest took every frame in full. One of a later
// version is refused.
func TestDigestVersions(t *testing.T) {
	digests := map[string]bool{}
	for version := 1; version <= currentDigestVersion; version++ {
		s := numberDamageOf(t, "relative-orientation", 16, firstMoved(t), version)
		if err := s.RunUntil(7 * time.Second); err != nil {
			t.Fatal(err)
		}
		r := s.Result()
		if r.DigestVersion != version {
			t.Errorf("version %d of the digest is said to be %d", version, r.DigestVersion)
		}
		c, err := r.Replayable()
		if err != nil || c.Trusting != (version < 2) || c.WholeFrames != (version < 3) {
			t.Fatalf("version %d: a replay trusts %v, takes whole frames %v, %v", version, c.Trusting, c.WholeFrames, err)
		}
		again, err := NewSessionOf(c, labtest.NewCrowd(20, 5, -1, firstMoved(t)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := again.RunUntil(time.Minute); err != nil {
			t.Fatal(err)
		}
		if got := again.Result(); got.Digest != r.Digest || got.DigestVersion != r.DigestVersion {
			t.Errorf("version %d: the replay is another", version)
		}
		digests[r.Digest] = true
		r.DigestVersion = currentDigestVersion + 1
		if _, err := r.Replayable(); err == nil {
			t.Error("a report of a later version of the digest is replayed")
		}
	}
	if len(digests) != currentDigestVersion {
		t.Error("two versions do the same: the test tests nothing")
	}
}

// The digest takes the content of a frame that is not the source's, or under another
// number, or of a codec that quantises; else its number.
func TestDigestOfFrames(t *testing.T) {
	f, got := &flight{unquantised: true, rec: packetlog.Record{Seq: 7}}, &frame.Frame{Table: []int32{1, 2, 3}}
	sum := func(whole, exact, same bool, seq uint64, v int32) string {
		d := newDigest(whole)
		f.unquantised, f.rec.Seq, got.Table[1] = exact, seq, v
		d.addDecoded(f, got, same)
		return d.sum()
	}
	for name, x := range map[string]struct {
		whole, exact, same bool
		content            bool
	}{
		"the source's":    {false, true, true, false},
		"wrong":           {false, true, false, true},
		"quantised":       {false, false, true, true},
		"an older report": {true, true, true, true},
	} {
		content := sum(x.whole, x.exact, x.same, 7, 2) != sum(x.whole, x.exact, x.same, 7, -2)
		number := sum(x.whole, x.exact, x.same, 7, 2) != sum(x.whole, x.exact, x.same, 8, 2)
		if content != x.content || number == x.content {
			t.Errorf("%s: content changes the digest %v, the packet's number %v", name, content, number)
		}
	}
}

// firstMoved returns the first seed of numberDamage that moves a receiver that doubts
// nothing.
func firstMoved(t *testing.T) uint64 {
	t.Helper()
	for seed := range uint64(40) {
		if off(numberDamage(t, "quantized", 16, seed, true).lanes[0]) > 60_000 {
			return seed
		}
	}
	t.Fatal("no seed moves the receiver")
	return 0
}

// Whether the sender started over is not known where nothing would tell it.
func TestRestartsWithoutDigests(t *testing.T) {
	for bits, known := range map[int]bool{0: false, 16: true} {
		s := numberDamage(t, "quantized", bits, 1, false)
		if _, got := s.lanes[0].totals(s.Now()).Restarts.Value(); got != known {
			t.Errorf("%d bits: restarts are known: %v", bits, got)
		}
	}
}
