package engine

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// redundancyRun runs one cube over a link of 25 +- 5 ms.
func redundancyRun(t *testing.T, d time.Duration, pairs ...string) *Session {
	t.Helper()
	c := config.Default()
	pairs = append([]string{"link.latency", "25ms", "link.jitter", "5ms", "encoder.name", "raw"}, pairs...)
	testkit.Set(t, c, pairs...)
	s := mustOpen(t, c, labtest.NewCubeSource(1, 1, -1, 1), Options{Endless: true, KeepSamples: 20})
	mustRun(t, s, d)
	return s
}

// rsLoss is the probability that a packet of a group of k with m parities is lost and fewer than k of
// the others arrive, if each datagram is lost with probability p.
func rsLoss(k, m int, p float64) (sum float64) {
	for lost := m; lost < k+m; lost++ {
		ways := math.Gamma(float64(k+m)) / math.Gamma(float64(lost+1)) / math.Gamma(float64(k+m-lost)) // of the k+m-1 others
		sum += ways * math.Pow(p, float64(lost)) * math.Pow(1-p, float64(k+m-1-lost))
	}
	return sum * p
}

// What redundancy leaves of independent losses is p^(n+1) with n repeats, and the tail of a binomial
// distribution with a code, within 5 %. Without redundancy the figures count the same packets.
func TestResidualLoss(t *testing.T) {
	for _, c := range []struct {
		policy string
		loss   float64
		want   float64
	}{
		{"none", .1, .1},
		{"repeat n=1", .25, math.Pow(.25, 2)},
		{"repeat n=2", .4, math.Pow(.4, 3)},
		{"xor data=2", .2, rsLoss(2, 1, .2)},
		{"xor data=4", .2, rsLoss(4, 1, .2)},
		{"rs data=4 parity=2", .3, rsLoss(4, 2, .3)},
		{"rs data=8 parity=4", .4, rsLoss(8, 4, .4)},
	} {
		packets := testkit.Choose(200_000, 40_000)
		s := redundancyRun(t, time.Duration(packets)*time.Second/60, "sender.redundancy", c.policy, "down.loss", fmt.Sprint(c.loss*100, "%"))
		got := s.lanes[0].totals(s.Now())
		residual, _ := got.Redundancy.ResidualLoss.Value()
		if math.Abs(residual/c.want-1) > .05 {
			t.Errorf("%s at %g: residual loss %.5f, closed form %.5f", c.policy, c.loss, residual, c.want)
		}
		if lost := float64(got.Lost) / float64(got.Sent-got.InFlight); math.Abs(lost-residual) > 1e-9 {
			t.Errorf("%s: %g of the packets have the outcome lost, %g never arrived", c.policy, lost, residual)
		}
		if rate, _ := got.Network.LossRate.Value(); math.Abs(rate/c.loss-1) > .05 {
			t.Errorf("%s: the link loses %g, want %g", c.policy, rate, c.loss)
		}
		if sum := got.Decoded + got.Stale + got.Duplicate + got.Lost + got.Failures.NoBaseline + got.InFlight; sum != got.Sent || got.Wrong > 0 {
			t.Errorf("%s: %d sent, the outcomes sum to %d; %d wrong", c.policy, got.Sent, sum, got.Wrong)
		}
	}
}

// wireSum sums the bytes of the datagrams that it observes.
type wireSum int64

func (*wireSum) Sample(*meters.Sample) {}
func (*wireSum) Settled(uint64)        {}
func (s *wireSum) Packet(r *packetlog.Record, _ *Problem) {
	if r.Copy == 0 {
		*s += wireSum(r.Wire)
	}
}

// A report that is saved while the session runs has a record of every datagram too.
func TestStoredDatagrams(t *testing.T) {
	for key, value := range map[string]string{"sender.redundancy": "rs data=4 parity=2", "messages.delivery": "rto", "messages.pace": "9kbit"} {
		s := redundancyRun(t, time.Second, "messages.rate_hz", "60", key, value)
		var sum wireSum
		s.ReplayStored(&sum)
		if got, want := float64(sum)*8/1000, s.lanes[0].totals(s.Now()).WireKbps; got != want {
			t.Errorf("%s: the stored datagrams have %v kbit, %v were sent", value, got, want)
		}
	}
}

// With 25 +- 5 ms and 60 packets a second the first repeat arrives within 50 ms, the second within 100 ms.
func TestDeadlines(t *testing.T) {
	s := redundancyRun(t, testkit.Choose(30*time.Minute, 5*time.Minute), "sender.redundancy", "repeat n=2", "down.loss", "30%")
	r := s.lanes[0].totals(s.Now()).Redundancy
	for name, c := range map[string]struct{ got, want float64 }{
		"50 ms":  {r.Missed50.Or(-1), math.Pow(.3, 2)},
		"100 ms": {r.Missed100.Or(-1), math.Pow(.3, 3)},
	} {
		if math.Abs(c.got/c.want-1) > .05 {
			t.Errorf("later than %s: %.4f, want %.4f", name, c.got, c.want)
		}
	}
}

// A packet that was repaired has the record of its packet: when it was sent, when the repair arrived,
// and by what.
func TestRepairedRecords(t *testing.T) {
	for policy, by := range map[string]string{"repeat n=2": "a repeat in the datagram of packet ", "xor data=4": "parity of group "} {
		s := redundancyRun(t, 20*time.Second, "sender.redundancy", policy, "down.loss", "10%")
		repaired := int64(0)
		for _, r := range s.View(1 << 14).Lanes[0].Packets {
			if r.RepairedBy() == "" {
				continue
			}
			repaired++
			if !strings.HasPrefix(r.RepairedBy(), by) || r.Arrived-r.Sent < 25*time.Millisecond || !r.Outcome.Stored() {
				t.Errorf("%s: packet %d is %v after %v by %s", policy, r.Seq, r.Outcome, r.Arrived-r.Sent, r.RepairedBy())
			}
		}
		if total := s.lanes[0].totals(s.Now()).Redundancy.Repaired; repaired == 0 || repaired > total {
			t.Errorf("%s: %d repaired records of %d", policy, repaired, total)
		}
	}
}

// Packets whose repeats do not fit into the datagrams of others get their outcomes as well.
func TestRepeatsThatDoNotFit(t *testing.T) {
	c := config.Default()
	testkit.Set(t, c, "encoder.name", "raw", "sender.redundancy", "repeat n=3", "down.loss", "5%", "down.mtu", "9000B")
	s, err := NewSessionFromSource(c, labtest.NewCubeSource(700, 700, -1, 1), Options{Endless: true}) // 28 KB a packet: one repeat fits
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, s, 10*time.Second)
	got := s.lanes[0].totals(s.Now())
	if got.Redundancy.Repaired == 0 || got.Lost == 0 || got.InFlight > 20 {
		t.Errorf("%d repaired, %d lost, %d in flight", got.Redundancy.Repaired, got.Lost, got.InFlight)
	}
}

// Redundancy that is switched on, changed and switched off during a run repairs while it is on; no
// packet stays in flight because the redundancy for which it waited never came.
func TestRedundancyChanges(t *testing.T) {
	s := redundancyRun(t, time.Second, "link.loss", "20%")
	for _, policy := range []string{"rs data=16 parity=4", "none", "repeat n=8", "xor data=3", "none"} {
		mustChange(t, s, config.NewChange("redundancy", policy))
		if err := s.Advance(1900 * time.Millisecond); err != nil { // in the middle of a group
			t.Fatal(err)
		}
	}
	got := s.lanes[0].totals(s.Now())
	if got.Redundancy.Repaired == 0 || got.Wrong > 0 || int(got.InFlight) != s.lanes[0].paths.downLink.InFlight() {
		t.Errorf("%d repaired, %d wrong, %d in flight of %d on the link", got.Redundancy.Repaired, got.Wrong, got.InFlight,
			s.lanes[0].paths.downLink.InFlight())
	}
	if c := s.lanes[0].carrier; c.sets.Len() > 0 || c.sent.Len() > 0 {
		t.Errorf("%d sets and %d containers are left", c.sets.Len(), c.sent.Len())
	}
}

// On a line of 400 kbit/s the parities and repeats that should help fill the queue: the age of the
// newest snapshot rises tenfold.
func TestRedundancyBreaksNarrowLine(t *testing.T) {
	needCharlie(t)
	age := map[string]float64{}
	for _, policy := range []string{"none", "xor data=4", "repeat n=1"} {
		c := config.Default()
		testkit.Set(t, c, "data.source", charlie, "link.loss", "5%", "link.latency", "25ms", "link.jitter", "5ms",
			"down.rate", "400kbit", "down.queue", "32KB", "receiver.playout_delay", "0ms", "sender.redundancy", policy)
		s, err := NewSession(t.Context(), c, Options{Endless: true})
		if err != nil {
			t.Fatal(err)
		}
		mustRun(t, s, 30*time.Second)
		got := s.lanes[0].totals(s.Now())
		age[policy] = got.AgeMS.P95
		if got.Wrong > 0 {
			t.Errorf("%s: %d wrong", policy, got.Wrong)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if age["none"] > 80 || age["xor data=4"] < 600 || age["repeat n=1"] < 600 {
		t.Errorf("age of the displayed state, 95 %%: %v", age)
	}
}
