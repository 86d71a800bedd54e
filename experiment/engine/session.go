package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
)

// never is later than any event.
const never = time.Duration(math.MaxInt64)

// endlessDuration is how long a run of a source without end takes by default.
const endlessDuration = 60 * time.Second

// Options are what a session gets from its caller. None of them changes a byte of the
// results.
type Options struct {
	Clock       Clock      // times encoders and decoders; nil: no timings
	Observer    Observer   // sees every sample and packet of the first lane; nil: nobody
	KeepSamples int        // how many to keep; 0: all
	KeepPackets int        // how many to keep, at least 256
	WithPicture bool       // work out where every cube is displayed
	Inspect     bool       // keep the Inside of the first lane's packets
	Trials      bool       // measure what changes of the encoder do: see Effect
	Endless     bool       // ignore Duration: a live session ends with Interrupt
	Packs       *PackCache // packed files of earlier sessions; nil: none
	Force       bool       // begin although it may take more than MaxMemory
	Network     Network    // where the receiver of the first lane is; nil: here, behind modelled links

	Context context.Context // ends the wait for whoever writes into a pipe; nil: nothing does

	times endpoint.Times // of a source.Timed
}

// cadence is that of sessions with these options.
func (o *Options) cadence(c *config.Config, s *frame.Schema) endpoint.Cadence {
	return endpoint.Cadence{TickHz: s.TickHz, RateHz: c.Sender.RateHz, Times: o.times}
}

// Observer receives every finished sample and packet, as they end. The pointers are
// valid until the call returns.
type Observer interface {
	Sample(*Sample)
	Packet(*PacketRecord)
	Settled(seq uint64) // of those sent by now, all below seq have ended
}

// TroubleObserver is an Observer that wants to know what was wrong with packets, too.
// Options.Inspect must be set.
type TroubleObserver interface {
	Observer
	// Trouble is called before Packet if there are Reasons for the packet's outcome or
	// its size. c is the configuration at that time. Both are valid until the call returns.
	Trouble(o *Opened, c *config.Config)
}

// Session is one experiment in virtual time: an event loop over the source's
// ticks, the links' deliveries, the display, the samples and the changes. It is
// single-threaded and reads no clock. Events of one instant happen in a fixed
// order: sample, changes, arrivals, source, display.
type Session struct {
	config  *config.Config // with every change applied so far
	start   *config.Config // at the start of the session
	opt     Options
	cadence endpoint.Cadence
	source  dataset.Source
	schema  *frame.Schema
	initial *frame.Frame
	pool    *frame.Pool   // of the source's frames, which nobody modifies
	cur     *frame.Shared // the source's newest frame; at first the initial state
	ahead   *frame.Shared // the frame after cur; nil if the source never ends
	unsent  frame.Rows    // the rows in which cur may differ from the frame sent last
	seam    bool          // whether ahead follows a seam
	cubes   bool          // the schema's rows are cubes, so display errors are measured
	fileDelivery
	steered dataset.Steered // the source, if it takes player input; else nil
	keys    heldKeys
	err     error // of reading ahead; reported when that frame is due
	lanes   []*lane
	running []*lane // the lanes, and that of a trial
	trial   *trial  // nil: none
	effects []Effect
	busy    bool            // no trial begins
	prior   *config.Encoder // the encoder before it was last changed; nil: it was not
	changed struct {        // when it was, and what
		touched string
		at      time.Duration
	}
	truths truths // the source's newest frames, to compare displays with

	now         time.Duration // everything up to here has happened
	end         time.Duration // exclusive; 0: none
	ended       bool
	interrupted bool
	ticks       uint64 // source frames taken
	sent        uint64 // frames that were due to be sent
	skipped     uint64 // of those, frames left out because of config.Sender.Every
	shown       uint64 // display ticks
	sampled     uint64 // samples closed

	pending     []pendingChange        // not yet applied, by time
	log         []config.StampedChange // applied
	marks       []Mark
	refused     []Refusal // scripted changes that could not be applied
	undo        []undoStep
	touched     string // the settings that the last change altered; touchedAt says when
	touchedAt   time.Duration
	failed      error // error of the source; the session cannot go on
	seamPending bool  // a seam came after the last frame sent
}

// NewSession opens the source and sets up both ends. Close the session after use.
func NewSession(c *config.Config, opt Options) (*Session, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	endless := opt.Endless || c.Duration > 0
	src, err := c.OpenData(opt.Context, endless)
	if err != nil {
		return nil, err
	}
	s, err := NewSessionOf(c, src, opt)
	if err != nil {
		return nil, errors.Join(c.Locate(err), closeSource(src))
	}
	return s, nil
}

// NewSessionOf builds a session on any source. Close releases the source.
func NewSessionOf(c *config.Config, src dataset.Source, opt Options) (*Session, error) {
	c = c.Clone()
	if err := c.Pin(); err != nil {
		return nil, err
	}
	if err := fit(c, src.Schema(), opt.Force); err != nil {
		return nil, err
	}
	if timed, ok := src.(dataset.Timed); ok {
		opt.times = timed
	}
	s := &Session{config: c.Clone(), start: c, opt: opt, cadence: opt.cadence(c, src.Schema()), source: src, schema: src.Schema(), end: c.Duration}
	_, sized := src.(dataset.Sized)
	s.delivers = s.schema.Delivery == frame.Every
	s.cubes = frame.IsCubes(s.schema)
	s.steered, _ = src.(dataset.Steered)
	switch {
	case opt.Endless || (c.Duration == 0 && sized && !s.delivers):
		s.end = never
	case c.Duration == 0 && s.delivers:
		s.end = longestDelivery
	case c.Duration == 0:
		s.end = endlessDuration
	}
	s.initial, s.pool, s.unsent = s.schema.NewFrame(), frame.NewPool(s.schema), frame.NewRows(s.schema.Rows)
	src.Initial(s.initial)
	s.cur = s.pool.Take()
	s.cur.CopyFrom(s.initial)
	if opt.Network != nil {
		if err := s.travels(c); err != nil {
			return nil, err
		}
		if err := opt.Network.Begin(s.schema, s.initial, c); err != nil {
			return nil, err
		}
	}
	if s.delivers {
		if err := s.takeFile(); err != nil {
			return nil, err
		}
	} else if sized {
		s.ahead = s.fetch()
	}
	for i, e := range append([]config.Encoder{c.Encoder}, c.Shadows...) {
		laneOpt := opt
		if i > 0 {
			laneOpt = opt.shadow()
		}
		l, err := newLane(c, e, s.schema, s.initial, &laneOpt)
		if err == nil {
			err = l.connectNew(c, laneOpt.Network)
		}
		if err != nil {
			return nil, err
		}
		s.deliverFile(l)
		s.lanes = append(s.lanes, l)
	}
	s.setRunning()
	s.now = -1
	return s, s.loadScript(c)
}

// loadScript queues the scripted changes in order of time, and checks that each can
// be applied.
func (s *Session) loadScript(c *config.Config) error {
	then := c
	for _, i := range c.ScriptOrder() {
		ch := c.At[i].Change
		if ch.Restarts() {
			return config.Within(config.Indexed("at", i), config.ErrorAt(ch[0].Key, ErrRestarts))
		}
		after, _, err := s.tryChange(then, ch)
		if err == nil {
			then, err = after, s.noteScripted(after)
		}
		if err != nil {
			return config.Within(config.Indexed("at", i), err)
		}
		s.pending = append(s.pending, pendingChange{StampedChange: c.At[i]})
	}
	return nil
}

// Close releases the source.
func (s *Session) Close() error { return closeSource(s.source) }

func closeSource(src dataset.Source) error {
	if c, ok := src.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Config returns the configuration with every change applied so far. The caller must
// not modify it.
func (s *Session) Config() *config.Config { return s.config }

// StartConfig returns the configuration at the start of the session, fitted to the
// data. The caller must not modify it.
func (s *Session) StartConfig() *config.Config { return s.start }

// Schema describes the source's frames.
func (s *Session) Schema() *frame.Schema { return s.schema }

// Err returns the error of the source that stopped the session; nil if there was
// none.
func (s *Session) Err() error { return s.failed }

// Refused returns the scripted changes that could not be applied when they were due.
func (s *Session) Refused() []Refusal { return s.refused }

// Now returns the present virtual time. All events up to it have been handled.
func (s *Session) Now() time.Duration { return max(s.now, 0) }

// Reached reports whether all events up to and including t have been handled.
func (s *Session) Reached(t time.Duration) bool { return s.now >= t }

// Done reports whether the session has ended: its duration has passed, its source is
// exhausted, or it was interrupted.
func (s *Session) Done() bool { return s.ended }

// NextEvent returns when the next event is due.
func (s *Session) NextEvent() time.Duration { return s.nextEvent() }

// Ends returns when the session ends, exclusively: later than any event if that is not
// known yet.
func (s *Session) Ends() time.Duration { return s.end }

// NextFrame returns when the next frame is due. config.Sender.Every may skip it.
func (s *Session) NextFrame() time.Duration { return s.FrameAt(0) }

// FrameAt returns when the n-th frame from now is due, counted from 0.
func (s *Session) FrameAt(n int) time.Duration {
	return s.cadence.SeqTime(s.sent + uint64(n))
}

// Advance runs the session for another d of virtual time, as RunUntil does.
func (s *Session) Advance(d time.Duration) error { return s.RunUntil(s.now + d) }

// RunUntil handles all events due at or before t. It stops early when the session
// ends. It fails only if the source fails, and then every later call fails too.
func (s *Session) RunUntil(t time.Duration) error {
	for !s.ended && s.failed == nil {
		at := s.nextEvent()
		if over := t >= s.end-1; at >= s.end && (over || s.opt.Network == nil) || at > t && over { // more may come of a network
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
	for _, l := range s.running { // what was sent is under way
		l.snd.Finish()
		l.rcv.Finish()
	}
	return s.failed
}

// finish ends the session at t. The end is exclusive: events at t are not handled.
func (s *Session) finish(t time.Duration) {
	s.ended, s.end, s.now = true, t, t
	if last := time.Duration(s.sampled) * SamplePeriod; last < t {
		s.sampled++
		for _, l := range s.lanes {
			l.closeSample(t)
		}
	}
	for _, l := range s.lanes {
		l.closeFlights(t)
	}
}

// nextEvent returns the time of the earliest event that is due.
func (s *Session) nextEvent() time.Duration {
	at := min(s.NextFrame(), time.Duration(s.sampled+1)*SamplePeriod)
	if !s.delivers {
		at = min(at, s.cadence.TickTime(s.ticks), s.nextDisplay())
	}
	if len(s.pending) > 0 {
		at = min(at, s.pending[0].T)
	}
	for _, l := range s.running {
		if t, ok := l.next(); ok {
			at = min(at, t)
		}
	}
	return at
}

// step handles all events due at this instant.
func (s *Session) step(at time.Duration) error {
	if at == time.Duration(s.sampled+1)*SamplePeriod {
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
		l.deliver(at)
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
			l.display(at, &s.truths)
		}
	}
	return nil
}

// nextDisplay returns the time of the next display tick.
func (s *Session) nextDisplay() time.Duration {
	return endpoint.TickTime(1000*s.shown, s.config.DisplayMilliHz(s.schema.TickHz))
}

// onDisplay returns the oldest source tick that any lane displays.
func (s *Session) onDisplay() uint64 {
	oldest := s.ticks
	for _, l := range s.running {
		oldest = min(oldest, endpoint.TickAt(l.play.moment, s.schema.TickHz))
	}
	return oldest
}

// tick reads the source's next frame if one is due, and sends the newest frame if a
// packet is due.
func (s *Session) tick(at time.Duration) error {
	seam := false
	if at == s.cadence.TickTime(s.ticks) {
		s.steer(at)
		var err error
		if seam, err = s.advance(); err != nil {
			return s.sourceError(err)
		}
		if seam {
			s.mark(at, MarkSeam, "seam")
		}
		if s.cubes {
			s.truths.add(s.cur, seam, s.onDisplay())
		}
		s.unsent.Union(s.cur.Changed)
	}
	s.seamPending = s.seamPending || seam
	if at != s.NextFrame() {
		return nil
	}
	s.sent++
	if (s.sent-1)%uint64(s.config.Sender.Every) != 0 {
		s.skipped++
		for _, l := range s.running {
			l.snd.Skip()
		}
		return nil
	}
	for _, l := range s.running {
		l.send(at, s.cur, s.unsent, s.seamPending)
	}
	s.fallBack(at)
	s.seamPending = false
	s.unsent.Clear()
	return nil
}

// sourceError adds the name of the data to err, unless err already names that file.
func (s *Session) sourceError(err error) error {
	var in *source.Error
	if errors.As(err, &in) && in.File == strings.TrimPrefix(s.config.Data.Source, "file:") {
		return err
	}
	return fmt.Errorf("data %s: %w", s.config.Data.Source, err)
}

// advance moves on to the next frame and reports whether that follows a seam. A
// source that can end is read one frame ahead: the session must know its end before
// it handles any event of that instant.
func (s *Session) advance() (seam bool, err error) {
	next, reads := s.ahead, s.ahead != nil
	if !reads {
		next = s.fetch()
	}
	if s.err != nil {
		return false, s.err
	}
	seam = s.seam
	s.cur.Release()
	s.cur = next
	s.ticks++
	if reads {
		s.ahead = s.fetch()
	}
	return seam, nil
}

// fetch reads the frame after cur. At the end of the data it sets the end of the
// session.
func (s *Session) fetch() *frame.Shared {
	f := s.pool.Take()
	s.err = s.source.Next(&f.Frame)
	if errors.Is(s.err, io.EOF) {
		s.end = min(s.end, s.cadence.TickTime(s.ticks))
		s.err = nil
		return f
	}
	x, ok := s.source.(dataset.Seamed)
	s.seam = ok && x.Seam()
	if x, ok := s.source.(dataset.Tracked); ok {
		copy(f.Changed, x.Changed())
	} else if s.err == nil {
		f.Changed.Compare(f.Table, s.cur.Table, len(s.schema.Fields))
	}
	return f
}
