package engine_test

import (
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// damagedLink is a session without UDP's checksum in which one packet in ten is damaged for five
// seconds, and none after that.
func damagedLink(t *testing.T, encoder string, digest int) *engine.Session {
	t.Helper()
	c := config.Default()
	c.Encoder.Name, c.Receiver.DigestBits = encoder, digest
	for key, v := range map[string]any{"down.corrupt": "10%", "down.checksum": false, "link.latency": "30ms"} {
		if err := c.Set(key, v); err != nil {
			t.Fatal(err)
		}
	}
	s, err := engine.NewSessionFromSource(c, labtest.NewCubeSource(200, 5, -1, 4), engine.Options{Endless: true})
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

// Frames that depend on damage are counted as undetected, also if no decoder returns an error. If
// the receiver reports digests, the sender restarts, and all later frames are correct.
func TestUndetectedDamage(t *testing.T) {
	for _, encoder := range []string{"relative-orientation", "adaptive", "xor-rle"} {
		silent, healed := damagedLink(t, encoder, 0), damagedLink(t, encoder, 16)
		for _, s := range []*engine.Session{silent, healed} {
			if err := s.RunUntil(7 * time.Second); err != nil {
				t.Fatal(err)
			}
		}
		before := [2]int64{totals(silent).Undetected, totals(healed).Undetected}
		for _, s := range []*engine.Session{silent, healed} {
			if err := s.RunUntil(testkit.Choose(60*time.Second, 20*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		a, b := totals(silent), totals(healed)
		if a.Wrong != 0 || b.Wrong != 0 {
			t.Errorf("%s: %d and %d wrong: damage is tainted, and never wrong", encoder, a.Wrong, b.Wrong)
		}
		if encoder == "relative-orientation" && a.Undetected-before[0] < 300 {
			t.Errorf("%s: without digests %d frames were off after the damage ended: the test tests nothing", encoder,
				a.Undetected-before[0])
		}
		if late := b.Undetected - before[1]; late != 0 || b.Restarts.Or(0) == 0 && before[0] > 0 {
			t.Errorf("%s: with digests %d frames were off two seconds after the damage ended, %v restarts", encoder, late, b.Restarts)
		}
		if b.FeedbackKbps <= a.FeedbackKbps {
			t.Errorf("%s: digests are not billed: %g kbps up, %g without", encoder, b.FeedbackKbps, a.FeedbackKbps)
		}
	}
}

// A frame is tainted if and only if it differs from the sender's. The encoder full uses no earlier frames, so
// only the damaged packets themselves can differ. In this run, packet 0, whose parameters make the decoder, is
// damaged: once that made all later frames tainted.
func TestTaintIsWhatDiffers(t *testing.T) {
	c := config.Default()
	for key, v := range map[string]any{"data.source": "rpc", "encoder.name": "full", "seed": 2, "duration": "20s", "down.corrupt": "5%",
		"down.corrupt_bits": 1, "down.checksum": false} {
		if err := c.Set(key, v); err != nil {
			t.Fatal(err)
		}
	}
	seen := &taintedPackets{t: t}
	s, err := engine.NewSession(t.Context(), c, engine.Options{Inspect: true, Observer: seen})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RunUntil(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	if !seen.damagedFirst {
		t.Fatal("packet 0 was not damaged: the test tests nothing")
	}
	x := totals(s)
	if x.Tainted != seen.n || x.Tainted != x.Undetected || x.Wrong != 0 || x.Decoded+x.Stale < 1140 {
		t.Errorf("%d tainted, %d differ, %d wrong, %d decoded of 1200", x.Tainted, x.Undetected, x.Wrong, x.Decoded+x.Stale)
	}
}

// The reference that the lab blames for a tainted packet is tainted itself, and every tainted packet has a cause.
func TestTaintHasATrueCause(t *testing.T) {
	blamed := 0
	for _, encoder := range []string{"relative-orientation", "adaptive"} {
		c := config.Default()
		c.Encoder.Name = encoder
		for key, v := range map[string]any{"down.corrupt": "10%", "down.checksum": false, "link.latency": "30ms"} {
			if err := c.Set(key, v); err != nil {
				t.Fatal(err)
			}
		}
		seen := &taintCauses{tainted: map[uint64]bool{}, t: t}
		s, err := engine.NewSessionFromSource(c, labtest.NewCubeSource(50, 5, -1, 4), engine.Options{Endless: true, Inspect: true, Observer: seen})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RunUntil(10 * time.Second); err != nil {
			t.Fatal(err)
		}
		blamed += seen.blamed
	}
	if blamed == 0 {
		t.Error("no reference was blamed: the test tests nothing")
	}
}

// taintCauses is an observer that checks the causes of tainted packets. tainted contains the numbers under which
// the receiver stored tainted frames.
type taintCauses struct {
	taintedPackets
	t       *testing.T
	tainted map[uint64]bool
	blamed  int // packets for which a reference is blamed
}

func (o *taintCauses) Packet(r *packetlog.Record, p *engine.Problem) {
	if r.Outcome != packetlog.Tainted {
		return
	}
	in := &p.Inside
	o.tainted[in.TakenFor] = true
	switch d := in.Damage; {
	case in.Flipped > 0, in.TakenFor != r.Seq:
	case d.AnyRef && !d.MemoOnly:
		o.blamed++
		if !o.tainted[d.Ref] || d.Ref >= r.Seq {
			o.t.Errorf("packet %d is tainted because of %d, which is not tainted", r.Seq, d.Ref)
		}
	case !d.AnyRef && !d.Decoder:
		o.t.Errorf("packet %d is tainted without a cause", r.Seq)
	}
}

// taintedPackets is an observer that checks that tainted packets were damaged themselves, and counts them.
type taintedPackets struct {
	t            *testing.T
	n            int64
	damagedFirst bool // packet 0 had flipped bits
}

func (o *taintedPackets) Packet(r *packetlog.Record, p *engine.Problem) {
	if r.Outcome != packetlog.Tainted {
		return
	}
	o.n++
	o.damagedFirst = o.damagedFirst || r.Seq == 0
	if p == nil || p.Inside.Flipped == 0 {
		o.t.Errorf("packet %d is tainted but was not damaged", r.Seq)
	}
}
func (*taintedPackets) Sample(*meters.Sample) {}
func (*taintedPackets) Settled(uint64)        {}

// On a link without damage, digests do not change packets and cause no restarts.
func TestDigestsOfCorrectFrames(t *testing.T) {
	var packets [2]float64
	for i, bits := range []int{0, 32} {
		c := config.Default()
		c.Encoder.Name, c.Receiver.DigestBits = "adaptive", bits
		for key, v := range map[string]any{"link.loss": "10%", "link.latency": "60ms", "link.jitter": "30ms", "down.duplicate": "5%"} {
			if err := c.Set(key, v); err != nil {
				t.Fatal(err)
			}
		}
		s, err := engine.NewSessionFromSource(c, labtest.NewCubeSource(20, 5, -1, 4), engine.Options{Endless: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RunUntil(testkit.Choose(time.Minute, 20*time.Second)); err != nil {
			t.Fatal(err)
		}
		x := totals(s)
		if x.Restarts.Or(0) != 0 || x.Undetected != 0 {
			t.Errorf("%d bits: %v restarts, %d undetected", bits, x.Restarts, x.Undetected)
		}
		packets[i] = x.PayloadKbps
	}
	if packets[0] != packets[1] {
		t.Errorf("%g kbps of payload without digests, %g with", packets[0], packets[1])
	}
}
