package remote

import (
	"encoding/binary"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
)

// record describes one datagram that arrived at the receiver.
type record struct {
	number      uint32             // number of the datagram
	arrivedAt   time.Duration      // by the receiver's clock, since the session began there
	outcome     endpoint.Outcome   // what the receiver did with it
	decoded     bool               // seqLow and fingerprint are valid
	seqLow      uint16             // low 16 bits of the sequence number that the receiver decoded
	fingerprint engine.Fingerprint // of the decoded frame
}

// maxReportBytes keeps a report below the MTU of common paths. maxRecordBytes is the largest
// encoded record: number delta (varint), time delta (varint), flags, sequence number, fingerprint.
const (
	maxReportBytes = 1100
	maxRecordBytes = 5 + 10 + 1 + 2 + len(engine.Fingerprint{})
	decodedFlag    = 0x80 // in the flags of a record
)

// flags returns the outcome, with decodedFlag if a fingerprint follows.
func (x *record) flags() byte {
	if x.decoded {
		return byte(x.outcome) | decodedFlag
	}
	return byte(x.outcome)
}

// appendFingerprint appends the sequence number (2 bytes) and the fingerprint of a decoded frame. It
// appends nothing if the datagram was not decoded.
func (x *record) appendFingerprint(dst []byte) []byte {
	if !x.decoded {
		return dst
	}
	return append(binary.LittleEndian.AppendUint16(dst, x.seqLow), x.fingerprint[:]...)
}

// readFingerprint sets the outcome of x from the flags of a record and, if decodedFlag is set, reads
// what appendFingerprint wrote.
func (r *reader) readFingerprint(x *record, flags byte) {
	x.outcome, x.decoded = endpoint.Outcome(flags&^decodedFlag), flags&decodedFlag != 0
	r.failed = r.failed || x.outcome > endpoint.UnknownCodec
	if !x.decoded {
		return
	}
	if b := r.bytes(2 + uint64(len(x.fingerprint))); b != nil {
		x.seqLow = binary.LittleEndian.Uint16(b)
		copy(x.fingerprint[:], b[2:])
	}
}

// report is a message from the receiver to the sender. Layout after the session byte: firstRecord
// (uvarint), the display counters (uvarints), records to the end. A record holds its number
// (varint) and its time in microseconds (varint), both as differences to the previous record of
// the report, the flags (1 byte), and the fingerprint of a decoded frame.
type report struct {
	firstRecord uint64 // index of the first record, counted from the start of the session
	display     meters.DisplayCounts
	records     []record
}

// displayCounters returns pointers to the counters of d in the order in which they are encoded.
func displayCounters(d *meters.DisplayCounts) [5]*int64 {
	return [...]*int64{&d.Shown, &d.Starved, &d.Freezes, &d.Longest, &d.Late}
}

// appendDisplay appends the counters of the display as uvarints, in the order of displayCounters.
func appendDisplay(dst []byte, d meters.DisplayCounts) []byte {
	for _, n := range displayCounters(&d) {
		dst = binary.AppendUvarint(dst, uint64(*n))
	}
	return dst
}

// readDisplay reads what appendDisplay wrote. Counters above the range of int64 set failed.
func (r *reader) readDisplay() (d meters.DisplayCounts) {
	for _, n := range displayCounters(&d) {
		v := r.uvarint()
		*n = int64(v)
		if *n < 0 {
			r.failed = true
		}
	}
	return d
}

// append appends the message to dst with as many records as fit into maxReportBytes. n is the number
// of these records. Number and arrival time (µs) of a record are encoded as differences to the record before.
func (m *report) append(dst []byte, session uint8) (msg []byte, n int) {
	start := len(dst)
	dst = append(dst, session)
	dst = binary.AppendUvarint(dst, m.firstRecord)
	dst = appendDisplay(dst, m.display)
	last := record{}
	for n < len(m.records) && len(dst)-start+maxRecordBytes <= maxReportBytes {
		x := &m.records[n]
		dst = binary.AppendVarint(dst, int64(x.number)-int64(last.number))
		dst = binary.AppendVarint(dst, x.arrivedAt.Microseconds()-last.arrivedAt.Microseconds())
		dst = x.appendFingerprint(append(dst, x.flags()))
		last = *x
		n++
	}
	return dst, n
}

// parse reads a message without its session byte. It accepts arbitrary input and reuses
// m.records.
func (m *report) parse(src []byte) error {
	r := reader{rest: src}
	m.firstRecord, m.display, m.records = r.uvarint(), r.readDisplay(), m.records[:0]
	last := record{}
	for len(r.rest) > 0 && !r.failed {
		x := record{}
		number, us, flags := int64(last.number)+r.varint(), last.arrivedAt.Microseconds()+r.varint(), r.octet()
		x.number, x.arrivedAt = uint32(number), time.Duration(us)*time.Microsecond
		// number must fit into a uint32.
		r.failed = r.failed || number != int64(x.number) || us < 0 || us > int64(maxAge/time.Microsecond)
		r.readFingerprint(&x, flags)
		if !r.failed {
			m.records = append(m.records, x)
		}
		last = x
	}
	if r.failed {
		return malformed("report", src)
	}
	return nil
}

// maxAge exceeds the length of any session. Times are checked against it so that sums cannot
// overflow.
const maxAge = 100 * 365 * 24 * time.Hour

// confirmation is a message from the sender to the receiver, sent in answer to reports and at
// intervals. Layout after the session byte: flags (1 byte), recordsRead, playout and timeLost in
// microseconds (uvarints); with a playout policy also send in microseconds (uvarint) and the text of the policy.
type confirmation struct {
	recordsRead uint64        // records received without a gap since the start of the session
	playout     time.Duration // playout delay of the receiver's display
	policy      string        // playout policy that replaces the delay; empty for none
	send        time.Duration // time between two packets, for the policy; 0 without a policy
	timeLost    time.Duration // how far virtual time fell behind the wall clock, pauses excluded
	paused      bool          // virtual time is paused at the sender
	ending      bool          // no further packets are sent; report more often
	resend      bool          // a gap was found: send all records from recordsRead again
}

// maxPolicyBytes is the maximum length of the text of a playout policy.
const maxPolicyBytes = 200

// Flags of a confirmation.
const (
	pausedFlag = 1 << iota
	endingFlag
	resendFlag
)

// append appends the encoded message to dst.
func (c *confirmation) append(dst []byte, session uint8) []byte {
	flags := byte(0)
	if c.paused {
		flags |= pausedFlag
	}
	if c.ending {
		flags |= endingFlag
	}
	if c.resend {
		flags |= resendFlag
	}
	dst = append(dst, session, flags)
	dst = binary.AppendUvarint(dst, c.recordsRead)
	dst = binary.AppendUvarint(dst, uint64(c.playout/time.Microsecond))
	dst = binary.AppendUvarint(dst, uint64(c.timeLost/time.Microsecond))
	if c.policy != "" {
		dst = append(binary.AppendUvarint(dst, uint64(c.send/time.Microsecond)), c.policy...)
	}
	return dst
}

// setPlayout sets the playout delay or policy to that of cfg, and reports whether it changed.
func (c *confirmation) setPlayout(cfg *config.Config) (changed bool) {
	before := *c
	c.playout, c.policy, c.send = cfg.Receiver.Playout, "", 0
	if t := cfg.Playout(); !t.IsFixed() {
		c.policy, c.send = t.String(), cfg.PlayoutRhythm(1).Send.Truncate(time.Microsecond) // the other intervals are not sent
	}
	return *c != before
}

// parse reads a message without its session byte. It accepts arbitrary input.
func (c *confirmation) parse(src []byte) error {
	r := reader{rest: src}
	flags := r.octet()
	c.paused, c.ending, c.resend = flags&pausedFlag != 0, flags&endingFlag != 0, flags&resendFlag != 0
	c.recordsRead = r.uvarint()
	playout, lost := r.uvarint(), r.uvarint() // microseconds
	send := uint64(0)
	c.policy = ""
	if len(r.rest) > 0 {
		send = r.uvarint()
		c.policy = string(r.rest)
	}
	if r.failed || len(c.policy) > maxPolicyBytes || (c.policy == "") != (send == 0) || send > uint64(time.Minute/time.Microsecond) || playout > uint64(time.Minute/time.Microsecond) ||
		lost > uint64(maxAge/time.Microsecond) {
		return malformed("confirmation", src)
	}
	c.send = time.Duration(send) * time.Microsecond
	c.playout, c.timeLost = time.Duration(playout)*time.Microsecond, time.Duration(lost)*time.Microsecond
	return nil
}
