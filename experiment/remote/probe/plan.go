package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"wirelab/experiment/remote/channel"
)

// Purpose is the channel purpose of a measurement.
const Purpose = 2

// Streams of the channel.
const (
	streamPlan   uint8 = iota + 1 // the plan; the same bytes in return accept it
	streamProbe                   // probes, both directions
	streamResult                  // the number of the requested block (2 bytes); the block in return
)

// Plan describes what both sides send.
type Plan struct {
	Duration time.Duration // a multiple of 1 ms
	Interval time.Duration // between two datagrams of one direction; a multiple of 1 µs
	Up, Down int           // UDP payload in bytes, from the initiator to the responder and back
}

// Limits of plans. They bound the traffic that a responder can be made to send.
const (
	minSize     = channel.Overhead + timestampBytes
	minUp       = channel.Overhead + seqBytes // smaller than minSize: see Plan.short
	maxSize     = 1400
	minInterval = time.Millisecond
	maxInterval = time.Second
	maxDuration = 5 * time.Minute
	maxPackets  = 1 << 16
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
		return fmt.Errorf("%w: duration %v, expected at most %v and at least one interval", errPlan, p.Duration,
			maxDuration)
	case p.Packets() > maxPackets:
		return fmt.Errorf("%w: %d datagrams in each direction, expected at most %d", errPlan, p.Packets(), maxPackets)
	case p.Up < minUp || p.Up > maxSize:
		return fmt.Errorf("%w: datagrams of %d bytes up, expected %d to %d, of which encryption takes %d", errPlan, p.Up, minUp, maxSize, channel.Overhead)
	case p.Down < minSize || p.Down > maxSize:
		return fmt.Errorf("%w: datagrams of %d bytes down, expected %d to %d", errPlan, p.Down, minSize, maxSize)
	}
	return nil
}

// short reports whether the datagrams of the initiator are too small for timestamps. They contain only their seq, and
// the initiator, which knows when it sent each, computes their delays. The responder echoes the seq in the place of
// the send time.
func (p *Plan) short() bool { return p.Up < minSize }

// planBytes is the encoded size: milliseconds (4), microseconds (4), up (2), down (2), big
// endian.
const planBytes = 4 + 4 + 2 + 2

// append appends the encoded plan to dst, in the layout of planBytes.
func (p *Plan) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(p.Duration/time.Millisecond))
	dst = binary.BigEndian.AppendUint32(dst, uint32(p.Interval/time.Microsecond))
	dst = binary.BigEndian.AppendUint16(dst, uint16(p.Up))
	return binary.BigEndian.AppendUint16(dst, uint16(p.Down))
}

// parsePlan parses and checks a plan.
func parsePlan(b []byte) (Plan, error) {
	if len(b) != planBytes {
		return Plan{}, fmt.Errorf("%w: %d bytes, expected %d", errPlan, len(b), planBytes)
	}
	p := Plan{Duration: time.Duration(binary.BigEndian.Uint32(b)) * time.Millisecond,
		Interval: time.Duration(binary.BigEndian.Uint32(b[4:])) * time.Microsecond,
		Up:       int(binary.BigEndian.Uint16(b[8:])), Down: int(binary.BigEndian.Uint16(b[10:]))}
	return p, p.Check()
}

// timestamps are the contents of a probe. Times are relative to the start of the endpoint whose
// clock measured them.
type timestamps struct {
	seq       uint32
	sent      time.Duration // by the clock of the sender of this probe
	echoSent  time.Duration // send time of the newest received probe, by its sender's clock; negative if none was received
	echoDelay time.Duration // time from the arrival of that probe to the sending of this one
}

// timestampBytes is the encoded size: seq (4), sent, echoSent and echoDelay in nanoseconds (8
// each), big endian.
const timestampBytes = seqBytes + 3*8

// seqBytes is the encoded size of seq.
const seqBytes = 4

// append appends the encoded timestamps to dst, in the layout of timestampBytes.
func (s *timestamps) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, s.seq)
	for _, t := range [...]time.Duration{s.sent, s.echoSent, s.echoDelay} {
		dst = binary.BigEndian.AppendUint64(dst, uint64(t))
	}
	return dst
}

// maxTime limits received times so that sums cannot overflow.
const maxTime = 30 * 24 * time.Hour

// parseShort parses a probe of a plan that is short, as the responder receives it. The seq takes the place of the send
// time, and nothing is echoed. ok is false if the probe is too small.
func parseShort(b []byte) (s timestamps, ok bool) {
	if len(b) < seqBytes {
		return s, false
	}
	seq := binary.BigEndian.Uint32(b)
	return timestamps{seq: seq, sent: time.Duration(seq), echoSent: -1}, true
}

// parseTimestamps parses a probe; the bytes after the timestamps are padding. ok is false if the
// probe is too short or a time is out of range.
func parseTimestamps(b []byte) (s timestamps, ok bool) {
	if len(b) < timestampBytes {
		return s, false
	}
	s.seq = binary.BigEndian.Uint32(b)
	for i, t := range [...]*time.Duration{&s.sent, &s.echoSent, &s.echoDelay} {
		*t = time.Duration(binary.BigEndian.Uint64(b[4+8*i:]))
	}
	// A negative echoSent means that the peer has received no probe.
	return s, isValidTime(s.sent) && s.echoSent < maxTime && isValidTime(s.echoDelay)
}

// isValidTime reports whether a received time is from 0 to below maxTime.
func isValidTime(t time.Duration) bool { return t >= 0 && t < maxTime }
