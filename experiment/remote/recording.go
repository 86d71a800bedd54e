package remote

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"wirelab/experiment/engine"
)

// recording stores the events of a session with the virtual times at which they took effect. Together
// with the configuration they are all that a replay needs.
type recording struct {
	events []byte        // encoded; see appendHeader
	last   time.Duration // time of the newest event
	full   bool          // an event was dropped because of maxRecording; the session cannot be replayed
}

// maxRecording is the largest size of a recording in bytes: about five hours of a usual session.
const maxRecording = 48 << 20

// Kinds of recorded events.
const (
	recordedAck = iota
	recordedArrival
	recordedDisplay
	rttFlag = 0x80 // flag of recordedAck: the round-trip time is known
)

// appendHeader appends the common fields of an event that took effect at now. It returns false if
// the recording is full. Layout: kind (1 byte), time since the previous event (uvarint, ns), datagram
// number (uvarint), delay (varint, ns): the round-trip time of an ack, or the delay of an arrival. The
// caller appends the data of the kind.
func (r *recording) appendHeader(kind byte, now time.Duration, number uint32, delay time.Duration) bool {
	r.full = r.full || len(r.events) >= maxRecording
	if r.full {
		return false
	}
	r.events = append(r.events, kind)
	r.events = binary.AppendUvarint(r.events, uint64(now-r.last))
	r.events = binary.AppendUvarint(r.events, uint64(number))
	r.events = binary.AppendVarint(r.events, int64(delay))
	r.last = now
	return true
}

// recordAck appends an ack that took effect at now: the header with its round-trip time, its length
// (uvarint) and its bytes.
func (r *recording) recordAck(now time.Duration, e *event) {
	kind := byte(recordedAck)
	if e.rttKnown {
		kind |= rttFlag
	}
	if r.appendHeader(kind, now, e.number, e.rtt) {
		r.events = binary.AppendUvarint(r.events, uint64(len(e.data)))
		r.events = append(r.events, e.data...)
	}
}

// recordArrival appends an arrival or new display counters that took effect at now. Both begin with a
// header. It is followed by the counters, or for an arrival by the flags of its record (1 byte), the time
// since its report (uvarint, ns) and what record.appendPackets appends.
func (r *recording) recordArrival(now time.Duration, e *event) {
	if e.isDisplay {
		if r.appendHeader(recordedDisplay, now, 0, 0) {
			r.events = appendDisplay(r.events, e.display)
		}
		return
	}
	if !r.appendHeader(recordedArrival, now, e.number, e.delay) {
		return
	}
	r.events = binary.AppendUvarint(append(r.events, e.record.flags()), uint64(now-e.reportedAt))
	r.events = e.record.appendPackets(r.events)
}

// Recording returns the recording of the session for a report. It has no events if they
// exceeded maxRecording.
func (l *Link) Recording() *engine.Remote {
	x := &engine.Remote{To: l.peerName, Version: protocolVersion}
	if !l.recorded.full {
		x.Events = slices.Clone(l.recorded.events)
	}
	return x
}

// AddRecording adds the recording to r, with a warning if the recording is too large to be stored.
func (l *Link) AddRecording(r *engine.Result) {
	r.Remote = l.Recording()
	if l.recorded.full {
		r.Warnings = append(r.Warnings,
			fmt.Sprintf("network: more than %d MB received, too much for a report: this run cannot be replayed",
				maxRecording>>20))
	}
}

// Replay returns a Link that plays back the recording in x instead of using a network. Its connection is
// nil. It returns an error if x has no recording, or one that is damaged or of another version.
func Replay(x *engine.Remote) (*Link, error) {
	if x.Version != protocolVersion {
		return nil, fmt.Errorf("network recording has version %d, expected %d", x.Version, protocolVersion)
	}
	if len(x.Events) == 0 {
		return nil, fmt.Errorf("the report has no network recording: nothing was received, or more than the %d MB that are stored",
			maxRecording>>20)
	}
	l := NewLink(nil, x.To)
	if err := l.loadEvents(x.Events); err != nil {
		return nil, err
	}
	return l, nil
}

// loadEvents decodes a recording into l.replay. It accepts arbitrary input and returns an error with
// the position at which the recording is damaged. For the layout see appendHeader, recordAck and
// recordArrival.
func (l *Link) loadEvents(events []byte) error {
	r := reader{rest: events}
	at := time.Duration(0)
	for len(r.rest) > 0 && !r.failed {
		kind := r.octet()
		elapsed, number, delay := r.uvarint(), r.uvarint(), r.varint() // delay is the round-trip time of an ack
		if elapsed > uint64(maxAge) || number > math.MaxUint32 || at > maxAge || time.Duration(delay).Abs() > maxAge {
			r.failed = true
		}
		at += time.Duration(elapsed)
		e := event{at: at, number: uint32(number)}
		switch kind {
		case recordedAck, recordedAck | rttFlag:
			e.rtt, e.rttKnown = time.Duration(delay), kind&rttFlag != 0
			e.data = append([]byte{}, r.bytes(r.uvarint())...)
			l.replay.acks = append(l.replay.acks, e)
		case recordedArrival:
			flags := r.octet()
			sinceReport := r.uvarint()
			r.failed = r.failed || sinceReport > uint64(at)
			e.delay, e.reportedAt, e.record.number = time.Duration(delay), at-time.Duration(sinceReport), e.number
			r.readPackets(&e.record, flags)
			l.replay.arrivals = append(l.replay.arrivals, e)
		case recordedDisplay:
			e.isDisplay, e.display = true, r.readDisplay()
			l.replay.arrivals = append(l.replay.arrivals, e)
		default:
			r.failed = true
		}
	}
	if r.failed {
		return fmt.Errorf("network recording is damaged at byte %d of %d", len(events)-len(r.rest), len(events))
	}
	return nil
}

// replayEvents holds the decoded events of a replay in the order of their times.
type replayEvents struct {
	acks, arrivals []event
}
