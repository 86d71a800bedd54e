package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/engine/playout"
	"wirelab/internal/wallclock"
)

// never is later than any event.
const never = time.Duration(math.MaxInt64)

// orNever returns at if known is true, else never.
func orNever(at time.Duration, known bool) time.Duration {
	if known {
		return at
	}
	return never
}

// defaultDuration is the duration of a run whose configuration sets none and whose source never
// ends.
const defaultDuration = 60 * time.Second

// Options configure what a session measures and stores, and where its first receiver runs. Except
// for Network, no option changes a byte of the results.
type Options struct {
	Clock       wallclock.Clock     // times encoders and decoders; nil means no timings
	Observer    Observer            // receives every sample and packet of the first lane; nil means none
	KeepSamples int                 // number of newest samples to store per lane; 0 means all
	KeepPackets int                 // number of newest packet records to store per lane; at least 256 are stored
	KeepHistory bool                // store the records of all packets of the first lane for Lane.History
	Inspect     bool                // store an inspector.Inside for each packet of the first lane
	KeepSent    bool                // store what Session.Trace and Session.RowCosts need of the first lane
	Trials      bool                // measure the effect of each change of the encoder; see Effect
	Endless     bool                // ignore config.Config.Duration: a live session ends with Interrupt
	Packs       *delivery.PackCache // packed files of earlier sessions; nil means none
	Force       bool                // skip the check of the session's memory against maxMemory
	Network     Network             // real network to the first lane's receiver; nil means modelled links in this process
}

// Observer receives each sample when its period ends and each packet when its outcome is known. The
// pointers are valid until the call returns.
type Observer interface {
	// Sample receives a completed sample.
	Sample(*meters.Sample)
	// Packet receives the record of a packet, or of a datagram without one. problem is nil unless
	// Options.Inspect is set and there are reasons for the packet's outcome or its size.
	Packet(r *packetlog.Record, problem *Problem)
	// Settled is called after each sample. All packets with a sequence number below seq have their
	// outcome; no more calls of Packet follow for them.
	Settled(seq uint64)
}

// Problem is a packet with reasons for its outcome or its size.
type Problem struct {
	*inspector.Opened
	Config *config.Config // the configuration when the packet's outcome was recorded
}

// Session is one experiment in virtual time: an event loop over the source's ticks, the links'
// deliveries, the display ticks, the ends of samples and the changes of the configuration. It is
// single-threaded and never reads the wall clock. Events with the same time are handled in this
// order: end of a sample, changes, arrivals, source tick, display tick.
type Session struct {
	stream
	changes
	fileDelivery
	trials
	laneSet
	config   *config.Config // with every change applied so far
	start    *config.Config // at the start of the session
	opt      Options
	feed     feed
	player   player
	truths   playout.Truths // the source's newest frames, to compare displays with; of data that displays interpolate
	rowCosts rowCostMeter

	now         time.Duration // all events up to this time were handled; -1 before the first
	end         time.Duration // events at this time or later are not handled; never if unknown
	ended       bool
	interrupted bool
	err         error // error of the source that stopped the session; nil if none
	marks       []Mark

	framesDue, framesSkipped uint64 // frames that were due to be sent; of those, frames left out because of config.Sender.Every
	displayTicks             uint64 // display ticks so far
	closedSamples            uint64 // complete samples so far
}

// laneSet contains the lanes of a session, past and present.
type laneSet struct {
	lanes      []*lane        // that of the active encoder, then the shadows
	running    []*lane        // lanes, and the extra lane of the current trial, if it needs one
	lanesNamed int            // lanes that have a letter, with those that left
	departed   []departedLane // shadows that left, oldest first
}

// NewSession opens the source and creates the endpoints. When ctx ends, opening fails, and so does a
// later read of a source that is a pipe without data. Close the session after use.
func NewSession(ctx context.Context, c *config.Config, opt Options) (*Session, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Crowd.Clients > 0 {
		return nil, c.Locate(&config.Error{Key: "crowd.clients", Problem: "a session has one receiver", Expected: "a new start with --set crowd.clients=N for a crowd, without --to and --udp"})
	}
	endless := opt.Endless || c.Duration > 0
	src, err := c.OpenData(ctx, endless)
	if err != nil {
		return nil, err
	}
	s, err := newSession(ctx, c, src, opt)
	if err != nil {
		// Locate adds the place in the configuration file. The source is closed here, as there is no session.
		return nil, errors.Join(c.Locate(err), (&feed{source: src}).close())
	}
	return s, nil
}

// NewSessionFromSource creates a session that reads frames from src. Close closes src, if it is an io.Closer.
func NewSessionFromSource(c *config.Config, src dataset.Source, opt Options) (*Session, error) {
	return newSession(context.Background(), c, src, opt)
}

// newSession creates a session that reads frames from src, and connects it to opt.Network, unless that
// is nil. When ctx ends, waiting for the peer of the network fails. newSession does not close src.
func newSession(ctx context.Context, c *config.Config, src dataset.Source, opt Options) (*Session, error) {
	c = c.Clone()
	if err := c.PinFiles(); err != nil { // reads the trace files of the links
		return nil, err
	}
	if err := fitToSchema(c, src.Schema(), opt.Force); err != nil {
		return nil, err
	}
	s := &Session{
		config: c.Clone(),
		start:  c,
		opt:    opt,
		stream: newStream(c, src),
		truths: playout.NewTruths(src.Schema()),
		now:    -1,
	}
	s.isFile = s.schema.Delivery == frame.Reliable
	s.player.source, _ = src.(dataset.Steered) // nil if the player cannot steer the source
	s.end = s.plannedEnd(src)
	s.feed = newFeed(src, s.initial)
	if err := errors.Join(s.checkControl(c), CheckBudgets(nil, c, s.schema, s.initial)); err != nil {
		return nil, err
	}
	if opt.Network != nil {
		if err := s.checkNetwork(c); err != nil {
			return nil, err
		}
		if err := opt.Network.Begin(ctx, s.schema, s.initial, c); err != nil {
			return nil, err
		}
	}
	if err := s.readAhead(); err != nil {
		return nil, err
	}
	for i, e := range encodersOf(c) {
		laneOptions := &s.opt
		if i > 0 { // the first encoder is active, the others are shadows
			laneOptions = s.opt.shadow()
		}
		l, err := newLane(c, e, s.stream, laneOptions)
		if err != nil {
			return nil, err
		}
		l.startMessages(0, c)
		if err := l.connectNew(c, laneOptions.Network); err != nil {
			return nil, err
		}
		s.setUpDelivery(l)
		s.nameLane(l)
		s.lanes = append(s.lanes, l)
	}
	s.updateRunning()
	s.lanes[0].comparePlayouts(s.now)
	return s, s.loadScript(c)
}

// newStream returns the properties of the frames that the lanes of a session on src carry.
func newStream(c *config.Config, src dataset.Source) stream {
	s := stream{schema: src.Schema(), cubes: frame.IsCubes(src.Schema()), initial: src.Schema().NewFrame(),
		cadence: endpoint.Cadence{TickHz: src.Schema().TickHz, RateHz: c.Sender.RateHz}}
	if t, ok := src.(dataset.Timed); ok {
		s.cadence.Times = t
	}
	src.Initial(s.initial)
	s.initial.Residual = nil // endpoints have rounded values only
	return s
}

// plannedEnd returns the end of the session, if its source does not end earlier. It returns never if
// only the source or an interruption ends the session.
func (s *Session) plannedEnd(src dataset.Source) time.Duration {
	_, canEnd := src.(dataset.Sized)
	switch {
	case s.opt.Endless:
		return never
	case s.config.Duration > 0:
		return s.config.Duration
	case s.isFile:
		return maxDeliveryDuration
	case canEnd:
		return never // updateEnd sets the end when the source ends
	}
	return defaultDuration
}

// readAhead reads from the source what must be known before the first event: the file to deliver,
// or the first frame of a source that can end.
func (s *Session) readAhead() (err error) {
	if s.isFile {
		s.packs = s.opt.Packs
		if s.packs == nil {
			s.packs = delivery.NewPackCache()
		}
		s.pair, err = readPair(s.feed.source, s.config.Data.Source, s.initial, &s.feed.current.Frame)
		return err
	}
	if _, canEnd := s.feed.source.(dataset.Sized); canEnd {
		s.feed.ahead = s.feed.read()
		s.updateEnd()
	}
	return nil
}

// updateEnd moves the end of the session to the end of the source, if the source has ended earlier: to the
// time at which the next frame would have been due.
func (s *Session) updateEnd() {
	if s.feed.ended {
		s.end = min(s.end, s.cadence.TickTime(s.feed.endTick))
	}
}

// encodersOf returns the encoders of c, one for each lane: the active encoder, then the shadows.
func encodersOf(c *config.Config) []config.Encoder {
	return append([]config.Encoder{c.Encoder}, c.Shadows...)
}

// encoderKey returns the configuration key of encoder i of encodersOf.
func encoderKey(i int) string {
	if i == 0 {
		return "encoder"
	}
	return config.Indexed("shadow", i-1)
}

// Close closes the source.
func (s *Session) Close() error { return s.feed.close() }

// Config returns the configuration with every change applied so far. The caller must not modify
// it.
func (s *Session) Config() *config.Config { return s.config }

// StartConfig returns the configuration at the start of the session, with the settings that depend
// on the data filled in. The caller must not modify it.
func (s *Session) StartConfig() *config.Config { return s.start }

// Schema returns the schema of the source's frames.
func (s *Session) Schema() *frame.Schema { return s.schema }

// Err returns the error of the source that stopped the session; nil if there was none.
func (s *Session) Err() error { return s.err }

// Now returns the current virtual time. All events up to it have been handled.
func (s *Session) Now() time.Duration { return max(s.now, 0) }

// Reached reports whether all events up to and including t have been handled.
func (s *Session) Reached(t time.Duration) bool { return s.now >= t }

// Done reports whether the session has ended: its duration has passed, its source is exhausted,
// or it was interrupted.
func (s *Session) Done() bool { return s.ended }

// Ends returns the end of the session. Events at that time or later are not handled. The result is
// later than any event if the end is not known yet.
func (s *Session) Ends() time.Duration { return s.end }

// NextFrame returns when the next frame is due to be sent. config.Sender.Every may leave it out.
func (s *Session) NextFrame() time.Duration { return s.FrameAt(0) }

// FrameAt returns when the frame that is n frames after the next one is due to be sent.
func (s *Session) FrameAt(n int) time.Duration { return s.cadence.SeqTime(s.framesDue + uint64(n)) }

// Advance runs the session for a further d of virtual time. See RunUntil.
func (s *Session) Advance(d time.Duration) error { return s.RunUntil(s.now + d) }

// RunUntil handles all events due at or before t. It stops early when the session ends: with modelled
// links as soon as no event before the end is left; with a network only when t reaches the end, because
// the network may still report arrivals from before the end. RunUntil fails only if the source fails, and
// then every later call fails too.
func (s *Session) RunUntil(t time.Duration) error {
	for !s.ended && s.err == nil {
		at := s.NextEvent()
		reachesEnd := t >= s.end-1 // the end is exclusive
		if at >= s.end && (reachesEnd || s.opt.Network == nil) || at > t && reachesEnd {
			s.finish(s.end)
			return nil
		}
		if at > t {
			break
		}
		s.now = at
		s.err = s.step(at)
	}
	if s.err == nil && !s.ended {
		s.now = max(s.now, t)
	}
	for _, l := range s.running { // complete the work that the endpoints deferred after sending
		l.snd.Finish()
		l.rcv.Finish()
	}
	return s.err
}

// Interrupt ends the session right after the current time.
func (s *Session) Interrupt() {
	s.interrupted = true
	s.finish(s.now + 1)
}

// finish ends the session at t; events at t are not handled. It gives every packet in flight to the
// observer, and closes the current sample early, if the sample has any length.
func (s *Session) finish(t time.Duration) {
	s.ended, s.end, s.now = true, t, t
	for _, l := range s.lanes {
		l.endFlights(t)
	}
	if last := time.Duration(s.closedSamples) * meters.SamplePeriod; last < t {
		s.closedSamples++
		for _, l := range s.lanes {
			l.closeSample(t)
		}
	}
}

// NextEvent returns the time of the next event. The delivery of a file has no source ticks and no display
// ticks: its only frame is read at the start and never displayed.
func (s *Session) NextEvent() time.Duration {
	at := min(s.NextFrame(), s.nextSample())
	if !s.isFile {
		at = min(at, s.cadence.TickTime(s.feed.framesTaken), s.nextDisplay())
	}
	if len(s.pending) > 0 {
		at = min(at, s.pending[0].T)
	}
	for _, l := range s.running {
		at = min(at, l.paths.next(), l.nextDue())
	}
	return at
}

// nextSample returns when the current sample ends.
func (s *Session) nextSample() time.Duration {
	return time.Duration(s.closedSamples+1) * meters.SamplePeriod
}

// nextDisplay returns the time of the next display tick. The rate of the display is in thousandths of a
// hertz, so display tick n is tick 1000*n of a clock with that number of ticks per second.
func (s *Session) nextDisplay() time.Duration {
	return endpoint.TickTime(1000*s.displayTicks, s.config.DisplayMilliHz(s.schema.TickHz))
}

// step handles all events that are due at time at, in this order: end of a sample, changes, arrivals, source
// tick, display tick. The delivery of a file has its own steps instead of the last two.
func (s *Session) step(at time.Duration) error {
	if at == s.nextSample() {
		s.closedSamples++
		for _, l := range s.running {
			l.closeSample(at)
		}
		s.measureTrial(at)
	}
	for len(s.pending) > 0 && s.pending[0].T <= at {
		ch := s.pending[0]
		s.pending = s.pending[1:]
		s.applyDue(at, ch.StampedChange)
	}
	for _, l := range s.running {
		l.receiveAll(at)
	}
	if s.isFile {
		s.stepDelivery(at)
		return nil
	}
	if err := s.tick(at); err != nil {
		return err
	}
	if at == s.nextDisplay() {
		s.displayTicks++
		for _, l := range s.running {
			l.tickDisplay(at, &s.truths)
		}
	}
	return nil
}

// tick reads the source's next frame if one is due, and sends the newest frame on every lane if a
// packet is due. If config.Sender.Every leaves the packet out, every lane skips its sequence number.
func (s *Session) tick(at time.Duration) error {
	if at == s.cadence.TickTime(s.feed.framesTaken) {
		if err := s.readFrame(at); err != nil {
			return err
		}
	}
	if at != s.NextFrame() {
		return nil
	}
	if !s.consumeSendSlot(at) {
		for _, l := range s.running {
			l.snd.Skip()
		}
		return nil
	}
	s.alignLanes(at)
	for _, l := range s.running {
		l.offer(at, s.feed.current)
	}
	s.replaceBrokenEncoder(at)
	return nil
}

// consumeSendSlot counts the frame that is due to be sent at time at, if any. It reports whether a packet
// must be sent: a frame is due, and config.Sender.Every, which sends only every nth frame, does not leave it
// out.
func (s *Session) consumeSendSlot(at time.Duration) bool {
	if at != s.NextFrame() {
		return false
	}
	s.framesDue++
	if (s.framesDue-1)%uint64(s.config.Sender.Every) != 0 {
		s.framesSkipped++
		return false
	}
	return true
}

// readFrame passes the user's input to the source and makes the source's next frame the current one. It
// records whether the recording restarted, and the rows that changed.
func (s *Session) readFrame(at time.Duration) error {
	s.player.steer(at)
	restarted, err := s.feed.next()
	if err != nil {
		return s.sourceError(err)
	}
	s.updateEnd()
	if restarted {
		s.addMark(at, MarkLoop, "loop")
	}
	if s.lanes[0].display.Interpolates() {
		s.truths.Add(s.feed.current, restarted, s.oldestDisplayedTick())
	}
	for _, l := range s.running {
		l.unsent.Union(s.feed.current.Changed)
		l.restartUnsent = l.restartUnsent || restarted
		l.measureViews(s.feed.framesTaken-1, s.feed.current, restarted)
	}
	return nil
}

// oldestDisplayedTick returns the oldest source tick that the display of any lane shows. Older frames are
// no longer needed to measure errors of the display.
func (s *Session) oldestDisplayedTick() uint64 {
	oldest := s.feed.framesTaken
	for _, l := range s.running {
		oldest = min(oldest, endpoint.TickAt(l.display.Moment(), s.schema.TickHz))
	}
	return oldest
}

// sourceError adds the name of the data to err, unless err already contains the file's name.
func (s *Session) sourceError(err error) error {
	var in *source.Error
	if errors.As(err, &in) && in.File == strings.TrimPrefix(s.config.Data.Source, "file:") { // a recording: "file:PATH"
		return err
	}
	return fmt.Errorf("data %s: %w", s.config.Data.Source, err)
}
