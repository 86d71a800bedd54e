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
	"wirelab/experiment/view"
)

// lane is one encoder with its endpoints: a sender, a receiver, a network path in each direction,
// and the measurements of all of these. All lanes of a session send the same frames. Their links
// have the same seeds, so packets with the same sequence number are lost and delayed alike. The
// endpoints do not have access to the frames to compare with; the lane has.
type lane struct {
	stream
	membership
	config     config.Encoder // at the start of the lane
	liveConfig *config.Config // of the lane, current; only settings that may change during a run may be read
	observer   Observer       // nil if none

	sendingEnd
	receivingEnd
	handled
	measurements
	faults
	delivery  *delivery.Delivery // nil unless the stream's delivery is frame.Every
	paths     paths
	carrier   *carrier   // puts packets into containers; nil unless sender.redundancy was set or messages are sent
	messenger *messenger // nil unless messages are sent
	flights   flights
	traffic   string // plan of the other traffic, as text
}

// sendingEnd is the sender of a lane, and what decides about its packets.
type sendingEnd struct {
	snd        *endpoint.Sender
	control    laneControl
	budget     encoders.Budget // bit budget of the packet being encoded
	sendBudget endpoint.Budget // the newest budget of the sender, if there ever was one
	restart    restart
	// unsent are the rows that may differ between the source's newest frame and the frame sent last.
	unsent        frame.Rows
	restartUnsent bool // the recording restarted after the frame sent last
	aligning      bool // must begin an epoch together with a lane of equal configuration; see alignLanes
}

// receivingEnd is the receiver of a lane, with its display and its acks.
type receivingEnd struct {
	rcv         *endpoint.Receiver
	exact       exactFrames
	display     *playout.Display
	compared    *playout.Comparison // of playout policies; nil if none are compared
	ackScratch  []byte              // the ack being sent, reused
	ackDatagram []byte              // ackScratch after the ack of messages, reused
	acks        *sentAcks           // acks sent; nil unless Options.KeepSent
}

// handled is the datagram that is being handled.
type handled struct {
	outcomeRec   packetlog.Record // record of the packet copy whose outcome is being determined
	report       *RemoteReport    // a remote receiver's report of the datagram; nil if none
	packetReport *PacketReport    // its report of the packet that is being handled; nil if none
	withholdAck  bool             // further packets of the same datagram follow: only the last causes an ack
}

// measurements are what a lane measures of its packets and endpoints.
type measurements struct {
	encoding  meters.Stopwatch // times the encoder
	decoding  meters.Stopwatch // times the decoder
	meter     *meters.Meter
	views     *meters.View // measures what the receiver shows; nil unless there was a budget
	log       *packetlog.Log
	inspector *inspector.Inspector // nil unless Options.Inspect
	digest    digest
}

// faults are what went wrong in a lane.
type faults struct {
	lastErr     error   // newest error of the encoder, the decoder or the feedback
	brokenCodec string  // name of the plugin encoder that broke its contract in the current frame; else empty
	problem     Problem // result of withConfig, reused
}

// membership describes when a lane joined the session, and its place among the lanes.
type membership struct {
	joinedAt time.Duration // when the lane began; 0 for the first lane
	letter   string        // A for the first lane, B for the first shadow, and so on; empty for the lane of a trial
}

// stream describes the frames that the lanes of a session carry.
type stream struct {
	schema  *frame.Schema
	cubes   bool         // the schema's rows are cubes
	initial *frame.Frame // the initial state, which both endpoints have
	cadence endpoint.Cadence
}

// restart is the newest restart of a recording that plays in a loop.
type restart struct {
	occurred bool   // the recording has restarted at least once
	seq      uint64 // sequence number of the first packet after the newest restart
}

// minStoredPackets is the minimum size of a packet log, because the inspector looks up references there,
// which are at most 255 packets old.
const minStoredPackets = frame.MaxHistory + 1

// newLane returns a lane for encoder e of configuration c without links; connect or connectNew sets
// them.
func newLane(c *config.Config, e config.Encoder, s stream, opt *Options) (*lane, error) {
	encoding, err := newEncoding("encoder", e, c, s.schema)
	if err != nil {
		return nil, err
	}
	l := &lane{stream: s, config: e.Clone(), observer: opt.Observer, flights: flights{pool: frame.NewPool(s.schema)}}
	l.unsent = frame.NewRows(s.schema.Rows)
	l.measurements = measurements{digest: newDigest(),
		encoding: meters.NewStopwatch(opt.Clock, s.schema), decoding: meters.NewStopwatch(opt.Clock, s.schema),
		meter: meters.New(float64(c.DisplayMilliHz(s.schema.TickHz))/1000, opt.KeepSamples),
		log:   packetlog.New(max(opt.KeepPackets, minStoredPackets))}
	if opt.KeepHistory {
		l.log.KeepHistory(ShownPackets)
	}
	// Endpoints defer work until a packet has left only on a real network. Without one nothing is gained,
	// and the times of the encoder and the decoder include that work.
	both := endpoint.Options{Cadence: s.cadence, Defer: opt.Network != nil}
	sending, receiving := both, both
	sending.History, sending.Probe, sending.KeepSent = c.Sender.History, &l.encoding, opt.KeepSent
	receiving.History, receiving.Probe = c.Receiver.History, &l.decoding
	l.snd = endpoint.NewSender(s.schema, s.initial, encoding, sending)
	l.rcv = endpoint.NewReceiver(s.schema, s.initial, c.CodecTable(), receiving)
	l.display = playout.New(s.schema, s.cadence, l.rcv.History(), &l.exact)
	l.meter.Display.Units = l.display.ErrorUnits()
	if opt.Inspect {
		l.inspector = inspector.New(l.log, l.rcv.History())
	}
	if opt.KeepSent {
		l.acks = &sentAcks{}
	}
	l.applySettings(0, c)
	return l, nil
}

// applySettings applies the settings of c that may change during a run to the lane, except for those
// of the modelled links.
func (l *lane) applySettings(now time.Duration, c *config.Config) {
	c = c.ForLane(l.config)
	l.liveConfig = c
	l.setRedundancy(now, c.Sender.Redundancy)
	l.meter.Link.SetSpec(c.Down)
	l.setControl(c)
	l.setBudget(c)
	l.display.Set(c.Playout(), c.PlayoutRhythm(l.schema.TickHz), c.Receiver.Hermite)
}

// comparePlayouts begins to compare the playout policies that the configuration lists, unless the same
// comparison is running.
func (l *lane) comparePlayouts(now time.Duration) {
	c := l.liveConfig
	timings, rhythm := c.ComparedPlayouts(), c.PlayoutRhythm(l.schema.TickHz)
	switch {
	case len(timings) == 0:
		l.compared = nil
	case !l.compared.Compares(timings, rhythm):
		l.compared = playout.NewComparison(max(now, 0), timings, rhythm, l.cadence)
	}
}

// reconfigure applies the settings of after that may change during a run to the lane and to its modelled
// links at time now. before is the configuration until now.
func (l *lane) reconfigure(now time.Duration, before, after *config.Config) error {
	l.applySettings(now, after)
	changesLinks := before.Down != after.Down || before.Up != after.Up
	if changesLinks && l.liveConfig.Sender.Control.Name() != "" {
		l.control.steps.Begin(now) // the control has to recover from the change
	}
	if changesLinks {
		l.meter.Swaps.SetLink(before.LinkSettings(), after.LinkSettings())
		err := errors.Join(l.paths.downLink.ReshapeAt(now, after.Down), l.paths.upLink.ReshapeAt(now, after.Up))
		if err != nil {
			return err
		}
	}
	l.setTraffic(now, after.Traffic)
	return nil
}

// send encodes cur and sends the packet.
func (l *lane) send(now time.Duration, cur *frame.Shared) {
	restarted := l.restartUnsent
	l.budget.Reset()
	l.encoding.NS = 0
	p, err := l.snd.SendShared(now, cur, l.unsent, &l.budget)
	if restarted {
		l.restart.occurred, l.restart.seq = true, p.Seq
	}
	if errors.Is(err, view.ErrNoRoom) {
		l.countHeld()
		return
	}
	if err != nil {
		l.refuseFrame(now, &p, err)
		return
	}
	codec := l.snd.Encoding().Codec
	if runsAs := codec.Runtime(); runsAs != "" { // a plugin, for example interpreted or compiled
		l.meter.SetRunsAs(runsAs)
	}
	rec := packetlog.Record{Items: l.schema.Items(p.Frame()), Changed: l.encoding.Changed, EncodeNS: l.encoding.NS,
		Seam: restarted, CrossesLoop: restarted || l.crossesRestart(&p)} // both mean a restart of the recording
	var source *frame.Shared
	if p.View != nil {
		rec.Changed = p.View.Rows
		l.views.Sent(&p, l.liveConfig.SendInterval())
	} else if codec.Quantises {
		l.meter.Rounding.Add(l.schema, &cur.Frame, p.Frame())
	} else {
		source = cur
	}
	l.transmit(now, &p, rec, source)
}

// refuseFrame records that the encoder returned err for a frame, so that p was not sent.
func (l *lane) refuseFrame(now time.Duration, p *endpoint.Packet, err error) {
	l.meter.Now.EncodeFailed++
	l.lastErr = err
	if errors.Is(err, encoders.ErrBroken) {
		l.brokenCodec = l.codec()
	}
	l.inspector.Refused(now, p, err)
}

// crossesRestart reports whether a packet has a reference from before the newest restart of the
// recording. The second reference, if the packet has one, is older than the baseline; otherwise p.Second
// is 0.
func (l *lane) crossesRestart(p *endpoint.Packet) bool {
	return l.restart.occurred && p.Baseline > 0 && p.Seq-uint64(max(p.Baseline, p.Second)) < l.restart.seq
}

// tickDisplay runs one tick of the receiver's display, compares the displayed state with the source's
// frames around the displayed time, and counts the tick.
func (l *lane) tickDisplay(now time.Duration, truths *playout.Truths) {
	l.compared.Tick(now)
	tick, ok := l.display.Tick(now, truths, &l.meter.Display.Errors)
	if !ok || l.paths.peer != nil { // a remote receiver counts the ticks of its own display
		return
	}
	l.meter.CountDisplayTick(tick.Behind, tick.Starved)
	if tick.Showing {
		l.meter.CountAge(tick.Age)
	}
}

// closeSample completes the sample that ends at t, and passes it to the observer.
func (l *lane) closeSample(t time.Duration) {
	l.meter.MeasureQueue(t, l.paths.downLink)
	if peer := l.paths.peer; peer != nil {
		display, _ := peer.Counts()
		l.meter.AddRemoteDisplay(&l.paths.remote, display)
	}
	if l.messenger != nil {
		l.meter.Now.UnderWay = l.messenger.underWay()
	}
	if state := l.snd.Control(); state != nil {
		l.meter.Now.Controlled = true
		l.meter.Now.TargetBps = state.TargetBps
	}
	if l.views != nil {
		l.meter.Now.View = l.views.TakeSample()
	}
	s := l.meter.CloseSample(t, l.liveConfig.BudgetKbps, l.compared.CloseSample())
	if s.Controlled {
		l.control.steps.CloseSample(t, int(s.Sent))
	}
	if l.observer != nil {
		l.observer.Sample(s)
		l.observer.Settled(l.flights.firstUnsettled())
	}
}

// totals returns the lane's totals at now: the figures of its meter, and those that the endpoints, the
// delivery of a file and the remote receiver provide. Rates are computed until the lane has delivered its
// file.
func (l *lane) totals(now time.Duration) figures.Totals {
	t := l.meter.Totals(l.delivery.BusyUntil(now)-l.joinedAt, l.schema, l.paths.downLink.Gauges(now))
	if peer := l.paths.peer; peer != nil {
		display, lab := peer.Counts()
		l.paths.remote.AdjustTotals(&t, l.meter, display, lab, now-l.joinedAt)
	}
	t.Control = l.controlFigures()
	t.View = l.viewFigures(now)
	t.Playout.Policies = l.compared.Figures()
	if l.messenger != nil {
		t.Messages = l.messenger.figures(now - l.joinedAt)
	}
	if l.carrier != nil && l.carrier.hasRedundancy() {
		t.Redundancy = l.carrier.meter.Figures(l.carrier.snd.Redundancy().String(), now-l.joinedAt)
	}
	t.Sender, t.Receiver = gauges(l.snd.Encoding().Encoder), gauges(l.rcv.Decoder())
	sum := l.meter.Total()
	t.Transfer = l.delivery.Figures(now, sum.PayloadBits/8, sum.WireBits/8, sum.FeedbackBits/8)
	return t
}

// codec returns the name of the sender's current codec.
func (l *lane) codec() string { return l.snd.Encoding().Codec.Name }

// gauges returns the gauges of an encoder or decoder; nil if it has none.
func gauges(coder any) []encoders.Gauge {
	if g, ok := coder.(encoders.Gauged); ok {
		return g.Gauges()
	}
	return nil
}

// timing returns how long the calls of the encoder and the decoder took in this process.
func (l *lane) timing() figures.Timing {
	t := l.meter.Timing()
	l.delivery.AddTiming(&t)
	return t
}
