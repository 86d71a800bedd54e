package probe

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
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

func options(t testing.TB) channel.Options {
	t.Helper()
	k, err := channel.ParseToken(secret)
	if err != nil {
		t.Fatal(err)
	}
	return channel.Options{Token: k}
}

func patient(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// far listens, and serves one measurement.
func far(t testing.TB) (at netip.AddrPort, report func() (probeReport, error)) {
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
		case <-patient(t).Done():
			t.Fatal("the far end never ends")
		}
		return probeReport{}, nil
	}
}

// behind puts a relay before an address, and a tap on it.
func behind(t testing.TB, to netip.AddrPort, seed uint64, up, down lossmodel.Spec, tap relay.Tap) netip.AddrPort {
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

// fates counts what a link did to datagrams of one size.
type fates struct {
	mu                  sync.Mutex
	size                [2]int
	sent, lost, doubled [2]int
}

func (f *fates) tap(e *relay.Event) {
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
		f.doubled[e.Way] += came - 1
	}
}

// Through links that lose, double and overtake, a measurement sees what the links did to
// each datagram, no more and no less.
func TestMeasureSeesWhatLinksDid(t *testing.T) {
	plan := Plan{Duration: time.Second, Interval: time.Millisecond, Up: 101, Down: 503}
	f := &fates{size: [2]int{plan.Up, plan.Down}}
	at, report := far(t)
	up := spec(t, "loss", "10%", "latency", "15ms", "jitter", "5ms")
	down := spec(t, "loss", "3%", "latency", "15ms", "duplicate", "5%")
	s, err := channel.Dial(patient(t), behind(t, at, 3, up, down, f.tap), Purpose, options(t))
	if err != nil {
		t.Fatal(err)
	}
	path, err := Measure(patient(t), s, plan, nil)
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
		if sent != f.sent[way] || lost != f.lost[way] || doubled != f.doubled[way] || sent == 0 || lost == 0 {
			t.Errorf("%s: %d sent, %d lost, %d doubled; the link had %d, %d, %d", relay.Way(way), sent, lost, doubled, f.sent[way],
				f.lost[way], f.doubled[way])
		}
	}
	if least := 30 * time.Millisecond; path.Trips[0] < least-5*time.Millisecond || len(path.Trips) < 500 {
		t.Errorf("a round trip of %v, one of %d, where links take %v", path.Trips[0], len(path.Trips), least)
	}
	if r.Sent != f.sent[relay.Down] || path.Beyond != 0 {
		t.Errorf("%+v", r)
	}
}

// What was set on links is found, within the intervals that the fit states, whatever the
// clocks say.
func TestFitFindsTheLink(t *testing.T) {
	const packets, interval = 6000, 5 * time.Millisecond
	s := spec(t, "loss", "4%", "burst", "3", "latency", "40ms", "jitter", "6ms", "distribution", "normal", "duplicate", "2%")
	var rows [2][]row
	for way, offset := range []time.Duration{time.Hour, -time.Hour} {
		trace, err := measure.Trace(s, uint64(11+way), measure.Traffic{Packets: packets, Interval: interval, Size: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range trace {
			if !p.Lost {
				rows[way] = append(rows[way], row{uint32(p.Seq), uint8(p.Copy), p.Took + offset})
			}
		}
	}
	sent := make([]time.Duration, packets)
	for i := range sent {
		sent[i] = time.Duration(i) * interval
	}
	base, slack := baseOf(rows[0], rows[1])
	for way := range rows {
		c := captureOf(rows[way], base, sent)
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
				t.Errorf("%s: %v is set, %v to %v was found", e.Name, truth, e.Low-off, e.High+off)
			}
			delete(truths, e.Name)
		}
		if len(truths) > 0 {
			t.Errorf("nothing is said of %v", truths)
		}
	}
}

// Slack says how far off the fastest lead: in 95 cases of 100 no further.
func TestSlack(t *testing.T) {
	for _, distribution := range []string{"normal", "exponential", "uniform"} {
		s := spec(t, "latency", "40ms", "jitter", "6ms", "distribution", distribution)
		held, cases := 0, 100
		for seed := range cases {
			var rows [2][]row
			for way, offset := range []time.Duration{time.Hour, -time.Hour} {
				trace, err := measure.Trace(s, uint64(2*seed+way), measure.Traffic{Packets: 500, Interval: time.Millisecond, Size: 100})
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range trace {
					rows[way] = append(rows[way], row{seq: uint32(p.Seq), took: p.Took + offset})
				}
			}
			base, slack := baseOf(rows[0], rows[1])
			if up, _ := fastest(rows[0]); (up - time.Hour - base).Abs() <= slack {
				held++
			}
		}
		t.Logf("%s: %d of %d", distribution, held, cases)
		if held < cases*90/100 {
			t.Errorf("%s: within slack %d times of %d", distribution, held, cases)
		}
	}
}

// A far end sends no more than was agreed, whatever the near end says.
func TestServeIsBounded(t *testing.T) {
	plan := Plan{Duration: 50 * time.Millisecond, Interval: time.Millisecond, Up: leastSize, Down: 300}
	at, report := far(t)
	s, err := channel.Dial(patient(t), at, Purpose, options(t))
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
	if r, err := report(); err != nil || r.Sent != plan.Packets() || r.Came > 2*plan.Packets() {
		t.Errorf("%+v, %v", r, err)
	}
	if count(); probes != plan.Packets() || others > 2*mostAnswers*blocksOf(mostRows(plan.Packets()))+1 {
		t.Errorf("%d probes of %d, %d other datagrams", probes, plan.Packets(), others)
	}
}

func TestServeRefusesPlans(t *testing.T) {
	for _, p := range []Plan{
		{Duration: time.Hour, Interval: time.Second, Up: 100, Down: 100},
		{Duration: time.Second, Interval: time.Microsecond, Up: 100, Down: 100},
		{Duration: 5 * time.Minute, Interval: time.Millisecond, Up: 100, Down: 100},
		{Duration: time.Second, Interval: time.Millisecond, Up: 100, Down: 60000},
		{Duration: time.Second, Interval: time.Millisecond, Up: 1, Down: 100},
		{},
	} {
		at, report := far(t)
		s, err := channel.Dial(patient(t), at, Purpose, options(t))
		if err != nil {
			t.Fatal(err)
		}
		_ = s.Send(streamPlan, p.append(nil))
		if r, err := report(); !errors.Is(err, errPlan) || r.Sent != 0 {
			t.Errorf("%+v: %+v, %v", p, r, err)
		}
		if _, err := Measure(patient(t), s, p, nil); !errors.Is(err, errPlan) {
			t.Errorf("%+v: %v", p, err)
		}
		s.Close()
	}
}

func FuzzPlan(f *testing.F) {
	good := Plan{Duration: time.Second, Interval: time.Millisecond, Up: 100, Down: 500}
	f.Add(good.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parsePlan(b)
		if err != nil {
			return
		}
		if !bytes.Equal(p.append(nil), b) || p.Packets() < 1 || p.Packets() > mostPackets || p.Down > mostSize {
			t.Fatalf("%x is %+v", b, p)
		}
	})
}

func FuzzStamp(f *testing.F) {
	good := stamp{seq: 7, sent: time.Second, echo: -1}
	f.Add(good.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, ok := parseStamp(b); ok && !bytes.HasPrefix(b, s.append(nil)) {
			t.Fatalf("%x is %+v", b, s)
		}
	})
}

func FuzzBlock(f *testing.F) {
	f.Add(appendBlock(nil, 0, 9, []row{{1, 0, time.Second}, {2, 1, -time.Second}}), 10)
	f.Fuzz(func(t *testing.T, b []byte, packets int) {
		packets = min(max(packets, 0), mostPackets)
		k, ok := parseBlock(b, packets)
		if !ok {
			return
		}
		if len(k.rows) > blockRows || k.number >= k.blocks || int(k.sent) > packets {
			t.Fatalf("%x is %+v", b, k)
		}
		if back := appendBlock(nil, 0, k.sent, k.rows); !bytes.Equal(back[4:], b[4:]) {
			t.Fatalf("%x came back as %x", b, back)
		}
	})
}
