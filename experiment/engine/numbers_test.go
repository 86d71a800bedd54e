package engine

import (
	"math/rand/v2"
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
// five seconds.
func damagedSequences(t *testing.T, encoder string, digest int, seed uint64) *Session {
	t.Helper()
	c := config.Default()
	c.Seed, c.Encoder.Name, c.Receiver.DigestBits = seed, encoder, digest
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
	for seed := range testkit.Choose[uint64](30, 10) {
		for _, x := range []struct {
			encoder string
			digest  int
		}{{"relative-orientation", 16}, {"quantized", 0}} { // packets of quantized do not depend on earlier packets
			s := damagedSequences(t, x.encoder, x.digest, seed)
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

// The digest covers the content of a frame that differs from the source's, has another sequence
// number or is quantised; otherwise it covers the sequence number.
func TestDigestOfFrames(t *testing.T) {
	f, got := &flight{unquantised: true, rec: packetlog.Record{Seq: 7}}, &frame.Frame{Table: []int32{1, 2, 3}}
	sum := func(exact, same bool, seq uint64, v int32) string {
		d := newDigest()
		f.unquantised, f.rec.Seq, got.Table[1] = exact, seq, v
		d.addDecoded(f, got, same)
		return d.sum()
	}
	for name, x := range map[string]struct {
		exact, same bool
		content     bool
	}{
		"the source's": {true, true, false},
		"wrong":        {true, false, true},
		"quantised":    {false, true, true},
	} {
		content := sum(x.exact, x.same, 7, 2) != sum(x.exact, x.same, 7, -2)
		number := sum(x.exact, x.same, 7, 2) != sum(x.exact, x.same, 8, 2)
		if content != x.content || number == x.content {
			t.Errorf("%s: content changes the digest %v, the packet's number %v", name, content, number)
		}
	}
}

// Without digests the number of restarts is unknown.
func TestRestartsWithoutDigests(t *testing.T) {
	for bits, known := range map[int]bool{0: false, 16: true} {
		s := damagedSequences(t, "quantized", bits, 1)
		if _, got := s.lanes[0].totals(s.Now()).Restarts.Value(); got != known {
			t.Errorf("%d bits: restarts are known: %v", bits, got)
		}
	}
}
