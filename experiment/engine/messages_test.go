package engine

import (
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
	mustRun(t, s, 40*time.Second)
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
		s := mustOpen(t, c, labtest.NewCubeSource(1, 1, -1, 1), Options{Endless: true})
		mustRun(t, s, 18*time.Second)
		before := s.lanes[0].totals(s.Now()).Messages
		mustRun(t, s, 40*time.Second)
		after := s.lanes[0].totals(s.Now()).Messages
		mustRun(t, s, 60*time.Second)
		end := s.lanes[0].totals(s.Now()).Messages
		if end.Wrong > 0 || after.Delivered < before.Delivered+1000 || end.Delivered < after.Delivered+19_000 ||
			end.UnderWay > 1000 || end.Sent+end.Refused < 59_000 {
			t.Errorf("%s: %+v, then %+v, at last %+v", delivery, before, after, end)
		}
	}
}
