package transfer

import "time"

// timer computes the retransmission timeout of RFC 6298, in whole nanoseconds.
type timer struct {
	granularity time.Duration // least margin of the timeout over the round trip (the RFC's clock granularity G)
	smoothed    time.Duration
	deviation   time.Duration
	measured    bool
	doublings   uint
}

// measure adds a measured round trip (sections 2.2 and 2.3).
func (t *timer) measure(rtt time.Duration) {
	if !t.measured {
		t.smoothed, t.deviation, t.measured = rtt, rtt/2, true
		return
	}
	t.deviation += (max(t.smoothed-rtt, rtt-t.smoothed) - t.deviation) / 4
	t.smoothed += (rtt - t.smoothed) / 8
}

// timeout returns after what time an acknowledgement is overdue.
func (t *timer) timeout() time.Duration {
	d := firstTimeout
	if t.measured {
		d = t.smoothed + max(t.granularity, 4*t.deviation)
	}
	return max(d, min(d<<t.doublings, maxTimeout)) // the round trip itself may exceed maxTimeout
}

// backOff doubles the timeout, up to maxTimeout (section 5.5).
func (t *timer) backOff() {
	if t.timeout() < maxTimeout {
		t.doublings++
	}
}

// resetBackoff ends the backoff.
func (t *timer) resetBackoff() { t.doublings = 0 }
