package transfer

import "time"

// timer computes the retransmission timeout of RFC 6298, in whole nanoseconds.
type timer struct {
	granularity time.Duration // minimum of the timeout minus the round trip (the RFC's clock granularity G)
	smoothed    time.Duration // SRTT of the RFC
	deviation   time.Duration // RTTVAR of the RFC
	measured    bool          // a round trip was measured
	doublings   uint          // how often the timeout was doubled since the last acknowledgement
}

// addSample adds a measured round trip (RFC 6298, sections 2.2 and 2.3).
func (t *timer) addSample(rtt time.Duration) {
	if !t.measured {
		t.smoothed, t.deviation, t.measured = rtt, rtt/2, true
		return
	}
	t.deviation += (max(t.smoothed-rtt, rtt-t.smoothed) - t.deviation) / 4
	t.smoothed += (rtt - t.smoothed) / 8
}

// timeout returns the time after which an acknowledgement is overdue: the RTO of RFC 6298, with backoff.
func (t *timer) timeout() time.Duration {
	d := firstTimeout
	if t.measured {
		d = t.smoothed + max(t.granularity, 4*t.deviation)
	}
	return max(d, min(d<<t.doublings, maxTimeout)) // the round trip itself may exceed maxTimeout
}

// backOff doubles the timeout, up to maxTimeout (RFC 6298, section 5.5).
func (t *timer) backOff() {
	if t.timeout() < maxTimeout {
		t.doublings++
	}
}

// resetBackoff undoes all doublings of the timeout.
func (t *timer) resetBackoff() { t.doublings = 0 }
