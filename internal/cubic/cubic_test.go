package cubic

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// grownTo returns a window that slow start has grown to the given number of packets, and the estimate of a constant round
// trip.
func grownTo(t *testing.T, w Window, packets float64, rtt time.Duration) (Window, *RoundTrip) {
	t.Helper()
	estimate := &RoundTrip{}
	estimate.Add(rtt)
	for w.Size() < packets {
		w.Grow(0, rtt, estimate)
	}
	return w, estimate
}

// grow acks the packets of full windows, one window each round trip, until end. check is called after each ack.
func grow(w *Window, rtt, end time.Duration, estimate *RoundTrip, check func(now time.Duration)) {
	for now := time.Duration(0); now < end; now += time.Duration(float64(rtt) / w.Size()) {
		w.Grow(now, rtt, estimate)
		check(now)
	}
}

// Slow start adds a packet for each ack. The window is at most MaxWindow. Slow start ends at the given threshold, and when
// the round trip has grown by an eighth, 4 to 16 ms.
func TestSlowStart(t *testing.T) {
	w, estimate := grownTo(t, New(true), MaxWindow, 50*time.Millisecond)
	w.Grow(0, 50*time.Millisecond, estimate)
	if w.Size() != MaxWindow {
		t.Errorf("the window is %g", w.Size())
	}
	w = New(false)
	w.LimitSlowStart(12)
	for range 5 {
		w.Grow(0, 50*time.Millisecond, estimate)
	}
	if n := w.Size(); n <= 12 || n >= 13 {
		t.Errorf("the window is %g with a threshold of 12 packets", n)
	}
	for base, limit := range map[time.Duration]time.Duration{8: 12, 32: 36, 80: 90, 128: 144, 400: 416} { // ms
		for _, extra := range []time.Duration{0, 1} {
			w, estimate := grownTo(t, New(false), 100, base*time.Millisecond)
			w.Grow(0, limit*time.Millisecond+extra, estimate)
			before := w.Size()
			w.Grow(0, base*time.Millisecond, estimate)
			if isSlowStart := w.Size() == before+1; isSlowStart != (extra == 0) {
				t.Errorf("round trip %d ms: after one of %d ms + %d ns, slow start continues: %t", base, limit, extra, isSlowStart)
			}
		}
	}
}

// After a loss, the window follows W(t) = C (t-K)^3 + Wmax with C = 0.4 and K = cbrt((Wmax - 0.7 Wmax)/C) (RFC 9438,
// section 4.2), up to the round trip by which acks delay it. With fast convergence, a loss below Wmax continues with
// (1+0.7)/2 of the window (section 4.7).
func TestCubicRegion(t *testing.T) {
	for _, c := range []struct {
		peak float64
		rtt  time.Duration
		fast bool // two losses with fast convergence
	}{
		{500, 100 * time.Millisecond, false}, {1000, 100 * time.Millisecond, false}, {3000, 40 * time.Millisecond, false},
		{1000, 200 * time.Millisecond, true},
	} {
		w, estimate := grownTo(t, New(c.fast), c.peak, c.rtt)
		peak := c.peak
		start := 0.7 * peak
		w.Reduce()
		if c.fast {
			w.Reduce()
			peak = start * (1 + 0.7) / 2
			start *= 0.7
		}
		if got := w.Size(); math.Abs(got-start) > 1e-9 {
			t.Fatalf("%+v: the window is reduced to %.3f, want %.3f", c, got, start)
		}
		k := math.Cbrt((peak - start) / 0.4)
		curve := func(seconds float64) float64 { return 0.4*math.Pow(seconds-k, 3) + peak }
		end := time.Duration(1.6 * k * float64(time.Second))
		grow(&w, c.rtt, end, estimate, func(now time.Duration) {
			got := w.Size()
			low, high := curve((now - c.rtt).Seconds()), curve((now + c.rtt).Seconds())
			if now < c.rtt {
				low = start
			}
			if got < low-0.05 || got > high+0.05 {
				t.Fatalf("%+v: the window is %.2f after %v, want %.2f to %.2f", c, got, now, low, high)
			}
		})
		if got := w.curve.k; math.Abs(got-k) > 0.00001 {
			t.Errorf("%+v: K is %.4f s, want %.4f", c, got, k)
		}
	}
}

// Where Reno's window would be larger, the window is 0.7 Wmax + 3 (1-0.7)/(1+0.7) t/RTT (RFC 9438, section 4.3).
func TestFriendlyRegion(t *testing.T) {
	for _, c := range []struct {
		peak float64
		rtt  time.Duration
	}{{20, 20 * time.Millisecond}, {50, 20 * time.Millisecond}, {100, 10 * time.Millisecond}} {
		w, estimate := grownTo(t, New(false), c.peak, c.rtt)
		w.Reduce()
		start := w.Size()
		k := math.Cbrt((c.peak - start) / 0.4)
		checked := 0
		grow(&w, c.rtt, time.Duration(k*float64(time.Second)), estimate, func(now time.Duration) {
			reno := start + 3*(1-0.7)/(1+0.7)*now.Seconds()/c.rtt.Seconds()
			cubic := 0.4*math.Pow(now.Seconds()-k, 3) + c.peak
			if reno < cubic {
				return
			}
			checked++
			if got := w.Size(); got < reno || got > reno+0.1 { // an ack at 0 adds up to 1/start
				t.Fatalf("%+v: the window is %.3f after %v, want %.3f", c, got, now, reno)
			}
		})
		if checked < 1000 {
			t.Errorf("%+v: Reno's window is larger after %d acks only", c, checked)
		}
	}
}

// A timeout leaves one packet, and slow start ends at half the window. No loss makes the window smaller than two packets.
func TestTimeout(t *testing.T) {
	const rtt = 30 * time.Millisecond
	for _, fast := range []bool{false, true} {
		w, estimate := grownTo(t, New(fast), 64, rtt)
		w.TimeOut()
		if w.Size() != 1 {
			t.Errorf("the window is %g after a timeout", w.Size())
		}
		for range 31 {
			w.Grow(0, rtt, estimate)
		}
		before := w.Size()
		w.Grow(0, rtt, estimate)
		if before != 32 || w.Size() >= before+1 {
			t.Errorf("slow start ends at %g, then the window is %g", before, w.Size())
		}
		for range 100 {
			w.Reduce()
		}
		if w.Size() != 2 {
			t.Errorf("the window is %g after 100 losses", w.Size())
		}
	}
}

// The window is within its limits at any times: after years without an ack, or with a clock that stands still.
func TestWindowLimits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, fast := range []bool{false, true} {
		w := New(fast)
		var estimate RoundTrip
		now := time.Duration(0)
		for range 200_000 {
			now += time.Duration(rng.Int64N(1 << rng.IntN(50)))
			rtt := time.Duration(rng.Int64N(1 << rng.IntN(40)))
			estimate.Add(rtt)
			switch rng.IntN(50) {
			case 0:
				w.Reduce()
			case 1:
				w.TimeOut()
			default:
				w.Grow(now, rtt, &estimate)
			}
			if n := w.Size(); !(n >= 1 && n <= MaxWindow) {
				t.Fatalf("the window is %g at %v", n, now)
			}
		}
	}
}

// icbrt(n) is the largest integer whose cube is at most n.
func TestCubeRoot(t *testing.T) {
	check := func(n uint64) {
		if r := icbrt(n); r*r*r > n || (r+1)*(r+1)*(r+1) <= n {
			t.Errorf("the cube root of %d is %d", n, r)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 10_000 {
		check(rng.Uint64() >> (2 + rng.IntN(62)))
		cube := uint64(rng.IntN(1 << 20))
		cube *= cube * cube
		check(cube)
		check(max(cube, 1) - 1)
	}
}

// The estimate follows RFC 6298: SRTT with weight 1/8, RTTVAR with weight 1/4, and a timeout of SRTT + 4 RTTVAR.
func TestRoundTrip(t *testing.T) {
	var r RoundTrip
	if r.Timeout(MinTimeout, FirstTimeout) != time.Second || r.Smoothed() != 0 {
		t.Errorf("before the first round trip: %v, %v", r.Timeout(MinTimeout, FirstTimeout), r.Smoothed())
	}
	rng := rand.New(rand.NewPCG(5, 6))
	var smoothed, variation float64
	for i := range 1000 {
		rtt := 20e6 + rng.Float64()*200e6
		if i == 0 {
			smoothed, variation = rtt, rtt/2
		} else {
			variation = 0.75*variation + 0.25*math.Abs(smoothed-rtt)
			smoothed = 0.875*smoothed + 0.125*rtt
		}
		r.Add(time.Duration(rtt))
		got, want := float64(r.Timeout(0, 0)), smoothed+4*variation
		if math.Abs(float64(r.Smoothed())-smoothed) > 50 || math.Abs(got-want) > 500 { // ns: integers are rounded
			t.Fatalf("after %d round trips: %v and a timeout of %v, want %v and %v", i+1, r.Smoothed(), time.Duration(got), time.Duration(smoothed), time.Duration(want))
		}
		if r.Timeout(10*time.Second, 0) != 10*time.Second {
			t.Fatal("the timeout is below its minimum")
		}
	}
}
