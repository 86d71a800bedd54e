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

// endlessDuration is how long a run of a source without end takes by default.
const endlessDuration = 60 * time.Second

// Options are what a session gets from its caller. None of them changes a byte of the results.
type Options struct {
	Clock       wallclock.Clock     // times encoders and decoders; nil: no timings
	Observer    Observer            // receives every sample and packet of the first lane; nil: none
	KeepSamples int                 // how many to keep; 0: all
	KeepPackets int                 // how many to keep, at least 256
	WithPicture bool                // compute where every cube is displayed
	Inspect     bool                // keep the inspector.Inside of the first lane's packets
	Trials      bool                // measure what changes of the encoder do: see Effect
	Endless     bool                // ignore Duration: a live session ends with Interrupt
	Packs       *delivery.PackCache // packed files of earlier sessions; nil: none
	Force       bool                // begin although it may take more than MaxMemory
	Network     Network             // where the receiver of the first lane is; nil: here, behind modelled links
}

// Observer receives every finished sample and packet, as they end. The pointers are valid until
// the call returns.
type Observer interface {
	Sample(*meters.Sample)
	// Packet receives the record of a packet. problem is nil unless Options.Inspect is set and
	// there are reasons for the packet's outcome or its size.
	Packet(r *packetlog.Record, problem *Problem)
	// Settled is called when, of the packets sent by now, all below seq have ended.
	Settled(seq uint64)
}

// Problem is a packet with reasons for its outcome or its size.
type Problem struct {
	*inspector.Opened
	Config *config.Config // at the time that the packet ended
}

// Session is one experiment in virtual time: an event loop over the source's ticks, the links'
// deliveries, the display, the samples and the changes. It is single-threaded and reads no
// clock. Events of one instant happen in a fixed order: sample, changes, arrivals, source,
// display.
type Session struct {
	stream
	changes
	fileDelivery
	trials
	config  *config.Config // with every change applied so far
	start   *config.Config // at the start of the session
	opt     Options
	feed    feed
	player  player
	lanes   []*lane
	running []*lane        // the lanes, and that of a trial
	truths  playout.Truths // the source's newest frames, to compare displays with; of cubes
	unsent  frame.Rows     // the rows in which the newest frame may differ from the frame sent last

	now         time.Duration // everything up to here has happened
	end         time.Duration // exclusive
	ended       bool
	interrupted bool
	failed      error // error of the source; the session cannot go on
	marks       []Mark

	sent, skipped uint64 // frames that were due to be sent; of those, left out because of config.Sender.Every
	shown         uint64 // display ticks
	sampled       uint64 // samples closed
	restarted     bool   // the recording restarted after the last frame sent
}

// NewSession opens the source and sets up both ends. If ctx ends, opening fails, and so does a
// later read that waits for the other end of a pipe. Close the session after use.
func NewSession(ctx context.Context, c *config.Config, opt Options) (*Session, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	endless := opt.Endless || c.Duration > 0
	src, err := c.OpenData(ctx, endless)
	if err != nil {
		return nil, err
	}
	s, err := newSession(ctx, c, src, opt)
	if err != nil {
		return nil, errors.Join(c.Locate(err), (&feed{source: src}).close())
	}
	return s, nil
}

// NewSessionOf builds a session on any source. Close releases the source.
func NewSessionOf(c *config.Config, src dataset.Source, opt Options) (*Session, error) {
	return newSession(context.Background(), c, src, opt)
}

// newSession is NewSessionOf; the wait for the far end of a network ends with ctx.
func newSession(ctx context.Context, c *config.Config, src dataset.Source, opt Options) (*Session, error) {
	c = c.Clone()
	if err := c.Pin(); err != nil {
		return nil, err
	}
	if err := fit(c, src.Schema(), opt.Force); err != nil {
		return nil, err
	}
	s := &Session{config: c.Clone(), start: c, opt: opt, stream: newStream(c, src), now: -1}
	s.delivers = s.schema.Delivery == frame.Every
	s.player.source, _ = src.(dataset.Steered)
	s.end = s.plannedEnd(src)
	s.feed, s.unsent = newFeed(src, s.initial), frame.NewRows(s.schema.Rows)
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
		opt := &s.opt
		if i > 0 {
			opt = s.opt.shadow()
		}
		l, err := newLane(c, e, s.stream, opt)
		if err == nil {
			err = l.connectNew(c, opt.Network)
		}
		if err != nil {
			return nil, err
		}
		s.deliverOver(l)
		s.lanes = append(s.lanes, l)
	}
	s.setRunning()
	return s, s.loadScript(c)
}

// newStream returns what the lanes of a session on src carry.
func newStream(c *config.Config, src dataset.Source) stream {
	s := stream{schema: src.Schema(), cubes: frame.IsCubes(src.Schema()), initial: src.Schema().NewFrame(),
		cadence: endpoint.Cadence{TickHz: src.Schema().TickHz, RateHz: c.Sender.RateHz}}
	if t, ok := src.(dataset.Timed); ok {
		s.cadence.Times = t
	}
	src.Initial(s.initial)
	return s
}

// plannedEnd returns when the session ends, unless the source ends before; never if only the
// source or an interruption ends it.
func (s *Session) plannedEnd(src dataset.Source) time.Duration {
	_, sized := src.(dataset.Sized)
	switch {
	case s.opt.Endless:
		return never
	case s.config.Duration > 0:
		return s.config.Duration
	case s.delivers:
		return longestDelivery
	case sized:
		return never
	}
	return endlessDuration
}

// readAhead reads what the session must know before it begins: the file to be delivered, or the
// first frame of a source that can end.
func (s *Session) readAhead() (err error) {
	if s.delivers {
		s.packs = s.opt.Packs
		if s.packs == nil {
			s.packs = delivery.NewPackCache()
		}
		s.pair, err = readPair(s.feed.source, s.config.Data.Source, s.initial, &s.feed.cur.Frame)
		return err
	}
	if _, sized := s.feed.source.(dataset.Sized); sized {
		s.feed.ahead = s.feed.read()
		s.noteEnd()
	}
	return nil
}

// noteEnd sets the end of the session if the source has ended.
func (s *Session) noteEnd() {
	if s.feed.over {
		s.end = min(s.end, s.cadence.TickTime(s.feed.lastTick))
	}
}

// encodersOf lists the encoders of a configuration: that of the first lane, then the shadows.
func encodersOf(c *config.Config) []config.Encoder {
	return append([]config.Encoder{c.Encoder}, c.Shadows...)
}

// Close releases the source.
func (s *Session) Close() error { return s.feed.close() }

// Config returns the configuration with every change applied so far. The caller must not modify
// it.
func (s *Session) Config() *config.Config { return s.config }

// StartConfig returns the configuration at the start of the session, fitted to the data. The
// caller must not modify it.
func (s *Session) StartConfig() *config.Config { return s.start }

// Schema describes the source's frames.
func (s *Session) Schema() *frame.Schema { return s.schema }

// Err returns the error of the source that stopped the session; nil if there was none.
func (s *Session) Err() error { return s.failed }

// Now returns the present virtual time. All events up to it have been handled.
func (s *Session) Now() time.Duration { return max(s.now, 0) }

// Reached reports whether all events up to and including t have been handled.
func (s *Session) Reached(t time.Duration) bool { return s.now >= t }

// Done reports whether the session has ended: its duration has passed, its source is exhausted,
// or it was interrupted.
func (s *Session) Done() bool { return s.ended }

// Ends returns when the session ends, exclusively: later than any event if that is not known
// yet.
func (s *Session) Ends() time.Duration { return s.end }

// NextFrame returns when the next frame is due. config.Sender.Every may skip it.
func (s *Session) NextFrame() time.Duration { return s.FrameAt(0) }

// FrameAt returns when the n-th frame from now is due, counted from 0.
func (s *Session) FrameAt(n int) time.Duration { return s.cadence.SeqTime(s.sent + uint64(n)) }

// Advance runs the session for another d of virtual time, as RunUntil does.
func (s *Session) Advance(d time.Duration) error { return s.RunUntil(s.now + d) }

// RunUntil handles all events due at or before t. It stops early when the session ends. It fails
// only if the source fails, and then every later call fails too.
func (s *Session) RunUntil(t time.Duration) error {
	for !s.ended && s.failed == nil {
		at := s.NextEvent()
		over := t >= s.end-1
		// A network may still report arrivals from before the end.
		if at >= s.end && (over || s.opt.Network == nil) || at > t && over {
			s.finish(s.end)
			return nil
		}
		if at > t {
			break
		}
		s.now = at
		s.failed = s.step(at)
	}
	if s.failed == nil && !s.ended {
		s.now = max(s.now, t)
	}
	for _, l := range s.running { // what was sent has left
		l.snd.Finish()
		l.rcv.Finish()
	}
	return s.failed
}

// Interrupt ends the session right after the present instant.
func (s *Session) Interrupt() {
	s.interrupted = true
	s.finish(s.now + 1)
}

// finish ends the session at t. The end is exclusive: events at t are not handled.
func (s *Session) finish(t time.Duration) {
	s.ended, s.end, s.now = true, t, t
	if last := time.Duration(s.sampled) * meters.SamplePeriod; last < t {
		s.sampled++
		for _, l := range s.lanes {
			l.closeSample(t)
		}
	}
	for _, l := range s.lanes {
		l.closeFlights(t)
	}
}

// NextEvent returns when the next event is due.
func (s *Session) NextEvent() time.Duration {
	at := min(s.NextFrame(), s.nextSample())
	if !s.delivers {
		at = min(at, s.cadence.TickTime(s.feed.ticks), s.nextDisplay())
	}
	if len(s.pending) > 0 {
		at = min(at, s.pending[0].T)
	}
	for _, l := range s.running {
		if t, ok := l.paths.next(); ok {
			at = min(at, t)
		}
	}
	return at
}

// nextSample returns when the current sample ends.
func (s *Session) nextSample() time.Duration {
	return time.Duration(s.sampled+1) * meters.SamplePeriod
}

// nextDisplay returns the time of the next display tick.
func (s *Session) nextDisplay() time.Duration {
	return endpoint.TickTime(1000*s.shown, s.config.DisplayMilliHz(s.schema.TickHz))
}

// step handles all events due at this instant.
func (s *Session) step(at time.Duration) error {
	if at == s.nextSample() {
		s.sampled++
		for _, l := range s.running {
			l.closeSample(at)
		}
		s.checkTrial(at)
	}
	for len(s.pending) > 0 && s.pending[0].T <= at {
		ch := s.pending[0]
		s.pending = s.pending[1:]
		s.applyDue(at, ch.StampedChange)
	}
	for _, l := range s.running {
		l.receiveAll(at)
	}
	if s.delivers {
		s.stepDelivery(at)
		return nil
	}
	if err := s.tick(at); err != nil {
		return err
	}
	if at == s.nextDisplay() {
		s.shown++
		for _, l := range s.running {
			l.tickDisplay(at, &s.truths)
		}
	}
	return nil
}

// tick reads the source's next frame if one is due, and sends the newest frame if a packet is
// due.
func (s *Session) tick(at time.Duration) error {
	if at == s.cadence.TickTime(s.feed.ticks) {
		if err := s.takeFrame(at); err != nil {
			return err
		}
	}
	if at != s.NextFrame() {
		return nil
	}
	if !s.takeTurn(at) {
		for _, l := range s.running {
			l.snd.Skip()
		}
		return nil
	}
	for _, l := range s.running {
		l.send(at, s.feed.cur, s.unsent, s.restarted)
	}
	s.fallBack(at)
	s.restarted = false
	s.unsent.Clear()
	return nil
}

// takeTurn reports whether a packet is to be sent at this instant: one is due, and
// config.Sender.Every does not leave it out.
func (s *Session) takeTurn(at time.Duration) bool {
	if at != s.NextFrame() {
		return false
	}
	s.sent++
	if (s.sent-1)%uint64(s.config.Sender.Every) != 0 {
		s.skipped++
		return false
	}
	return true
}

// takeFrame takes the source's next frame.
func (s *Session) takeFrame(at time.Duration) error {
	s.player.steer(at)
	restarted, err := s.feed.next()
	if err != nil {
		return s.sourceError(err)
	}
	s.noteEnd()
	if restarted {
		s.mark(at, MarkSeam, "seam")
		s.restarted = true
	}
	if s.cubes {
		s.truths.Add(s.feed.cur, restarted, s.oldestShown())
	}
	s.unsent.Union(s.feed.cur.Changed)
	return nil
}

// oldestShown returns the oldest source tick that any lane displays.
func (s *Session) oldestShown() uint64 {
	oldest := s.feed.ticks
	for _, l := range s.running {
		oldest = min(oldest, endpoint.TickAt(l.display.Moment(), s.schema.TickHz))
	}
	return oldest
}

// sourceError adds the name of the data to err, unless err already names that file.
func (s *Session) sourceError(err error) error {
	var in *source.Error
	if errors.As(err, &in) && in.File == strings.TrimPrefix(s.config.Data.Source, "file:") {
		return err
	}
	return fmt.Errorf("data %s: %w", s.config.Data.Source, err)
}
