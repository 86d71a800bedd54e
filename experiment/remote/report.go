package remote

import (
	"encoding/binary"
	"time"

	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
)

// record is what the far end says of one datagram that arrived.
type record struct {
	number  uint32
	at      time.Duration // by the clock of the far end, since the session began there
	outcome endpoint.Outcome
	decoded bool
	taken   uint16 // the low bits of the sequence number that it was taken for
	frame   engine.Fingerprint
}

// A report is the number of its first record, counted from the beginning of the session,
// the counts of the display, and records. It fits in a datagram that no path cuts.
const (
	reportBytes = 1100
	recordBytes = 5 + 10 + 1 + 2 + len(engine.Fingerprint{}) // at most
	decodedFlag = 0x80
)

// flags returns the outcome of a record, and whether a frame follows.
func (x *record) flags() byte {
	if x.decoded {
		return byte(x.outcome) | decodedFlag
	}
	return byte(x.outcome)
}

// appendFrame appends what a record has of its frame, if it was decoded.
func (x *record) appendFrame(dst []byte) []byte {
	if !x.decoded {
		return dst
	}
	return append(binary.LittleEndian.AppendUint16(dst, x.taken), x.frame[:]...)
}

// frame reads what appendFrame wrote of a record with these flags.
func (r *reader) frame(x *record, flags byte) {
	x.outcome, x.decoded = endpoint.Outcome(flags&^decodedFlag), flags&decodedFlag != 0
	r.bad = r.bad || x.outcome > endpoint.UnknownCodec
	if !x.decoded {
		return
	}
	if b := r.bytes(2 + uint64(len(x.frame))); b != nil {
		x.taken = binary.LittleEndian.Uint16(b)
		copy(x.frame[:], b[2:])
	}
}

// report is one message to the lab.
type report struct {
	first   uint64
	display meters.DisplayCounts
	records []record
}

// counts lists the counters of a display in the order in which they travel.
func counts(d *meters.DisplayCounts) [5]*int64 {
	return [...]*int64{&d.Shown, &d.Starved, &d.Freezes, &d.Longest, &d.Late}
}

func appendDisplay(dst []byte, d meters.DisplayCounts) []byte {
	for _, n := range counts(&d) {
		dst = binary.AppendUvarint(dst, uint64(*n))
	}
	return dst
}

func (r *reader) display() (d meters.DisplayCounts) {
	for _, n := range counts(&d) {
		v := r.uvarint()
		*n = int64(v)
		if *n < 0 {
			r.bad = true
		}
	}
	return d
}

// append appends the message to dst, with as many of the records as fit; n says how many.
func (m *report) append(dst []byte, session uint8) (msg []byte, n int) {
	start := len(dst)
	dst = append(dst, session)
	dst = binary.AppendUvarint(dst, m.first)
	dst = appendDisplay(dst, m.display)
	last := record{}
	for n < len(m.records) && len(dst)-start+recordBytes <= reportBytes {
		x := &m.records[n]
		dst = binary.AppendVarint(dst, int64(x.number)-int64(last.number))
		dst = binary.AppendVarint(dst, x.at.Microseconds()-last.at.Microseconds())
		dst = x.appendFrame(append(dst, x.flags()))
		last = *x
		n++
	}
	return dst, n
}

// parse reads a message without its session. Any bytes may come.
func (m *report) parse(src []byte) error {
	r := reader{data: src}
	m.first, m.display, m.records = r.uvarint(), r.display(), m.records[:0]
	last := record{}
	for len(r.data) > 0 && !r.bad {
		x := record{}
		number, us, flags := int64(last.number)+r.varint(), last.at.Microseconds()+r.varint(), r.octet()
		x.number, x.at = uint32(number), time.Duration(us)*time.Microsecond
		r.bad = r.bad || number != int64(x.number) || us < 0 || us > int64(maxAge/time.Microsecond)
		r.frame(&x, flags)
		if !r.bad {
			m.records = append(m.records, x)
		}
		last = x
	}
	if r.bad {
		return malformed("a report", src)
	}
	return nil
}

// maxAge is longer than any session.
const maxAge = 100 * 365 * 24 * time.Hour

// confirm is what the near end answers, and says from time to time.
type confirm struct {
	read    uint64 // records
	playout time.Duration
	lost    time.Duration // by so much virtual time fell behind the wall clock, pauses apart
	paused  bool          // time stands still at the near end
	ending  bool          // nothing more is sent: report at once
	missing bool          // records that were sent before others that came: send them again
}

func (c *confirm) append(dst []byte, session uint8) []byte {
	flags := byte(0)
	if c.paused {
		flags |= 1
	}
	if c.ending {
		flags |= 2
	}
	if c.missing {
		flags |= 4
	}
	dst = append(dst, session, flags)
	dst = binary.AppendUvarint(dst, c.read)
	dst = binary.AppendUvarint(dst, uint64(c.playout/time.Microsecond))
	return binary.AppendUvarint(dst, uint64(c.lost/time.Microsecond))
}

func (c *confirm) parse(src []byte) error {
	r := reader{data: src}
	flags := r.octet()
	c.paused, c.ending, c.missing = flags&1 != 0, flags&2 != 0, flags&4 != 0
	c.read = r.uvarint()
	us, lost := r.uvarint(), r.uvarint()
	if r.bad || len(r.data) > 0 || us > uint64(time.Minute/time.Microsecond) || lost > uint64(maxAge/time.Microsecond) {
		return malformed("a confirmation", src)
	}
	c.playout, c.lost = time.Duration(us)*time.Microsecond, time.Duration(lost)*time.Microsecond
	return nil
}
