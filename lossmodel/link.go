package lossmodel

import (
	"fmt"
	"slices"
	"time"

	"wirelab/lossmodel/tracefile"
)

// Link is one direction of a modelled network. It is not safe for concurrent
// use: it belongs to one event loop.
type Link struct {
	spec  Spec
	files *tracefile.Library
	pipe  pipeline
	now   time.Duration // of the last Send
	sent  uint64        // packets filed so far, copies included

	flying heap
	pool   pool
	lent   int32 // slot whose bytes the caller reads, or noSlot

	fate, copyFate Fate                  // reused
	trails         *[1 + MaxCopies]Trail // of the last Send; nil: nobody watches
}

const noSlot = -1

// NewLink returns a link that behaves as spec says. Each stage's stream is
// seeded from seed and name+"."+stage ("down.loss"), so the links of one session
// differ. Files that the spec names are read from disk.
func NewLink(spec Spec, seed uint64, name string) (*Link, error) {
	return NewLinkWith(nil, spec, seed, name)
}

// NewLinkWith is NewLink with files from elsewhere.
func NewLinkWith(load tracefile.Loader, spec Spec, seed uint64, name string) (*Link, error) {
	files := tracefile.NewLibrary(load)
	l := &Link{files: files, pipe: newPipeline(&stageContext{seed, name, files}), lent: noSlot}
	if err := l.Reshape(spec); err != nil {
		return nil, fmt.Errorf("link %s: %w", name, err)
	}
	return l, nil
}

// Reshape replaces the link's whole spec. It resets no state and re-times
// nothing that is in flight; a stage that is switched on for the first time
// starts its stream, one that was off for a while goes on where it stopped. A
// file that this link has read before is not read again. On error the link stays
// as it was.
func (l *Link) Reshape(spec Spec) error {
	if err := spec.Validate(); err != nil {
		return err
	}
	spec, err := pin(l.files, spec)
	if err != nil {
		return err
	}
	l.spec = spec
	l.pipe.reshape(&l.spec)
	return nil
}

// Spec returns what the link does at present, with the hashes of the files that it
// has read.
func (l *Link) Spec() Spec { return l.spec }

// InFlight returns how many deliveries are under way, copies included.
func (l *Link) InFlight() int { return len(l.flying) }

// Send gives a datagram of at most MaxDatagram bytes to the link at virtual time
// now, which must not be earlier than that of the last call. The bytes are
// copied. tag is handed back with each delivery and never travels.
func (l *Link) Send(now time.Duration, datagram []byte, tag uint64) Verdict {
	if now < l.now {
		panic(fmt.Sprintf("lossmodel: Send at %v after Send at %v: virtual time must not run backwards", now, l.now))
	}
	if len(datagram) > MaxDatagram {
		panic(fmt.Sprintf("lossmodel: a datagram of %d bytes; IPv4 carries at most %d: refuse it before sending", len(datagram),
			MaxDatagram))
	}
	l.now = now
	l.release()

	var v Verdict
	v.Wire, v.Fragments = WireBytes(len(datagram), l.spec.MTU)
	f := &l.fate
	f.reset(0, v.Fragments)
	l.pass(now, len(datagram), f)
	v.Lost = f.Lost
	if v.Lost == None {
		v.Due = now + f.Delay
		l.file(now, datagram, tag, f)
	}
	v.Copies = len(f.Copies)
	for i, later := range f.Copies {
		c := &l.copyFate
		c.reset(i+1, v.Fragments)
		l.pass(now, len(datagram), c)
		c.Delay = max(0, c.Delay+later)
		if t := l.Trail(c.Copy); t != nil && t.N > 0 {
			t.Steps[0].Took += later // the first stage that a copy passes is the one that made it
		}
		v.CopyLost[i] = c.Lost
		if c.Lost == None {
			l.file(now, datagram, tag, c)
		}
	}
	return v
}

// file puts a packet that will be delivered under way.
func (l *Link) file(now time.Duration, datagram []byte, tag uint64, f *Fate) {
	slot := l.pool.take(len(datagram))
	p := &l.pool.flights[slot]
	p.data = append(p.data[:0], datagram...)
	p.sent, p.tag, p.number = now, tag, f.Copy
	p.flipped = len(f.Corrupt)
	p.damaged = p.flipped > 0 && l.spec.Corrupt.Checksum
	for _, bit := range f.Corrupt {
		p.data[bit>>3] ^= 1 << (bit & 7)
	}
	l.flying.push(entry{due: int64(now + f.Delay), seq: l.sent, slot: slot})
	l.sent++
}

// Next returns when the next delivery is due; ok is false if nothing is in
// flight.
func (l *Link) Next() (due time.Duration, ok bool) {
	if len(l.flying) == 0 {
		return 0, false
	}
	return time.Duration(l.flying[0].due), true
}

// Receive returns the next delivery that is due at or before now: ordered by due
// time, then by order of sending.
func (l *Link) Receive(now time.Duration) (Delivery, bool) {
	l.release()
	if len(l.flying) == 0 || l.flying[0].due > int64(now) {
		return Delivery{}, false
	}
	e := l.flying.pop()
	l.lent = e.slot
	p := &l.pool.flights[e.slot]
	return Delivery{
		Data: p.data, Sent: p.sent, Due: time.Duration(e.due), Tag: p.tag,
		Copy: p.number, Flipped: p.flipped, Damaged: p.damaged,
	}, true
}

// release takes back the buffer that the last Receive lent out.
func (l *Link) release() {
	if l.lent != noSlot {
		l.pool.put(l.lent)
		l.lent = noSlot
	}
}

// Fork returns a second link in the same state: what is sent through it from now on
// meets the fate that it would meet here, so a receiver that joins late is treated
// like those that were there from the start. The two links share nothing that changes.
//
// Packets in flight arrive at the fork too, at the same times and as damaged as here,
// but without their bytes and with the given tag.
func (l *Link) Fork(tag uint64) *Link {
	f := &Link{spec: l.spec, files: l.files, now: l.now, sent: l.sent, flying: slices.Clone(l.flying), lent: noSlot}
	f.pool.flights, f.pool.free = slices.Clone(l.pool.flights), slices.Clone(l.pool.free) // kept stays 0: the buffers are not copied
	for i := range f.pool.flights {
		f.pool.flights[i].data, f.pool.flights[i].tag = nil, tag
	}
	if l.lent != noSlot { // lent by this link, not by the fork
		f.pool.put(l.lent)
	}
	f.pipe = l.pipe.fork()
	f.pipe.reshape(&f.spec)
	return f
}
