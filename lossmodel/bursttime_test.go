package lossmodel

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// sendEvery sends n packets at a constant interval and returns 1 for each lost one, otherwise 0.
func sendEvery(l *Link, from, interval time.Duration, n int) []float64 {
	lost := make([]float64, n)
	for i := range lost {
		if l.Send(from+time.Duration(i)*interval, make([]byte, 10), 0).Lost == Burst {
			lost[i] = 1
		}
		for _, ok := l.Receive(math.MaxInt64); ok; _, ok = l.Receive(math.MaxInt64) {
		}
	}
	return lost
}

// Bursts in time agree with a two-state Markov process in continuous time: of its bad time B and good time
// G = B (1-L)/L, a state persists for t with the covariance L (1-L) exp(-t (1/B + 1/G)).
func TestBurstTimeClosedForm(t *testing.T) {
	for _, c := range []struct {
		rate            float64
		burst, interval time.Duration
	}{{0.05, 30 * ms, 16 * ms}, {0.05, 30 * ms, 2 * ms}, {0.4, 100 * ms, 50 * ms}, {0.9, 5 * ms, 1 * ms}} {
		name := fmt.Sprintf("%v every %v", c.burst, c.interval)
		n := packetCount()
		lost := sendEvery(newLink(t, newSpec(t, "loss", fmt.Sprint(c.rate*100, "%"), "burst", c.burst.String()), 3), 0, c.interval, n)
		change := 1/c.burst.Seconds() + c.rate/(c.burst.Seconds()*(1-c.rate))
		lambda := math.Exp(-c.interval.Seconds() * change)
		v := c.rate * (1 - c.rate)
		checkClose(t, name+": rate", mean(lost), c.rate, math.Sqrt(v*(1+lambda)/(1-lambda)/float64(n)))
		got, se := covariance(lost, c.rate, 1)
		checkClose(t, name+": covariance", got, v*lambda, se)
	}
}

// Packets that are sent at the same times are lost alike, whatever else is sent; twice as many packets do not shorten a
// burst. This also holds if the settings change during the run.
func TestBurstTimeIsIndependentOfPackets(t *testing.T) {
	spec, later := newSpec(t, "loss", "20%", "burst", "40ms"), newSpec(t, "loss", "50%", "burst", "15ms")
	few, many := newLink(t, spec, 9), newLink(t, spec, 9)
	for i := range 5000 {
		now := time.Duration(i) * 10 * ms
		if i == 2000 {
			at := now - 3*ms
			if err := few.ReshapeAt(at, later); err != nil {
				t.Fatal(err)
			}
			many.Send(at, make([]byte, 10), 0)
			if err := many.ReshapeAt(at, later); err != nil {
				t.Fatal(err)
			}
		}
		a, b := few.Send(now, make([]byte, 10), 0).Lost, many.Send(now, make([]byte, 10), 0).Lost
		if a != b {
			t.Fatalf("packet %d: %v alone, %v among others", i, a, b)
		}
		many.Send(now+ms, make([]byte, 10), 0)
	}
}

// A change keeps the state, and switching between 100 % and less is possible at any time.
func TestBurstTimeChanges(t *testing.T) {
	l := newLink(t, newSpec(t, "loss", "5%", "burst", "30ms"), 4)
	from := time.Duration(0)
	for _, c := range []struct {
		loss string
		want float64
	}{{"5%", 0.05}, {"100%", 1}, {"30%", 0.3}, {"0%", 0}, {"60%", 0.6}, {"100%", 1}, {"100%", 1}, {"2%", 0.02}} {
		if err := l.ReshapeAt(from, newSpec(t, "loss", c.loss, "burst", "30ms")); err != nil {
			t.Fatal(err)
		}
		const n = 100_000
		got := mean(sendEvery(l, from, 10*ms, n))
		if se := math.Sqrt(c.want*(1-c.want)*60/10/n) + 1e-9; math.Abs(got-c.want) > 5*se {
			t.Errorf("loss %s: %g lost", c.loss, got)
		}
		from += n * 10 * ms
	}
}

// The key accepts packets and times and formats them as they were written; errors name both.
func TestBurstTimeText(t *testing.T) {
	for text, want := range map[string]string{"30ms": "30ms", "0.05s": "50ms", "3": "3", "2.5": "2.5", "off": "off", "1h": "3600s"} {
		s := newSpec(t, "loss", "5%", "burst", text)
		if got, _ := s.Get("burst"); got != want {
			t.Errorf("burst %s is %s", text, got)
		}
		again := DefaultSpec()
		if err := again.SetAll(s.Values()); err != nil || again != s {
			t.Errorf("burst %s: %+v becomes %+v, %v", text, s.Loss, again.Loss, err)
		}
	}
	if a, b := newSpec(t, "loss", "gilbert mean=5% burst=30ms"), newSpec(t, "loss", "5%", "burst", "30ms"); a != b {
		t.Errorf("%+v differs from %+v", a.Loss, b.Loss)
	}
	for _, text := range []string{"0.5ms", "2h", "0.5", "-3ms", "x"} {
		s := DefaultSpec()
		err := s.Set("burst", text)
		want := `burst: got "` + text + `", expected a mean run of lost packets from 1 to 1000000, such as 2.5, a time from 1ms to 1h, such as "30ms", or "off" for independent losses`
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A copy of a link meets the same bursts.
func TestBurstTimeFork(t *testing.T) {
	l := newLink(t, newSpec(t, "loss", "20%", "burst", "40ms"), 5)
	sendEvery(l, 0, 10*ms, 1000)
	f := l.Fork(1)
	a, b := sendEvery(l, 10*time.Second, 10*ms, 2000), sendEvery(f, 10*time.Second, 10*ms, 2000)
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("packet %d differs", i)
		}
	}
}
