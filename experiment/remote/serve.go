package remote

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"wirelab/experiment/container"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/playout"
	"wirelab/experiment/remote/channel"
	"wirelab/internal/escape"
	"wirelab/internal/panics"
)

// Intervals and timeouts of the receiving side.
const (
	reportInterval       = 50 * time.Millisecond  // while there are unsent records
	keepAliveInterval    = 250 * time.Millisecond // while all records are sent
	initialResendTimeout = 300 * time.Millisecond // until unconfirmed records are sent again; doubled each time
	maxResendTimeout     = 3 * time.Second
)

// maxUnconfirmed limits the records stored until the sender confirms them. At the limit, further
// packets are dropped: their arrival could not be reported.
const maxUnconfirmed = 8192

// servedStats are the totals of all sessions of a connection, for the report of tui listen.
type servedStats struct {
	Sessions  int    `json:"sessions"`          // started, one after the other
	Data      string `json:"data"`              // data source of the last session
	Datagrams int64  `json:"datagrams"`         // packets received
	Frames    int64  `json:"frames"`            // frames decoded
	Failed    int64  `json:"failed"`            // packets without a frame, duplicates excluded
	Shown     int64  `json:"shown"`             // display ticks
	Starved   int64  `json:"starved"`           // display ticks for which no newer snapshot had arrived
	Malformed int64  `json:"odd"`               // messages that could not be parsed
	Refused   string `json:"refused,omitempty"` // why the last session was refused; empty if it was accepted
}

// String returns a one-line summary.
func (s *servedStats) String() string {
	if s.Sessions == 0 && s.Refused != "" {
		return s.Refused // the session of the connection was refused
	}
	return fmt.Sprintf("%s: %d datagrams, %d frames decoded, %d failed, display starved at %d of %d ticks", s.Data, s.Datagrams,
		s.Frames, s.Failed, s.Starved, s.Shown)
}

// Serve runs the receiving side of sessions over a connection, one after the other, until the
// connection or ctx ends. Encoders open only files that files finds. The error is nil if the peer
// closed the connection.
func Serve(ctx context.Context, conn conn, files FileFinder) (stats *servedStats, err error) {
	srv := &server{conn: conn, files: files, in: make([]byte, channel.MaxPayload), stats: &servedStats{}}
	defer func() {
		srv.countDisplay()
		if bug := panics.Recovered(recover()); bug != nil {
			err = fmt.Errorf("internal error in the receiver: %w", bug)
		}
	}()
	wake := time.NewTimer(0)
	defer wake.Stop()
	for {
		srv.drainConn()
		wake.Reset(srv.reportIfDue(time.Now()))
		if srv.receiver != nil {
			srv.receiver.Finish() // the work that Receive deferred; see receiverOptions
		}
		select {
		case <-ctx.Done():
			return srv.stats, ctx.Err()
		case <-conn.Done():
			srv.drainConn()
			if err := conn.Err(); !errors.Is(err, io.EOF) {
				return srv.stats, err
			}
			return srv.stats, nil
		case <-conn.Ready():
		case <-wake.C:
		}
	}
}

// server is the receiving side of one connection.
type server struct {
	conn      conn
	files     FileFinder
	in        []byte // buffer for received datagrams
	out       []byte // buffer for messages to send
	stats     *servedStats
	assembly  *chunkAssembly // setup being received; nil if none
	requested bool           // a session was requested; status is valid
	status    status         // status of the current session

	// The following fields belong to the current session and are valid if its state is stateReady.
	setup         *setup // nil while no session is running
	receiver      *endpoint.Receiver
	opener        container.Receiver        // opens containers
	inbox         *container.Inbox          // nil without messages
	stream        *container.StreamReceiver // nil unless packets and messages are in a stream
	delivered     engine.DeliverySum        // of the datagram that is being handled
	playout       *playout.Counter
	fingerprinter engine.Fingerprinter
	displayState
	recordLog
}

// displayState is the virtual time and the progress of the display.
type displayState struct {
	startedAt      time.Time            // wall time
	displayTicks   uint64               // number of display ticks so far
	pausedFor      time.Duration        // total length of completed pauses of the sender
	timeLost       time.Duration        // how far the sender's virtual time fell behind the wall clock
	pausedSince    time.Time            // start of the current pause; zero if not paused
	countedDisplay meters.DisplayCounts // display counters already added to stats
}

// recordLog holds the records of arrivals until the sender confirms them.
type recordLog struct {
	records          []record // records that the sender has not confirmed, oldest first
	firstUnconfirmed uint64   // index of records[0], counted from the start of the session
	sentRecords      int      // how many of records were sent
	reportedAt       time.Time
	lastProgress     time.Time     // when records were last confirmed or sent again
	resendTimeout    time.Duration // current value, doubled at each resend
	ending           bool          // the sender sends no further packets
}

// maxDrain is how many datagrams drainConn handles at once, so that a flood does not delay reports.
const maxDrain = 4096

// drainConn handles the received datagrams, at most maxDrain.
func (srv *server) drainConn() {
	for range maxDrain {
		d, ok := srv.conn.Poll(srv.in)
		if !ok {
			return
		}
		if len(d.Data) == 0 {
			srv.stats.Malformed++
			continue
		}
		if err := srv.handle(&d, d.Data[0], d.Data[1:]); err != nil {
			srv.stats.Malformed++
		}
	}
}

// handle processes one message, given without the session byte. Messages of other sessions are
// ignored.
func (srv *server) handle(d *datagram, session uint8, msg []byte) error {
	if d.Stream == streamSetup {
		return srv.handleChunk(session, msg)
	}
	if srv.status.state != stateReady || !srv.requested || session != srv.status.session {
		return nil // the session has ended or has not started
	}
	switch d.Stream {
	case streamGame:
		return srv.handleGame(d.At, msg)
	case streamConfirm:
		return srv.handleConfirmation(d.At, msg)
	}
	return malformed(fmt.Sprintf("stream %d", d.Stream), msg)
}

// handleChunk adds a chunk of a setup and answers with a status. The last chunk starts the
// session. A chunk with a newer session number ends the current session.
func (srv *server) handleChunk(session uint8, msg []byte) error {
	if srv.requested && srv.status.session == session && srv.status.state != stateIncomplete {
		srv.sendStatus() // the previous status was lost
		return nil
	}
	if srv.assembly == nil || srv.assembly.session != session {
		if srv.requested && int8(session-srv.status.session) <= 0 {
			return nil // a late chunk of an earlier session; the numbers wrap at 256
		}
		srv.assembly = &chunkAssembly{session: session}
	}
	complete, err := srv.assembly.add(msg)
	if err != nil {
		return err
	}
	srv.countDisplay() // of the session that ends here
	srv.requested, srv.status = true, status{session: session, state: stateIncomplete, nextChunk: srv.assembly.next}
	srv.setup = nil // no session is running
	if complete {
		srv.startSession(srv.assembly.data)
	}
	srv.sendStatus()
	return nil
}

// sendStatus sends the status of the current session.
func (srv *server) sendStatus() {
	srv.out = srv.status.append(srv.out[:0])
	srv.send(streamStatus)
}

// send sends srv.out. An error counts as a loss; Done reports a closed connection.
func (srv *server) send(stream uint8) { _ = srv.conn.Send(stream, srv.out) }

// maxReasonLength limits the reason of a refusal, so that a status stays below maxStatusBytes.
const maxReasonLength = 900

// startSession starts a session with the encoded setup, or sets the status to refused. The caller
// sends the status.
func (srv *server) startSession(data []byte) {
	srv.assembly = nil
	s, err := parseSetup(data)
	if err == nil {
		err = srv.files.check(s.Files)
	}
	if err != nil {
		srv.status.state, srv.status.reason = stateRefused, fmt.Sprintf("%.*s", maxReasonLength, err.Error())
		srv.stats.Refused = srv.status.reason
		return
	}
	srv.status.state = stateReady
	srv.setup, srv.stats.Data, srv.stats.Refused = s, escape.Line(s.Schema.Name), ""
	srv.stats.Sessions++
	srv.receiver = endpoint.NewReceiver(&s.Schema, &s.Initial, srv.files.restrictedCodecs(), s.receiverOptions())
	srv.opener, srv.inbox, srv.stream = container.Receiver{}, nil, nil
	if s.MessageLanes > 0 {
		srv.inbox = container.NewInbox(s.MessageLanes, srv.delivered.AddMessage)
	}
	if s.Stream {
		srv.stream = &container.StreamReceiver{}
	}
	srv.playout = playout.NewCounter(s.cadence(), srv.receiver.History())
	timing, _ := s.timing() // parseSetup has checked it
	srv.playout.Set(timing, s.rhythm(s.SendNS))
	now := time.Now()
	srv.displayState = displayState{startedAt: now}
	srv.recordLog = recordLog{records: srv.records[:0], reportedAt: now, lastProgress: now, resendTimeout: initialResendTimeout}
}

// displayTime converts wall time to the virtual time of the display: the time since the session
// began without pauses and lost time.
func (srv *server) displayTime(at time.Time) time.Duration {
	t := at.Sub(srv.startedAt) - srv.pausedFor - srv.timeLost
	if !srv.pausedSince.IsZero() {
		t -= at.Sub(srv.pausedSince)
	}
	return t
}

// handleGame passes the packet or the packets of a datagram to the receiver, records its arrival and sends the ack, if
// the receiver has one. msg is the datagram number (4 bytes) and the datagram; the ack begins with the same number.
func (srv *server) handleGame(at time.Time, msg []byte) error {
	if len(msg) < 4 {
		return malformed("packet", msg)
	}
	if len(srv.records) >= maxUnconfirmed {
		return nil // treated as lost, because its arrival could not be reported
	}
	srv.runDisplay(at)
	srv.stats.Datagrams++
	r := record{number: binary.LittleEndian.Uint32(msg), arrivedAt: max(0, at.Sub(srv.startedAt))}
	var err error
	switch datagram := msg[4:]; {
	case srv.stream != nil && container.IsSegment(datagram):
		err = srv.readSegment(at, datagram, &r)
	case srv.setup.Containers && container.Is(datagram):
		err = srv.openContainer(at, datagram, &r)
	default:
		r.packet = srv.receivePacket(at, datagram)
	}
	srv.records = append(srv.records, r)
	srv.out = append(append(srv.out[:0], srv.status.session), msg[:4]...)
	headerLength := len(srv.out)
	srv.appendAck(at)
	if len(srv.out) > headerLength {
		srv.send(streamAck)
	}
	return err
}

// appendAck appends the acks of the stream, or of containers and of packets, to srv.out.
func (srv *server) appendAck(at time.Time) {
	switch {
	case srv.stream != nil:
		srv.out = srv.stream.AppendAck(srv.out)
		return
	case srv.inbox != nil:
		srv.out = srv.inbox.AppendAck(srv.out)
	}
	if srv.setup.AckArrivals {
		srv.out = srv.receiver.AppendAckAt(srv.out, at.Sub(srv.startedAt))
	} else {
		srv.out = srv.receiver.AppendAck(srv.out)
	}
}

// readSegment passes the messages and the packets that a segment completes to their receivers, and records the
// fingerprint of the results in r.
func (srv *server) readSegment(at time.Time, segment []byte, r *record) error {
	r.isContainer = true
	var messageErr error
	err := srv.stream.Accept(segment, func(kind byte, unit []byte) {
		if kind == container.MessageUnit {
			messageErr = errors.Join(messageErr, srv.inbox.Accept(unit))
			return
		}
		x := srv.receivePacket(at, unit)
		srv.delivered.AddPacket(&x)
	})
	r.delivered = srv.delivered.Take()
	return errors.Join(err, messageErr)
}

// openContainer passes the messages and the packets of a container to their receivers, in the same order as package
// engine, and records the results in r.
func (srv *server) openContainer(at time.Time, datagram []byte, r *record) error {
	opened, err := srv.opener.Open(datagram)
	r.isContainer = true
	if srv.inbox != nil && err == nil {
		err = srv.inbox.AcceptContainer(&opened)
		r.delivered = srv.delivered.Take()
	}
	for i := range opened.Packets[:min(len(opened.Packets), maxContainerPackets)] {
		x := srv.receivePacket(at, opened.Packets[i].Bytes)
		x.Container = opened.Number - uint16(opened.Packets[i].Distance)
		r.packets = append(r.packets, x)
	}
	return err
}

// receivePacket passes a packet to the receiver and the decoded frame to the display.
func (srv *server) receivePacket(at time.Time, packet []byte) engine.PacketReport {
	received := srv.receiver.Receive(packet)
	x := engine.PacketReport{Outcome: received.Outcome, Number: uint16(received.Seq)}
	switch {
	case received.Frame != nil:
		x.Decoded, x.Frame = true, srv.fingerprinter.Of(received.Frame)
		srv.playout.Arrive(srv.displayTime(at), received.Seq)
		srv.stats.Frames++
	case received.Outcome != endpoint.Duplicate:
		srv.stats.Failed++
	}
	return x
}

// handleConfirmation drops confirmed records, prepares unconfirmed ones to be sent again if the
// sender requests it, and applies the settings of the display. Before the display is paused or resumed,
// it runs up to time at.
func (srv *server) handleConfirmation(at time.Time, msg []byte) error {
	var c confirmation
	err := c.parse(msg)
	if err != nil {
		return err
	}
	if n := c.recordsRead - srv.firstUnconfirmed; c.recordsRead > srv.firstUnconfirmed && n <= uint64(len(srv.records)) {
		srv.records = srv.records[:copy(srv.records, srv.records[n:])]
		srv.firstUnconfirmed, srv.sentRecords = c.recordsRead, max(0, srv.sentRecords-int(n))
		srv.lastProgress, srv.resendTimeout = at, initialResendTimeout
	}
	if c.resend && c.recordsRead == srv.firstUnconfirmed {
		// Send all records again. With a zero time of the last report, the next one is due immediately.
		srv.sentRecords, srv.reportedAt = 0, time.Time{}
	}
	timing := playout.Fixed(c.playout)
	if c.policy != "" {
		if timing, err = playout.ParseTiming(c.policy); err != nil {
			return malformed("confirmation", msg)
		}
	}
	srv.playout.Set(timing, srv.setup.rhythm(c.send))
	srv.runDisplay(at)
	switch {
	case c.paused && srv.pausedSince.IsZero():
		srv.pausedSince = at
	case !c.paused && !srv.pausedSince.IsZero():
		srv.pausedFor += at.Sub(srv.pausedSince)
		srv.pausedSince = time.Time{}
	}
	srv.ending, srv.timeLost = c.ending, max(srv.timeLost, c.timeLost)
	return nil
}

// maxDisplayLag is how far the display may fall behind and still run every tick. After a longer
// suspension of the process it skips to the current time.
const maxDisplayLag = 2 * time.Second

// runDisplay runs the display ticks up to a wall time; none while the sender is paused. Data with
// their own timestamps (Schema.Timed) have no display here, because only the sender has these
// timestamps.
func (srv *server) runDisplay(at time.Time) {
	now := srv.displayTime(at)
	if !srv.pausedSince.IsZero() || now <= 0 || srv.setup.Schema.Timed {
		return
	}
	if behind := now - maxDisplayLag; srv.nextTick() < behind {
		// TickAt counts ticks of a clock with DisplayMilliHz as its rate in hertz: 1000 of them are a display tick.
		srv.displayTicks = max(srv.displayTicks, endpoint.TickAt(behind, srv.setup.DisplayMilliHz)/1000)
	}
	for t := srv.nextTick(); t <= now; t = srv.nextTick() {
		srv.playout.Tick(t)
		srv.displayTicks++
	}
}

// nextTick returns the virtual time of the next display tick. TickTime counts the ticks of a clock
// with a rate in hertz; with a rate in mHz, 1000 of them are one display tick.
func (srv *server) nextTick() time.Duration {
	return endpoint.TickTime(1000*srv.displayTicks, srv.setup.DisplayMilliHz)
}

// reportIfDue sends a report if one is due and returns the time until the next call. A report is due
// after reportInterval if there are unsent records, otherwise after keepAliveInterval. While the session
// ends, a report is due after a fifth of reportInterval.
func (srv *server) reportIfDue(now time.Time) time.Duration {
	if srv.setup == nil {
		return time.Second // no session: nothing to report
	}
	srv.runDisplay(now)
	if srv.sentRecords > 0 && now.Sub(srv.lastProgress) >= srv.resendTimeout {
		srv.sentRecords, srv.lastProgress = 0, now // no confirmation in time: send all records again
		srv.resendTimeout = min(2*srv.resendTimeout, maxResendTimeout)
	}
	interval := keepAliveInterval
	if srv.sentRecords < len(srv.records) {
		interval = reportInterval
	}
	if srv.ending {
		interval = reportInterval / 5
	}
	if wait := interval - now.Sub(srv.reportedAt); wait > 0 {
		return wait
	}
	srv.reportedAt = now
	srv.sendReports()
	return reportInterval
}

// maxReportDatagrams limits the datagrams of one report. The remaining records are sent at the
// next interval.
const maxReportDatagrams = 16

// sendReports sends the unsent records and the display counters, in 1 to maxReportDatagrams datagrams.
func (srv *server) sendReports() {
	for range maxReportDatagrams {
		m := report{firstRecord: srv.firstUnconfirmed + uint64(srv.sentRecords), display: srv.playout.Counts(),
			records: srv.records[srv.sentRecords:]}
		if srv.sentRecords == 0 { // no confirmation is pending: the time until a resend begins now
			srv.lastProgress = srv.reportedAt
		}
		n := 0
		srv.out, n = m.append(srv.out[:0], srv.status.session)
		srv.send(streamReport)
		srv.sentRecords += n
		if srv.sentRecords == len(srv.records) {
			return
		}
	}
}

// countDisplay adds the increase of the display counters since its last call to the stats.
func (srv *server) countDisplay() {
	if srv.setup == nil {
		return
	}
	counts := srv.playout.Counts()
	srv.stats.Shown += counts.Shown - srv.countedDisplay.Shown
	srv.stats.Starved += counts.Starved - srv.countedDisplay.Starved
	srv.countedDisplay = counts
}
