package engine

import (
	"errors"
	"time"

	"wirelab/experiment/endpoint"
	"wirelab/lossmodel"
)

// inspector records the Inside of each of a lane's packets, in a ring parallel to
// that of the records. It stores the sender's part when a packet is sent, and the
// rest when the outcome is known. In steady state it allocates nothing. A nil
// inspector does nothing.
type inspector struct {
	ring      []Inside // of record n at n % len(ring)
	cur       Inside   // of the copy whose outcome is being recorded
	told      Opened   // what an observer is shown
	usual     usual
	best      uint64 // newest packet acked to the sender
	bestAt    time.Duration
	forged    bool
	hasBest   bool
	epoch     uint64 // of the newest packet
	encoder   string
	previous  string
	age       int
	shown     uint64 // newest packet decoded
	shownAt   time.Duration
	shownSent time.Duration
	showing   bool
	run       int    // consecutive losses
	runAt     uint64 // sequence of the last of them

	incidents [numReasons]Incident
}

func newInspector(packets int) *inspector {
	return &inspector{ring: make([]Inside, packets)}
}

func (w *inspector) at(record uint64) *Inside { return &w.ring[record%uint64(len(w.ring))] }

// sent records a packet that was just sent.
func (w *inspector) sent(l *lane, f *flight, p *endpoint.Packet, m *made, v *lossmodel.Verdict) {
	if w == nil {
		return
	}
	w.follow(p)
	in := w.at(f.record)
	*in = Inside{Header: p.Header, Fragments: v.Fragments, Second: p.Second, WithoutMemo: p.WithoutMemo,
		Age: w.age, Previous: w.previous, Usual: w.usual.means(), History: l.rcv.History().Len()}
	if l.downLink != nil {
		in.Trail = *l.downLink.Trail(0)
	}
	in.Spent.set(&l.budget)
	if p.Baseline > 0 {
		if base := l.records.find(p.Seq - uint64(p.Baseline)); base != nil {
			in.BaseSent = base.Sent
		}
		if w.hasBest && w.best == p.Seq-uint64(p.Baseline) {
			in.BaseAcked, in.AckDamaged = w.bestAt, w.forged
		}
	}
	f.trails = f.trails[:0]
	for number := 1; number <= v.Copies; number++ {
		f.trails = append(f.trails, *l.downLink.Trail(number))
	}
	if in.spiked(&f.rec) {
		in.AfterBaseline = w.fatesAfter(&l.records, f.rec.Seq, f.rec.Baseline, f.rec.Sent)
		w.incident(spikeReason(&f.rec, in), &f.rec, in, f.rec.Sent)
	}
	w.usual.add(p, m.changed)
}

// follow counts the packets since the encoder was last swapped.
func (w *inspector) follow(p *endpoint.Packet) {
	w.age++
	if w.encoder == "" || p.Epoch != w.epoch {
		w.previous, w.encoder, w.epoch, w.age = w.encoder, p.Codec, p.Epoch, 0
	}
}

// begin loads the Inside of a copy whose outcome is to be recorded.
func (w *inspector) begin(f *flight, number int, held bool) {
	if w == nil {
		return
	}
	w.cur = Inside{}
	if held {
		w.cur = *w.at(f.record)
	}
	if number > 0 && number <= len(f.trails) {
		w.cur.Trail = f.trails[number-1]
	}
}

// arrived records the result of the receiver.
func (w *inspector) arrived(l *lane, rx *reception, flipped int) {
	if w == nil {
		return
	}
	in, rec := &w.cur, &l.rec
	in.Flipped, in.Err = flipped, rx.Err
	if rx.Frame != nil || errors.Is(rx.Err, endpoint.ErrDoubted) {
		in.TakenFor = rx.Seq
	}
	in.Newer, in.NewerSent, in.NewerAt = w.shown, w.shownSent, w.shownAt
	switch {
	case rx.Outcome == endpoint.NoBaseline:
		w.missed(l)
	case rx.Frame == nil:
	case rec.Baseline == 0:
		in.Base = BaseInitial
	default:
		in.Base = BaseHeld
	}
	if rx.Frame != nil && !rx.tainted && (!w.showing || rec.Seq > w.shown) {
		w.shown, w.shownSent, w.shownAt, w.showing = rec.Seq, rec.Sent, rec.Arrived, true
	}
}

// missed determines why the receiver does not hold a reference.
func (w *inspector) missed(l *lane) {
	in, rec := &w.cur, &l.rec
	in.Missing = rec.Seq - uint64(rec.Baseline)
	if in.Second > 0 && l.rcv.History().Get(in.Missing) != nil {
		in.Missing = rec.Seq - uint64(in.Second)
	}
	in.AfterBaseline = w.fatesAfter(&l.records, rec.Seq, rec.Baseline, rec.Sent)
	newest, any := l.rcv.History().Newest()
	base := l.records.find(in.Missing)
	switch {
	case base == nil:
		in.Base = BaseUnknown
	case base.Outcome == InFlight:
		in.Base = BasePending
	case base.Outcome == Lost:
		in.Base = BaseLost
	case !kept(base.Outcome):
		in.Base = BaseFailed
	case any && in.Missing+uint64(l.rcv.History().Len()) < newest:
		in.Base, in.DroppedAt = BaseDropped, l.records.passed(in.Missing+uint64(l.rcv.History().Len()))
	default:
		in.Base = BaseUnknown
	}
}

// kept reports whether a packet with this outcome went into the receiver's history.
func kept(o Outcome) bool { return o == Decoded || o == Stale || o == Tainted || o == Wrong }

// late records by how much a snapshot missed its display time.
func (w *inspector) late(by time.Duration) {
	if w != nil {
		w.cur.Late = by
	}
}

// acked records the fate of the ack that a packet caused.
func (w *inspector) acked(v *lossmodel.Verdict) {
	if w == nil {
		return
	}
	if w.cur.AckLost = v.Lost; v.Lost == lossmodel.None {
		w.cur.AckDue = v.Due
	}
}

// learnt records that the sender has read an ack, damaged or not.
func (w *inspector) learnt(now time.Duration, s *endpoint.Sender, flipped bool) {
	if w == nil {
		return
	}
	if best, acked := s.Acked(); acked && (!w.hasBest || w.best != best) {
		w.best, w.bestAt, w.forged, w.hasBest = best, now, flipped, true
	}
}

// ended stores the Inside of a copy beside its record, and counts the trouble that it
// had.
func (w *inspector) ended(record uint64, rec *PacketRecord, now time.Duration) {
	if w == nil {
		return
	}
	if rec.Outcome == Lost && rec.Copy == 0 {
		if w.run++; w.run > 1 && rec.Seq != w.runAt+1 {
			w.run = 1
		}
		w.runAt, w.cur.Run = rec.Seq, w.run
	}
	*w.at(record) = w.cur
	w.settle(rec)
	w.incident(failureReason(rec, &w.cur), rec, &w.cur, now)
}

// settle completes the incidents of large packets. They are recorded when a packet is
// sent, before its outcome is known.
func (w *inspector) settle(rec *PacketRecord) {
	for why := range w.incidents {
		x := &w.incidents[why]
		if x.Reason.Large() && x.Opened.ID == rec.ID() {
			x.Opened.Record, x.Opened.Inside = *rec, w.cur
		}
	}
}

// refused records a frame that the encoder rejected.
func (w *inspector) refused(now time.Duration, p *endpoint.Packet, err error) {
	if w != nil {
		w.incident(BecauseRefusedFrame, &PacketRecord{Seq: p.Seq, Sent: now, Encoder: p.Codec}, &Inside{Err: err}, now)
	}
}

func (w *inspector) incident(why Reason, rec *PacketRecord, in *Inside, now time.Duration) {
	if why == NoReason {
		return
	}
	x := &w.incidents[why]
	x.Reason, x.T = why, now
	x.N++
	x.Opened = Opened{ID: rec.ID(), Record: *rec, Inside: *in}
}

// fatesAfter counts the fates, as of time at, of the packets between the baseline and
// seq.
func (w *inspector) fatesAfter(all *records, seq uint64, baseline int, at time.Duration) (s FateCounts) {
	if baseline == 0 {
		return s
	}
	for n := all.n; n > all.oldest(); n-- {
		r := all.at(n - 1)
		if r.Seq+uint64(baseline) <= seq {
			break
		}
		if r.Seq >= seq || r.Copy > 0 {
			continue
		}
		in := w.at(n - 1)
		switch {
		case r.Outcome == Lost:
			s.Lost++
		case r.Outcome == InFlight || r.Arrived > at || in.AckDue > at:
			s.InFlight++
		case !kept(r.Outcome):
			s.Failed++
		case in.AckLost != lossmodel.None:
			s.AckLost++
		}
	}
	return s
}

// opened returns a packet with its Inside, if it is still kept.
func (l *lane) opened(id PacketID) *Opened {
	o := &Opened{ID: id, Gone: true}
	if l.watch == nil {
		return o
	}
	for n := l.records.n; n > l.records.oldest(); n-- {
		r := l.records.at(n - 1)
		if r.ID() == id {
			return &Opened{ID: id, Record: *r, Inside: *l.watch.at(n - 1)}
		}
	}
	return o
}

// troubles lists the newest incident for each reason, latest first.
func (l *lane) troubles() []Incident {
	if l.watch == nil {
		return nil
	}
	return newestFirst(l.watch.incidents[:])
}

// usual keeps moving sums over the newest packets.
type usual struct {
	ring                       [usualPackets]struct{ payload, changed, baseline int }
	n                          int
	payload, changed, baseline int
}

// usualPackets is how many packets the means of Usual cover: about a second of them.
const usualPackets = 64

func (u *usual) add(p *endpoint.Packet, changed int) {
	x := &u.ring[u.n%usualPackets]
	u.payload, u.changed, u.baseline = u.payload+p.Payload-x.payload, u.changed+changed-x.changed, u.baseline+p.Baseline-x.baseline
	x.payload, x.changed, x.baseline = p.Payload, changed, p.Baseline
	u.n++
}

func (u *usual) means() Usual {
	n := min(u.n, usualPackets)
	d := float64(max(n, 1))
	return Usual{n, float64(u.payload) / d, float64(u.changed) / d, float64(u.baseline) / d}
}
