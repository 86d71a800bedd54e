package engine

import (
	"errors"
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
	down, err := lossmodel.NewLink(c.Down, c.Seed, "down")
	if err != nil {
		return nil, config.ErrorAt("down", err)
	}
	up, err := lossmodel.NewLink(c.Up, c.Seed, "up")
	if err != nil {
		return nil, config.ErrorAt("up", err)
	}
	l.connect(down, up)
	l.play.delay = c.Receiver.Playout
	l.screen = newScreen(schema, l.cadence, l.rcv.History(), &l.taint, opt.WithPicture)
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
	l.transmit(now, &p, made{items: l.schema.Items(p.Stored), changed: l.encoding.changed, ns: l.encoding.ns, seam: seam})
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
