package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/container"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
	"wirelab/lossmodel/queue"
)

// fileEncoders are the fast encoders of files.
var fileEncoders = []string{"whole-zstd", "whole-raw"}

// newDeliverySession returns a session that delivers a parcel. Settings are pairs of
// key and value.
func newDeliverySession(t *testing.T, p *labtest.FileSource, settings ...any) *Session {
	t.Helper()
	c := config.Default()
	testkit.Set(t, c, settings...)
	s := mustOpen(t, c, p, Options{})
	return s
}

// runToEnd runs a session to its end and checks the invariants.
func runToEnd(t *testing.T, s *Session) *Result {
	t.Helper()
	mustRun(t, s, 2*time.Hour)
	checkOutcomes(t, s)
	r := s.Result()
	if r.Totals.Wrong != 0 || r.Totals.DecodeRefused != 0 || r.Totals.EncodeFailed != 0 {
		t.Fatalf("wrong %d, refused %d, not encoded %d: %s", r.Totals.Wrong, r.Totals.DecodeRefused, r.Totals.EncodeFailed, r.CodecError)
	}
	return r
}

// On a clean link the delivery takes size / rate + latency, to the nanosecond: one
// datagram per beat, and the latency of the last.
func TestCleanDelivery(t *testing.T) {
	for _, c := range []struct {
		size, block, rate int
		latency           time.Duration
	}{{50_000, 1200, 60, 40 * time.Millisecond}, {50_000, 500, 1000, 30 * time.Millisecond}, {1, 1200, 60, 0},
		{700_000, 1400, 60, 300 * time.Millisecond}} {
		s := newDeliverySession(t, labtest.NewFileSource(c.size, 1), "encoder.name", "whole-raw", "sender.block", c.block, "sender.rate_hz",
			c.rate, "link.latency", c.latency.String())
		r := runToEnd(t, s)
		label := endpoint.Label{Packed: int64(c.size), Size: int64(c.size)}
		blocks := (len(label.Append(nil)) + c.size + c.block - 1) / c.block
		want := endpoint.TickTime(uint64(blocks-1), c.rate) + c.latency
		x := r.Totals.Transfer
		if x.TimeS == nil || *x.TimeS != want.Seconds() || r.DurationNS != want+1 {
			t.Errorf("%+v: %s s, over after %v; expected %v", c, x.Verdict(), r.DurationNS, want)
		}
		if x.Blocks != blocks || r.Totals.Sent != int64(blocks) || x.Delivered != blocks || x.Resent != 0 || x.PackedBytes != c.size ||
			x.PayloadBytes != int64(len(label.Append(nil))+c.size) {
			t.Errorf("%+v: %d sent, %+v; expected %d blocks", c, r.Totals.Sent, x, blocks)
		}
		bits := 8 * float64(len(label.Append(nil))+c.size)
		if want := bits / float64(c.size); r.Totals.BitsPerItem != figures.Known(want) {
			t.Errorf("%+v: %g bits per byte, expected %g", c, r.Totals.BitsPerItem, want)
		}
		busy := max(want.Seconds(), float64(blocks)/float64(c.rate)) // one datagram per beat
		if want := bits / 1000 / busy; math.Abs(r.Totals.PayloadKbps/want-1) > 1e-6 {
			t.Errorf("%+v: %g kbps, expected %g", c, r.Totals.PayloadKbps, want)
		}
	}
}

// A lane's rates are over the time of its own delivery, even if another lane takes
// longer.
func TestRatesWithSlowerLane(t *testing.T) {
	p := labtest.NewFileSource(30_000, 2)
	alone := runToEnd(t, newDeliverySession(t, p, "encoder.name", "whole-zstd"))
	beside := runToEnd(t, newDeliverySession(t, p, "encoder.name", "whole-zstd", "shadow[0].name", "whole-raw"))
	if a, b := alone.Totals, beside.Totals; a.PayloadKbps != b.PayloadKbps || a.WireKbps != b.WireKbps ||
		a.FeedbackKbps != b.FeedbackKbps || 1.5*alone.DurationNS.Seconds() > beside.DurationNS.Seconds() {
		t.Errorf("alone %g, %g and %g kbps in %v; with a slower lane %g, %g and %g in %v", a.PayloadKbps, a.WireKbps, a.FeedbackKbps,
			alone.DurationNS, b.PayloadKbps, b.WireKbps, b.FeedbackKbps, beside.DurationNS)
	}
}

// With reordering, the measured round trip is still the mean of all, and only few late datagrams
// are resent.
func TestRoundTripUnderJitter(t *testing.T) {
	s := newDeliverySession(t, labtest.NewFileSource(600_000, 1), "encoder.name", "whole-raw", "sender.rate_hz", 1000, "sender.window", 512,
		"link.loss", "10%", "link.latency", "50ms", "link.jitter", "50ms")
	x := runToEnd(t, s).Totals.Transfer
	if x.RoundTripMS < 80 || x.RoundTripMS > 120 || 10*x.Spurious > int64(x.Blocks) {
		t.Errorf("a round trip of %g ms where 100 is the mean; %d of %d blocks were resent needlessly, %d resent", x.RoundTripMS, x.Spurious,
			x.Blocks, x.Resent)
	}
}

// randomLink returns random link settings that do not lose all packets.
func randomLink(rng *rand.Rand) []any {
	percent := func(most float64) string { return fmt.Sprintf("%.2f%%", rng.Float64()*most) }
	millis := func(most int) string { return fmt.Sprintf("%dms", rng.IntN(most)) }
	set := []any{"sender.window", 1 + rng.IntN(300), "sender.block", endpoint.MinBlock + rng.IntN(1400-endpoint.MinBlock),
		"sender.rate_hz", 20 + rng.IntN(500), "sender.every", 1 + rng.IntN(3)}
	for _, way := range []string{"down.", "up."} {
		set = append(set, way+"latency", millis(300), way+"jitter", millis(100), way+"reorder", percent(30), way+"duplicate", percent(30),
			way+"corrupt", percent(20))
		switch rng.IntN(3) {
		case 0:
			set = append(set, way+"loss", percent(80))
		case 1:
			set = append(set, way+"loss", fmt.Sprintf("gilbert-elliott p=%.2f%% r=%.2f%%", 20*rng.Float64(), 10+50*rng.Float64()))
		}
		if rng.IntN(3) == 0 {
			set = append(set, way+"rate", fmt.Sprintf("%dkbit", 200+rng.IntN(2000)), way+"queue", fmt.Sprintf("%dKB", 8+rng.IntN(64)),
				way+"queue_discipline", queue.Texts()[rng.IntN(3)])
			if way == "down." && rng.IntN(2) == 0 {
				set = append(set, "traffic", []string{"1 cubic", "2 cubic rtt=90ms", "1 constant rate=100kbit"}[rng.IntN(3)])
			}
		}
	}
	return set
}

// Over any link that does not lose all packets, and with any swaps, every encoder delivers the file
// intact.
func TestDeliveryOverAnyLink(t *testing.T) {
	for seed := range testkit.Choose[uint64](30, 10) {
		rng := rand.New(rand.NewPCG(seed, 77))
		set := append(randomLink(rng), "seed", int(seed), "encoder.name", fileEncoders[0], "shadow[0].name", fileEncoders[1], "shadow[0].control", "off")
		s := newDeliverySession(t, labtest.NewFileSource(1+rng.IntN(40_000), seed), set...)
		var began [2]time.Duration // when the current round began: when the round before was added to Rounds
		var rounds [2]int
		runUntil := func(end time.Duration) {
			for !s.Done() && s.now < end {
				mustRun(t, s, min(s.NextEvent(), end))
				for i, l := range s.lanes {
					if n := len(l.delivery.Figures(s.now, 0, 0, 0).Rounds); n > rounds[i] {
						began[i], rounds[i] = s.now, n
					}
				}
			}
		}
		for i := 0; i < 4 && !s.Done() && seed%2 == 0; i++ {
			runUntil(s.now + time.Duration(rng.IntN(1500))*time.Millisecond)
			_ = s.Change(config.NewChange("encoder.name", fileEncoders[rng.IntN(2)]))
		}
		runUntil(2 * time.Hour)
		r := runToEnd(t, s)
		for i, x := range []*figures.Transfer{r.Totals.Transfer, r.Shadows[0].Totals.Transfer} {
			if !x.Done || x.Delivered != x.Blocks || s.lanes[i].lastErr != nil {
				t.Errorf("seed %d, encoder %d: %s, %v\n%v", seed, i, x.Verdict(), s.lanes[i].lastErr, set)
			}
			for n, round := range x.Rounds {
				next := began[i].Seconds()
				if n+1 < len(x.Rounds) {
					next = x.Rounds[n+1].StartS
				}
				if end := round.StartS + round.TimeS; end > next+1e-9 || !round.Done && end < next-1e-9 {
					t.Errorf("seed %d: round %d ends at %g s, the next begins at %g s: %+v", seed, n, end, next, round)
				}
			}
		}
	}
}

// Damaged datagrams are discarded, so that damage only has the effect of loss, and the file is delivered.
func TestDeliveryOfDamagedDatagrams(t *testing.T) {
	var damaged int64
	for seed := range testkit.Choose[uint64](20, 6) {
		s := newDeliverySession(t, labtest.NewFileSource(20_000, seed), "seed", int(seed), "encoder.name", fileEncoders[seed%2],
			"duration", "60s",
			"link.corrupt", "20%", "link.loss", "5%", "link.latency", "20ms")
		r := runToEnd(t, s)
		damaged += r.Totals.Failures.Corrupt
		if x := r.Totals.Transfer; !x.Done {
			t.Errorf("seed %d: %s, %v", seed, x.Verdict(), s.lanes[0].lastErr)
		}
	}
	if damaged == 0 {
		t.Error("nothing was damaged")
	}
}

// The datagrams of a delivery must never change, so that old reports can be replayed.
func TestDeliveryDigest(t *testing.T) {
	s := newDeliverySession(t, labtest.NewFileSource(30_000, 1), "encoder.name", "whole-raw", "link.loss", "20%", "link.latency", "60ms",
		"link.jitter", "30ms",
		"down.duplicate", "5%", "down.reorder", "5%", "down.corrupt", "2%", "down.rate", "1mbit")
	const want = "397d1bb5c52363a9b8bceef412f0c3d9cf9c4fce3ab1c3c7b63a8001c869a530"
	if r := runToEnd(t, s); r.Digest != want {
		t.Errorf("digest %s after %v, expected %s", r.Digest, r.DurationNS, want)
	}
}

// A delivery over a link that loses all packets is reported as unfinished.
func TestUnfinishedDelivery(t *testing.T) {
	s := newDeliverySession(t, labtest.NewFileSource(9000, 1), "encoder.name", "whole-raw", "down.loss", "100%", "duration", "10s",
		"assert.transfer.time_s", "<= 100")
	r := runToEnd(t, s)
	x := r.Totals.Transfer
	if x.Done || x.TimeS != nil || x.Delivered != 0 || r.DurationNS != 10*time.Second ||
		!strings.HasPrefix(x.Verdict(), "unfinished: 0 of 8 blocks") {
		t.Errorf("%+v", x)
	}
	if bad := r.Assertions; len(bad) != 1 || bad[0].Holds || !bad[0].Absent {
		t.Errorf("the assertion about the time is %+v", bad)
	}
}

// A session with data.again begins another round when all lanes are done, and stores the figures of
// finished rounds.
func TestRounds(t *testing.T) {
	s := newDeliverySession(t, labtest.NewFileSource(30_000, 1), "encoder.name", "whole-raw", "shadow[0].name", "whole-zstd", "data.again",
		true, "duration", "8s", "link.latency", "20ms")
	r := runToEnd(t, s)
	first := endpoint.TickTime(25, 60) + 20*time.Millisecond // 26 blocks
	x := r.Totals.Transfer
	if len(x.Rounds) < 3 || r.Frames != uint64(len(x.Rounds))+1 || x.Rounds[0].TimeS != first.Seconds() ||
		x.Rounds[1].TimeS != first.Seconds() || !x.Rounds[1].Done {
		t.Errorf("%d rounds begun: %+v", r.Frames, x.Rounds)
	}
	seams := 0
	for _, m := range s.marks {
		if m.Kind == MarkLoop {
			seams++
		}
	}
	if seams != len(x.Rounds) {
		t.Errorf("%d seams after %d rounds", seams, len(x.Rounds))
	}
}

// Epochs have 8 bits in the header. A session with more rounds than that continues, and stores the
// newest rounds.
func TestManyRounds(t *testing.T) {
	s := newDeliverySession(t, labtest.NewFileSource(500, 1), "encoder.name", "whole-raw", "data.again", true, "duration", "6m",
		"link.loss", "10%", "link.latency", "5ms")
	r := runToEnd(t, s)
	x := r.Totals.Transfer
	if r.Frames < 300 || len(x.Rounds) != 100 || s.lanes[0].lastErr != nil {
		t.Errorf("%d rounds begun, %d remembered, %v", r.Frames, len(x.Rounds), s.lanes[0].lastErr)
	}
	for _, round := range x.Rounds {
		if !round.Done {
			t.Errorf("the round that began at %g s was given up", round.StartS)
		}
	}
}

// A shadow that joins during a delivery begins its own delivery and completes it.
func TestShadowJoinsDelivery(t *testing.T) {
	s := newDeliverySession(t, labtest.NewFileSource(100_000, 1), "encoder.name", "whole-raw", "link.loss", "20%", "link.latency", "30ms")
	mustRun(t, s, 500*time.Millisecond)
	mustChange(t, s, config.NewChange("shadow", []config.Encoder{{Name: "whole-zstd"}}))
	if done, total := s.delivered(); done <= 0 || done > 31*1200 || total < 100_000 {
		t.Errorf("%g of %g bytes there after half a second", done, total)
	}
	r := runToEnd(t, s)
	if done, total := s.delivered(); done != total {
		t.Errorf("%g of %g bytes there in the end", done, total)
	}
	if x := r.Shadows[0].Totals.Transfer; !x.Done || !r.Totals.Transfer.Done || x.Resent == 0 {
		t.Errorf("%+v", x)
	}
}

// The receiver of blocks handles any bytes.
func FuzzReceiveBlock(f *testing.F) {
	p := labtest.NewFileSource(3000, 1)
	c := config.Default()
	c.Encoder.Name = "whole-raw"
	fresh := func() *Session {
		s, err := NewSessionFromSource(c, p, Options{})
		if err != nil {
			f.Fatal(err)
		}
		return s
	}
	l := fresh().lanes[0]
	last := captureDatagrams(l)
	l.sendBlock(0)
	f.Add(bytes.Clone(*last), bytes.Clone(*last))
	l.sendBlock(time.Second)
	f.Add(bytes.Clone(*last), []byte{1, 0, 0, 51, 3, 1, 128, 9, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		l := fresh().lanes[0]
		l.sendBlock(0)
		for _, datagram := range [][]byte{a, b, a} {
			d := l.delivery
			d.Receive(datagram)
			if err := d.HandleAck(0, d.AppendAck(nil)); err != nil && !errors.Is(err, container.ErrMalformed) &&
				!errors.Is(err, endpoint.ErrMalformed) {
				t.Fatal(err)
			}
			_ = d.HandleAck(0, datagram)
		}
		l.unpackFile(0, &packetlog.Record{})
		if x := l.totals(time.Second); x.Transfer.Done && x.Wrong > 0 {
			t.Fatal("another file")
		}
	})
}
