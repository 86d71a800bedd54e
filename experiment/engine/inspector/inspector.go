// Package inspector records why packets of a lane failed or were unusually large: their bit budget,
// the effect of each stage of the link, the sender's state when it encoded them, and the receiver's
// history when they arrived.
package inspector

import (
	"cmp"
	"slices"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/packetlog"
	"wirelab/lossmodel"
)

// Inspector records an Inside for each packet of a lane, in a ring parallel to that of the packet
// log. The sender's part is stored when the packet is sent, the rest when its outcome is known. In
// steady state it allocates nothing. A nil Inspector does nothing.
type Inspector struct {
	log     *packetlog.Log
	history *frame.History // the receiver's
	ring    []Inside       // the Inside of record n is at n % len(ring)
	current Inside         // of the copy whose outcome is being recorded; see Begin
	opened  Opened         // result of Problem, reused

	usual    movingMeans
	ack      newestAck
	encoding encoding
	decoded  newestDecoded
	lossRun  int    // length of the newest run of consecutive losses
	lastLost uint64 // sequence number of the newest lost packet

	incidents [numReasons]Incident // by reason
}

// newestAck is the newest packet that the sender has received an ack for.
type newestAck struct {
	any bool
	seq uint64
	at  time.Duration // when the ack was received
}

// encoding describes the encoder of the newest packet.
type encoding struct {
	codec    string // empty before the first packet
	previous string // codec before the newest swap; empty if none
	epoch    uint64
	packets  int // packets of this epoch before the newest
}

// newestDecoded is the newest packet that the receiver decoded.
type newestDecoded struct {
	any      bool
	seq      uint64
	sent, at time.Duration
}

// New returns an inspector of the packets in log; history is the receiver's.
func New(log *packetlog.Log, history *frame.History) *Inspector {
	return &Inspector{log: log, history: history, ring: make([]Inside, log.Cap())}
}

// insideAt returns the Inside of a record, by the record's number in the log.
func (w *Inspector) insideAt(record uint64) *Inside { return &w.ring[record%uint64(len(w.ring))] }

// Sent records the sender's part of packet p, and an incident if the packet is large. number is the
// number of its record, which was just added to the log. link is the modelled link; nil on another path.
// Sent appends the trails of the copies that the link made to trails and returns it. A trail is the effect
// of each stage of the link on one copy.
func (w *Inspector) Sent(number uint64, p *endpoint.Packet, budget *encoders.Budget, v *lossmodel.Verdict, link *lossmodel.Link,
	trails []lossmodel.Trail) []lossmodel.Trail {
	if w == nil {
		return trails
	}
	w.encoding.count(p)
	in := w.insideAt(number)
	r := w.log.At(number)
	*in = Inside{Header: p.Header, Fragments: v.Fragments, AtReceiver: AtReceiver{History: w.history.Len()},
		AtSender: AtSender{Second: p.Second, WithoutMemo: p.WithoutMemo,
			Age: w.encoding.packets, Previous: w.encoding.previous, Usual: w.usual.means()}}
	if link != nil {
		in.Trail = *link.Trail(0)
	}
	in.Spent.setBudget(budget)
	if p.Baseline > 0 {
		base := p.Seq - uint64(p.Baseline)
		if baseRecord := w.log.Find(base); baseRecord != nil {
			in.BaseSent = baseRecord.Sent
		}
		if w.ack.any && w.ack.seq == base {
			in.BaseAcked = w.ack.at
		}
	}
	for n := 1; n <= v.Copies; n++ { // only a modelled link makes copies
		trails = append(trails, *link.Trail(n))
	}
	if in.isSpike(r) {
		in.AfterBaseline = w.fatesAfterBaseline(r)
		w.recordIncident(spikeReason(r, in), r, in, r.Sent)
	}
	w.usual.add(p, r.Changed)
	return trails
}

// count counts packet p. If p begins an epoch, the count starts again at 0 and the codec of the epoch
// before becomes e.previous.
func (e *encoding) count(p *endpoint.Packet) {
	e.packets++
	if e.codec == "" || p.Epoch != e.epoch {
		*e = encoding{codec: p.Codec, previous: e.codec, epoch: p.Epoch}
	}
}

// Begin is called before the outcome of a copy of a packet is recorded. It sets the current Inside to the
// sender's part of the packet, or to an empty one if that is no longer stored. The methods up to Ended add
// to it. number is the number of the packet's record; copyNumber is 0 for the packet itself; trails are the
// trails of copies 1 and up.
func (w *Inspector) Begin(number uint64, copyNumber int, trails []lossmodel.Trail) {
	if w == nil {
		return
	}
	w.current = Inside{}
	if w.log.Held(number) {
		w.current = *w.insideAt(number)
	}
	if copyNumber > 0 && copyNumber <= len(trails) {
		w.current.Trail = trails[copyNumber-1]
	}
}

// Served completes the trail of the current copy from d, its delivery or its drop by a queue.
func (w *Inspector) Served(d *lossmodel.Delivery) {
	if w != nil {
		w.current.Trail.Served(d)
	}
}

// Arrived records the receiver's result for the current copy, whose record is r. flipped is the number of
// flipped bits in the datagram.
func (w *Inspector) Arrived(r *packetlog.Record, rx *endpoint.Reception, flipped int) {
	if w == nil {
		return
	}
	in := &w.current
	in.Flipped = flipped
	in.Err = rx.Err
	in.Newer = w.decoded.seq
	in.NewerSent = w.decoded.sent
	in.NewerAt = w.decoded.at
	switch {
	case rx.Outcome == endpoint.NoBaseline && rx.Err == nil: // with an error, the display refused the packet
		w.explainMissing(r)
	case rx.Frame == nil: // not decoded; Base remains BaseUnchecked
	case r.Baseline == 0:
		in.Base = baseInitial
	default:
		in.Base = BaseHeld
	}
	if rx.Frame != nil && (!w.decoded.any || r.Seq > w.decoded.seq) {
		w.decoded = newestDecoded{any: true, seq: r.Seq, sent: r.Sent, at: r.Arrived}
	}
}

// explainMissing determines why the receiver does not have a reference of packet r, from the outcome
// of the packet with that reference.
func (w *Inspector) explainMissing(r *packetlog.Record) {
	in := &w.current
	historyLength := uint64(w.history.Len())
	in.Missing = r.Seq - uint64(r.Baseline)
	if in.Second > 0 && w.history.Get(in.Missing) != nil { // the receiver has the baseline
		in.Missing = r.Seq - uint64(in.Second)
	}
	in.AfterBaseline = w.fatesAfterBaseline(r)
	newest, hasNewest := w.history.Newest()
	base := w.log.Find(in.Missing)
	switch {
	case base == nil:
		in.Base = BaseUnknown
	case base.Outcome == packetlog.InFlight:
		in.Base = BasePending
	case base.Outcome == packetlog.Lost:
		in.Base = BaseLost
	case base.Outcome == packetlog.Unknown:
		in.Base = BaseUnknown
	case !base.Outcome.Stored():
		in.Base = BaseFailed
	case hasNewest && in.Missing+historyLength < newest:
		// A history drops a frame when it stores one that is newer by more than its length.
		in.Base = BaseDropped
		in.DroppedAt = w.log.StoredAfter(in.Missing + historyLength)
	default:
		in.Base = BaseUnknown
	}
}

// AckSent records whether the ack that the current packet caused is lost, and otherwise when it arrives.
func (w *Inspector) AckSent(v *lossmodel.Verdict) {
	if w == nil {
		return
	}
	w.current.AckLost = v.Lost
	if v.Lost == lossmodel.None && !v.Waiting {
		w.current.AckDue = v.Due
	}
}

// AckRead records that the sender has handled an ack.
func (w *Inspector) AckRead(now time.Duration, s *endpoint.Sender) {
	if w == nil {
		return
	}
	if seq, ok := s.Acked(); ok && (!w.ack.any || w.ack.seq != seq) {
		w.ack = newestAck{any: true, seq: seq, at: now}
	}
}

// Ended stores the current Inside for record r, which has the given number in the log, and records an
// incident if the packet failed.
func (w *Inspector) Ended(number uint64, r *packetlog.Record, now time.Duration) {
	if w == nil {
		return
	}
	if r.Outcome == packetlog.Lost && r.Copy == 0 {
		w.lossRun++
		if r.Seq != w.lastLost+1 { // the packet before was not lost
			w.lossRun = 1
		}
		w.lastLost = r.Seq
		w.current.Run = w.lossRun
	}
	*w.insideAt(number) = w.current
	w.completeLarge(r)
	w.recordIncident(failureReason(r, &w.current), r, &w.current, now)
}

// completeLarge adds the outcome to the incident of a large packet, which is recorded when the packet
// is sent.
func (w *Inspector) completeLarge(r *packetlog.Record) {
	for i := range w.incidents {
		x := &w.incidents[i]
		if x.Reason.Large() && x.Opened.ID == r.ID() {
			x.Opened.Record, x.Opened.Inside = *r, w.current
		}
	}
}

// Refused records that the encoder returned err for a frame, so that p was not sent.
func (w *Inspector) Refused(now time.Duration, p *endpoint.Packet, err error) {
	if w != nil {
		in := Inside{AtReceiver: AtReceiver{Err: err}}
		w.recordIncident(BecauseRefusedFrame, &packetlog.Record{Seq: p.Seq, Sent: now, Encoder: p.Codec}, &in, now)
	}
}

// recordIncident records an incident, unless why is NoReason.
func (w *Inspector) recordIncident(why Reason, r *packetlog.Record, in *Inside, now time.Duration) {
	if why == NoReason {
		return
	}
	x := &w.incidents[why]
	x.Reason, x.T = why, now
	x.N++
	x.Opened = Opened{ID: r.ID(), Record: *r, Inside: *in}
}

// fatesAfterBaseline counts the packets between r and its baseline by their state when r was sent.
func (w *Inspector) fatesAfterBaseline(r *packetlog.Record) (c fateCount) {
	if r.Baseline == 0 {
		return c
	}
	for n, x := range w.log.Backward() {
		if x.Seq+uint64(r.Baseline) <= r.Seq { // the baseline itself, or older
			break
		}
		if x.Seq >= r.Seq || x.Copy > 0 {
			continue
		}
		in := w.insideAt(n) // states are those at r.Sent: what arrived or was acked later was still in flight
		switch {
		case x.Outcome == packetlog.Lost:
			c.Lost++
		case x.Outcome == packetlog.InFlight || x.Arrived > r.Sent || in.AckDue > r.Sent:
			c.InFlight++
		case !x.Outcome.Stored():
			c.Failed++
		case in.AckLost != lossmodel.None:
			c.AckLost++
		}
	}
	return c
}

// Open returns a packet with its Inside. Opened.Gone is set if it is no longer stored.
func (w *Inspector) Open(id packetlog.ID) *Opened {
	if w != nil {
		for n, r := range w.log.Backward() {
			if r.ID() == id {
				return &Opened{ID: id, Record: *r, Inside: *w.insideAt(n)}
			}
		}
	}
	return &Opened{ID: id, Gone: true}
}

// Problem returns the packet with record r, whose outcome was just recorded by Ended, if it failed or is
// large; otherwise nil. The result is valid until the next call of Problem or ProblemAt.
func (w *Inspector) Problem(r *packetlog.Record) *Opened { return w.problemWith(r, &w.current) }

// ProblemAt is like Problem for an earlier packet, whose record r has the given number in the log.
func (w *Inspector) ProblemAt(number uint64, r *packetlog.Record) *Opened {
	return w.problemWith(r, w.insideAt(number))
}

// problemWith returns the packet with record r and details in; nil if it neither failed nor is large.
func (w *Inspector) problemWith(r *packetlog.Record, in *Inside) *Opened {
	if failureReason(r, in) == NoReason && spikeReason(r, in) == NoReason {
		return nil
	}
	w.opened = Opened{ID: r.ID(), Record: *r, Inside: *in}
	return &w.opened
}

// Incidents returns the newest incident of each reason, latest first.
func (w *Inspector) Incidents() (list []Incident) {
	if w == nil {
		return nil
	}
	for i := range w.incidents {
		if w.incidents[i].N > 0 {
			list = append(list, w.incidents[i])
		}
	}
	slices.SortStableFunc(list, func(a, b Incident) int { return cmp.Compare(b.T, a.T) })
	return list
}

// movingMeans computes means over the newest usualPackets packets.
type movingMeans struct {
	ring [usualPackets]packetSize // packet n is at n % usualPackets
	n    int                      // packets so far
	sum  packetSize               // of the ring
}

// packetSize contains the quantities of a packet whose means are in Usual.
type packetSize struct{ payload, changed, baseline int }

// usualPackets is the number of packets that the means of Usual cover: about a second at 60 Hz.
const usualPackets = 64

// add adds a packet with the given number of changed rows.
func (u *movingMeans) add(p *endpoint.Packet, changed int) {
	oldest := &u.ring[u.n%usualPackets]
	u.sum.payload += p.Payload - oldest.payload
	u.sum.changed += changed - oldest.changed
	u.sum.baseline += p.Baseline - oldest.baseline
	*oldest = packetSize{p.Payload, changed, p.Baseline}
	u.n++
}

// means returns the means over the newest packets; zeros without packets.
func (u *movingMeans) means() Usual {
	n := min(u.n, usualPackets)
	d := float64(max(n, 1))
	return Usual{n, float64(u.sum.payload) / d, float64(u.sum.changed) / d, float64(u.sum.baseline) / d}
}
