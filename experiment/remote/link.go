package remote

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/container"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/remote/channel"
	"wirelab/internal/escape"
	"wirelab/internal/panics"
	"wirelab/lossmodel"
)

// Timeouts of the sending side.
const (
	setupTimeout    = 10 * time.Second       // until the receiver is ready
	setupRetransmit = 100 * time.Millisecond // when no status arrives
	confirmInterval = 100 * time.Millisecond
	peerTimeout     = 5 * time.Second // without any message, after which the session fails
)

// Link is the sending side of a session over a network. It implements engine.Network and must be
// used only from the goroutine that drives the session.
type Link struct {
	conn     conn   // nil in a replay
	peerName string // address or name of the receiver, for errors and reports
	in       []byte // buffer for received datagrams
	out      []byte // buffer for messages to send

	session       uint8           // number of the session within the connection
	hasContainers bool            // packets may come in containers
	down          *lossmodel.Link // modelled downlink, which packets pass before they are written to the socket
	up            *lossmodel.Link // modelled uplink, which acks pass after they are read from the socket
	inFlight      inFlight        // sent datagrams whose arrival may still be reported
	traffic       meters.LabTraffic
	recorded      recording    // events so far, for a replay
	replay        replayEvents // the source of all events in a replay; empty otherwise
	err           error        // sticky; nil while the session can continue

	incoming
	reports
	contact
	startWall time.Time // wall time of virtual time zero; zero while virtual time is paused
}

// incoming holds messages of the receiver that take effect at a virtual time.
type incoming struct {
	arrivals   eventQueue             // to be applied at the local receiver
	acks       eventQueue             // to be passed through the modelled uplink
	lastReport engine.RemoteReport    // of the datagram that downPath.Receive returned last
	hasReport  bool                   // lastReport is valid: that datagram was reported by the receiver
	lastPacket [1]engine.PacketReport // lastReport.Packets, unless the datagram is a container
	rtts       []time.Duration        // round-trip times that downPath.RoundTrip has not returned yet
	display    meters.DisplayCounts   // newest counters of the receiver's display
}

// reports is the state of reading the receiver's reports.
type reports struct {
	newest      report        // newest parsed report; stored to reuse its memory
	recordsRead uint64        // records read without a gap
	epoch       time.Time     // send times are measured from here; any fixed instant will do
	minDelay    minDelay      // minimum of the recent delays between the two clocks
	receiverLag time.Duration // how far the local receiver runs behind the remote one
	lastStamp   time.Duration // virtual time of the newest message
	malformed   int64         // messages that could not be parsed
}

// contact holds the wall times of the last messages in both directions.
type contact struct {
	lastReceived      time.Time     // last message of the receiver, or when polling resumed after a suspension
	lastPolled        time.Time     // last call of Poll
	lastConfirmed     time.Time     // last confirmation sent
	resendRequestedAt time.Time     // last request to send missing records again
	sentConfirmation  confirmation  // newest state to confirm
	smoothedRTT       time.Duration // exponential average with weight 1/8 (RFC 6298)
}

// Limits of reports.receiverLag. minLag is the usual delay of a report after an arrival.
const (
	minLag = reportInterval + 30*time.Millisecond
	maxLag = time.Second
)

// NewLink returns the sending side of sessions over a connection. peerName names the receiver in
// errors and reports.
func NewLink(conn conn, peerName string) *Link {
	return &Link{conn: conn, peerName: peerName, in: make([]byte, channel.MaxPayload)}
}

// PeerName returns the name of the receiver.
func (l *Link) PeerName() string { return l.peerName }

// Live reports whether the link has a connection. It is false in a replay and for a nil Link.
func (l *Link) Live() bool { return l != nil && l.conn != nil }

// Begin implements engine.Network. It ends any session that was begun before, sends the setup of the
// new session and waits until the receiver is ready. In a replay it only queues the recorded events.
func (l *Link) Begin(ctx context.Context, s *frame.Schema, initial *frame.Frame, c *config.Config) error {
	l.reset() // ends the session that was begun before
	request := setup{Version: protocolVersion, Schema: *s, RateHz: c.Sender.RateHz, History: c.Receiver.History,
		DisplayMilliHz: c.DisplayMilliHz(s.TickHz), Playout: c.Receiver.Playout,
		Encoder: c.Encoder.Name, Initial: *initial}
	l.sentConfirmation.setPlayout(c)
	request.AckArrivals = endpoint.NeedsArrivals(c.Sender.Control)
	request.Policy, request.SendNS = l.sentConfirmation.policy, l.sentConfirmation.send
	request.Containers = c.MayUseContainers()
	if c.HasMessages() {
		request.MessageLanes, request.Stream = c.Messages.Lanes, c.Messages.IsStream()
	}
	l.hasContainers = request.Containers
	if l.conn == nil { // a replay: all events are known from the start
		l.acks.events, l.arrivals.events = l.replay.acks, l.replay.arrivals
		return nil
	}
	var err error
	if request.Files, err = requiredFiles(c); err != nil {
		return err
	}
	data, err := request.encode()
	if err != nil {
		return err
	}
	return l.sendSetup(ctx, data)
}

// networkErrorf returns an engine.NetworkError about the network or the peer.
func (l *Link) networkErrorf(format string, args ...any) error {
	return &engine.NetworkError{To: l.peerName, Problem: fmt.Sprintf(format, args...)}
}

// reset prepares l for a new session. It keeps the connection, the buffers and the replay.
func (l *Link) reset() {
	*l = Link{conn: l.conn, peerName: l.peerName, in: l.in, out: l.out, session: l.session + 1, replay: l.replay,
		reports: reports{receiverLag: minLag, epoch: time.Now()}}
}

// sendSetup sends an encoded setup in chunks and waits until the receiver accepts or refuses it,
// or setupTimeout passes.
func (l *Link) sendSetup(ctx context.Context, data []byte) error {
	deadline, cancel := context.WithTimeout(ctx, setupTimeout)
	defer cancel()
	firstMissing, next := 0, 0 // chunk numbers: first one missing at the receiver, next one to send
	retransmit := time.NewTimer(0)
	defer retransmit.Stop()
	for {
		for ; next < min(firstMissing+chunkWindow, chunkCount(len(data))); next++ {
			l.out = appendChunk(l.out[:0], l.session, data, next)
			if err := l.conn.Send(streamSetup, l.out); err != nil {
				return err
			}
			l.traffic.Reports += wireBytes(len(l.out))
		}
		retransmit.Reset(setupRetransmit)
		select {
		case <-deadline.Done():
			if err := ctx.Err(); err != nil {
				return err
			}
			return l.networkErrorf("no answer to the session setup within %v", setupTimeout)
		case <-l.conn.Done():
			return l.closedError()
		case <-retransmit.C:
			next = firstMissing
		case <-l.conn.Ready():
		}
		for d, ok := l.conn.Poll(l.in); ok; d, ok = l.conn.Poll(l.in) {
			st, err := parseStatus(d.Data)
			if d.Stream != streamStatus || err != nil || st.session != l.session {
				continue // a message of an earlier session
			}
			l.traffic.Reports += wireBytes(len(d.Data))
			switch st.state {
			case stateReady:
				l.lastReceived = time.Now()
				return nil
			case stateRefused:
				return l.networkErrorf("the receiver reports: %s", escape.Line(st.reason))
			}
			// The receiver reports progress.
			if st.nextChunk > firstMissing && st.nextChunk <= chunkCount(len(data)) {
				firstMissing, next = st.nextChunk, max(next, st.nextChunk)
			}
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
// the peer sends nothing for peerTimeout, unless this process was suspended meanwhile.
func (l *Link) Err() error {
	if l.err == nil && l.conn != nil {
		select {
		case <-l.conn.Done():
			l.err = l.closedError()
		default:
			if time.Since(l.lastReceived) > peerTimeout && time.Since(l.lastPolled) < suspendThreshold {
				l.err = l.networkErrorf("no message from the peer for %v", peerTimeout)
			}
		}
	}
	return l.err
}

// SetPaused notifies the receiver that virtual time is paused or runs. It sends nothing if the state
// did not change.
func (l *Link) SetPaused(paused bool) {
	if l.sentConfirmation.paused != paused {
		l.sentConfirmation.paused = paused
		l.sendConfirmation()
	}
}

// Poll reads all received messages and schedules their effects at virtual times after from and up
// to to. zero is the wall time at which virtual time was zero. Poll also sends a confirmation if new
// records were read and confirmInterval has passed, if the playout delay of c changed, or if none
// was sent for keepAliveInterval.
func (l *Link) Poll(c *config.Config, from, to time.Duration, zero time.Time) {
	if l.conn == nil || to <= from { // a replay, or virtual time stands still
		return
	}
	l.notePoll(time.Now())
	l.trackLostTime(zero)
	for d, ok := l.conn.Poll(l.in); ok; d, ok = l.conn.Poll(l.in) {
		if d.At.After(l.lastReceived) {
			l.lastReceived = d.At
		}
		l.lastStamp = max(l.lastStamp, min(max(d.At.Sub(zero), from+1), to))
		if len(d.Data) == 0 || d.Data[0] != l.session {
			continue // a message of an earlier session
		}
		if err := l.handle(&d, d.Data[1:]); err != nil {
			l.malformed++
		}
	}
	confirmDue := time.Since(l.lastConfirmed) >= confirmInterval
	last := &l.sentConfirmation
	playoutChanged := last.setPlayout(c)
	if last.recordsRead != l.recordsRead && confirmDue || playoutChanged || time.Since(l.lastConfirmed) >= keepAliveInterval {
		l.sendConfirmation()
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
	case l.sentConfirmation.paused:
		l.startWall = time.Time{}
	case l.startWall.IsZero() || behind < 0:
		l.startWall = zero
	case behind >= minLostTime:
		l.startWall, l.sentConfirmation.timeLost = zero, l.sentConfirmation.timeLost+behind
		l.sendConfirmation()
	}
}

// sendConfirmation sends the number of records read and the display settings.
func (l *Link) sendConfirmation() {
	if l.conn == nil {
		return
	}
	l.sentConfirmation.recordsRead, l.lastConfirmed = l.recordsRead, time.Now()
	l.out = l.sentConfirmation.append(l.out[:0], l.session)
	l.traffic.Reports += wireBytes(len(l.out))
	_ = l.conn.Send(streamConfirm, l.out) // Err reports a connection that has ended
}

// handle processes one message, given without the session byte.
func (l *Link) handle(d *datagram, msg []byte) error {
	switch d.Stream {
	case streamAck:
		return l.handleAck(d.At, msg)
	case streamReport:
		l.traffic.Reports += wireBytes(len(d.Data))
		return l.handleReport(msg)
	case streamStatus:
		l.traffic.Reports += wireBytes(len(d.Data))
		return nil // a repeated status of the accepted setup
	}
	return malformed(fmt.Sprintf("stream %d", d.Stream), msg)
}

// handleAck schedules an ack of the receiver and measures the round-trip time, if the datagram that
// it answers is still stored. msg is the number of that datagram (4 bytes) and the ack.
func (l *Link) handleAck(at time.Time, msg []byte) error {
	if len(msg) < 4 || len(msg) > lossmodel.MaxDatagram {
		return malformed("ack", msg)
	}
	e := event{at: l.lastStamp, number: binary.LittleEndian.Uint32(msg), data: append(l.acks.takeBuffer(), msg[4:]...)}
	if sent := l.inFlight.lookup(e.number); sent != nil {
		e.rtt, e.rttKnown = at.Sub(sent.sentWall), true
		l.smoothedRTT += (e.rtt - l.smoothedRTT) / 8 // the smoothing of RFC 6298
	}
	l.traffic.Cover += gameOverhead // bytes that the lab adds to the ack
	l.acks.push(e)
	return nil
}

// handleReport schedules the arrivals of a report that were not read before, and the display
// counters. A report that begins after the next expected record is dropped, and the missing records
// are requested.
func (l *Link) handleReport(msg []byte) error {
	m := &l.newest
	if err := m.parse(msg); err != nil {
		return err
	}
	if m.firstRecord > l.recordsRead {
		l.requestResend()
		return nil
	}
	known := l.recordsRead - m.firstRecord // records of this report that were read before
	if known > uint64(len(m.records)) {
		return nil // an old report that arrived late; its display counters are old too
	}
	unread := m.records[known:]
	for i := range unread {
		if !l.wasSent(&unread[i]) {
			return malformed("report about a datagram that was not sent", msg)
		}
	}
	for i := range unread {
		l.recordsRead++
		l.scheduleArrival(&unread[i])
	}
	l.arrivals.push(event{at: max(l.lastStamp, l.arrivals.last), display: m.display, isDisplay: true})
	return nil
}

// wasSent reports whether a datagram with the number of r was sent, and whether it was of the same kind: a packet, or a
// container or segment. The kind is not checked after the data of the datagram were dropped.
func (l *Link) wasSent(r *record) bool {
	sent := l.inFlight.lookup(r.number)
	if sent == nil || !sent.hasData {
		return l.inFlight.wasSent(r.number)
	}
	return r.isContainer == (l.hasContainers && container.Is(sent.data))
}

// requestResend requests missing records, at most once in the time until the answer to the previous
// request can arrive: a round trip and half of reportInterval.
func (l *Link) requestResend() {
	if time.Since(l.resendRequestedAt) < l.smoothedRTT+reportInterval/2 {
		return
	}
	l.resendRequestedAt, l.sentConfirmation.resend = time.Now(), true
	l.sendConfirmation()
	l.sentConfirmation.resend = false
}

// scheduleArrival schedules the arrival of a reported datagram at the local receiver. Arrivals
// are delayed by receiverLag, so that they keep their spacing although reports come in batches; a
// report that takes longer raises the lag.
func (l *Link) scheduleArrival(r *record) {
	sent := l.inFlight.lookup(r.number)
	if sent == nil || sent.delivered {
		return // no longer stored, or already delivered
	}
	sentAt := sent.sentWall.Sub(l.epoch)
	clockDelay := r.arrivedAt - sentAt // includes the unknown offset between the two clocks
	e := event{number: r.number, delay: clockDelay - l.minDelay.update(sentAt, clockDelay), record: *r,
		reportedAt: l.lastStamp}
	arrived := sent.sentAt + e.delay
	// Without late reports the lag decays by half in 355 arrivals: 6 s at 60 Hz.
	l.receiverLag = min(max(minLag, l.lastStamp-arrived, l.receiverLag-l.receiverLag/512), maxLag)
	e.at = max(l.lastStamp, arrived+l.receiverLag, l.arrivals.last)
	l.arrivals.push(e)
}
