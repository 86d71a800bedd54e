package engine

import (
	"errors"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/engine/playout"
	"wirelab/experiment/figures"
	"wirelab/lossmodel"
)

// lane is one encoder with its endpoints: a sender, a receiver, a network path in each
// direction, and what measures them. All lanes of a session get the same frames. Their links
// have the same seeds, so their packets meet the same fates. Only the lane knows the true
// frames and which datagrams were damaged.
type lane struct {
	stream
	config   config.Encoder // at the start of the lane
	live     *config.Config // the current configuration; only its live settings may be read
	began    time.Duration
	observer Observer // nil: none

	snd      *endpoint.Sender
	rcv      *endpoint.Receiver
	encoding meters.Stopwatch   // at the sender
	decoding meters.Stopwatch   // at the receiver
	delivery *delivery.Delivery // nil unless the stream's delivery is frame.Every
	paths    paths
	flights  flights
	taint    taint
	digest   digest

	display   *playout.Display
	meter     *meters.Meter
	log       *packetlog.Log
	inspector *inspector.Inspector // nil unless Options.Inspect

	restart    restart
	lastErr    error            // newest error of the encoder, the decoder or the feedback
	broken     string           // name of the encoder from outside that just broke its contract; empty if none did
	budget     encoders.Budget  // of the packet being encoded
	ending     packetlog.Record // of the copy whose outcome is being recorded
	problem    Problem          // passed to the observer
	ackScratch []byte
}

// stream is what the lanes of a session carry: frames of a schema, at a cadence, from an
// initial state on that both ends have.
type stream struct {
	schema  *frame.Schema
	cubes   bool // the schema's rows are cubes, so display errors are measured
	initial *frame.Frame
	cadence endpoint.Cadence
}

// restart is the newest restart of the recording that the source plays (a seam).
type restart struct {
	any bool
	seq uint64 // of the first packet after it
}

// newLane makes a lane without links: connectNew or connect sets them.
func newLane(c *config.Config, e config.Encoder, s stream, opt *Options) (*lane, error) {
	run, err := newEncoding("encoder", e, c, s.schema)
	if err != nil {
		return nil, err
	}
	l := &lane{stream: s, config: e.Clone(), observer: opt.Observer, digest: newDigest(c.WholeFrames || c.Trusting),
		encoding: meters.NewStopwatch(opt.Clock, s.schema), decoding: meters.NewStopwatch(opt.Clock, s.schema),
		meter: meters.New(float64(c.DisplayMilliHz(s.schema.TickHz))/1000, opt.KeepSamples),
		log:   packetlog.New(max(opt.KeepPackets, 256)), flights: flights{pool: frame.NewPool(s.schema)}}
	// Without a network, work that an endpoint could defer is timed as part of Send and Receive.
	ends := endpoint.Options{Cadence: s.cadence, DigestBits: c.Receiver.DigestBits, Trusting: c.Trusting, Defer: opt.Network != nil}
	sending, receiving := ends, ends
	sending.History, sending.Probe = c.Sender.History, &l.encoding
	receiving.History, receiving.Probe = c.Receiver.History, &l.decoding
	l.snd = endpoint.NewSender(s.schema, s.initial, run, sending)
	l.rcv = endpoint.NewReceiver(s.schema, s.initial, c.CodecTable(), receiving)
	l.display = playout.New(s.schema, s.cadence, l.rcv.History(), &l.taint, opt.WithPicture)
	if opt.Inspect {
		l.inspector = inspector.New(l.log, l.rcv.History())
	}
	l.follow(c)
	return l, nil
}

// follow makes the lane follow the live settings of the configuration. Those that it does not
// copy are read from l.live.
func (l *lane) follow(c *config.Config) {
	l.live = c
	l.meter.Link.Set(c.Down)
	l.display.Set(c.Receiver.Playout, c.Receiver.Hermite)
	if !c.Down.Corrupt.Checksum && !c.Trusting {
		l.rcv.Guard(true) // permanently: packets that were damaged before the checksum was on may be in flight
	}
}

// reconfigure makes the lane and its modelled links follow the configuration.
func (l *lane) reconfigure(c *config.Config) error {
	l.follow(c)
	if l.paths.downLink == nil || l.paths.upLink == nil {
		return nil
	}
	return errors.Join(l.paths.downLink.Reshape(c.Down), l.paths.upLink.Reshape(c.Up))
}

// send encodes cur and sends the packet. changed are the rows in which it may differ from the
// frame sent before it; restarted: the recording restarted since that frame.
func (l *lane) send(now time.Duration, cur *frame.Shared, changed frame.Rows, restarted bool) {
	l.budget.Reset()
	p, err := l.snd.SendShared(now, cur, changed, &l.budget)
	if restarted {
		l.restart.any, l.restart.seq = true, p.Seq
	}
	if err != nil {
		l.refuseFrame(now, &p, err)
		return
	}
	codec := l.snd.Encoding().Codec
	if how := codec.RunsAs(); how != "" {
		l.meter.RunsAs(how)
	}
	e := encoded{items: l.schema.Items(p.Stored), changed: l.encoding.Changed, ns: l.encoding.NS, restarted: restarted,
		across: restarted || l.crossesRestart(&p)}
	if codec.Quantises {
		l.meter.Rounding.Add(l.schema, &cur.Frame, p.Stored)
	} else {
		e.source = cur
	}
	l.transmit(now, &p, e)
}

// refuseFrame records that the encoder rejected a frame.
func (l *lane) refuseFrame(now time.Duration, p *endpoint.Packet, err error) {
	l.meter.EncodeFailed++
	l.lastErr = err
	if errors.Is(err, encoders.ErrBroken) {
		l.broken = l.codec()
	}
	l.inspector.Refused(now, p, err)
}

// crossesRestart reports whether a packet builds on a frame from before the newest restart.
func (l *lane) crossesRestart(p *endpoint.Packet) bool {
	return l.restart.any && p.Baseline > 0 && p.Seq-uint64(max(p.Baseline, p.Second)) < l.restart.seq
}

// tickDisplay runs one tick of the receiver's display, and compares it with the source's frames
// of that moment.
func (l *lane) tickDisplay(now time.Duration, t *playout.Truths) {
	tick, ok := l.display.Tick(now, t, &l.meter.Display.Errors)
	if !ok || l.paths.far != nil { // the far end counts its own display
		return
	}
	l.meter.Shown(tick.Behind, tick.Starved)
	if tick.Showing {
		l.meter.Aged(tick.Age)
	}
}

// closeSample completes the sample that ends at t.
func (l *lane) closeSample(t time.Duration) {
	if far := l.paths.far; far != nil {
		display, _ := far.Counts()
		l.meter.FarDisplay(&l.paths.remote, display)
	}
	s := l.meter.Close(t, l.live.BudgetKbps)
	if l.observer != nil {
		l.observer.Sample(s)
		l.observer.Settled(l.flights.settled())
	}
}

// totals returns the lane's totals at now.
func (l *lane) totals(now time.Duration) figures.Totals {
	var g lossmodel.Gauges
	if l.paths.downLink != nil {
		g = l.paths.downLink.Gauges(now)
	}
	t := l.meter.Totals(l.delivery.BusyUntil(now)-l.began, l.schema, g)
	if l.live.Receiver.DigestBits > 0 && l.delivery == nil {
		t.Restarts = figures.Known(float64(l.snd.Restarts()))
	}
	if far := l.paths.far; far != nil {
		display, lab := far.Counts()
		l.paths.remote.Complete(&t, l.meter, display, lab, now-l.began)
	}
	t.Sender, t.Receiver = gauges(l.snd.Encoding().Encoder), gauges(l.rcv.Decoder())
	payload, wire, feedback := l.meter.Bytes()
	t.Transfer = l.delivery.Figures(now, payload, wire, feedback)
	return t
}

// codec returns the name of the codec that is sent with.
func (l *lane) codec() string { return l.snd.Encoding().Codec.Name }

// gauges returns the gauges of one end of a codec, if it has any.
func gauges(end any) []encoders.Gauge {
	if g, ok := end.(encoders.Gauged); ok {
		return g.Gauges()
	}
	return nil
}

// timing returns how long the codec's work took in this process.
func (l *lane) timing() figures.Timing {
	t := l.meter.Timing()
	l.delivery.AddTiming(&t)
	return t
}
