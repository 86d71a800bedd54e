package engine

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/figures"
	"wirelab/lossmodel"
)

// A lane's receiver may be at the other end of a real network. The lane then runs the
// same receiver here too, on the datagrams that are told to have arrived there, in that
// order: it shows and explains what the one at the far end does. What counts is what the
// far end says it made of each, and its fingerprints of the frames are held against the
// true ones.

// Network connects the ends of the first lane.
type Network interface {
	// Begin tells the far end what both are configured with, and waits until it is ready.
	Begin(s *frame.Schema, initial *frame.Frame, c *config.Config) error
	// Connect returns the paths in both directions, of which the modelled links are the
	// near parts. That to the receiver is a FarEnd.
	Connect(down, up *lossmodel.Link) (Path, Path)
}

// NetworkError says why a session over a network could not begin, or not go on.
type NetworkError struct {
	To      string // where the far end is, or was
	Problem string
}

func (e *NetworkError) Error() string { return e.To + ": " + e.Problem }

// FarEnd is a path to a receiver elsewhere. A delivery of it is the datagram that
// arrived there, as soon as that is known here.
type FarEnd interface {
	Path
	// Told returns what the far end said of the delivery that Receive returned last. It
	// said nothing of one that was damaged before it left.
	Told() (Told, bool)
	// RoundTrip returns the next round trip that was measured; false if there is none.
	RoundTrip() (time.Duration, bool)
	// Display returns what the far end's display had counted when it was heard of last.
	Display() FarDisplay
	// Traffic returns what the lab itself added to the game's traffic.
	Traffic() FarTraffic
}

// Told is what the far end says of a datagram that arrived there.
type Told struct {
	Outcome endpoint.Outcome
	Decoded bool        // there is a frame
	Frame   Fingerprint // of that
	Number  uint16      // the low bits of the sequence number that it was taken for
	// Arrived is when: as if the fastest datagram had taken no time from the socket to
	// there. Slower is by how much longer than that one it took.
	Arrived, Slower time.Duration
	Heard           time.Duration // when it was told of; it is delivered later, to be steady
}

// FarDisplay counts ticks of a display, as playoutMeter does.
type FarDisplay struct{ Shown, Starved, Freezes, Longest, Late int64 }

// FarTraffic is in bytes on the wire, both ways together, since the beginning; zeros if
// nobody counted.
type FarTraffic struct {
	Reports int64 // datagrams that only the lab needs
	Cover   int64 // what the datagrams of the game carry beside it
}

// remoteMeter measures what a network tells.
type remoteMeter struct {
	roundTrip, slower, toldAfter spread // microseconds
	lastSlower                   time.Duration
	jitter                       float64 // of arrival in microseconds, as RFC 3550 smooths it
	differs                      int64   // arrivals of which the receiver here makes something else
	display                      FarDisplay
}

// heard counts an arrival of a packet sent at a time.
func (m *remoteMeter) heard(sent time.Duration, t *Told) {
	m.toldAfter.add((t.Heard - sent).Microseconds())
	if m.slower.sum > 0 {
		m.jitter += (float64((t.Slower - m.lastSlower).Abs().Microseconds()) - m.jitter) / 16
	}
	m.slower.add(t.Slower.Microseconds())
	m.lastSlower = t.Slower
}

// patience is how long a packet may be under way in a real network before nobody expects
// it any more.
const patience = 3 * time.Second

// told returns what the far end said of the present delivery.
func (l *lane) told() (Told, bool) {
	if l.far == nil {
		return Told{}, false
	}
	return l.far.Told()
}

// hearRoundTrips counts the round trips that were measured since.
func (l *lane) hearRoundTrips() {
	for rtt, ok := l.far.RoundTrip(); ok; rtt, ok = l.far.RoundTrip() {
		l.remote.roundTrip.add(rtt.Microseconds())
	}
}

// judgeRemote returns the outcome of an arrival at the far end, as judge does here. rx is
// what the receiver here makes of the same datagram.
func (l *lane) judgeRemote(f *flight, rx *reception, t *Told) Outcome {
	here := Fingerprint{}
	if rx.Frame != nil {
		here = l.digest.fingerprint(rx.Frame)
	}
	same, moved := t.Frame == f.fingerprint(&l.digest), t.Number != uint16(f.rec.Seq)
	if t.Outcome != rx.Outcome || t.Decoded != (rx.Frame != nil) || t.Frame != here {
		l.remote.differs++
	}
	if !t.Decoded {
		if rx.Frame == nil && rx.Err != nil && !rx.tainted {
			l.refused(rx)
		}
		return outcomeOf(t.Outcome)
	}
	if t.Frame == here {
		l.digest.decoded(f, rx.Frame, same && !moved)
	} else {
		l.digest.told(t.Frame)
	}
	if !same || moved {
		l.meter.undetected++
	}
	switch {
	case rx.tainted:
		if same && !moved && rx.Entry != nil && rx.Entry.Memo == nil {
			l.taint.clear(rx.Seq)
		}
		return Tainted
	case !same || moved:
		return Wrong
	}
	return outcomeOf(t.Outcome)
}

// told counts what the far end's display did since it was asked last.
func (m *meter) told(was *FarDisplay, is FarDisplay) {
	m.sample.Displayed += int(is.Shown - was.Shown)
	m.sample.Starved += int(is.Starved - was.Starved)
	m.sample.Late += int(is.Late - was.Late)
	*was = is
}

// tellRemote completes totals with what a network tells, and takes away what it does not.
func (l *lane) tellRemote(t *figures.Totals, now time.Duration) {
	d, m := l.far.Display(), &l.remote
	hz := l.meter.playout.hz
	t.AgeMS, t.Network.DelayMS, t.Network.MeanBurst = figures.Quantiles{}, figures.Quantiles{}, figures.Figure{}
	t.Network.LossRate = figures.RatioOf(float64(l.meter.net.lost), float64(l.meter.net.lost+l.meter.net.received))
	p := figures.Playout{Displayed: d.Shown, Freezes: d.Freezes, Late: d.Late,
		StarvedRatio: figures.RatioOf(float64(d.Starved), float64(d.Shown))}
	if d.Shown > 0 {
		p.LongestFreezeMS = figures.RatioOf(float64(d.Longest)*1000, hz)
	}
	if t.Playout.PositionErrorMM != nil {
		p.PositionErrorMM, p.OrientationErrorDeg = &figures.Quantiles{}, &figures.Quantiles{}
	}
	t.Playout = p
	x := &figures.Remote{RoundTripMS: m.roundTrip.thousandths(), SlowerMS: m.slower.thousandths(), ToldAfterMS: m.toldAfter.thousandths(),
		Differs: m.differs}
	if m.slower.sum > 1 {
		x.JitterMS = figures.Known(m.jitter / 1000)
	}
	if w := l.far.Traffic(); w != (FarTraffic{}) {
		x.ReportKbps = figures.RatioOf(float64(w.Reports)*8/1000, now.Seconds())
		x.CoverKbps = figures.RatioOf(float64(w.Cover)*8/1000, now.Seconds())
	}
	t.Remote = x
}

// travels says why a session of c cannot have its receiver elsewhere; nil if it can, or if
// it has not.
func (s *Session) travels(c *config.Config) error {
	switch {
	case s.opt.Network == nil:
		return nil
	case s.delivers:
		return &config.Error{Key: "data.source", Problem: "files are delivered over modelled links only: the far end has no old file",
			Expected: "snapshots or messages"}
	case len(c.Shadows) > 0:
		return &config.Error{Key: "shadow", Problem: "a network treats no two encoders alike",
			Expected: "one encoder, or modelled links without --to and --udp"}
	}
	return nil
}

// Showing is the display of a receiver that is alone: it counts when that starves.
type Showing struct {
	play   playout
	screen screen
	meter  playoutMeter
}

// NewShowing returns the display of a receiver with that history.
func NewShowing(c endpoint.Cadence, h *frame.History) *Showing {
	return &Showing{screen: newScreen(&frame.Schema{}, c, h, &taint{}, false)}
}

// SetDelay sets how long the display waits for what is late.
func (x *Showing) SetDelay(d time.Duration) { x.play.delay = d }

// Arrive notes that packet seq was decoded at now.
func (x *Showing) Arrive(now time.Duration, seq uint64) {
	c := x.screen.cadence
	if late := x.play.arrive(now, endpoint.TickTime(c.Tick(seq), c.TickHz)); late > 0 {
		x.meter.late.add(late.Microseconds())
	}
}

// Tick runs one tick of the display.
func (x *Showing) Tick(now time.Duration) {
	if moment, shown := x.play.tick(now); shown {
		x.meter.display(now-moment, x.screen.show(moment, nil, nil))
	}
}

// Counted returns what was counted so far.
func (x *Showing) Counted() FarDisplay {
	m := &x.meter
	return FarDisplay{m.shown, m.starved, m.freezes, m.longest, m.late.sum}
}
