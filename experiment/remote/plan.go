package remote

import (
	"errors"
	"fmt"
	"time"
)

// Plan describes what both sides of a measurement send.
type Plan struct {
	Duration time.Duration
	Interval time.Duration // between two datagrams of one direction
	Up, Down int           // UDP payload in bytes, from the initiator to the responder and back
}

// Limits of plans. They bound the traffic that a responder can be made to send.
const (
	minProbeBytes = Overhead + seqBytes
	maxProbeBytes = 1400
	minInterval   = time.Millisecond
	maxInterval   = time.Second
	maxDuration   = 5 * time.Minute
	maxProbes     = 1 << 16
)

// errPlan means that a plan exceeds a limit.
var errPlan = errors.New("invalid measurement plan")

// Packets returns the number of datagrams that each side sends.
func (p *Plan) Packets() int { return int(p.Duration / p.Interval) }

// Check returns an error if the plan exceeds a limit.
func (p *Plan) Check() error {
	switch {
	case p.Interval < minInterval || p.Interval > maxInterval:
		return fmt.Errorf("%w: interval %v, expected %v to %v", errPlan, p.Interval, minInterval, maxInterval)
	case p.Duration < p.Interval || p.Duration > maxDuration:
		return fmt.Errorf("%w: duration %v, expected at most %v and at least one interval", errPlan,
			p.Duration, maxDuration)
	case p.Packets() > maxProbes:
		return fmt.Errorf("%w: %d datagrams in each direction, expected at most %d", errPlan, p.Packets(), maxProbes)
	case min(p.Up, p.Down) < minProbeBytes || max(p.Up, p.Down) > maxProbeBytes:
		return fmt.Errorf("%w: datagrams of %d bytes up and %d down, expected %d to %d, of which encryption takes %d", errPlan, p.Up, p.Down,
			minProbeBytes, maxProbeBytes, Overhead)
	}
	return nil
}
