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

// Path carries the datagrams of a lane in one direction: a modelled link
// (*lossmodel.Link) or a socket. No method blocks.
type Path interface {
	// Send sends a datagram at now. Whatever arrives of it carries the same tag. A
	// model knows the fate of the datagram and of its copies at once. A real network
	// does not, and sets Open: the fate is known when the datagram arrives, or
	// never.
	Send(now time.Duration, datagram []byte, tag uint64) lossmodel.Verdict
	// Next returns when the next datagram arrives; false if none is known to be in
	// flight.
	Next() (at time.Duration, ok bool)
	// Receive returns the next datagram that arrives at or before now; false if
	// there is none. Its data are valid until the next call of any method.
	Receive(now time.Duration) (lossmodel.Delivery, bool)
}

// lane is one encoder with its endpoints: a sender, a receiver, a network path in
// each direction, and a meter. All lanes of a session get the same frames. Their
// links have the same seeds, so their packets meet the same fates. Only the lane
// knows the true frames and which datagrams were damaged.
type lane struct {
	schema   *frame.Schema
	config   config.Encoder // at the start of the lane
	live     *config.Config // as it is set now; only its live settings may be read
	began    time.Duration
	cadence  endpoint.Cadence
	clock    Clock
	observer Observer

	snd              *endpoint.Sender
	rcv              *endpoint.Receiver
	encoding         stopwatch // at the sender
	decoding         stopwatch // at the receiver
	down, up         Path
	far              FarEnd          // down, if the receiver is at its other end; rcv then does here what that does
	downLink, upLink *lossmodel.Link // down and up if they are modelled; else nil
	taint            taint
	play             playout
	screen           screen
	meter            meter
	remote           remoteMeter // what only a network tells; unused if far is nil
	digest           digest
	flights          flights
	records          records
	budget           encoders.Budget // of the packet being encoded
	rec              PacketRecord    // of the copy whose outcome is being recorded; passed to the observer
	ackBuf           []byte
	seamed           bool       // there was a seam of the source
	seamAt           uint64     // first packet after the newest one
	delivery         *delivery  // nil unless the delivery is frame.Every
	runsAs           string     // what the newest encoder from outside ran as
	ranAt            int        // how many packets there were before the last one of that
	lastErr          error      // newest error of the encoder, the decoder or the feedback
	broke            string     // the encoder from outside that just broke its contract
	watch            *inspector // nil unless Options.Inspect
}

// newLane makes a lane without links: connectNew or connect gives it some.
func newLane(c *config.Config, e config.Encoder, schema *frame.Schema, initial *frame.Frame, opt *Options) (*lane, error) {
	run, err := encodingOf("encoder", e, c, schema)
	if err != nil {
		return nil, err
	}
	l := &lane{schema: schema, config: e.Clone(), cadence: opt.cadence(c, schema),
		clock: opt.Clock, observer: opt.Observer, digest: newDigest(c.WholeFrames || c.Trusting)}
	l.encoding, l.decoding = stopwatch{clock: opt.Clock, schema: schema}, stopwatch{clock: opt.Clock, schema: schema}
	ends := func(history int, probe endpoint.Probe) endpoint.Options {
		return endpoint.Options{History: history, Cadence: l.cadence, DigestBits: c.Receiver.DigestBits, Trusting: c.Trusting, Probe: probe,
			Defer: opt.Network != nil} // else nobody waits, and timing is of all the work
	}
	l.snd = endpoint.NewSender(schema, initial, run, ends(c.Sender.History, &l.encoding))
	l.rcv = endpoint.NewReceiver(schema, initial, c.CodecTable(), ends(c.Receiver.History, &l.decoding))
	l.screen = newScreen(schema, l.cadence, l.rcv.History(), &l.taint, opt.WithPicture)
	l.meter.playout.hz = float64(c.DisplayMilliHz(schema.TickHz)) / 1000
	l.meter.samples.keep = opt.KeepSamples
	l.follow(c)
	l.records.ring = make([]PacketRecord, max(opt.KeepPackets, 256))
	if opt.Inspect {
		l.watch = newInspector(len(l.records.ring))
	}
	return l, nil
}

// follow makes the lane follow the live settings of the configuration. What it does not
// copy it reads in l.live.
func (l *lane) follow(c *config.Config) {
	l.live = c
	l.meter.asked.ask(c.Down)
	l.play.delay, l.screen.mode = c.Receiver.Playout, c.Receiver.Interpolation
	if !c.Down.Corrupt.Checksum && !c.Trusting {
		l.rcv.Guard(true) // for good: what was damaged before a checksum was on may be under way
	}
}

// reshape makes the modelled links follow the configuration.
func (l *lane) reshape(c *config.Config) error {
	l.follow(c)
	if l.downLink == nil || l.upLink == nil {
		return nil
	}
	return errors.Join(l.downLink.Reshape(c.Down), l.upLink.Reshape(c.Up))
}

// connectNew connects the ends by modelled links that nothing was sent on, and by the
// network, if there is one.
func (l *lane) connectNew(c *config.Config, network Network) error {
	down, err := lossmodel.NewLinkWith(c.ReadTrace, c.Down, c.Seed, "down")
	if err != nil {
		return config.ErrorAt("down", err)
	}
	up, err := lossmodel.NewLinkWith(c.ReadTrace, c.Up, c.Seed, "up")
	if err != nil {
		return config.ErrorAt("up", err)
	}
	if l.watch != nil {
		down.Watch()
	}
	l.connect(down, up)
	if network == nil {
		return nil
	}
	l.down, l.up = network.Connect(down, up)
	l.far, _ = l.down.(FarEnd)
	l.rcv.Guard(true) // as the receiver at the far end
	return nil
}

// connect sets the network paths between the ends.
func (l *lane) connect(down, up Path) {
	l.down, l.up = down, up
	l.downLink, _ = down.(*lossmodel.Link)
	l.upLink, _ = up.(*lossmodel.Link)
}

// send encodes cur and sends the packet. changed are the rows in which it may differ from
// the frame sent before it.
func (l *lane) send(now time.Duration, cur *frame.Shared, changed frame.Rows, seam bool) {
	l.budget.Reset()
	p, err := l.snd.SendShared(now, cur, changed, &l.budget)
	if seam {
		l.seamed, l.seamAt = true, p.Seq
	}
	if err != nil {
		l.meter.encodeFailed++
		l.lastErr = err
		if errors.Is(err, encoders.ErrBroken) {
			l.broke = l.snd.Encoding().Codec.Name
		}
		l.watch.refused(now, &p, err)
		return
	}
	if runs := l.snd.Encoding().Codec.RunsAs(); runs != "" {
		l.runsAs, l.ranAt = runs, l.meter.encodeLast.n
	}
	m := made{items: l.schema.Items(p.Stored), changed: l.encoding.changed, ns: l.encoding.ns, seam: seam, across: seam || l.across(&p)}
	if l.snd.Encoding().Codec.Quantises {
		l.meter.rounding.add(l.schema, &cur.Frame, p.Stored)
	} else {
		m.source = cur
	}
	l.transmit(now, &p, m)
}

// across reports whether a packet builds on a frame from before the newest seam.
func (l *lane) across(p *endpoint.Packet) bool {
	return l.seamed && p.Baseline > 0 && p.Seq-uint64(max(p.Baseline, p.Second)) < l.seamAt
}

// next returns when the next datagram arrives at either end.
func (l *lane) next() (time.Duration, bool) {
	a, okA := l.down.Next()
	b, okB := l.up.Next()
	if !okA || (okB && b < a) {
		return b, okB
	}
	return a, okA
}

// display runs one tick of the receiver's display, and compares it with the source's
// frames of that moment.
func (l *lane) display(now time.Duration, t *truths) {
	moment, shown := l.play.tick(now)
	if !shown {
		return
	}
	starved := l.screen.show(moment, t, &l.meter.playout.off)
	if l.far != nil {
		return // the display that counts is at the far end
	}
	l.meter.display(now-moment, starved)
	if l.screen.showing {
		l.meter.aged(now - l.screen.state)
	}
}

// closeSample completes the sample that ends at t.
func (l *lane) closeSample(t time.Duration) {
	if l.far != nil {
		l.meter.told(&l.remote.display, l.far.Display())
	}
	s := l.meter.close(t, l.live.BudgetKbps)
	if l.observer != nil {
		l.observer.Sample(s)
		l.observer.Settled(l.flights.settled())
	}
}

// totals returns the lane's totals at now.
func (l *lane) totals(now time.Duration) figures.Totals {
	t := l.meter.totals(l.delivery.busyUntil(now)-l.began, l.schema, l.linkGauges(now))
	if l.live.Receiver.DigestBits > 0 && l.delivery == nil {
		t.Restarts = figures.Known(float64(l.snd.Restarts()))
	}
	if l.far != nil {
		l.tellRemote(&t, now-l.began)
	}
	t.Sender = gauges(l.snd.Encoding().Encoder)
	t.Transfer = l.delivery.transferred(now, &l.meter)
	t.Receiver = gauges(l.rcv.Decoder())
	return t
}

// linkGauges returns the gauges of the downlink; zeros if it is not modelled.
func (l *lane) linkGauges(now time.Duration) lossmodel.Gauges {
	if l.downLink == nil {
		return lossmodel.Gauges{}
	}
	return l.downLink.Gauges(now)
}

// gauges returns the gauges of one end of a codec, if it has any.
func gauges(end any) []encoders.Gauge {
	if g, ok := end.(encoders.Gauged); ok {
		return g.Gauges()
	}
	return nil
}

// result returns what a report contains of the lane at now.
func (l *lane) result(now time.Duration) laneResult {
	return laneResult{encoder: l.snd.Encoding().Codec.Name, began: l.began, totals: l.totals(now),
		timing: l.timing(),
		budget: l.meter.shares(l.schema), digest: l.digest.sum()}
}

// timing returns how long the codec's work took in this process.
func (l *lane) timing() figures.Timing {
	t := figures.Timing{EncodeUS: l.meter.encodeNS.micros(), DecodeUS: l.meter.decodeNS.micros(), RunsAs: l.runsAs}
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
