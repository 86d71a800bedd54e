package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"wirelab/experiment/remote/channel"
)

// Purpose is what a dialer of a channel asks for to be measured with.
const Purpose = 2

// Streams of the channel.
const (
	streamPlan   uint8 = iota + 1 // the plan, and the same bytes back when it is agreed to
	streamProbe                   // both ways
	streamResult                  // which block is wanted, and the block
)

// Plan is what both ends are to send.
type Plan struct {
	Duration time.Duration // whole milliseconds
	Interval time.Duration // between datagrams of one direction; whole microseconds
	Up, Down int           // bytes of UDP payload, to the far end and back
}

// Limits of plans: what a far end lets itself be used for.
const (
	leastSize     = channel.Overhead + probeBytes
	mostSize      = 1400
	leastInterval = time.Millisecond
	mostInterval  = time.Second
	mostDuration  = 5 * time.Minute
	mostPackets   = 1 << 16
)

// errPlan: a plan beyond the limits.
var errPlan = errors.New("no plan for a measurement")

// Packets returns how many datagrams each end sends.
func (p *Plan) Packets() int { return int(p.Duration / p.Interval) }

// Check says what is beyond the limits.
func (p *Plan) Check() error {
	switch {
	case p.Interval < leastInterval || p.Interval > mostInterval:
		return fmt.Errorf("%w: a datagram every %v; expected %v to %v", errPlan, p.Interval, leastInterval, mostInterval)
	case p.Duration < p.Interval || p.Duration > mostDuration:
		return fmt.Errorf("%w: %v; expected at most %v", errPlan, p.Duration, mostDuration)
	case p.Packets() > mostPackets:
		return fmt.Errorf("%w: %d datagrams each way; expected at most %d", errPlan, p.Packets(), mostPackets)
	case min(p.Up, p.Down) < leastSize || max(p.Up, p.Down) > mostSize:
		return fmt.Errorf("%w: datagrams of %d and %d bytes; expected %d to %d", errPlan, p.Up, p.Down, leastSize, mostSize)
	}
	return nil
}

const planBytes = 4 + 4 + 2 + 2

func (p *Plan) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(p.Duration/time.Millisecond))
	dst = binary.BigEndian.AppendUint32(dst, uint32(p.Interval/time.Microsecond))
	dst = binary.BigEndian.AppendUint16(dst, uint16(p.Up))
	return binary.BigEndian.AppendUint16(dst, uint16(p.Down))
}

// parsePlan reads a plan. What it yields has passed Check.
func parsePlan(b []byte) (Plan, error) {
	if len(b) != planBytes {
		return Plan{}, fmt.Errorf("%w: %d bytes, expected %d", errPlan, len(b), planBytes)
	}
	p := Plan{Duration: time.Duration(binary.BigEndian.Uint32(b)) * time.Millisecond,
		Interval: time.Duration(binary.BigEndian.Uint32(b[4:])) * time.Microsecond,
		Up:       int(binary.BigEndian.Uint16(b[8:])), Down: int(binary.BigEndian.Uint16(b[10:]))}
	return p, p.Check()
}

// stamp is what a probe says. Times are by the sender's clock, from a beginning of its own.
type stamp struct {
	seq  uint32
	sent time.Duration
	echo time.Duration // when the newest that came from the other end had been sent, by that end's clock; below 0: none came
	held time.Duration // how long ago it came
}

const probeBytes = 4 + 3*8

func (s *stamp) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, s.seq)
	for _, t := range [...]time.Duration{s.sent, s.echo, s.held} {
		dst = binary.BigEndian.AppendUint64(dst, uint64(t))
	}
	return dst
}

// longest bounds what a clock may say: a hostile far end's sums must not overflow.
const longest = 30 * 24 * time.Hour

// parseStamp reads a probe; what follows the stamp is padding.
func parseStamp(b []byte) (s stamp, ok bool) {
	if len(b) < probeBytes {
		return s, false
	}
	s.seq = binary.BigEndian.Uint32(b)
	for i, t := range [...]*time.Duration{&s.sent, &s.echo, &s.held} {
		*t = time.Duration(binary.BigEndian.Uint64(b[4+8*i:]))
	}
	return s, within(s.sent) && s.echo < longest && within(s.held)
}

func within(t time.Duration) bool { return t >= 0 && t < longest }
