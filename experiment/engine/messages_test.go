package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/container"
	"wirelab/experiment/figures"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// messageRun runs charlie with 20 messages a second over 2 Mbit/s with a queue of 64 KB and 25 +- 3 ms.
func messageRun(t *testing.T, delivery, loss string, pairs ...string) figures.Totals {
	t.Helper()
	needCharlie(t)
	c := config.Default()
	pairs = append([]string{"data.source", charlie, "messages.rate_hz", "20", "messages.delivery", delivery, "link.loss", loss,
		"link.latency", "25ms", "link.jitter", "3ms", "link.keep_order", "true", "down.rate", "2mbit", "down.queue", "64KB",
		"receiver.display_hz", "59.9"}, pairs...)
	testkit.Set(t, c, pairs...)
	s, err := NewSession(t.Context(), c, Options{Endless: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RunUntil(40 * time.Second); err != nil {
		t.Fatal(err)
	}
	got := s.lanes[0].totals(s.Now())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	m := got.Messages
	if m.Wrong > 0 || got.Wrong > 0 || m.Refused > 0 || m.Sent != m.Delivered+m.UnderWay || m.Delivered < 790 {
		t.Errorf("%s at %s: %+v", delivery, loss, m)
	}
	if sum := got.Decoded + got.Stale + got.Duplicate + got.Lost + got.Failures.NoBaseline + got.InFlight; sum != got.Sent {
		t.Errorf("%s: %d packets sent, the outcomes sum to %d", delivery, got.Sent, sum)
	}
	return got
}

// A message waits for its resend where one is lost, and for the whole stream in a stream. Datagrams of
// their own are not delayed until the next packet.
func TestDeliveryTimes(t *testing.T) {
	for _, c := range []struct {
		delivery, loss string
		p50, p99       [2]float64 // bounds in ms
	}{
		{"all-unacked", "0%", [2]float64{35, 42}, [2]float64{38, 46}},
		{"all-unacked", "5%", [2]float64{35, 42}, [2]float64{48, 80}},
		{"resend", "0%", [2]float64{35, 42}, [2]float64{38, 46}},
		{"resend", "5%", [2]float64{35, 42}, [2]float64{130, 250}},
		{"rto", "0%", [2]float64{24, 28}, [2]float64{26, 34}},
		{"rto", "5%", [2]float64{24, 28}, [2]float64{110, 150}},
		{"stream", "0%", [2]float64{24, 28}, [2]float64{26, 34}},
		{"stream", "5%", [2]float64{24, 40}, [2]float64{130, 400}},
	} {
		m := messageRun(t, c.delivery, c.loss).Messages
		_, hasTimer := m.Timeouts.Value()
		if resends := m.Resent > 0; hasTimer != (c.delivery != "all-unacked") || resends != (c.loss != "0%" || !hasTimer) {
			t.Errorf("%s at %s: %d resent, %v timeouts", c.delivery, c.loss, m.Resent, m.Timeouts)
		}
		if q := m.DeliveryMS; q.P50 < c.p50[0] || q.P50 > c.p50[1] || q.P99 < c.p99[0] || q.P99 > c.p99[1] {
			t.Errorf("%s at %s: median %.0f ms, 99 %% %.0f ms", c.delivery, c.loss, q.P50, q.P99)
		}
	}
}

// At 5 % loss a stream starves the display, and packets of their own do not. If each write keeps its own
// segments, the window is full of small ones, and it is a third of the time.
func TestStreamStarvesDisplay(t *testing.T) {
	for delivery, bounds := range map[string][2]float64{"resend": {0, .005}, "stream": {.08, .2}, "stream coalesce=0": {.3, .45}} {
		got := messageRun(t, delivery, "5%")
		starved, _ := got.Playout.StarvedRatio.Value()
		if starved < bounds[0] || starved > bounds[1] {
			t.Errorf("%s: starved on %.1f %% of the ticks, want %g to %g", delivery, starved*100, bounds[0]*100, bounds[1]*100)
		}
		if isStream := strings.HasPrefix(delivery, "stream"); isStream != (got.Lost == 0) || isStream && got.BaselineAgeTicks.Max > 1 {
			t.Errorf("%s: %d packets lost, the oldest baseline is %g ticks old", delivery, got.Lost, got.BaselineAgeTicks.Max)
		}
	}
}

// A burst in datagrams of their own fills the queue before snapshots; paced, it does not. A lane of its
// own keeps it from delaying small messages.
func TestBursts(t *testing.T) {
	plain := messageRun(t, "rto", "0%", "messages.burst", "50KB")
	paced := messageRun(t, "rto", "0%", "messages.burst", "50KB", "messages.pace", "500kbit")
	lanes := messageRun(t, "rto", "0%", "messages.burst", "50KB", "messages.lanes", "2")
	if a, b := plain.Network.DelayMS.P99, paced.Network.DelayMS.P99; a < 100 || b > 50 {
		t.Errorf("delay of snapshots, 99 %%: %.0f ms, paced %.0f", a, b)
	}
	if a, b := plain.Messages.DeliveryMS.P99, lanes.Messages.DeliveryMS.P99; b > a*.9 {
		t.Errorf("delivery of small messages, 99 %%: %.0f ms, with two lanes %.0f", a, b)
	}
	if plain.Messages.BurstMS.N == 0 || paced.Messages.BurstMS.P50 < 800 { // 50 KB at 500 kbit/s
		t.Errorf("a burst takes %.0f ms, paced %.0f", plain.Messages.BurstMS.P50, paced.Messages.BurstMS.P50)
	}
}

// Goodput is the rate of the bytes that were delivered, and at most the pace.
func TestGoodput(t *testing.T) {
	for _, delivery := range container.Deliveries.Names() {
		for _, c := range []struct {
			key, value  string
			least, most float64 // kbit/s
		}{{"link.loss", "100%", 0, 0}, {"link.loss", "20%", 15, 32}, {"messages.pace", "8kbit", 7, 8}, {"down.duplicate", "50%", 31, 32.1}} {
			s := redundancyRun(t, 20*time.Second, "messages.rate_hz", "20", "messages.size", "200B", "messages.delivery", delivery, c.key, c.value)
			m := s.lanes[0].totals(s.Now()).Messages
			if want := float64(m.Delivered) * 200 * 8 / 1000 / 20; m.GoodputKbps != want || want < c.least || want > c.most {
				t.Errorf("%s, %s=%s: goodput is %v kbps, want %v, from %v to %v", delivery, c.key, c.value, m.GoodputKbps, want, c.least, c.most)
			}
		}
	}
}

// Redundancy and messages share containers. Redundancy repairs packets, messages are resent.
func TestMessagesWithRedundancy(t *testing.T) {
	got := messageRun(t, "resend", "10%", "sender.redundancy", "repeat n=2")
	if r := got.Redundancy; r.Repaired == 0 || r.ResidualLoss.Or(1) > .01 || got.Messages.PartSends <= got.Messages.Parts {
		t.Errorf("%d repaired, residual loss %v, %d parts sent %d times", r.Repaired, r.ResidualLoss, got.Messages.Parts, got.Messages.PartSends)
	}
}

// Without its key, a feature adds nothing to the totals.
func TestNoMessagesNoFigures(t *testing.T) {
	s := redundancyRun(t, time.Second)
	if got := s.lanes[0].totals(s.Now()); got.Messages != nil || got.Redundancy != nil {
		t.Errorf("%+v, %+v", got.Messages, got.Redundancy)
	}
	s = redundancyRun(t, 980*time.Millisecond, "messages.rate_hz", "20")
	if got := s.lanes[0].totals(s.Now()); got.Messages == nil || got.Redundancy != nil || got.Messages.Sent != 20 {
		t.Errorf("%+v, %+v", got.Messages, got.Redundancy)
	}
	if n := s.View(10).Lanes[0].UnderWay; n != 1 {
		t.Errorf("%d messages are under way in the snapshot", n)
	}
}

// A sender that cannot deliver refuses messages at a limit, and delivers everything soon after the link
// is back.
func TestMessagesSurviveOutage(t *testing.T) {
	for delivery, size := range map[string]string{"all-unacked": "10B", "resend": "10B", "rto": "500B", "stream": "500B"} { // packets carry 72 KB/s
		c := config.Default()
		testkit.Set(t, c, "messages.rate_hz", "1000", "messages.size", size, "messages.delivery", delivery, "link.latency", "10ms",
			"encoder.name", "raw")
		c.At = []config.StampedChange{{T: time.Second, Change: config.NewChange("link.loss", "100%")},
			{T: 16 * time.Second, Change: config.NewChange("link.loss", "0%")}}
		s, err := NewSessionFromSource(c, labtest.NewCubeSource(1, 1, -1, 1), Options{Endless: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RunUntil(18 * time.Second); err != nil {
			t.Fatal(err)
		}
		before := s.lanes[0].totals(s.Now()).Messages
		if err := s.RunUntil(40 * time.Second); err != nil {
			t.Fatal(err)
		}
		after := s.lanes[0].totals(s.Now()).Messages
		if err := s.RunUntil(60 * time.Second); err != nil {
			t.Fatal(err)
		}
		end := s.lanes[0].totals(s.Now()).Messages
		if end.Wrong > 0 || after.Delivered < before.Delivered+1000 || end.Delivered < after.Delivered+19_000 ||
			end.UnderWay > 1000 || end.Sent+end.Refused < 59_000 {
			t.Errorf("%s: %+v, then %+v, at last %+v", delivery, before, after, end)
		}
	}
}

// Settings of messages that cannot work are refused with one sentence.
func TestMessagesAreRefused(t *testing.T) {
	for _, x := range []struct{ key, value, want string }{
		{"data.source", "files:a,b", "messages: files are delivered in blocks of their own, without containers; expected"},
		{"messages.lanes", "2", "messages.lanes: a stream has one order for everything; expected 1, or another"},
		{"sender.redundancy", "xor", "sender.redundancy: a stream resends what is lost, so redundancy repairs nothing; expected none, or"},
		{"messages.size", "0B", `messages.size: "0B" is invalid; expected a size from 1B to 1MiB`},
		{"messages.pace", "1kbit", `messages.pace: "1kbit" is invalid; expected a rate from 8kbit to 1gbit`},
		{"messages.delivery", "reliable", `messages.delivery: unknown policy "reliable"; expected one of all-unacked`},
		{"messages.burst_every", "1ms", "expected a time from 100ms"},
	} {
		c := config.Default()
		if err := c.Set("messages.delivery", "stream"); err != nil {
			t.Fatal(err)
		}
		err := c.Set(x.key, x.value)
		if err == nil {
			err = c.Validate()
		}
		if err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s = %s: %v, want %s", x.key, x.value, err, x.want)
		}
	}
	c := config.Default()
	if err := c.Set("messages.rate_hz", "20"); err != nil {
		t.Fatal(err)
	}
	again, err := c.Values().Config("report")
	if err != nil || again.Messages.RateHz != 20 || fmt.Sprint(again.Values()["messages"]) != fmt.Sprint(c.Values()["messages"]) {
		t.Errorf("the values of a configuration with messages are read as %v, %v", again, err)
	}
}

// In steady state containers, messages and streams allocate nothing per packet.
func TestContainersAllocateNothing(t *testing.T) {
	if labtest.RaceEnabled {
		t.Skip("the race detector allocates for itself")
	}
	for _, pairs := range [][]string{{"sender.redundancy", "repeat n=2"}, {"sender.redundancy", "xor data=4"}, {"sender.redundancy", "rs"},
		{"messages.rate_hz", "20"}, {"messages.rate_hz", "20", "messages.delivery", "rto"}, {"messages.rate_hz", "20", "messages.delivery", "stream"}} {
		s := redundancyRun(t, 3*time.Minute, append(pairs, "down.loss", "5%", "down.keep_order", "true")...)
		allocs := testing.AllocsPerRun(20, func() {
			if err := s.RunUntil(s.now + time.Second); err != nil {
				t.Fatal(err)
			}
		})
		if allocs > 12 { // the ring of samples is renewed every four seconds, and reedsolomon allocates for a repair
			t.Errorf("%v: %g allocations a second of virtual time", pairs, allocs)
		}
	}
}
