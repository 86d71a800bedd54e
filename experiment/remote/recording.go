package remote

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"wirelab/experiment/engine"
)

// recording is what came in over a session, with the virtual times at which it took effect:
// all that a replay needs beside the configuration.
type recording struct {
	events []byte
	last   time.Duration
	full   bool
}

// maxRecording bounds a recording, in bytes: some five hours of a usual session.
const maxRecording = 48 << 20

// The kinds of recorded events.
const (
	recordedAck = iota
	recordedArrival
	recordedDisplay
	timedFlag = 0x80
)

// begin begins an event; false if there is no more room.
func (r *recording) begin(kind byte, now time.Duration, number uint32, took time.Duration) bool {
	r.full = r.full || len(r.events) >= maxRecording
	if r.full {
		return false
	}
	r.events = append(r.events, kind)
	r.events = binary.AppendUvarint(r.events, uint64(now-r.last))
	r.events = binary.AppendUvarint(r.events, uint64(number))
	r.events = binary.AppendVarint(r.events, int64(took))
	r.last = now
	return true
}

// ack notes an ack that took effect at now.
func (r *recording) ack(now time.Duration, e *event) {
	kind := byte(recordedAck)
	if e.timed {
		kind |= timedFlag
	}
	if r.begin(kind, now, e.number, e.took) {
		r.events = binary.AppendUvarint(r.events, uint64(len(e.data)))
		r.events = append(r.events, e.data...)
	}
}

// arrival notes an arrival, or the counts of the display.
func (r *recording) arrival(now time.Duration, e *event) {
	if e.isCounts {
		if r.begin(recordedDisplay, now, 0, 0) {
			r.events = appendDisplay(r.events, e.display)
		}
		return
	}
	if !r.begin(recordedArrival, now, e.number, e.took) {
		return
	}
	r.events = binary.AppendUvarint(append(r.events, e.record.flags()), uint64(now-e.reportedAt))
	r.events = e.record.appendFrame(r.events)
}

// Recorded returns the recording of the session, for a report.
func (l *Link) Recorded() *engine.Remote {
	x := &engine.Remote{To: l.to, Version: protocolVersion}
	if !l.records.full {
		x.Events = slices.Clone(l.records.events)
	}
	return x
}

// AddTo adds the recording to the result of the session; a warning, if it became too large to
// be kept.
func (l *Link) AddTo(r *engine.Result) {
	r.Remote = l.Recorded()
	if l.records.full {
		r.Warnings = append(r.Warnings, fmt.Sprintf("network: more than %d MB came in, too much for a report: it cannot be replayed", maxRecording>>20))
	}
}

// Replay returns a network that does what a recorded one did.
func Replay(x *engine.Remote) (*Link, error) {
	if x.Version != protocolVersion {
		return nil, fmt.Errorf("its recording of the network is of version %d; this one reads version %d", x.Version, protocolVersion)
	}
	if len(x.Events) == 0 {
		return nil, fmt.Errorf("it holds no recording of the network: nothing came in, or more than %d MB", maxRecording>>20)
	}
	l := NewLink(nil, x.To)
	if err := l.play(x.Events); err != nil {
		return nil, err
	}
	return l, nil
}

// play reads a recording.
func (l *Link) play(events []byte) error {
	r := reader{data: events}
	at := time.Duration(0)
	for len(r.data) > 0 && !r.bad {
		kind := r.octet()
		step, number, took := r.uvarint(), r.uvarint(), r.varint()
		if step > uint64(maxAge) || number > 1<<32-1 || at > maxAge {
			r.bad = true
		}
		at += time.Duration(step)
		e := event{at: at, number: uint32(number), took: time.Duration(took)}
		switch kind {
		case recordedAck, recordedAck | timedFlag:
			e.timed = kind&timedFlag != 0
			e.data = append([]byte{}, r.bytes(r.uvarint())...)
			l.played.acks = append(l.played.acks, e)
		case recordedArrival:
			flags := r.octet()
			waited := r.uvarint()
			r.bad = r.bad || waited > uint64(at)
			e.reportedAt, e.record.number = at-time.Duration(waited), e.number
			r.frame(&e.record, flags)
			l.played.arrivals = append(l.played.arrivals, e)
		case recordedDisplay:
			e.isCounts, e.display = true, r.display()
			l.played.arrivals = append(l.played.arrivals, e)
		default:
			r.bad = true
		}
	}
	if r.bad {
		return fmt.Errorf("its recording of the network is damaged at byte %d of %d", len(events)-len(r.data), len(events))
	}
	return nil
}

// played is what a replay lets happen.
type played struct{ acks, arrivals []event }
