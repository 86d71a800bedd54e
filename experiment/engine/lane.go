package engine

import (
	"errors"
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/figures"
	"wirelab/lossmodel"
)

// Path carries the datagrams of a lane in one direction. A modelled link is one
// (*lossmodel.Link); a socket can be another. None of the methods waits.
type Path interface {
	// Send takes a datagram at now. The tag comes back beside whatever arrives of it.
	// A model says at once what becomes of it and of its copies. A network that cannot
	// know sets Open: the fate is learnt when the datagram arrives, or never.
	Send(now time.Duration, datagram []byte, tag uint64) lossmodel.Verdict
	// Next returns when something arrives next; false if nothing is known to be under way.
	Next() (at time.Duration, ok bool)
	// Receive returns the next datagram that arrives at or before now; false if none
	// does. Its data hold until the next call of any method.
	Receive(now time.Duration) (lossmodel.Delivery, bool)
}

// lane is one encoder at work: a sender, a receiver, a network between them in both
// directions, and the meter that watches. Lanes of one session get the same frames
// and, since their links are seeded alike, the same fates. The lane alone knows the
// truth, and what was damaged.
type lane struct {
	schema   *frame.Schema
	config   config.Encoder // as it began
	began    time.Duration
	cadence  endpoint.Cadence
	clock    Clock
	observer Observer

	snd              *endpoint.Sender
	rcv              *endpoint.Receiver
	encoding         stopwatch // at the sender
	decoding         stopwatch // at the receiver
	down, up         Path
	downLink, upLink *lossmodel.Link // the same, if they are modelled; else nil
	taint            taint
	play             playout
	screen           screen
	meter            meter
	digest           digest
	flights          flights
	records          records
	budget           encoders.Budget // of the packet being made
	rec              PacketRecord    // of the copy whose end is being booked: an observer sees it, and must not keep it
	ackBuf           []byte
	delivery         *delivery  // nil, unless every byte must arrive
	lastErr          error      // the newest complaint of the encoder, the decoder or the feedback
	watch            *inspector // nil: nobody asks for the insides of packets
}

func newLane(c *config.Config, e config.Encoder, schema *frame.Schema, initial *frame.Frame, opt *Options) (*lane, error) {
	codec, params, err := e.Resolve("encoder", c.Codecs)
	if err != nil {
		return nil, err
	}
	if err := c.Suits("encoder", codec, schema); err != nil {
		return nil, err
	}
	run, err := endpoint.NewEncoding(schema, codec, params)
	if err != nil {
		return nil, config.ErrorAt("encoder", err)
	}
	l := &lane{schema: schema, config: e.Clone(), cadence: endpoint.Cadence{TickHz: schema.TickHz, RateHz: c.Sender.RateHz},
		clock: opt.Clock, observer: opt.Observer, digest: newDigest()}
	l.encoding, l.decoding = stopwatch{clock: opt.Clock, schema: schema}, stopwatch{clock: opt.Clock, schema: schema}
	l.snd = endpoint.NewSender(schema, initial, run, endpoint.Options{History: c.Sender.History, Cadence: l.cadence, Probe: &l.encoding})
	l.rcv = endpoint.NewReceiver(schema, initial, c.CodecTable(), endpoint.Options{History: c.Receiver.History, Cadence: l.cadence, Probe: &l.decoding})
	down, err := lossmodel.NewLinkWith(c.ReadTrace, c.Down, c.Seed, "down")
	if err != nil {
		return nil, config.ErrorAt("down", err)
	}
	up, err := lossmodel.NewLinkWith(c.ReadTrace, c.Up, c.Seed, "up")
	if err != nil {
		return nil, config.ErrorAt("up", err)
	}
	l.connect(down, up)
	l.play.delay = c.Receiver.Playout
	l.screen = newScreen(schema, l.cadence, l.rcv.History(), &l.taint, opt.Looked)
	l.screen.mode = c.Receiver.Interpolation
	l.meter.playout.hz = float64(c.DisplayMilliHz(schema.TickHz)) / 1000
	l.meter.samples.keep = opt.KeepSamples
	l.meter.budgetLine.kbps = c.BudgetKbps
	l.records.ring = make([]PacketRecord, max(opt.KeepPackets, 256))
	if opt.Inspect {
		l.watch = newInspector(len(l.records.ring))
		down.Watch()
	}
	return l, nil
}

// reshape brings the links, where they are modelled, to what the configuration says.
func (l *lane) reshape(c *config.Config) error {
	if l.downLink == nil || l.upLink == nil {
		return nil
	}
	return errors.Join(l.downLink.Reshape(c.Down), l.upLink.Reshape(c.Up))
}

// connect puts networks between the ends.
func (l *lane) connect(down, up Path) {
	l.down, l.up = down, up
	l.downLink, _ = down.(*lossmodel.Link)
	l.upLink, _ = up.(*lossmodel.Link)
}

// send encodes cur and gives it to the network.
func (l *lane) send(now time.Duration, cur *frame.Frame, seam bool) {
	l.budget.Reset()
	p, err := l.snd.Send(now, cur, &l.budget)
	if err != nil {
		l.meter.encodeFailed++
		l.lastErr = err
		l.watch.refused(now, &p, err)
		return
	}
	if l.snd.Encoding().Codec.Quantises {
		l.meter.rounding.add(l.schema, cur, p.Stored)
	}
	l.launch(now, &p, made{items: l.schema.Items(p.Stored), changed: l.encoding.changed, ns: l.encoding.ns, seam: seam})
}

// made is what the lab knows of how a packet was made.
type made struct {
	items, changed int
	ns             int64 // the encoder took
	seam           bool  // it is the first after a seam of the source
}

// launch gives a packet to the network, and books what becomes of it if that is known
// at once. The bits of its payload are in the lane's budget.
func (l *lane) launch(now time.Duration, p *endpoint.Packet, m made) {
	l.digest.datagram(p.Datagram)
	tag, f := l.flights.take()
	f.note(p.Stored, &l.digest)
	f.rec = PacketRecord{
		Seq: p.Seq, Sent: now, Encoder: p.Codec, Epoch: p.Epoch, Baseline: p.Baseline,
		Payload: p.Payload, Items: m.items, Changed: m.changed, EncodeNS: m.ns, Seam: m.seam,
	}
	v := l.down.Send(now, p.Datagram, tag)
	f.rec.Wire = v.Wire
	if v.Lost == lossmodel.None && !v.Open {
		f.rec.Due = v.Due
	}
	l.meter.packet(p, &m, v.Wire, p.Baseline*l.cadence.TickHz/l.cadence.RateHz, &l.budget)
	f.record = l.records.add(f.rec)
	l.meter.net.leave(v.Lost != lossmodel.None)
	l.watch.sent(l, f, p, &m, &v)
	f.untold, f.open, f.copies, f.ended = v.Open, 0, v.Copies, 0
	if v.Open {
		l.flights.wait(tag)
		l.expire(now, p.Seq)
		return
	}
	l.meter.duplicated += int64(v.Copies)
	for number := 0; number <= v.Copies; number++ {
		lost := v.Lost
		if number > 0 {
			lost = v.CopyLost[number-1]
		}
		if lost == lossmodel.None {
			f.open++
			continue
		}
		l.book(now, f, number, Lost, lost)
	}
	if f.open == 0 {
		l.flights.release(tag)
	}
}

// finish books the end of one copy of a packet, as l.rec has it.
func (l *lane) finish(now time.Duration, f *flight) {
	rec := &l.rec
	l.meter.end(rec.Outcome, rec.Cause)
	f.ended |= 1 << rec.Copy
	if rec.Copy == 0 {
		if l.records.set(f.record, rec) {
			l.watch.ended(f.record, rec, now)
		}
	} else {
		l.watch.ended(l.records.add(*rec), rec, now)
	}
	if l.observer != nil {
		l.observer.Packet(rec)
	}
}

// book ends one copy of a packet that never reached the receiver.
func (l *lane) book(now time.Duration, f *flight, number int, o Outcome, cause lossmodel.Cause) {
	l.rec = f.rec
	l.rec.Copy, l.rec.Outcome, l.rec.Cause = number, o, cause
	l.watch.begin(f, number, l.records.held(f.record))
	l.finish(now, f)
}

// expireAfter is how many packets later one of whose fate nothing was heard is given up.
const expireAfter = 1024

// expire gives up packets whose fate the network never told.
func (l *lane) expire(now time.Duration, newest uint64) {
	for f := l.flights.oldestUntold(); f != nil && f.rec.Seq+expireAfter < newest; f = l.flights.oldestUntold() {
		l.giveUp(now, f)
	}
}

// giveUp lets go of the packet that has waited longest, and books it as unknown if
// nothing was heard of it.
func (l *lane) giveUp(now time.Duration, f *flight) {
	if f.ended&1 == 0 {
		l.book(now, f, 0, Unknown, lossmodel.None)
	}
	l.flights.dropOldest()
}

// leaveOpen ends the fates that the network never told, and tells the observer of what
// is still under way when the session ends.
func (l *lane) leaveOpen(now time.Duration) {
	for f := l.flights.oldestUntold(); f != nil; f = l.flights.oldestUntold() {
		l.giveUp(now, f)
	}
	if l.observer == nil {
		return
	}
	for _, f := range l.flights.all {
		for number := 0; f.open > 0 && number <= f.copies; number++ {
			if f.ended>>number&1 == 0 {
				l.rec = f.rec
				l.rec.Copy = number
				l.observer.Packet(&l.rec)
			}
		}
	}
}

// next returns when something arrives at either end.
func (l *lane) next() (time.Duration, bool) {
	a, okA := l.down.Next()
	b, okB := l.up.Next()
	if !okA || (okB && b < a) {
		return b, okB
	}
	return a, okA
}

// deliver handles all that arrives at or before now: packets, then acks.
func (l *lane) deliver(now time.Duration) {
	for {
		d, ok := l.down.Receive(now)
		if !ok {
			break
		}
		if d.Tag == foreignTag {
			l.arriveForeign(now, d.Damaged)
			continue
		}
		l.arrive(now, &d)
	}
	for {
		d, ok := l.up.Receive(now)
		if !ok {
			return
		}
		if !d.Damaged && d.Tag != foreignTag {
			if err := l.learn(now, d.Data); err != nil && d.Flipped == 0 {
				l.lastErr = fmt.Errorf("ack: %w", err)
			}
			l.watch.learnt(now, l.snd, d.Flipped > 0)
		}
	}
}

// learn lets the sender take in an ack.
func (l *lane) learn(now time.Duration, ack []byte) error {
	if l.delivery != nil {
		return l.delivery.snd.LearnBlocks(now, ack)
	}
	return l.snd.Learn(ack)
}

// reception is what became of a datagram, with what the lab knows of it.
type reception struct {
	endpoint.Reception
	tainted bool  // it rests on damaged bytes
	ns      int64 // the decoder took
}

// receive lets the receiver take in a datagram.
func (l *lane) receive(d *lossmodel.Delivery) reception {
	if l.delivery != nil {
		start := l.clock.Now()
		rx := l.delivery.rcv.ReceiveBlock(d.Data)
		ns := l.clock.Now() - start
		if rx.Accepted && rx.Outcome == endpoint.Duplicate {
			l.delivery.needless++
		}
		return reception{rx.Reception, l.taint.block(&rx, d.Flipped > 0), ns}
	}
	l.decoding.ns = 0
	rx := l.rcv.Receive(d.Data)
	return reception{rx, l.taint.follow(&rx, d.Flipped > 0), l.decoding.ns}
}

// arrive hands a datagram to the receiver, compares what it made of it with what
// the sender stored, and sends the ack.
func (l *lane) arrive(now time.Duration, d *lossmodel.Delivery) {
	f := l.flights.get(d.Tag)
	if f == nil {
		return // it was given up long ago
	}
	l.rec = f.rec
	rec := &l.rec
	rec.Copy, rec.Arrived = d.Copy, now
	if f.untold {
		rec.Copy = l.untoldCopy(f)
	}
	l.watch.begin(f, rec.Copy, l.records.held(f.record))
	if rec.Copy == 0 {
		l.meter.net.arrive(rec.Seq, now-rec.Sent)
	}
	if d.Damaged {
		rec.Outcome = Corrupt
		l.watch.arrived(l, &reception{Reception: endpoint.Reception{Outcome: endpoint.Corrupt}}, d.Flipped)
	} else {
		rx := l.receive(d)
		rec.Outcome, rec.DecodeNS = l.judge(f, &rx), rx.ns
		l.watch.arrived(l, &rx, d.Flipped)
		l.observe(now, &rx)
		if l.delivery != nil {
			l.unpack(now, rec)
		}
		l.acknowledge(now)
	}
	l.finish(now, f)
	if f.untold {
		return
	}
	f.open--
	if f.open == 0 {
		l.flights.release(d.Tag)
	}
}

// untoldCopy numbers what arrives of a packet whose copies nobody announced.
func (l *lane) untoldCopy(f *flight) int {
	if f.ended == 0 {
		return 0
	}
	f.copies = min(f.copies+1, maxCopies)
	l.meter.duplicated++
	return f.copies
}

// maxCopies bounds the numbers of copies: a flight has a bit for each.
const maxCopies = 15

// judge compares what was decoded with the sender's copy, bit for bit.
func (l *lane) judge(f *flight, rx *reception) Outcome {
	if rx.Frame == nil {
		if rx.Err != nil && !rx.tainted {
			l.refused(rx)
		}
		return outcomeOf(rx.Outcome)
	}
	l.digest.frame(rx.Frame)
	same := f.matches(rx.Frame, &l.digest)
	switch {
	case rx.tainted:
		if same && rx.Seq == f.rec.Seq && rx.Entry != nil && rx.Entry.Memo == nil {
			l.taint.clear(rx.Seq) // it came out right after all, and nothing hangs on it
		}
		return Tainted
	case !same:
		return Wrong
	}
	return outcomeOf(rx.Outcome)
}

// refused notes that a decoder would not have bytes that nothing had damaged:
// its codec cannot read what it writes.
func (l *lane) refused(rx *reception) {
	if rx.Outcome == endpoint.Corrupt {
		l.meter.decodeRefused++
		l.lastErr = fmt.Errorf("packet %d: %w", rx.Seq, rx.Err)
	}
}

// observe feeds the meter and the playout buffer with what arrived.
func (l *lane) observe(now time.Duration, rx *reception) {
	if rx.Reordered && rx.Outcome != endpoint.Duplicate {
		l.meter.reordered++
	}
	if rx.Frame == nil {
		return
	}
	l.meter.decoded(rx.ns)
	if rx.tainted || l.delivery != nil { // its number may be anything; nobody looks at half a file
		return
	}
	if late := l.play.arrive(now, endpoint.TickTime(l.cadence.Tick(rx.Seq), l.cadence.TickHz)); late > 0 {
		l.meter.late(late)
		l.watch.late(late)
	}
}

// acknowledge sends what the receiver has to say up the link.
func (l *lane) acknowledge(now time.Duration) {
	if l.delivery != nil {
		l.ackBuf = l.delivery.rcv.AckBlocks(l.ackBuf[:0])
	} else {
		l.ackBuf = l.rcv.Ack(l.ackBuf[:0])
	}
	if len(l.ackBuf) == 0 {
		return
	}
	v := l.up.Send(now, l.ackBuf, 0)
	l.watch.acked(&v)
	l.meter.feedback(v.Wire)
}

// display makes one tick of the receiver's display, and holds it against what
// the source had at that moment.
func (l *lane) display(now time.Duration, t *truths) {
	if moment, shown := l.play.tick(now); shown {
		l.meter.display(now-moment, l.screen.show(moment, t, &l.meter.playout.off))
	}
}

// closeSample ends the sample at t.
func (l *lane) closeSample(t time.Duration) {
	s := l.meter.close(t)
	if l.observer != nil {
		l.observer.Sample(s)
	}
}

// totals returns the sums of the lane at now.
func (l *lane) totals(now time.Duration) figures.Totals {
	t := l.meter.totals(l.delivery.busyUntil(now)-l.began, l.schema, l.linkGauges(now))
	t.Sender = gauges(l.snd.Encoding().Encoder)
	t.Transfer = l.delivery.transferred(now, &l.meter)
	t.Receiver = gauges(l.rcv.Decoder())
	return t
}

// linkGauges is what the link tells of itself; nothing if it is no model.
func (l *lane) linkGauges(now time.Duration) lossmodel.Gauges {
	if l.downLink == nil {
		return lossmodel.Gauges{}
	}
	return l.downLink.Gauges(now)
}

// gauges are what one end of a codec knows of itself.
func gauges(end any) []encoders.Gauge {
	if g, ok := end.(encoders.Gauged); ok {
		return g.Gauges()
	}
	return nil
}

// result returns all that a report says of the lane at now.
func (l *lane) result(now time.Duration) laneResult {
	return laneResult{encoder: l.snd.Encoding().Codec.Name, began: l.began, totals: l.totals(now),
		timing: l.timing(),
		budget: l.meter.shares(l.schema), digest: l.digest.sum()}
}

// timing is what the work of both ends cost in this process.
func (l *lane) timing() figures.Timing {
	t := figures.Timing{EncodeUS: l.meter.encodeNS.micros(), DecodeUS: l.meter.decodeNS.micros()}
	if d := l.delivery; d != nil {
		t.UnpackMS = float64(d.unpackNS) / 1e6
		if d.packed != nil {
			t.PackMS = float64(d.packed.ns) / 1e6
		}
	}
	return t
}

type laneResult struct {
	encoder string
	began   time.Duration
	totals  figures.Totals
	timing  figures.Timing
	budget  []figures.BudgetShare
	digest  string
}
