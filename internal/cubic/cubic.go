// Package cubic is the congestion control of a TCP sender: the window of CUBIC (RFC 9438) and the
// estimate of the round trip (RFC 6298). Windows are in packets. All machines compute the same: no product is added to
// another number, which some processors do without rounding the product.
package cubic

import "time"

// Constants of TCP.
const (
	Payload      = 1448 // bytes of a segment of 1500 bytes with timestamps
	initialSize  = 10
	minSize      = 2
	MaxWindow    = 4096 // packets: 6 MB, Linux's default receive window
	MinTimeout   = 200 * time.Millisecond
	FirstTimeout = time.Second // before the first round trip
	// ReorderLimit is the number of acks of later packets that reveal a loss.
	ReorderLimit = 3
	// MaxBackoff limits how often timeouts double the timeout.
	MaxBackoff = 6
)

// Window is a congestion window. A copy is independent. Create it with New.
type Window struct {
	fastConvergence bool
	size, threshold float64 // threshold of slow start
	curve           curve
}

// New returns the window of a new connection.
func New(fastConvergence bool) Window {
	return Window{fastConvergence: fastConvergence, size: initialSize, threshold: MaxWindow}
}

func (w *Window) Size() float64 { return w.size }

// LimitSlowStart ends slow start at the given window.
func (w *Window) LimitSlowStart(threshold float64) { w.threshold = threshold }

// Grow increases the window for a packet that was acked at now after rtt, while the window limits the sender.
func (w *Window) Grow(now, rtt time.Duration, estimate *RoundTrip) {
	switch {
	case w.size < w.threshold:
		w.size++
		// HyStart: leave slow start when the round trip has grown by an eighth, 4 to 16 ms.
		const ms = time.Millisecond
		if rtt > estimate.minimum+max(4*ms, min(16*ms, estimate.minimum/8)) && w.size > 16 {
			w.threshold = w.size
		}
	default:
		w.size = w.curve.grow(now, estimate.smoothed, w.size)
	}
	w.size = min(w.size, MaxWindow)
}

// Reduce reduces the window after a loss, once for all losses of a round trip.
func (w *Window) Reduce() {
	peak := w.size
	if w.size < w.curve.peak && w.fastConvergence {
		peak = w.size * 85 / 100
	}
	w.curve.restart(peak)
	w.size = max(minSize, w.size*7/10)
	w.threshold = w.size
}

// TimeOut reduces the window to one packet after a timeout. Slow start ends at half the window, as in RFC 5681; RFC 9438
// has 0.7 of it for CUBIC.
func (w *Window) TimeOut() {
	w.threshold = max(minSize, w.size/2)
	w.curve.restart(w.size)
	w.size = 1
}

// curve is the window of CUBIC as a function of time (RFC 9438): C (t-K)^3 + peak, with C = 0.4 packets per
// second cubed, but at least the window that Reno would have. As in Linux, that window does not grow faster once it exceeds
// the one before the last reduction (the alpha of 1 in RFC 9438, section 4.3).
type curve struct {
	peak     float64       // window before the last reduction
	k        float64       // seconds from the begin of the epoch to peak
	began    bool          // the epoch has begun
	epoch    time.Duration // when the epoch began
	estimate float64       // of Reno's window, W_est
}

// restart ends the epoch.
func (c *curve) restart(peak float64) { c.peak, c.began = peak, false }

// grow returns the window after a packet was acked at now.
func (c *curve) grow(now, rtt time.Duration, window float64) float64 {
	if !c.began {
		c.began, c.epoch, c.estimate = true, now, window
		c.k = 0
		if c.peak < window {
			c.peak = window
		} else {
			// K = cbrt((peak-window)/C) seconds: 1e15/0.4 converts to the cube of 10 us.
			c.k = float64(icbrt(uint64((c.peak-window)*2.5e15))) / 1e5
		}
	}
	t := (now - c.epoch + rtt).Seconds() - c.k
	target := c.peak + 2*t*t*t/5
	target = max(window, min(target, window*3/2))
	next := window + (target-window)/window
	c.estimate += 9.0 / 17 / window // alpha = 3 (1-0.7)/(1+0.7) packets per round trip
	return max(next, c.estimate)
}

// icbrt returns the integer cube root.
func icbrt(n uint64) uint64 {
	var root uint64
	for bit := uint64(1) << 20; bit > 0; bit >>= 1 {
		if t := root | bit; t*t*t <= n {
			root = t
		}
	}
	return root
}

// RoundTrip estimates the round trip (RFC 6298). The zero value is ready to use.
type RoundTrip struct{ smoothed, variation, minimum time.Duration }

// Add adds a measurement.
func (r *RoundTrip) Add(rtt time.Duration) {
	if r.smoothed == 0 {
		r.smoothed, r.variation, r.minimum = rtt, rtt/2, rtt
		return
	}
	deviation := rtt - r.smoothed
	r.variation += (max(deviation, -deviation) - r.variation) / 4
	r.smoothed += deviation / 8
	r.minimum = min(r.minimum, rtt)
}

// Smoothed returns the smoothed round trip; 0 before the first measurement.
func (r *RoundTrip) Smoothed() time.Duration { return r.smoothed }

// Timeout returns the retransmission timeout without backoff, at least the given minimum; first before the first
// measurement.
func (r *RoundTrip) Timeout(minimum, first time.Duration) time.Duration {
	if r.smoothed == 0 {
		return first
	}
	return max(minimum, r.smoothed+4*r.variation)
}
