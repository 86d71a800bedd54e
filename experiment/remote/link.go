package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/container"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/escape"
	"wirelab/internal/panics"
	"wirelab/internal/window"
	"wirelab/lossmodel"
)

// Timeouts of the sending side.
const (
	setupTimeout = 10 * time.Second // until the receiver is ready
	peerTimeout  = 5 * time.Second  // without any datagram or message, after which the session fails
)

// minDelayPeriod is the period of the minimum of delays between two clocks. The clocks are not
// synchronised, so only delays relative to the minimum have a meaning. It expires, because clocks drift
// apart by about 50 ppm: 0.2 s in an hour.
const minDelayPeriod = 30 * time.Second

// Link is the sending side of a session over a network. It implements engine.Network and must be
// used only from the goroutine that drives the session.
type Link struct {
	conn     *Conn
	peerName string // address or name of the receiver, for errors and reports
	out      []byte // buffer for datagrams to send

	session    uint8           // number of the session within the connection
	down       *lossmodel.Link // modelled downlink, which packets pass before they are written to the socket
	up         *lossmodel.Link // modelled uplink, which acks pass after they are read from the socket
	containers bool            // packets may be in containers
	inFlight   inFlight        // sent datagrams whose arrival may still be reported
	covered    int64           // bytes that the lab added to packets and acks
	control    int64           // bytes of the control connection before this session
	err        error           // sticky; nil while the session can continue

	incoming
	reports
	contact
	startWall time.Time // wall time of virtual time zero; zero while virtual time is paused
}

// incoming holds what the receiver sent, until it takes effect at a virtual time.
type incoming struct {
	arrivals   eventQueue           // to be applied at the local receiver
	acks       eventQueue           // to be passed through the modelled uplink
	lastReport engine.RemoteReport  // of the datagram that downPath.Receive returned last
	hasReport  bool                 // lastReport is valid: that datagram was reported by the receiver
	rtts       []time.Duration      // round-trip times that downPath.RoundTrip has not returned yet
	display    meters.DisplayCounts // newest counters of the receiver's display
}

// reports is the state of reading the receiver's reports.
type reports struct {
	recordsRead uint64         // records read
	epoch       time.Time      // send times are measured from here; any fixed instant will do
	minDelay    window.Minimum // of the delays between the two clocks
	receiverLag time.Duration  // how far the local receiver runs behind the remote one
	lastStamp   time.Duration  // virtual time of the newest datagram or message
}

// contact holds the wall times of the last exchanges in both directions.
type contact struct {
	lastReceived time.Time       // last datagram or message, or when polling resumed after a suspension
	lastPolled   time.Time       // last call of Poll
	lastSent     time.Time       // when settings were last sent
	settings     displaySettings // the newest for the receiver's display
	unsent       bool            // settings has changed since it was sent
}

// Limits of reports.receiverLag. minLag is the usual delay of a report after an arrival.
const (
	minLag = reportInterval + 30*time.Millisecond
	maxLag = time.Second
)

// NewLink returns the sending side of sessions over a connection. peerName names the receiver in
// errors and reports.
func NewLink(conn *Conn, peerName string) *Link { return &Link{conn: conn, peerName: peerName} }

// PeerName returns the name of the receiver.
func (l *Link) PeerName() string { return l.peerName }

// Describe adds to a report that the session ran over a network, and that it cannot be replayed.
func (l *Link) Describe(r *engine.Result) { r.Remote = &engine.Remote{To: l.peerName} }

// Begin implements engine.Network. It ends any session that was begun before, sends the setup of the
// new session and waits until the receiver is ready.
func (l *Link) Begin(ctx context.Context, s *frame.Schema, initial *frame.Frame, c *config.Config) error {
	l.reset() // ends the session that was begun before
	l.settings.setPlayout(c)
	files, err := requiredFiles(c)
	if err != nil {
		return err
	}
	request := &setup{Schema: *s, RateHz: c.Sender.RateHz, History: c.Receiver.History,
		DisplayMilliHz: c.DisplayMilliHz(s.TickHz), Display: l.settings, AckArrivals: endpoint.NeedsArrivals(c.Sender.Control),
		Containers: c.MayUseContainers(), Encoder: c.Encoder.Name, Files: files,
		Initial: frame.Frame{Table: slices.Clone(initial.Table), Body: slices.Clone(initial.Body)}}
	if c.HasMessages() {
		request.MessageLanes, request.Stream = c.Messages.Lanes, c.Messages.IsStream()
	}
	l.containers = request.Containers
	if err := request.check(); err != nil { // otherwise the receiver refuses the session
		return l.networkErrorf("%v", err)
	}
	return l.sendSetup(ctx, request)
}

// networkErrorf returns an engine.NetworkError about the network or the peer.
func (l *Link) networkErrorf(format string, args ...any) error {
	return &engine.NetworkError{To: l.peerName, Problem: fmt.Sprintf(format, args...)}
}

// reset prepares l for a new session. It keeps the connection and the buffer.
func (l *Link) reset() {
	*l = Link{conn: l.conn, peerName: l.peerName, out: l.out, session: l.session + 1, control: l.conn.controlBytes(),
		reports: reports{receiverLag: minLag, epoch: time.Now()}}
}

// sendSetup sends a setup and waits until the receiver accepts or refuses it, or setupTimeout passes.
func (l *Link) sendSetup(ctx context.Context, request *setup) error {
	deadline, cancel := context.WithTimeout(ctx, setupTimeout)
	defer cancel()
	if !l.conn.send(&message{Session: l.session, Setup: request}) {
		return l.networkErrorf("the peer does not read")
	}
	for {
		select {
		case <-deadline.Done():
			if err := ctx.Err(); err != nil {
				return err
			}
			return l.networkErrorf("no answer to the session setup within %v", setupTimeout)
		case <-l.conn.done:
			return l.closedError()
		case <-l.conn.ready:
		}
		for x, ok := l.conn.poll(); ok; x, ok = l.conn.poll() {
			if x.message == nil || x.message.Status == nil || x.message.Session != l.session {
				continue // of an earlier session
			}
			if reason := x.message.Status.Refused; reason != "" {
				return l.networkErrorf("the receiver reports: %.*s", maxReasonLength, escape.Line(reason))
			}
			l.lastReceived = time.Now()
			return nil
		}
	}
}

// closedError returns why a connection has ended: a NetworkError, or an internal error if a
// goroutine of this process panicked.
func (l *Link) closedError() error {
	err := l.conn.Err()
	switch {
	case errors.As(err, new(*panics.Error)): // of this process, such as the receiver of NewLoopback
		return fmt.Errorf("internal error: %w", err)
	case !errors.Is(err, io.EOF): // io.EOF: the peer closed the connection
		return l.networkErrorf("the connection to the peer failed: %v", err)
	}
	return l.networkErrorf("the peer closed the session")
}

func (l *Link) Connect(down, up *lossmodel.Link) (engine.Path, engine.Path) {
	l.down, l.up = down, up
	return (*downPath)(l), (*upPath)(l)
}

// Err returns the error that ended the session; nil while it can continue. A session also ends if
// nothing arrives from the peer for peerTimeout, unless this process was suspended meanwhile.
func (l *Link) Err() error {
	if l.err == nil {
		select {
		case <-l.conn.done:
			l.err = l.closedError()
		default:
			if time.Since(l.lastReceived) > peerTimeout && time.Since(l.lastPolled) < suspendThreshold {
				l.err = l.networkErrorf("nothing from the peer for %v", peerTimeout)
			}
		}
	}
	return l.err
}

// SetPaused notifies the receiver that virtual time is paused or runs. It sends nothing if the state
// did not change.
func (l *Link) SetPaused(paused bool) {
	if l.settings.Paused != paused {
		l.settings.Paused = paused
		l.sendSettings()
	}
}

// Poll reads everything received and schedules its effects at virtual times after from and up to to.
// zero is the wall time at which virtual time was zero. Poll also sends the settings of the receiver's
// display if they changed, or were not sent for keepAliveInterval.
func (l *Link) Poll(c *config.Config, from, to time.Duration, zero time.Time) {
	if to <= from { // virtual time stands still
		return
	}
	l.notePoll(time.Now())
	l.trackLostTime(zero)
	for x, ok := l.conn.poll(); ok; x, ok = l.conn.poll() {
		if x.at.After(l.lastReceived) {
			l.lastReceived = x.at
		}
		l.lastStamp = max(l.lastStamp, min(max(x.at.Sub(zero), from+1), to))
		if err := l.handle(&x); err != nil {
			l.conn.fail(err)
		}
	}
	l.unsent = l.settings.setPlayout(c) || l.unsent
	if l.unsent || time.Since(l.lastSent) >= keepAliveInterval {
		l.sendSettings()
	}
}

// suspendThreshold is a gap between two polls that occurs only if the process was suspended. The
// peer's silence during such a gap does not count towards peerTimeout.
const suspendThreshold = time.Second

// notePoll records the time of a poll. After a suspension it restarts the peer timeout.
func (l *Link) notePoll(now time.Time) {
	if now.Sub(l.lastPolled) > suspendThreshold && now.After(l.lastReceived) {
		l.lastReceived = now
	}
	l.lastPolled = now
}

// minLostTime is the time that virtual time must fall behind before trackLostTime reports it: more than the
// usual jitter of virtual time against the wall clock.
const minLostTime = 50 * time.Millisecond

// trackLostTime measures how far virtual time fell behind the wall clock since the last call and
// reports it to the receiver, whose display must fall behind equally; otherwise every later
// snapshot would be late there. zero is the wall time of virtual time zero: it increases by the
// time lost.
func (l *Link) trackLostTime(zero time.Time) {
	switch behind := zero.Sub(l.startWall); {
	case l.settings.Paused:
		l.startWall = time.Time{}
	case l.startWall.IsZero() || behind < 0:
		l.startWall = zero
	case behind >= minLostTime:
		l.startWall = zero
		l.settings.TimeLost += behind
		l.sendSettings()
	}
}

// sendSettings sends the settings of the receiver's display. If the queue of messages is full, the next Poll
// sends them.
func (l *Link) sendSettings() {
	settings := l.settings // a copy, since l.settings may change before it is written
	l.lastSent = time.Now()
	l.unsent = !l.conn.send(&message{Session: l.session, Display: &settings})
}

// handle processes a datagram or a message. Those of earlier sessions are ignored. An error means that
// the peer violates the protocol.
func (l *Link) handle(x *received) error {
	switch {
	case x.message == nil:
		return l.handleAck(x.at, x.data)
	case x.message.Session == l.session && x.message.Report != nil:
		return l.handleReport(x.message.Report)
	}
	return nil
}

// handleAck schedules an ack of the receiver and measures the round-trip time, if the datagram that
// it answers is still stored. For the layout of b see gameHeaderBytes.
func (l *Link) handleAck(at time.Time, b []byte) error {
	number, ack, err := parseGame(b, l.session)
	if err != nil || ack == nil {
		return err
	}
	e := event{at: l.lastStamp, number: number, data: ack}
	if sent := l.inFlight.lookup(e.number); sent != nil {
		e.rtt, e.rttKnown = at.Sub(sent.sentWall), true
	}
	l.covered += gameOverhead
	l.acks.push(e)
	return nil
}

// handleReport schedules the arrivals of a report and the display counters.
func (l *Link) handleReport(m *report) error {
	if err := m.check(); err != nil {
		return err
	}
	for i := range m.Records {
		r := &m.Records[i]
		if !l.wasSent(r) {
			return fmt.Errorf("%w: report about datagram %d, which was not sent", errProtocol, r.Number)
		}
		l.recordsRead++
		l.scheduleArrival(r)
	}
	l.arrivals.push(event{at: max(l.lastStamp, l.arrivals.last), display: m.Display, isDisplay: true})
	return nil
}

// wasSent reports whether a datagram with the number of r was sent, and whether it was of the same kind:
// a packet, or a container or segment. The kind is not checked after the data of the datagram were
// dropped.
func (l *Link) wasSent(r *record) bool {
	sent := l.inFlight.lookup(r.Number)
	if sent == nil || !sent.hasData {
		return l.inFlight.wasSent(r.Number)
	}
	return r.Container == (l.containers && container.Is(sent.data))
}

// scheduleArrival schedules the arrival of a reported datagram at the local receiver. Arrivals
// are delayed by receiverLag, so that they keep their spacing although reports come in batches; a
// report that takes longer raises the lag.
func (l *Link) scheduleArrival(r *record) {
	sent := l.inFlight.lookup(r.Number)
	if sent == nil || sent.delivered {
		return // no longer stored, or already delivered
	}
	sentAt := sent.sentWall.Sub(l.epoch)
	clockDelay := r.ArrivedAt - sentAt // includes the unknown offset between the two clocks
	l.minDelay.Add(sentAt, clockDelay, minDelayPeriod)
	e := event{number: r.Number, delay: clockDelay - l.minDelay.Value(), record: *r,
		reportedAt: l.lastStamp}
	arrived := sent.sentAt + e.delay
	// Without late reports the lag decays by half in 355 arrivals: 6 s at 60 Hz.
	l.receiverLag = min(max(minLag, l.lastStamp-arrived, l.receiverLag-l.receiverLag/512), maxLag)
	e.at = max(l.lastStamp, arrived+l.receiverLag, l.arrivals.last)
	l.arrivals.push(e)
}
