package probe

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"strconv"
	"sync"
	"testing"
	"time"

	"wirelab/experiment/remote/channel"
	"wirelab/lossmodel"
	"wirelab/lossmodel/capture"
	"wirelab/lossmodel/measure"
	"wirelab/lossmodel/relay"
)

const secret = "0123456789abcdef0f1e2d3c4b5a6978"

// options returns channel options with the test token.
func options(t testing.TB) channel.Options {
	t.Helper()
	k, err := channel.ParseToken(secret)
	if err != nil {
		t.Fatal(err)
	}
	return channel.Options{Token: k}
}

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// serveOne starts a listener that serves one measurement. report waits for the measurement's end.
func serveOne(t testing.TB) (at netip.AddrPort, report func() (probeReport, error)) {
	t.Helper()
	l, err := channel.Listen(netip.MustParseAddrPort("127.0.0.1:0"), options(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	type ended struct {
		report probeReport
		err    error
	}
	done := make(chan ended, 1)
	go func() {
		s, err := l.Accept(context.Background())
		if err != nil {
			done <- ended{err: err}
			return
		}
		r, err := Serve(context.Background(), s)
		done <- ended{r, err}
	}()
	return l.Addr(), func() (probeReport, error) {
		select {
		case e := <-done:
			return e.report, e.err
		case <-testContext(t).Done():
			t.Fatal("timeout waiting for Serve")
		}
		return probeReport{}, nil
	}
}

// newRelay starts a relay with modelled links in front of an address and returns the relay's
// address.
func newRelay(t testing.TB, to netip.AddrPort, seed uint64, up, down lossmodel.Spec, tap relay.Tap) netip.AddrPort {
	t.Helper()
	r, err := relay.Open(relay.Options{Listen: netip.MustParseAddrPort("127.0.0.1:0"), Server: to, Seed: seed,
		Conditions: func(relay.Client) (lossmodel.Spec, lossmodel.Spec) { return up, down }})
	if err != nil {
		t.Fatal(err)
	}
	r.Tap(tap)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return r.Addr()
}

// spec sets keys of a link: key, value, key, value.
func spec(t testing.TB, pairs ...string) lossmodel.Spec {
	t.Helper()
	s := lossmodel.DefaultSpec()
	for i := 0; i < len(pairs); i += 2 {
		if err := s.Set(pairs[i], pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
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

// A measurement through a relay counts the same lost and duplicated datagrams as the relay's
// links, also with datagrams that are too small for timestamps.
func TestMeasureAgreesWithLinks(t *testing.T) {
	for _, size := range []int{101, minUp} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			measureAndCompare(t, Plan{Duration: time.Second, Interval: time.Millisecond, Up: size, Down: 503})
		})
	}
}

// measureAndCompare measures a path through a relay and compares the result with what the relay's links did.
func measureAndCompare(t *testing.T, plan Plan) {
	f := &linkOutcomes{size: [2]int{plan.Up, plan.Down}}
	at, report := serveOne(t)
	up := spec(t, "loss", "10%", "latency", "15ms", "jitter", "5ms")
	down := spec(t, "loss", "3%", "latency", "15ms", "duplicate", "5%")
	s, err := channel.Dial(testContext(t), newRelay(t, at, 3, up, down, f.count), Purpose, options(t))
	if err != nil {
		t.Fatal(err)
	}
	path, err := Measure(testContext(t), s, plan, nil)
	s.Close()
	if err != nil {
		t.Fatal(err)
	}
	r, err := report()
	if err != nil {
		t.Fatal(err)
	}
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
	// The clocks of both sides are the same, so delays do not drift, and all are below a second.
	var early, late time.Duration // least delays of both halves
	for i, p := range path.Up.Packets {
		if half := map[bool]*time.Duration{true: &early, false: &late}[i < len(path.Up.Packets)/2]; !p.Lost && (*half == 0 || p.Took < *half) {
			*half = p.Took
		}
	}
	if (early-late).Abs() > 300*time.Millisecond || early <= 0 {
		t.Errorf("the least delays of both halves are %v and %v", early, late)
	}
	if least := 30 * time.Millisecond; path.RoundTrips[0] < least-5*time.Millisecond || len(path.RoundTrips) < 500 {
		t.Errorf("shortest of %[2]d round trips is %[1]v, expected about %[3]v", path.RoundTrips[0], len(path.RoundTrips), least)
	}
	if r.Sent != f.sent[relay.Down] || path.DroppedCopies != 0 {
		t.Errorf("%+v", r)
	}
}

// The fit of a measurement contains the link's true parameters in its intervals, with
// unsynchronised clocks.
func TestFitContainsTruth(t *testing.T) {
	const packets, interval = 6000, 5 * time.Millisecond
	s := spec(t, "loss", "4%", "burst", "3", "latency", "40ms", "jitter", "6ms", "distribution", "normal", "duplicate", "2%")
	var rows [2][]arrival
	for way, offset := range []time.Duration{time.Hour, -time.Hour} {
		trace, err := measure.Trace(s, uint64(11+way), measure.Traffic{Packets: packets, Interval: interval, Size: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range trace {
			if !p.Lost {
				rows[way] = append(rows[way], arrival{uint32(p.Seq), uint8(p.Copy), p.Took + offset})
			}
		}
	}
	sent := make([]time.Duration, packets)
	for i := range sent {
		sent[i] = time.Duration(i) * interval
	}
	base, slack := estimateBase(rows[0], rows[1])
	for way := range rows {
		c := newCapture(rows[way], base, sent)
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
			var rows [2][]arrival
			for way, offset := range []time.Duration{time.Hour, -time.Hour} {
				trace, err := measure.Trace(s, uint64(2*seed+way), measure.Traffic{Packets: 500, Interval: time.Millisecond, Size: 100})
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range trace {
					rows[way] = append(rows[way], arrival{seq: uint32(p.Seq), clockDelay: p.Took + offset})
				}
			}
			base, slack := estimateBase(rows[0], rows[1])
			if up, _ := firstPercentile(rows[0]); (up - time.Hour - base).Abs() <= slack {
				inside++
			}
		}
		t.Logf("%s: %d of %d", distribution, inside, cases)
		if inside < cases*90/100 {
			t.Errorf("%s: within slack in %d of %d cases", distribution, inside, cases)
		}
	}
}

// The responder sends no more than the plan and maxAnswers allow, whatever the initiator sends.
func TestServeSendsBounded(t *testing.T) {
	plan := Plan{Duration: 50 * time.Millisecond, Interval: time.Millisecond, Up: minSize, Down: 300}
	at, report := serveOne(t)
	s, err := channel.Dial(testContext(t), at, Purpose, options(t))
	if err != nil {
		t.Fatal(err)
	}
	probes, others := 0, 0
	count := func() {
		for d, ok := s.Poll(nil); ok; d, ok = s.Poll(nil) {
			if d.Stream == streamProbe {
				probes++
			} else {
				others++
			}
		}
	}
	for i := range 3000 {
		_ = s.Send(streamPlan, plan.append(nil))
		_ = s.Send(streamResult, []byte{0, 0})
		_ = s.Send(streamProbe, make([]byte, i%100))
		if count(); i%100 == 0 {
			time.Sleep(time.Millisecond) // so that the sockets keep up
		}
	}
	for probes < plan.Packets() {
		<-s.Ready()
		count()
	}
	s.Close()
	if r, err := report(); err != nil || r.Sent != plan.Packets() || r.Received > 2*plan.Packets() {
		t.Errorf("%+v, %v", r, err)
	}
	if count(); probes != plan.Packets() || others > 2*maxAnswers*blockCount(maxArrivals(plan.Packets()))+1 {
		t.Errorf("%d probes of %d, %d other datagrams", probes, plan.Packets(), others)
	}
}

// Both sides refuse plans beyond the limits.
func TestServeRefusesPlans(t *testing.T) {
	for _, p := range []Plan{
		{Duration: time.Hour, Interval: time.Second, Up: 100, Down: 100},
		{Duration: time.Second, Interval: time.Microsecond, Up: 100, Down: 100},
		{Duration: 5 * time.Minute, Interval: time.Millisecond, Up: 100, Down: 100},
		{Duration: time.Second, Interval: time.Millisecond, Up: 100, Down: 60000},
		{Duration: time.Second, Interval: time.Millisecond, Up: minUp - 1, Down: 100},
		{Duration: time.Second, Interval: time.Millisecond, Up: 100, Down: minSize - 1},
		{},
	} {
		at, report := serveOne(t)
		s, err := channel.Dial(testContext(t), at, Purpose, options(t))
		if err != nil {
			t.Fatal(err)
		}
		_ = s.Send(streamPlan, p.append(nil))
		if r, err := report(); !errors.Is(err, errPlan) || r.Sent != 0 {
			t.Errorf("%+v: %+v, %v", p, r, err)
		}
		if _, err := Measure(testContext(t), s, p, nil); !errors.Is(err, errPlan) {
			t.Errorf("%+v: %v", p, err)
		}
		s.Close()
	}
}

// No data make parsePlan panic. An accepted plan is within the limits and encodes to the same
// bytes.
func FuzzPlan(f *testing.F) {
	good := Plan{Duration: time.Second, Interval: time.Millisecond, Up: 100, Down: 500}
	f.Add(good.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parsePlan(b)
		if err != nil {
			return
		}
		if !bytes.Equal(p.append(nil), b) || p.Packets() < 1 || p.Packets() > maxPackets || p.Down > maxSize {
			t.Fatalf("%x parsed as %+v", b, p)
		}
	})
}

// Accepted timestamps encode to the same bytes.
func FuzzStamp(f *testing.F) {
	good := timestamps{seq: 7, sent: time.Second, echoSent: -1}
	f.Add(good.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, ok := parseTimestamps(b); ok && !bytes.HasPrefix(b, s.append(nil)) {
			t.Fatalf("%x parsed as %+v", b, s)
		}
	})
}

// No data make parseBlock panic. An accepted block is within the limits and encodes to the same
// bytes.
func FuzzBlock(f *testing.F) {
	f.Add(appendBlock(nil, 0, 9, []arrival{{1, 0, time.Second}, {2, 1, -time.Second}}), 10)
	f.Fuzz(func(t *testing.T, b []byte, packets int) {
		packets = min(max(packets, 0), maxPackets)
		k, ok := parseBlock(b, packets)
		if !ok {
			return
		}
		if len(k.arrivals) > blockArrivals || k.number >= k.blocks || int(k.sentCount) > packets {
			t.Fatalf("%x parsed as %+v", b, k)
		}
		if back := appendBlock(nil, 0, k.sentCount, k.arrivals); !bytes.Equal(back[4:], b[4:]) {
			t.Fatalf("%x encoded again as %x", b, back)
		}
	})
}
