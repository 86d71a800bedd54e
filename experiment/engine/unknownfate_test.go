package engine

import (
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
	"wirelab/lossmodel"
)

// unknownFatePath is a link that, like a real network, does not report which packets are lost. It
// records the maximum number of packets that the lane has stored.
type unknownFatePath struct {
	*lossmodel.Link
	flights *flights
	most    int
}

func (p *unknownFatePath) Send(now time.Duration, datagram []byte, tag uint64) lossmodel.Verdict {
	p.most = max(p.most, p.flights.queue.Len())
	v := p.Link.Send(now, datagram, tag)
	return lossmodel.Verdict{Pending: true, Wire: v.Wire, Fragments: v.Fragments}
}

// A session over a link that reports all losses, and over one that reports none. The endpoints send
// and decode the same bytes, arrivals are counted the same, packets that do not arrive are unknown,
// and the outcomes add up.
func TestUnknownOutcomes(t *testing.T) {
	var path *unknownFatePath
	open := func(quiet bool) *Session {
		c := config.Default()
		testkit.Set(t, c, "link.loss", "8%", "link.latency", "60ms", "link.jitter", "30ms", "down.duplicate", "4%",
			"down.reorder", "3%", "down.corrupt", "1%")
		s, err := NewSessionFromSource(c, labtest.NewCubeSource(10, 3, -1, 4), Options{Endless: true, KeepSamples: 10})
		if err != nil {
			t.Fatal(err)
		}
		if l := s.lanes[0]; quiet {
			path = &unknownFatePath{Link: l.paths.downLink, flights: &l.flights}
			l.connect(path, l.paths.up)
		}
		return s
	}
	told, untold := open(false), open(true)
	for range 120 {
		for _, s := range []*Session{told, untold} {
			if err := s.Advance(time.Second); err != nil {
				t.Fatal(err)
			}
		}
		x := untold.lanes[0].totals(untold.Now())
		if sum := x.Decoded + x.Stale + x.Duplicate + x.Failures.Corrupt + x.Failures.NoBaseline + x.Unknown +
			x.InFlight; sum != x.Sent+x.Duplicated || x.Lost != 0 || x.Wrong != 0 {
			t.Fatalf("at %v: sent %d + duplicated %d, outcomes sum to %d: %+v", untold.Now(), x.Sent, x.Duplicated, sum, x)
		}
	}
	if path.most == 0 || path.most > 2*expireAfterPackets {
		t.Errorf("%d packets are remembered for want of a fate", path.most)
	}
	told.Interrupt()
	untold.Interrupt()
	a, b := told.Result(), untold.Result()
	x, y := a.Totals, b.Totals
	if a.Digest != b.Digest {
		t.Error("unknown outcomes change the results")
	}
	if x.Decoded != y.Decoded || x.Stale != y.Stale || x.Duplicate != y.Duplicate || x.Failures != y.Failures || x.Lost < 500 {
		t.Errorf("arrivals are counted as\n%+v\nwith known outcomes as\n%+v", y, x)
	}
	// An arrival counts as a copy only if it is not the first of its packet. A
	// packet is unknown only if nothing of it arrived.
	if y.Unknown > x.Lost+x.InFlight || y.Unknown < x.Lost-x.Duplicated || y.InFlight != 0 {
		t.Errorf("%d unknown, %d in flight; %d were lost and %d in flight of %d and %d copies", y.Unknown, y.InFlight, x.Lost, x.InFlight,
			x.Sent, x.Duplicated)
	}
}
