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

	incoming
	follower
}

// incoming holds what the receiver sent, until it takes effect at a virtual time.
type incoming struct {
	arrivals    eventQueue           // to be applied at the local receiver
	acks        eventQueue           // to be passed through the modelled uplink
	reported    *engine.RemoteReport // of the datagram that downPath.Receive returned last; nil if none
	rtts        []time.Duration      // round-trip times that downPath.RoundTrip has not returned yet
	display     meters.DisplayCounts // newest counters of the receiver's display
	recordsRead uint32               // records of the receiver's reports
	epoch       time.Time            // send times are measured from here; any fixed instant will do
	minDelay    window.Minimum       // of the delays between the two clocks
	receiverLag time.Duration        // how far the local receiver runs behind the remote one
	lastStamp   time.Duration        // virtual time of the newest datagram or message
}

// follower is what the receiver's display follows.
type follower struct {
	settings displaySettings // the newest
	unsent   bool            // settings have changed since they were sent
	zero     time.Time       // wall time of virtual time zero, at the first Poll
}

// Limits of incoming.receiverLag. minLag is the usual delay of a report after an arrival.
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
	l.settings.set(c)
	files, err := requiredFiles(c)
	if err != nil {
		return err
	}
	request := &setup{Schema: *s, RateHz: c.Sender.RateHz, History: c.Receiver.History,
		DisplayMilliHz: c.DisplayMilliHz(s.TickHz), Display: l.settings,
		AckArrivals: endpoint.NeedsArrivals(c.Sender.Control), Containers: c.MayUseContainers(), Encoder: c.Encoder.Name, Files: files,
		Initial: frame.Frame{Table: slices.Clone(initial.Table), Body: slices.Clone(initial.Body)}}
	if c.HasMessages() {
		request.MessageLanes = c.Messages.Lanes
		request.Stream = c.Messages.IsStream()
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
	*l = Link{conn: l.conn, peerName: l.peerName, out: l.out, session: l.session + 1,
		control: l.conn.traffic.bytes.Load(), incoming: incoming{receiverLag: minLag, epoch: time.Now()}}
}

// sendSetup sends a setup and waits until the receiver accepts or refuses it.
func (l *Link) sendSetup(ctx context.Context, request *setup) error {
	if !l.conn.send(&message{Session: l.session, Setup: request}) {
		return l.networkErrorf("the peer does not read")
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.conn.open.Done():
			return l.Err()
		case m := <-l.conn.inbox:
			if m.Status == nil || m.Session != l.session {
				continue // of an earlier session
			}
			if reason := m.Status.Refused; reason != "" {
				return l.networkErrorf("the receiver reports: %.*s", maxReasonLength, escape.Line(reason))
			}
			return nil
		}
	}
}

// Err returns why the connection has ended: a NetworkError, or an internal error if a goroutine of this
// process panicked. It returns nil while the session can continue.
func (l *Link) Err() error {
	err := l.conn.Err()
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*panics.Error)): // of this process, such as the receiver of NewLoopback
		return fmt.Errorf("internal error: %w", err)
	case errors.Is(err, io.EOF):
		return l.networkErrorf("the peer closed the session")
	}
	return l.networkErrorf("the connection to the peer failed: %v", err)
}

// Connect implements engine.Network.
func (l *Link) Connect(down, up *lossmodel.Link) (engine.RemotePath, engine.Path) {
	l.down = down
	l.up = up
	return (*downPath)(l), (*upPath)(l)
}

// SetPaused records that virtual time is paused or runs. The next Poll notifies the receiver of a change.
func (l *Link) SetPaused(paused bool) {
	l.unsent = l.unsent || l.settings.Paused != paused
	l.settings.Paused = paused
}

// Poll reads everything received and schedules its effects at virtual times after from and up to to.
// zero is the wall time at which virtual time was zero. Poll also sends the settings of the receiver's
// display if they changed.
func (l *Link) Poll(c *config.Config, from, to time.Duration, zero time.Time) {
	if to <= from { // virtual time stands still
		return
	}
	l.trackLag(zero)
	l.unsent = l.settings.set(c) || l.unsent
	if l.unsent {
		l.sendSettings()
	}
	stamp := func(at time.Time) { l.lastStamp = max(l.lastStamp, min(max(at.Sub(zero), from+1), to)) }
	for {
		var err error
		select {
		case x := <-l.conn.datagrams:
			stamp(x.at)
			err = l.handleAck(&x)
		case m := <-l.conn.inbox:
			stamp(time.Now())
			err = l.handleMessage(m)
		default:
			return
		}
		if err != nil {
			l.conn.fail(err)
		}
	}
}

// minLagChange is the change of the lag that trackLag reports: more than the usual jitter of virtual time
// against the wall clock.
const minLagChange = 50 * time.Millisecond

// trackLag measures how far virtual time is behind the wall clock since the first Poll. The receiver's
// display must be behind equally; otherwise every later snapshot would be late there. zero is the wall time
// of virtual time zero: it increases by the time lost.
func (l *Link) trackLag(zero time.Time) {
	if l.zero.IsZero() {
		l.zero = zero
	}
	lag := zero.Sub(l.zero)
	if l.settings.Paused || (lag-l.settings.Behind).Abs() < minLagChange {
		return
	}
	l.settings.Behind = lag
	l.unsent = true
}

// sendSettings sends the settings of the receiver's display. If the queue of messages is full, the next Poll
// sends them.
func (l *Link) sendSettings() {
	settings := l.settings // a copy, since l.settings may change before it is written
	l.unsent = !l.conn.send(&message{Session: l.session, Display: &settings})
}

// maxAckBytes is more than any ack has.
const maxAckBytes = 1400

// handleAck schedules an ack of the receiver, if the datagram that it answers is still stored. Acks of
// earlier sessions are ignored. For the layout see gameHeaderBytes. An error means that the peer violates
// the protocol.
func (l *Link) handleAck(x *datagram) error {
	number, ack, err := parseGame(x.data, l.session)
	if err == nil && len(ack) > maxAckBytes {
		err = fmt.Errorf("%w: ack of %d bytes", errProtocol, len(ack))
	}
	sent := l.inFlight.lookup(number)
	if err != nil || ack == nil || sent == nil || sent.acked {
		return err
	}
	sent.acked = true
	l.covered += gameOverhead
	l.acks = append(l.acks, event{at: l.lastStamp, delivery: lossmodel.Delivery{Data: ack},
		rtt: x.at.Sub(sent.sentWall)})
	return nil
}

// handleMessage schedules the arrivals of a report, and keeps its display counters. Other messages, and
// those of earlier sessions, are ignored. An error means that the peer violates the protocol.
func (l *Link) handleMessage(m *message) error {
	if m.Session != l.session || m.Report == nil {
		return nil
	}
	if err := m.Report.check(); err != nil {
		return err
	}
	for i := range m.Report.Records {
		l.recordsRead++
		if err := l.scheduleArrival(&m.Report.Records[i]); err != nil {
			return err
		}
	}
	l.display = m.Report.Display
	return nil
}

// scheduleArrival schedules the arrival of a reported datagram at the local receiver. Arrivals
// are delayed by receiverLag, so that they keep their spacing although reports come in batches; a
// report that takes longer raises the lag.
func (l *Link) scheduleArrival(r *record) error {
	sent := l.inFlight.lookup(r.Number)
	switch {
	case r.Number >= l.inFlight.next:
		return fmt.Errorf("%w: report about datagram %d, which was not sent", errProtocol, r.Number)
	case sent == nil || sent.reported:
		return nil
	case len(r.Packets) != 1 && !(l.containers && container.Is(sent.data)):
		return fmt.Errorf("%w: report about datagram %d, with %d packets", errProtocol, r.Number,
			len(r.Packets))
	}
	sent.reported = true
	sentAt := sent.sentWall.Sub(l.epoch)
	clockDelay := r.ArrivedAt - sentAt // includes the unknown offset between the two clocks
	l.minDelay.Add(sentAt, clockDelay, minDelayPeriod)
	slower := clockDelay - l.minDelay.Value()
	arrived := sent.sentAt + slower
	// Without late reports the lag decays by half in 355 arrivals: 6 s at 60 Hz.
	l.receiverLag = min(max(minLag, l.lastStamp-arrived, l.receiverLag-l.receiverLag/512), maxLag)
	l.arrivals = append(l.arrivals, event{
		at: max(l.lastStamp, arrived+l.receiverLag, l.arrivals.last()),
		delivery: lossmodel.Delivery{Data: l.inFlight.takeData(sent), Sent: sent.sentAt, Tag: sent.tag,
			Copy: sent.copyNumber},
		report: engine.RemoteReport{Packets: r.Packets, Delivered: r.Delivered, Arrived: arrived,
			Slower: slower, ReportedAt: l.lastStamp},
	})
	return nil
}
