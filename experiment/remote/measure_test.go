package remote

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"wirelab/internal/testkit"
	"wirelab/lossmodel"
	"wirelab/lossmodel/capture"
	"wirelab/lossmodel/measure"
	"wirelab/lossmodel/relay"
)

// newRelay starts a relay with modelled links in front of a listener and returns its address, at which
// TCP connections are forwarded too.
func newRelay(t *testing.T, to netip.AddrPort, up, down lossmodel.Spec, tap relay.Tap) netip.AddrPort {
	t.Helper()
	tcp, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := tcp.Addr().(*net.TCPAddr).AddrPort()
	r, err := relay.Open(relay.Options{Listen: at, Server: to, Seed: 3,
		Conditions: func(relay.Client) (lossmodel.Spec, lossmodel.Spec) { return up, down }})
	if err != nil {
		t.Skip(err) // the UDP port is taken
	}
	r.Tap(tap)
	var running sync.WaitGroup
	running.Go(func() { _ = r.Run(t.Context()) })
	t.Cleanup(func() { _ = tcp.Close(); running.Wait() })
	go func() {
		c, err := tcp.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp4", to.String())
		if err != nil {
			return
		}
		go func() { _, _ = io.Copy(server, c); _ = server.Close() }()
		_, _ = io.Copy(c, server)
		_ = c.Close()
	}()
	return at
}

// spec returns a link with keys set: key, value, key, value.
func spec(t testing.TB, pairs ...string) lossmodel.Spec {
	t.Helper()
	s := lossmodel.DefaultSpec()
	testkit.Set(t, &s, pairs...)
	return s
}

// linkOutcomes counts what the links of a relay did to datagrams of one size for each direction.
type linkOutcomes struct {
	mu                 sync.Mutex
	size               [2]int
	sent, lost, copies [2]int
}

// count is a relay.Tap that counts the outcome of entered datagrams of the measured size.
func (f *linkOutcomes) count(e *relay.Event) {
	if e.Kind != relay.Entered || len(e.Data) != f.size[e.Way] {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent[e.Way]++
	came := 0
	if e.Verdict.Lost == lossmodel.None {
		came++
	}
	for _, lost := range e.Verdict.CopyLost[:e.Verdict.Copies] {
		if lost == lossmodel.None {
			came++
		}
	}
	switch {
	case came == 0:
		f.lost[e.Way]++
	case came > 1:
		f.copies[e.Way] += came - 1
	}
}

// A measurement through a relay counts the same lost and duplicated datagrams as the relay's links.
func TestMeasureAgreesWithLinks(t *testing.T) {
	plan := Plan{Duration: time.Second, Interval: time.Millisecond, Up: 101, Down: 503}
	f := &linkOutcomes{size: [2]int{plan.Up, plan.Down}}
	l, id := newTestListener(t, Options{})
	up := spec(t, "loss", "10%", "latency", "15ms", "jitter", "5ms")
	down := spec(t, "loss", "3%", "latency", "15ms", "duplicate", "5%")
	near, err := Dial(t.Context(), newRelay(t, l.Addr(), up, down, f.count), id.Token(), MeasurePurpose)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan probeReport, 1)
	go func() {
		end, err := l.Accept(t.Context())
		if err == nil {
			var r probeReport
			r, err = ServeMeasurement(t.Context(), end)
			served <- r
		}
		if err != nil {
			t.Error(err)
		}
	}()
	path, err := Measure(t.Context(), near, plan, nil)
	_ = near.Close()
	if err != nil {
		t.Fatal(err)
	}
	r := <-served
	f.mu.Lock()
	defer f.mu.Unlock()
	for way, c := range []capture.Capture{path.Up, path.Down} {
		sent, lost, doubled := 0, 0, 0
		for _, p := range c.Packets {
			switch {
			case p.Copy > 0:
				doubled++
			case p.Lost:
				lost++
			}
			if p.Copy == 0 {
				sent++
			}
		}
		if sent != f.sent[way] || lost != f.lost[way] || doubled != f.copies[way] || sent == 0 || lost == 0 {
			t.Errorf("%s: measured %d sent, %d lost, %d copies; the link had %d, %d, %d", relay.Direction(way), sent, lost, doubled, f.sent[way],
				f.lost[way], f.copies[way])
		}
	}
	if least := 30 * time.Millisecond; path.RoundTrips[0] < least-5*time.Millisecond || len(path.RoundTrips) < 500 {
		t.Errorf("shortest of %[2]d round trips is %[1]v, expected about %[3]v", path.RoundTrips[0], len(path.RoundTrips), least)
	}
	if r.Sent != f.sent[relay.Down] || path.DroppedCopies != 0 {
		t.Errorf("%+v", r)
	}
}

// unsynchronised returns both directions of a path with the links of s, whose clocks differ by an hour.
func unsynchronised(t *testing.T, s lossmodel.Spec, seed uint64, traffic measure.Traffic) (ways [2]direction) {
	t.Helper()
	for way, offset := range []time.Duration{time.Hour, -time.Hour} {
		x := &ways[way]
		for i := range traffic.Packets {
			x.sentAt = append(x.sentAt, time.Duration(i)*traffic.Interval)
		}
		trace, err := measure.Trace(s, seed+uint64(way), traffic)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range trace {
			if !p.Lost {
				x.arrivals = append(x.arrivals, arrival{uint32(p.Seq), uint8(p.Copy), p.Sent + p.Took + offset})
			}
		}
	}
	return ways
}

// The fit of a measurement contains the link's true parameters in its intervals, with
// unsynchronised clocks.
func TestFitContainsTruth(t *testing.T) {
	const packets, interval = 6000, 5 * time.Millisecond
	s := spec(t, "loss", "4%", "burst", "3", "latency", "40ms", "jitter", "6ms", "distribution", "normal", "duplicate", "2%")
	ways := unsynchronised(t, s, 11, measure.Traffic{Packets: packets, Interval: interval, Size: 100})
	base, slack := estimateBase(&ways[0], &ways[1])
	for way := range ways {
		p1, _ := ways[way].firstPercentile()
		c := ways[way].capture(base - p1)
		f, err := measure.Fit(&c)
		if err != nil {
			t.Fatal(err)
		}
		truths := map[string]float64{"loss": 0.04, "mean delay": 40, "standard deviation of delay": 6, "duplicate": 0.02}
		for _, e := range f.Estimates {
			off := 0.0
			if e.Name == "mean delay" {
				off = float64(slack) / 1e6
			}
			if truth, ok := truths[e.Name]; ok && (truth < e.Low-off || truth > e.High+off) {
				t.Errorf("%s: true value %v, interval %v to %v", e.Name, truth, e.Low-off, e.High+off)
			}
			delete(truths, e.Name)
		}
		if len(truths) > 0 {
			t.Errorf("no estimates of %v", truths)
		}
	}
}

// The true 1st percentile is within the slack in about 95 of 100 cases.
func TestSlack(t *testing.T) {
	for _, distribution := range []string{"normal", "exponential", "uniform"} {
		s := spec(t, "latency", "40ms", "jitter", "6ms", "distribution", distribution)
		inside, cases := 0, 100
		for seed := range cases {
			ways := unsynchronised(t, s, uint64(2*seed), measure.Traffic{Packets: 500, Interval: time.Millisecond, Size: 100})
			base, slack := estimateBase(&ways[0], &ways[1])
			if up, _ := ways[0].firstPercentile(); (up - time.Hour - base).Abs() <= slack {
				inside++
			}
		}
		t.Logf("%s: %d of %d", distribution, inside, cases)
		if inside < cases*90/100 {
			t.Errorf("%s: within slack in %d of %d cases", distribution, inside, cases)
		}
	}
}

// Both sides refuse plans beyond the limits, and results that do not belong to the plan.
func TestMeasureRefuses(t *testing.T) {
	for _, p := range []Plan{
		{Duration: time.Hour, Interval: time.Second, Up: 100, Down: 100},
		{Duration: time.Second, Interval: time.Microsecond, Up: 100, Down: 100},
		{Duration: 5 * time.Minute, Interval: time.Millisecond, Up: 100, Down: 100},
		{Duration: time.Second, Interval: time.Millisecond, Up: 100, Down: 60000},
		{Duration: time.Second, Interval: time.Millisecond, Up: minProbeBytes - 1, Down: 100},
		{},
	} {
		near, end := newPipe(t, 0)
		near.send(&message{Plan: &p})
		if r, err := ServeMeasurement(t.Context(), end); !errors.Is(err, errPlan) || r.Sent != 0 {
			t.Errorf("%+v: %+v, %v", p, r, err)
		}
		if _, err := Measure(t.Context(), near, p, nil); !errors.Is(err, errPlan) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	one := []time.Duration{1}
	for name, r := range map[string]probeResults{
		"too many sent": {SentAt: make([]time.Duration, 3)}, "negative time": {SentAt: []time.Duration{-1}},
		"not sent": {SentAt: one, Arrivals: []arrival{{Seq: 1}}}, "late": {Arrivals: []arrival{{At: maxTime}}},
		"too many arrivals": {Arrivals: make([]arrival, 5)},
	} {
		if err := r.check(1, 2); !errors.Is(err, errProtocol) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A responder sends no more probes than the plan allows, whatever the initiator sends.
func TestServeMeasurementSendsBounded(t *testing.T) {
	near, end := newPipe(t, 0)
	plan := &Plan{Duration: 50 * time.Millisecond, Interval: time.Millisecond, Up: minProbeBytes, Down: 300}
	served := make(chan probeReport, 1)
	go func() {
		r, err := ServeMeasurement(t.Context(), end)
		if err != nil {
			t.Error(err)
		}
		served <- r
	}()
	probes := 0
	for i := 0; probes < plan.Packets(); i++ {
		near.send(&message{Plan: plan})
		_ = near.sendDatagram(make([]byte, 1+i%100))
		select {
		case <-near.datagrams:
			probes++
		case <-near.inbox:
		}
	}
	_ = near.Close()
	if r := <-served; r.Sent != plan.Packets() || r.Received > maxArrivals(plan.Packets()) || probes != plan.Packets() {
		t.Errorf("%+v, %d probes of %d", r, probes, plan.Packets())
	}
}
