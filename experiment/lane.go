package experiment

import (
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/lossmodel"
)

// lane is one encoder at work: a sender, a receiver, the link between them in
// both directions, and the meter that watches. Lanes of one session get the
// same frames and, since their links are seeded alike, the same fates.
type lane struct {
	schema   *frame.Schema
	config   EncoderConfig // as it began
	began    time.Duration
	cadence  cadence
	clock    Clock
	observer Observer

	snd      *sender
	rcv      *receiver
	down, up *lossmodel.Link
	play     playout
	screen   screen
	meter    meter
	digest   digest
	flights  flights
	records  records
	budget   encoders.Budget // of the packet being made
	rec      PacketRecord    // of the copy whose end is being booked: an observer sees it, and must not keep it
	ackBuf   []byte
	delivery *delivery  // nil, unless every byte must arrive
	lastErr  error      // the newest complaint of the encoder, the decoder or the feedback
	watch    *inspector // nil: nobody asks for the insides of packets
}

func newLane(c *Config, e EncoderConfig, schema *frame.Schema, initial *frame.Frame, opt *SessionOptions) (*lane, error) {
	codec, params, err := e.resolve("encoder", c.codecs)
	if err != nil {
		return nil, err
	}
	if err := c.suits("encoder", codec, schema); err != nil {
		return nil, err
	}
	run, err := newEncoding(schema, codec, params)
	if err != nil {
		return nil, configError("encoder", err)
	}
	l := &lane{schema: schema, config: e.clone(), cadence: cadence{schema.TickHz, c.Sender.RateHz}, clock: opt.Clock, observer: opt.Observer, digest: newDigest()}
	l.snd = newSender(schema, initial, c.Sender.History, run)
	l.rcv = newReceiver(schema, initial, c.Receiver.History, c.codecTable())
	l.snd.cadence, l.rcv.cadence = l.cadence, l.cadence
	if l.down, err = lossmodel.NewLink(c.Down, c.Seed, "down"); err != nil {
		return nil, configError("down", err)
	}
	if l.up, err = lossmodel.NewLink(c.Up, c.Seed, "up"); err != nil {
		return nil, configError("up", err)
	}
	l.play.delay = c.Receiver.Playout
	l.screen = newScreen(schema, l.cadence, l.rcv.history, opt.Looked)
	l.screen.mode = c.Receiver.Interpolation
	l.meter.playout.hz = float64(c.displayMilliHz(schema.TickHz)) / 1000
	l.meter.samples.keep = opt.KeepSamples
	l.records.ring = make([]PacketRecord, max(opt.KeepPackets, 256))
	if opt.Inspect {
		l.watch = newInspector(len(l.records.ring))
		l.down.Watch()
	}
	return l, nil
}

// send encodes cur and gives it to the link.
func (l *lane) send(now time.Duration, cur *frame.Frame, seam bool) {
	l.budget.Reset()
	p, err := l.snd.send(now, cur, &l.budget, l.clock)
	if err != nil {
		l.meter.encodeFailed++
		l.lastErr = err
		l.watch.refused(now, &p, err)
		return
	}
	if l.snd.run.codec.Quantises {
		l.meter.rounding.add(l.schema, cur, p.stored)
	}
	l.launch(now, &p, l.schema.Items(p.stored), seam)
}

// launch gives a packet to the link, and books what becomes of it at once. The bits
// of its payload are in the lane's budget.
func (l *lane) launch(now time.Duration, p *sent, items int, seam bool) {
	l.digest.datagram(p.datagram)
	id, f := l.flights.take()
	f.note(id, p.stored, &l.digest)
	f.rec = PacketRecord{
		Seq: p.seq, Sent: now, Encoder: p.codec, Epoch: p.epoch, Baseline: p.baseline,
		Payload: p.payload, Items: items, Changed: p.changed, EncodeNS: p.clock, Seam: seam,
	}
	v := l.down.Send(now, p.datagram, id)
	f.rec.Wire = v.Wire
	if v.Lost == lossmodel.None {
		f.rec.Due = v.Due
	}
	l.meter.packet(p, v.Wire, items, p.baseline*l.cadence.tickHz/l.cadence.rateHz, &l.budget)
	l.meter.duplicated += int64(v.Copies)
	f.record = l.records.add(f.rec)
	l.meter.net.leave(v.Lost != lossmodel.None)
	l.watch.sent(l, f, p, &v)
	f.open, f.copies, f.ended = 0, v.Copies, 0
	for number := 0; number <= v.Copies; number++ {
		lost := v.Lost
		if number > 0 {
			lost = v.CopyLost[number-1]
		}
		if lost == lossmodel.None {
			f.open++
			continue
		}
		l.rec = f.rec
		l.rec.Copy, l.rec.Outcome, l.rec.Cause = number, Lost, lost
		l.watch.begin(f, number, true)
		l.finish(now, f)
	}
	if f.open == 0 {
		l.flights.release(id)
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

// leaveOpen tells the observer of what is still under way when the session ends.
func (l *lane) leaveOpen() {
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
		if d.Tag == strange {
			l.arriveStrange(now, d.Damaged)
			continue
		}
		l.arrive(now, &d)
	}
	for {
		d, ok := l.up.Receive(now)
		if !ok {
			return
		}
		if !d.Damaged && d.Tag != strange {
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
		return l.delivery.learnBlocks(now, l.snd, ack)
	}
	return l.snd.learn(ack)
}

// receive lets the receiver take in a datagram.
func (l *lane) receive(d *lossmodel.Delivery) reception {
	if l.delivery != nil {
		return l.rcv.receiveBlock(l.delivery, d.Data, d.Flipped > 0, l.clock)
	}
	return l.rcv.receive(d.Data, d.Flipped > 0, l.clock)
}

// arrive hands a datagram to the receiver, compares what it made of it with what
// the sender stored, and sends the ack.
func (l *lane) arrive(now time.Duration, d *lossmodel.Delivery) {
	f := l.flights.get(d.Tag)
	l.rec = f.rec
	rec := &l.rec
	rec.Copy, rec.Arrived = d.Copy, now
	l.watch.begin(f, d.Copy, l.records.held(f.record))
	if d.Copy == 0 {
		l.meter.net.arrive(rec.Seq, now-rec.Sent)
	}
	if d.Damaged {
		rec.Outcome = Corrupt
		l.watch.arrived(l, &reception{outcome: Corrupt}, d.Flipped)
	} else {
		rx := l.receive(d)
		rec.Outcome, rec.DecodeNS = l.judge(f, &rx), rx.clock
		l.watch.arrived(l, &rx, d.Flipped)
		l.observe(now, &rx)
		if l.delivery != nil {
			l.unpack(now, rec)
		}
		l.acknowledge(now)
	}
	l.finish(now, f)
	f.open--
	if f.open == 0 {
		l.flights.release(d.Tag)
	}
}

// judge compares what was decoded with the sender's copy, bit for bit.
func (l *lane) judge(f *flight, rx *reception) Outcome {
	if rx.frame == nil {
		if rx.err != nil && !rx.tainted {
			l.refused(rx)
		}
		return rx.outcome
	}
	l.digest.frame(rx.frame)
	same := f.matches(rx.frame, &l.digest)
	switch {
	case rx.tainted:
		if same && rx.seq == f.rec.Seq && rx.entry != nil && rx.entry.Memo == nil {
			rx.entry.Tainted = false // it came out right after all, and nothing hangs on it
		}
		return Tainted
	case !same:
		return Wrong
	}
	return rx.outcome
}

// refused notes that a decoder would not have bytes that nothing had damaged:
// its codec cannot read what it writes.
func (l *lane) refused(rx *reception) {
	if rx.outcome == Corrupt {
		l.meter.decodeRefused++
		l.lastErr = fmt.Errorf("packet %d: %w", rx.seq, rx.err)
	}
}

// observe feeds the meter and the playout buffer with what arrived.
func (l *lane) observe(now time.Duration, rx *reception) {
	if rx.reordered && rx.outcome != Duplicate {
		l.meter.reordered++
	}
	if rx.frame == nil {
		return
	}
	l.meter.decoded(rx.clock)
	if rx.tainted || l.delivery != nil { // its number may be anything; nobody looks at half a file
		return
	}
	if late := l.play.arrive(now, tickTime(l.cadence.tick(rx.seq), l.cadence.tickHz)); late > 0 {
		l.meter.late(late)
		l.watch.late(late)
	}
}

// acknowledge sends what the receiver has to say up the link.
func (l *lane) acknowledge(now time.Duration) {
	l.ackBuf = l.rcv.ack(l.ackBuf[:0])
	if l.delivery != nil {
		l.ackBuf = l.delivery.ack(l.ackBuf)
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
func (l *lane) totals(now time.Duration) Totals {
	t := l.meter.totals(l.delivery.busyUntil(now)-l.began, l.schema, l.down.Gauges(now))
	t.Sender = gauges(l.snd.run.enc)
	t.Transfer = l.delivery.transferred(now, &l.meter)
	t.Receiver = gauges(l.rcv.epochs[l.rcv.newest%keptEpochs].dec)
	return t
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
	return laneResult{encoder: l.snd.run.codec.Name, began: l.began, totals: l.totals(now),
		timing: l.timing(),
		budget: l.meter.shares(l.schema), digest: l.digest.sum()}
}

// timing is what the work of both ends cost in this process.
func (l *lane) timing() Timing {
	t := Timing{EncodeUS: l.meter.encodeNS.micros(), DecodeUS: l.meter.decodeNS.micros()}
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
	totals  Totals
	timing  Timing
	budget  []BudgetShare
	digest  string
}
