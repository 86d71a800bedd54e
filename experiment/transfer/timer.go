package transfer

import "time"

// timer reckons the retransmission timeout as RFC 6298 has it, in whole
// nanoseconds.
type timer struct {
	granularity time.Duration // that the timeout stays above the round trip: the clock's granularity in the RFC
	smoothed    time.Duration
	deviation   time.Duration
	measured    bool
	doublings   uint
}

// measure takes in a round trip (sections 2.2 and 2.3).
func (t *timer) measure(rtt time.Duration) {
	if !t.measured {
		t.smoothed, t.deviation, t.measured = rtt, rtt/2, true
		return
	}
	t.deviation += (max(t.smoothed-rtt, rtt-t.smoothed) - t.deviation) / 4
	t.smoothed += (rtt - t.smoothed) / 8
}

// timeout returns after what time an answer is overdue.
func (t *timer) timeout() time.Duration {
	d := firstTimeout
	if t.measured {
		d = t.smoothed + max(t.granularity, 4*t.deviation)
	}
	return max(d, min(d<<t.doublings, maxTimeout)) // a link may be slower than maxTimeout
}

// double is for when nothing is heard (section 5.5).
func (t *timer) backOff() {
	if t.timeout() < maxTimeout {
		t.doublings++
	}
}

// calm takes all doublings back.
func (t *timer) resetBackoff() { t.doublings = 0 }
