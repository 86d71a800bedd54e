package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// damagedSequences returns a session without UDP's checksum in which one packet in ten is damaged for
// five seconds. trusting selects the behaviour of receivers before they doubted sequence numbers.
func damagedSequences(t *testing.T, encoder string, digest int, seed uint64, trusting bool) *Session {
	t.Helper()
	version := currentDigestVersion
	if trusting {
		version = 1
	}
	return damagedSequencesAt(t, encoder, digest, seed, version)
}

// damagedSequencesAt is like numberDamage for a replay of a report with the given digest_version.
func damagedSequencesAt(t *testing.T, encoder string, digest int, seed uint64, version int) *Session {
	t.Helper()
	c := config.Default()
	c.Seed, c.Encoder.Name, c.Receiver.DigestBits = seed, encoder, digest
	setDigestVersion(c, version)
	for key, v := range map[string]any{"down.corrupt": "10%", "down.checksum": false, "link.latency": "30ms"} {
		if err := c.Set(key, v); err != nil {
			t.Fatal(err)
		}
	}
	s, err := NewSessionFromSource(c, labtest.NewCubeSource(20, 5, -1, seed), Options{Endless: true})
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

// sequenceError returns by how many packets the receiver's newest sequence number differs from the sender's.
func sequenceError(l *lane) int64 {
	newest, _ := l.rcv.History().Newest()
	return int64(newest) - int64(l.snd.Seq()-1)
}

// countFailures counts the packets that arrived and were not decoded, or decoded to another frame.
func countFailures(l *lane) int64 {
	t := l.totals(time.Second)
	return t.Failed() + t.Wrong + t.Duplicate + t.Undetected
}

// One damaged sequence number used to change the receiver's newest number by 65,536 permanently.
// Ten seconds after the damage, both endpoints have the same numbers, and every packet is decoded
// correctly.
func TestDamagedSequencesRecover(t *testing.T) {
	moved := 0
	for seed := range testkit.Choose[uint64](30, 10) {
		for _, x := range []struct {
			encoder string
			digest  int
		}{{"relative-orientation", 16}, {"quantized", 0}} { // packets of quantized do not depend on earlier packets
			s := damagedSequences(t, x.encoder, x.digest, seed, false)
			l := s.lanes[0]
			if err := s.RunUntil(15 * time.Second); err != nil {
				t.Fatal(err)
			}
			before := countFailures(l)
			if err := s.RunUntil(18 * time.Second); err != nil {
				t.Fatal(err)
			}
			if n := countFailures(l) - before; n != 0 || sequenceError(l) > 0 || sequenceError(l) < -5 {
				t.Errorf("seed %d, %s: %d packets of no use ten seconds after the damage, the receiver is %d ahead", seed, x.encoder, n,
					sequenceError(l))
			}
			total := l.totals(s.Now())
			if behind, ok := total.Playout.ClockLagMS.Value(); !ok || behind < 0 || behind > 1000 || total.Wrong != 0 || total.DecodeRefused != 0 {
				t.Errorf("seed %d, %s: shown %g ms behind, %d wrong, %d refused", seed, x.encoder, behind, total.Wrong, total.DecodeRefused)
			}
		}
		if s := damagedSequences(t, "quantized", 0, seed, true); s.RunUntil(7*time.Second) == nil && sequenceError(s.lanes[0]) > 60_000 {
			moved++
		}
	}
	if moved == 0 {
		t.Error("no number of any seed was damaged: the test tests nothing")
	}
}

// After two seconds of damage, sender and receiver agree within one second and one round trip, whatever
// the damage did to sequence numbers: the receiver is not ahead, and the sender has a current ack.
func TestSequencesAgreeSoonAfterDamage(t *testing.T) {
	const seeds, damage, run, latency = 1000, 2 * time.Second, 5 * time.Second, 40 * time.Millisecond
	var longest time.Duration
	var longestSeed uint64
	ahead, jumps := 0, 0 // seeds after whose damage the receiver was ahead, and by more than a second
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 26))
		c := config.Default()
		c.Seed, c.Encoder.Name, c.Receiver.DigestBits = seed, "quantized", rng.IntN(2)*16
		c.Sender.RateHz = []int{10, 20, 60}[rng.IntN(3)]
		for key, v := range map[string]any{"down.corrupt": []string{"5%", "30%", "80%"}[rng.IntN(3)], "down.corrupt_bits": 1 + rng.IntN(32),
			"down.checksum": false, "link.latency": latency.String(), "down.loss": []string{"0%", "10%"}[rng.IntN(2)]} {
			if err := c.Set(key, v); err != nil {
				t.Fatal(err)
			}
		}
		s, err := NewSessionFromSource(c, labtest.NewCubeSource(1, 1, -1, seed), Options{Endless: true})
		if err != nil {
			t.Fatal(err)
		}
		l := s.lanes[0]
		if err := s.RunUntil(damage); err != nil {
			t.Fatal(err)
		}
		if off := sequenceError(l); off > 0 {
			ahead++
			if off > int64(c.Sender.RateHz) {
				jumps++
			}
		}
		if err := s.Change(config.NewChange("down.corrupt", "0%", "down.loss", "0%")); err != nil {
			t.Fatal(err)
		}
		inTransit := int64(2*latency*time.Duration(c.Sender.RateHz)/time.Second) + 2
		agreedAt := s.Now()
		for s.Now() < run {
			if err := s.RunUntil(s.NextEvent()); err != nil {
				t.Fatal(err)
			}
			acked, ok := l.snd.Acked()
			if off := sequenceError(l); off > 0 || off < -inTransit || !ok || int64(l.snd.Seq()-acked) > inTransit {
				agreedAt = s.NextEvent()
			}
		}
		if d := agreedAt - damage; d > longest {
			longest, longestSeed = d, seed
		}
	}
	t.Logf("of %d seeds, the receiver was ahead in %d, by more than a second in %d; the longest took %v, seed %d", seeds, ahead, jumps, longest, longestSeed)
	if ahead == 0 || jumps == 0 {
		t.Error("no receiver was ahead: the test tests nothing")
	}
	if limit := time.Second + 2*latency; longest > limit {
		t.Errorf("seed %d: sender and receiver disagreed for %v after the damage; the limit is %v", longestSeed, longest, limit)
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
		s, err := NewSessionFromSource(c, labtest.NewCubeSource(5, 1, -1, seed), Options{Endless: true})
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
		if n := sequenceError(s.lanes[0]); n > 0 {
			t.Errorf("seed %d: the receiver is %d ahead", seed, n)
		}
	}
}

// A frame with another packet's sequence number counts as undetected, and is not displayed.
func TestFramesWithWrongSequenceCount(t *testing.T) {
	for seed := range uint64(40) {
		s := damagedSequences(t, "quantized", 0, seed, true)
		l := s.lanes[0]
		if sequenceError(l) < 60_000 {
			continue
		}
		if w := s.Result().Warnings; !slices.ContainsFunc(w, func(x string) bool { return strings.HasPrefix(x, "receiver: its newest sequence number is 6") }) {
			t.Errorf("the report does not say that the receiver is ahead: %q", w)
		}
		before, shown := l.meter.Undetected, l.meter.Display.DisplayCounts
		if err := s.RunUntil(8 * time.Second); err != nil {
			t.Fatal(err)
		}
		x, after := l.totals(s.Now()), l.meter.Display.DisplayCounts
		if n := l.meter.Undetected - before; n < 170 || x.Wrong != 0 || x.Tainted < n {
			t.Errorf("of 180 frames taken for others %d are counted, %d tainted, %d wrong", n, x.Tainted, x.Wrong)
		}
		if starved := after.Starved - shown.Starved; starved < 160 || x.Playout.ClockLagMS.Or(-1) < 0 || x.Playout.Late > 10 {
			t.Errorf("%d of 180 display ticks starved, %v ms behind, %d late", starved, x.Playout.ClockLagMS, x.Playout.Late)
		}
		return
	}
	t.Error("no seed moved the receiver: the test tests nothing")
}

// A receiver with a guard continues within a few packets after ten minutes without packets, and one
// with digests even after the 16-bit sequence number has wrapped completely.
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
		s, err := NewSessionFromSource(c, labtest.NewCubeSource(3, 1, -1, 2), Options{KeepSamples: 10, Endless: true})
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
		before := countFailures(s.lanes[0])
		if err := s.Change(config.NewChange("down.loss", "0%")); err != nil {
			t.Fatal(err)
		}
		run(60)
		if n := countFailures(s.lanes[0]) - before; n > 3 || sequenceError(s.lanes[0]) > 0 || sequenceError(s.lanes[0]) < -5 {
			t.Errorf("%d bits: %d of 60 packets of no use after %d lost ones, the receiver is %d ahead", x.digest, n, x.packets, sequenceError(s.lanes[0]))
		}
	}
}

// A report without a digest_version is replayed with a receiver that accepts all sequence numbers,
// one of version 2 with a digest of complete frames, one of version 3 with a display without damaged
// frames, one of version 4 without common epochs of equal lanes, and one of version 5 with queues that keep the times of
// the old rate. A later version is refused.
func TestDigestVersions(t *testing.T) {
	digests := map[string]bool{}
	for version := 1; version <= currentDigestVersion; version++ {
		s := damagedSequencesAt(t, "relative-orientation", 16, firstSeedWithError(t), version)
		if err := s.Change(config.NewChange("shadow", shadowsNamed("relative-orientation"))); err != nil { // for version 5
			t.Fatal(err)
		}
		for _, rate := range []string{"20kbit", "1mbit"} { // for version 6
			if err := errors.Join(s.Change(config.NewChange("down.rate", rate)), s.Advance(300*time.Millisecond)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.RunUntil(7 * time.Second); err != nil {
			t.Fatal(err)
		}
		r := s.Result()
		if r.DigestVersion != version {
			t.Errorf("version %d of the digest is said to be %d", version, r.DigestVersion)
		}
		c, err := r.Replayable()
		if err != nil || c.TrustSequences != (version < 2) || c.DigestWholeFrames != (version < 3) || c.HideTainted != (version < 4) ||
			c.SeparateEpochs != (version < 5) || c.KeepDepartures != (version < 6) {
			t.Fatalf("version %d: a replay trusts %v, takes whole frames %v, %v", version, c.TrustSequences, c.DigestWholeFrames, err)
		}
		again, err := NewSessionFromSource(c, labtest.NewCubeSource(20, 5, -1, firstSeedWithError(t)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := again.RunUntil(time.Minute); err != nil {
			t.Fatal(err)
		}
		if got := again.Result(); got.Digest != r.Digest || got.DigestVersion != r.DigestVersion || !reflect.DeepEqual(got.Totals.Playout, r.Totals.Playout) {
			t.Errorf("version %d: the replay is another", version)
		}
		digests[fmt.Sprint(r.Digest, r.Totals.Playout)] = true // version 4 may differ from 3 on the display only
		r.DigestVersion = currentDigestVersion + 1
		if _, err := r.Replayable(); err == nil {
			t.Error("a report of a later version of the digest is replayed")
		}
	}
	if len(digests) != currentDigestVersion {
		t.Error("two versions do the same: the test tests nothing")
	}
}

// The digest covers the content of a frame that differs from the source's, has another sequence
// number or is quantised; otherwise it covers the sequence number.
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

// firstSeedWithError returns the first seed of numberDamage that changes the sequence number of a receiver
// without a guard.
func firstSeedWithError(t *testing.T) uint64 {
	t.Helper()
	for seed := range uint64(40) {
		if sequenceError(damagedSequences(t, "quantized", 16, seed, true).lanes[0]) > 60_000 {
			return seed
		}
	}
	t.Fatal("no seed moves the receiver")
	return 0
}

// Without digests the number of restarts is unknown.
func TestRestartsWithoutDigests(t *testing.T) {
	for bits, known := range map[int]bool{0: false, 16: true} {
		s := damagedSequences(t, "quantized", bits, 1, false)
		if _, got := s.lanes[0].totals(s.Now()).Restarts.Value(); got != known {
			t.Errorf("%d bits: restarts are known: %v", bits, got)
		}
	}
}
