package lossmodel

import (
	"fmt"
	"slices"
	"time"

	"wirelab/lossmodel/tracefile"
)

// Link is one direction of a modelled network. It must not be used concurrently.
type Link struct {
	spec     Spec
	files    *tracefile.Library
	pipe     pipeline
	now      time.Duration // time of the last Send
	enqueued uint64        // packets put in flight so far, including copies

	rate  *rateStage  // of pipe
	delay *delayStage // of pipe

	inFlight heap
	pool     pool
	lentSlot int32 // slot whose data the caller of Receive may read; noSlot if none

	fate, copyFate Fate                  // buffers of Send, reused
	trails         *[1 + MaxCopies]Trail // trails of the last Send, by copy; nil if RecordTrails was not called
}

// noSlot is Link.lentSlot if no data are lent.
const noSlot = -1

// NewLink returns a link with the settings of spec. The random stream of each stage is seeded
// from seed and name+"."+stage, such as "down.loss", so the two links of a session differ. Files
// that the spec names are read from disk.
func NewLink(spec Spec, seed uint64, name string) (*Link, error) {
	return NewLinkWith(nil, spec, seed, name)
}

// NewLinkWith is like NewLink but reads files with load; nil means tracefile.ReadFile.
func NewLinkWith(load tracefile.Loader, spec Spec, seed uint64, name string) (*Link, error) {
	files := tracefile.NewLibrary(load)
	l := &Link{files: files, pipe: newPipeline(&stageContext{seed, name, files}), lentSlot: noSlot}
	l.findStages()
	if err := l.Reshape(spec); err != nil {
		return nil, fmt.Errorf("link %s: %w", name, err)
	}
	return l, nil
}

// Reshape is ReshapeAt at the time of the last Send.
func (l *Link) Reshape(spec Spec) error { return l.ReshapeAt(l.now, spec) }

// ReshapeAt replaces the spec at now, which must not be before the last Send. It resets no state. Of the packets in
// flight it changes only those in the queue, which leave at the new rate. The random stream of a stage starts when
// the stage is first on, and continues where it stopped when the stage is on again. Files that this link has read before
// are not read again. After an error the link is unchanged.
func (l *Link) ReshapeAt(now time.Duration, spec Spec) error {
	if err := spec.Validate(); err != nil {
		return err
	}
	spec, err := openFiles(l.files, spec)
	if err != nil {
		return err
	}
	changesRate := l.reshapeRate(now, &spec)
	rateBefore := l.rate.rate
	l.spec = spec
	l.pipe.advance(now)
	l.pipe.reshape(&l.spec)
	if n := l.rate.line; n != nil {
		if changesRate {
			n.retime(now, rateBefore)
		}
		n.configure(&l.spec.Rate)
	}
	return nil
}

// findStages sets the references to stages of the pipeline.
func (l *Link) findStages() {
	for _, stage := range l.pipe.stages {
		switch s := stage.(type) {
		case *rateStage:
			l.rate = s
		case *delayStage:
			l.delay = s
		}
	}
}

// Spec returns the current spec, with the hashes of the files that were read.
func (l *Link) Spec() Spec { return l.spec }

// InFlight returns the number of deliveries in flight, including copies.
func (l *Link) InFlight() int {
	n := len(l.inFlight)
	if l.rate.line != nil {
		n += l.rate.line.queue.Owned(linkOwner).Packets
	}
	return n
}

// Send passes a datagram to the link at virtual time now and returns what the link decided about the
// datagram and the copies that it made. now must not decrease between calls, and the datagram must
// have at most MaxDatagram bytes; otherwise Send panics. The data are copied. tag is returned with
// each delivery.
func (l *Link) Send(now time.Duration, datagram []byte, tag uint64) Verdict {
	if now < l.now {
		panic(fmt.Sprintf("lossmodel: Send at %v after Send at %v: virtual time must not decrease", now, l.now))
	}
	if len(datagram) > MaxDatagram {
		panic(fmt.Sprintf("lossmodel: datagram has %d bytes, expected at most %d", len(datagram),
			MaxDatagram))
	}
	l.now = now
	if l.rate.line != nil {
		l.runLine(now)
	}
	l.freeLent() // reuses the buffer of the delivery that Receive returned before

	var v Verdict
	v.Wire, v.Fragments = WireBytes(len(datagram), l.spec.MTU)
	f := &l.fate
	f.reset(0, v.Fragments)
	l.applyStages(now, len(datagram), f)
	v.Lost = f.Lost
	if v.Lost == None {
		v.Lost = l.enqueue(now, datagram, tag, f)
		v.Due = now + f.Delay
		v.Waiting = f.waits
		if v.Waiting {
			v.Due += l.rate.drainTime(now)
		}
	}
	v.Copies = len(f.Copies)
	for i, extra := range f.Copies {
		c := &l.copyFate
		c.reset(i+1, v.Fragments)
		l.applyStages(now, len(datagram), c)
		// extra is negative if the link replays a capture in which the copy arrived before its datagram.
		c.Delay = max(0, c.Delay+extra)
		if t := l.Trail(c.Copy); t != nil {
			t.Steps[0].Delay += extra // counts for the first stage, the one that makes copies
		}
		v.CopyLost[i] = c.Lost
		if c.Lost == None {
			v.CopyLost[i] = l.enqueue(now, datagram, tag, c)
		}
	}
	return v
}

// enqueue adds a packet, the datagram or a copy of it, to the packets in flight. It is due f.Delay after now, or after
// it has left the line if it waits for that. Its data are a copy of the datagram's data in which the bits at the
// positions f.Corrupt are flipped. The result is Queue if the packet is dropped before the line, otherwise None.
func (l *Link) enqueue(now time.Duration, datagram []byte, tag uint64, f *Fate) Cause {
	slot := l.pool.alloc(len(datagram))
	p := &l.pool.packets[slot]
	p.data = append(p.data[:0], datagram...)
	p.sent, p.tag, p.copyNumber = now, tag, f.Copy
	p.lost, p.waited, p.leaves = None, 0, 0
	p.flipped = len(f.Corrupt)
	for _, bit := range f.Corrupt { // bit 0 is the lowest of byte 0
		p.data[bit>>3] ^= 1 << (bit & 7)
	}
	if f.waits {
		p.lineTimes = f.lineTimes
		p.delayAfter = f.Delay - p.ownDelay
		lost := l.enqueueOnLine(now, slot)
		l.collectServed()
		if t := l.Trail(f.Copy); t != nil && lost != None {
			t.Step(StageRate).Lost = lost
		}
		return lost
	}
	if f.lineBytes > 0 { // the queue may be re-timed
		p.lineTimes = f.lineTimes
		p.delayAfter = now + f.Delay - p.departs
	}
	l.inFlight.push(heapEntry{due: int64(now + f.Delay), seq: l.enqueued, slot: slot})
	l.enqueued++
	return None
}

// Next returns when Receive must be called next; false if nothing is in flight. That is when the next delivery is
// due, or earlier, because packets that wait before a line have no due time yet.
func (l *Link) Next() (due time.Duration, ok bool) {
	if len(l.inFlight) > 0 {
		due, ok = time.Duration(l.inFlight[0].due), true
	}
	if l.rate.line != nil {
		if at, any := l.rate.line.next(); any && (!ok || at < due) {
			return at, true
		}
	}
	return due, ok
}

// Receive returns the next delivery that is due at or before now, in order of due time and then
// of sending; false if none.
func (l *Link) Receive(now time.Duration) (Delivery, bool) {
	l.freeLent()
	if l.rate.line != nil {
		l.runLine(now)
	}
	if len(l.inFlight) == 0 || l.inFlight[0].due > int64(now) {
		return Delivery{}, false
	}
	e := l.inFlight.pop()
	l.lentSlot = e.slot
	p := &l.pool.packets[e.slot]
	return Delivery{
		Data: p.data, Sent: p.sent, Due: time.Duration(e.due), Tag: p.tag,
		Copy: p.copyNumber, Flipped: p.flipped, Lost: p.lost, Waited: p.waited,
	}, true
}

// freeLent frees the slot whose data the last Receive returned.
func (l *Link) freeLent() {
	if l.lentSlot != noSlot {
		l.pool.free(l.lentSlot)
		l.lentSlot = noSlot
	}
}

// Fork returns an independent copy of the link in the same state. Packets sent through either
// have the same fate, so a receiver that joins late is treated like one that was there from the
// start.
//
// Packets in flight arrive at the copy at the same times and with the same damage, but without
// data and with the given tag.
func (l *Link) Fork(tag uint64) *Link {
	f := &Link{spec: l.spec, files: l.files, now: l.now, enqueued: l.enqueued, inFlight: slices.Clone(l.inFlight),
		lentSlot: noSlot}
	// The copy has no buffers, so its pool.freeBytes stays 0.
	f.pool.packets, f.pool.freeSlots = slices.Clone(l.pool.packets), slices.Clone(l.pool.freeSlots)
	for i := range f.pool.packets {
		f.pool.packets[i].data, f.pool.packets[i].tag = nil, tag
	}
	if l.lentSlot != noSlot { // the caller of l.Receive reads this slot of l; in the copy it is free
		f.pool.free(l.lentSlot)
	}
	f.pipe = l.pipe.fork()
	f.pipe.reshape(&f.spec)
	f.findStages()
	return f
}
