package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"wirelab/experiment/container"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/playout"
	"wirelab/internal/escape"
	"wirelab/internal/panics"
)

// Intervals between two reports.
const (
	reportInterval  = 50 * time.Millisecond  // while there are records to report
	displayInterval = 250 * time.Millisecond // otherwise
)

// maxUnreported limits the records that wait to be reported while the control connection is slow. At the
// limit, further packets are dropped: their arrival could not be reported.
const maxUnreported = 8192

// servedStats are the totals of all sessions of a connection, for the report of tui listen.
type servedStats struct {
	Data      string `json:"data"`              // data source of the last session
	Datagrams int64  `json:"datagrams"`         // packets received
	Frames    int64  `json:"frames"`            // frames decoded
	Failed    int64  `json:"failed"`            // packets without a frame, duplicates excluded
	Refused   string `json:"refused,omitempty"` // why the last session was refused; empty if it was accepted
}

// String returns a one-line summary.
func (s *servedStats) String() string {
	if s.Data == "" && s.Refused != "" {
		return s.Refused // the only session of the connection was refused
	}
	if s.Data == "" {
		return "closed before it sent anything"
	}
	return fmt.Sprintf("%s: %d datagrams, %d frames decoded, %d failed", s.Data, s.Datagrams, s.Frames,
		s.Failed)
}

// Serve runs the receiving side of sessions over a connection, one after the other, until the
// connection or ctx ends. Encoders open only files that files finds. The error is nil if the peer
// closed the connection.
func Serve(ctx context.Context, conn *Conn, files FileFinder) (stats *servedStats, err error) {
	srv := &server{conn: conn, files: files, stats: &servedStats{}}
	defer func() {
		if bug := panics.Recovered(recover()); bug != nil {
			err = fmt.Errorf("internal error in the receiver: %w", bug)
		}
	}()
	wake := time.NewTimer(0)
	defer wake.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return srv.stats, ctx.Err()
		case <-conn.open.Done():
			if err := conn.Err(); !errors.Is(err, io.EOF) {
				return srv.stats, err
			}
			return srv.stats, nil
		case x := <-conn.datagrams:
			err = srv.handleGame(&x)
		case m := <-conn.inbox:
			err = srv.handleMessage(m)
		case <-wake.C:
		}
		if err != nil { // the peer violates the protocol
			conn.fail(err)
		}
		wake.Reset(srv.reportIfDue(time.Now()))
		if srv.receiver != nil {
			srv.receiver.Finish() // the work that Receive deferred
		}
	}
}

// server is the receiving side of one connection.
type server struct {
	conn    *Conn
	files   FileFinder
	out     []byte // buffer for datagrams to send
	stats   *servedStats
	session uint8 // number of the session; 0 before the first

	// The following fields belong to the current session.
	setup         *setup // nil while no session is running
	receiver      *endpoint.Receiver
	opener        container.Receiver        // opens containers
	inbox         *container.Inbox          // nil without messages
	stream        *container.StreamReceiver // nil unless packets and messages are in a stream
	delivered     engine.DeliverySum        // of the datagram that is being handled
	playout       *playout.Counter
	fingerprinter engine.Fingerprinter
	screen
	records    []record // not reported yet, oldest first
	reportedAt time.Time
}

// screen is the virtual time and the progress of the receiver's display.
type screen struct {
	startedAt    time.Time // wall time
	displayTicks uint64    // number of display ticks so far
	display      displaySettings
}

// handleMessage processes a message. Those of earlier sessions are ignored.
func (srv *server) handleMessage(m *message) error {
	switch {
	case m.Setup != nil:
		srv.startSession(m.Session, m.Setup)
	case srv.setup != nil && m.Session == srv.session && m.Display != nil:
		return srv.handleDisplay(time.Now(), m.Display)
	}
	return nil
}

// maxReasonLength limits the reason of a refusal.
const maxReasonLength = 900

// startSession ends the current session, starts one with the setup s, and answers with a status.
func (srv *server) startSession(session uint8, s *setup) {
	srv.setup = nil
	srv.session = session
	answer := &status{}
	err := s.check()
	if err == nil {
		err = srv.files.check(s.Files)
	}
	if err != nil {
		answer.Refused = fmt.Sprintf("%.*s", maxReasonLength, err.Error())
	} else {
		srv.begin(s)
	}
	srv.stats.Refused = answer.Refused
	srv.conn.send(&message{Session: session, Status: answer}) // the dialer waits in vain if it does not read
}

// begin starts a session with a valid setup.
func (srv *server) begin(s *setup) {
	srv.setup = s
	srv.stats.Data = escape.Line(s.Schema.Name)
	cadence := endpoint.Cadence{TickHz: s.Schema.TickHz, RateHz: s.RateHz}
	// With Defer, the receiver leaves work that can wait to Finish, so that the ack is sent earlier.
	options := endpoint.Options{History: s.History, Cadence: cadence, Defer: true}
	srv.receiver = endpoint.NewReceiver(&s.Schema, &s.Initial, srv.files.restrictedCodecs(), options)
	srv.opener = container.Receiver{}
	srv.inbox = nil
	srv.stream = nil
	if s.MessageLanes > 0 {
		srv.inbox = container.NewInbox(s.MessageLanes, srv.delivered.AddMessage)
	}
	if s.Stream {
		srv.stream = &container.StreamReceiver{}
	}
	now := time.Now()
	srv.records = nil
	srv.reportedAt = now
	srv.screen = screen{startedAt: now}
	srv.playout = playout.NewCounter(cadence, srv.receiver.History())
	_ = srv.handleDisplay(now, &s.Display) // setup.check has checked it
}

// displayTime converts wall time to the virtual time of the display.
func (srv *server) displayTime(at time.Time) time.Duration {
	return at.Sub(srv.startedAt) - srv.display.Behind
}

// handleGame passes the packet or the packets of a datagram to the receiver, records its arrival and
// sends the ack, if the receiver has one. For the layout see gameHeaderBytes.
func (srv *server) handleGame(x *datagram) error {
	number, packet, err := parseGame(x.data, srv.session)
	isLost := len(srv.records) >= maxUnreported // its arrival could not be reported
	if err != nil || packet == nil || srv.setup == nil || isLost {
		return err
	}
	at := x.at
	srv.runDisplay(at)
	srv.stats.Datagrams++
	r := record{Number: number, ArrivedAt: max(0, at.Sub(srv.startedAt))}
	switch {
	case srv.stream != nil && container.IsSegment(packet):
		srv.readSegment(at, packet, &r)
	case srv.setup.Containers && container.Is(packet):
		srv.openContainer(at, packet, &r)
	default:
		r.Packets = []engine.PacketReport{srv.receivePacket(at, packet)}
	}
	srv.records = append(srv.records, r)
	srv.out = appendGame(srv.out[:0], srv.session, number)
	srv.appendAck(at)
	if len(srv.out) == gameHeaderBytes {
		return nil // the receiver has no ack
	}
	return srv.conn.sendDatagram(srv.out)
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

// readSegment passes the messages and the packets that a segment completes to their receivers, and
// records the fingerprint of the results in r. What is damaged completes nothing.
func (srv *server) readSegment(at time.Time, segment []byte, r *record) {
	_ = srv.stream.Accept(segment, func(kind byte, unit []byte) {
		if kind == container.MessageUnit {
			_ = srv.inbox.Accept(unit)
			return
		}
		x := srv.receivePacket(at, unit)
		srv.delivered.AddPacket(&x)
	})
	r.Delivered = srv.delivered.Take()
}

// openContainer passes the messages and the packets of a container to their receivers, in the same order
// as package engine, and records the results in r. What is damaged has no result.
func (srv *server) openContainer(at time.Time, datagram []byte, r *record) {
	opened, err := srv.opener.Open(datagram)
	if srv.inbox != nil && err == nil {
		_ = srv.inbox.AcceptContainer(&opened)
		r.Delivered = srv.delivered.Take()
	}
	for i := range opened.Packets[:min(len(opened.Packets), maxPacketReports)] {
		x := srv.receivePacket(at, opened.Packets[i].Bytes)
		x.Container = opened.Number - uint16(opened.Packets[i].Distance)
		r.Packets = append(r.Packets, x)
	}
}

// receivePacket passes a packet to the receiver and the decoded frame to the display.
func (srv *server) receivePacket(at time.Time, packet []byte) engine.PacketReport {
	received := srv.receiver.Receive(packet)
	x := engine.PacketReport{Outcome: received.Outcome, Number: uint16(received.Seq)}
	switch {
	case received.Frame != nil:
		x.Decoded = true
		x.Frame = srv.fingerprinter.Of(received.Frame)
		srv.playout.Arrive(srv.displayTime(at), received.Seq)
		srv.stats.Frames++
	case received.Outcome != endpoint.Duplicate:
		srv.stats.Failed++
	}
	return x
}

// handleDisplay runs the display up to time at, and then applies its new settings.
func (srv *server) handleDisplay(at time.Time, x *displaySettings) error {
	timing, err := x.timing()
	if err != nil {
		return err
	}
	srv.runDisplay(at)
	s := srv.setup
	srv.playout.Set(timing, playout.Rhythm{Send: x.SendNS, Tick: time.Second / time.Duration(s.Schema.TickHz),
		Display: 1000 * time.Second / time.Duration(s.DisplayMilliHz)})
	srv.display = *x
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
	if srv.display.Paused || now <= 0 || srv.setup.Schema.Timed {
		return
	}
	if behind := now - maxDisplayLag; srv.nextTick() < behind {
		// TickAt counts ticks of a clock with DisplayMilliHz as its rate in hertz: 1000 of them are a
		// display tick.
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

// reportIfDue sends a report if one is due and returns the time until the next call.
func (srv *server) reportIfDue(now time.Time) time.Duration {
	if srv.setup == nil {
		return time.Second // no session: nothing to report
	}
	srv.runDisplay(now)
	interval := displayInterval
	if len(srv.records) > 0 {
		interval = reportInterval
	}
	if wait := interval - now.Sub(srv.reportedAt); wait > 0 {
		return wait
	}
	srv.reportedAt = now
	srv.sendReports()
	return reportInterval
}

// sendReports sends the records and the display counters, in reports of at most maxReportRecords. Records
// stay while the queue of messages is full.
func (srv *server) sendReports() {
	for {
		n := min(len(srv.records), maxReportRecords)
		m := &report{Records: slices.Clone(srv.records[:n]), Display: srv.playout.Counts()}
		if !srv.conn.send(&message{Session: srv.session, Report: m}) {
			return
		}
		srv.records = slices.Delete(srv.records, 0, n)
		if len(srv.records) == 0 {
			return
		}
	}
}
