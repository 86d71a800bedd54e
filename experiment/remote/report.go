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
	number      uint32                // number of the datagram
	arrivedAt   time.Duration         // by the receiver's clock, since the session began there
	packet      engine.PacketReport   // of the packet that the datagram is; unused if it is a container
	isContainer bool                  // or a segment of a stream
	packets     []engine.PacketReport // of the packets of a container, at most maxContainerPackets
	delivered   engine.Fingerprint    // DeliverySum of what a container or segment completed; zero if nothing
}

// maxReportBytes keeps a report below the MTU of common paths. The other sizes are the largest of encoded parts.
const (
	maxReportBytes = 1100
	maxPacketBytes = 1 + 2 + len(engine.Fingerprint{})                                  // flags, sequence number, fingerprint
	maxRecordBytes = 5 + 10 + maxPacketBytes                                            // number and time deltas (varints), packet
	containerBytes = len(engine.Fingerprint{}) + maxContainerPackets*(2+maxPacketBytes) // what a container adds
)

// Flags of a record. The low bits are the outcome of a packet, or the number of packets in a container.
const (
	decodedFlag         = 0x80 // a packet: a frame was decoded
	containerFlag       = 0x40
	deliveredFlag       = 0x20 // a container or segment: it completed something
	maxContainerPackets = 0x1f
)

// packetFlags returns the outcome of a packet, with decodedFlag if a fingerprint follows.
func packetFlags(x *engine.PacketReport) byte {
	if x.Decoded {
		return byte(x.Outcome) | decodedFlag
	}
	return byte(x.Outcome)
}

// appendFrame appends the sequence number (2 bytes) and the fingerprint of a decoded frame. It
// appends nothing if the packet was not decoded.
func appendFrame(dst []byte, x *engine.PacketReport) []byte {
	if !x.Decoded {
		return dst
	}
	return append(binary.LittleEndian.AppendUint16(dst, x.Number), x.Frame[:]...)
}

// readFrame sets the outcome of x from the flags of a packet and, if decodedFlag is set, reads what appendFrame
// wrote.
func (r *reader) readFrame(x *engine.PacketReport, flags byte) {
	x.Outcome, x.Decoded = endpoint.Outcome(flags&^decodedFlag), flags&decodedFlag != 0
	r.failed = r.failed || x.Outcome > endpoint.UnknownCodec
	if x.Decoded {
		x.Number = r.uint16()
		copy(x.Frame[:], r.bytes(uint64(len(x.Frame))))
	}
}

func (x *record) flags() byte {
	if !x.isContainer {
		return packetFlags(&x.packet)
	}
	flags := containerFlag | byte(len(x.packets))
	if x.delivered != (engine.Fingerprint{}) {
		flags |= deliveredFlag
	}
	return flags
}

// appendPackets appends what the flags announce: the frame of a packet; or of a container or segment the fingerprint of
// what it completed, and of each packet in a container the number of its container (2 bytes), its flags (1 byte) and its frame.
func (x *record) appendPackets(dst []byte) []byte {
	if !x.isContainer {
		return appendFrame(dst, &x.packet)
	}
	if x.delivered != (engine.Fingerprint{}) {
		dst = append(dst, x.delivered[:]...)
	}
	for i := range x.packets {
		p := &x.packets[i]
		dst = append(binary.LittleEndian.AppendUint16(dst, p.Container), packetFlags(p))
		dst = appendFrame(dst, p)
	}
	return dst
}

// readPackets reads what appendPackets wrote.
func (r *reader) readPackets(x *record, flags byte) {
	x.isContainer = flags&(containerFlag|decodedFlag) == containerFlag
	if !x.isContainer {
		r.readFrame(&x.packet, flags)
		return
	}
	if flags&deliveredFlag != 0 {
		copy(x.delivered[:], r.bytes(uint64(len(x.delivered))))
		r.failed = r.failed || x.delivered == engine.Fingerprint{}
	}
	for range flags & maxContainerPackets {
		p := engine.PacketReport{Container: r.uint16()}
		r.readFrame(&p, r.octet())
		x.packets = append(x.packets, p)
	}
}

// report is a message from the receiver to the sender. Layout after the session byte: firstRecord
// (uvarint), the display counters (uvarints), records to the end. A record holds its number
// (varint) and its time in microseconds (varint), both as differences to the previous record of
// the report, the flags (1 byte), and what record.appendPackets appends.
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
		if x.isContainer && len(dst)-start+maxRecordBytes+containerBytes > maxReportBytes {
			break
		}
		dst = binary.AppendVarint(dst, int64(x.number)-int64(last.number))
		dst = binary.AppendVarint(dst, x.arrivedAt.Microseconds()-last.arrivedAt.Microseconds())
		dst = x.appendPackets(append(dst, x.flags()))
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
		r.readPackets(&x, flags)
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
