package remote

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/playout"
	"wirelab/experiment/remote/channel"
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
		return s.Refused
	}
	return fmt.Sprintf("%s: %d datagrams, %d frames decoded, %d failed, display starved at %d of %d ticks", s.Data, s.Datagrams,
		s.Frames, s.Failed, s.Starved, s.Shown)
}

// Serve runs the receiving side of sessions over a connection, one after the other, until the
// connection or ctx ends. Encoders open only files that files finds. The error is nil if the peer
// closed the connection.
func Serve(ctx context.Context, conn conn, files Files) (stats *servedStats, err error) {
	f := &server{conn: conn, files: files, in: make([]byte, channel.MaxPayload), stats: &servedStats{}}
	defer func() {
		f.countDisplay()
		if bug := panics.Recovered(recover()); bug != nil {
			err = fmt.Errorf("internal error in the receiver: %w", bug)
		}
	}()
	wake := time.NewTimer(0)
	defer wake.Stop()
	for {
		f.drainConn()
		wake.Reset(f.reportIfDue(time.Now()))
		if f.receiver != nil {
			f.receiver.Finish()
		}
		select {
		case <-ctx.Done():
			return f.stats, ctx.Err()
		case <-conn.Done():
			f.drainConn()
			if err := conn.Err(); !errors.Is(err, io.EOF) {
				return f.stats, err
			}
			return f.stats, nil
		case <-conn.Ready():
		case <-wake.C:
		}
	}
}

// server is the receiving side of one connection.
type server struct {
	conn      conn
	files     Files
	in        []byte // buffer for received datagrams
	out       []byte // buffer for messages to send
	stats     *servedStats
	assembly  *chunkAssembly // setup being received; nil if none
	requested bool           // a session was requested; status is valid
	status    status         // of the current session

	// The following fields belong to the current session and are valid if its state is stateReady.
	setup          *setup // nil while no session is running
	receiver       *endpoint.Receiver
	playout        *playout.Counter
	fingerprinter  engine.Fingerprinter
	startedAt      time.Time            // wall time
	displayTicks   uint64               // number of display ticks so far
	pausedFor      time.Duration        // total length of completed pauses of the sender
	timeLost       time.Duration        // how far the sender's virtual time fell behind the wall clock
	pausedSince    time.Time            // start of the current pause; zero if not paused
	countedDisplay meters.DisplayCounts // display counters already added to stats

	records          []record // not confirmed, oldest first
	firstUnconfirmed uint64   // index of records[0], counted from the start of the session
	sentRecords      int      // how many of records were sent
	reportedAt       time.Time
	lastProgress     time.Time     // when records were last confirmed or sent again
	resendTimeout    time.Duration // current value, doubled at each resend
	ending           bool          // the sender sends no further packets
}

// drainConn handles all received datagrams, at most 4096 so that timers are not delayed.
func (f *server) drainConn() {
	for range 4096 {
		d, ok := f.conn.Poll(f.in)
		if !ok {
			return
		}
		if len(d.Data) == 0 {
			f.stats.Malformed++
			continue
		}
		if err := f.handle(&d, d.Data[0], d.Data[1:]); err != nil {
			f.stats.Malformed++
		}
	}
}

// handle processes one message, given without the session byte. Messages of other sessions are
// ignored.
func (f *server) handle(d *datagram, session uint8, msg []byte) error {
	if d.Stream == streamSetup {
		return f.handleChunk(session, msg)
	}
	if f.status.state != stateReady || !f.requested || session != f.status.session {
		return nil // the session has ended or has not started
	}
	switch d.Stream {
	case streamGame:
		return f.handlePacket(d.At, msg)
	case streamConfirm:
		return f.handleConfirmation(d.At, msg)
	}
	return malformed(fmt.Sprintf("stream %d", d.Stream), msg)
}

// handleChunk adds a chunk of a setup and answers with a status. The last chunk starts the
// session. A chunk with a newer session number ends the current session.
func (f *server) handleChunk(session uint8, msg []byte) error {
	if f.requested && f.status.session == session && f.status.state != stateIncomplete {
		f.sendStatus() // the previous status was lost
		return nil
	}
	if f.assembly == nil || f.assembly.session != session {
		if f.requested && int8(session-f.status.session) <= 0 {
			return nil // a late chunk of an earlier session; the numbers wrap at 256
		}
		f.assembly = &chunkAssembly{session: session}
	}
	whole, err := f.assembly.add(msg)
	if err != nil {
		return err
	}
	f.countDisplay()
	f.requested, f.status = true, status{session: session, state: stateIncomplete, nextChunk: f.assembly.next}
	f.setup = nil
	if whole {
		f.startSession(f.assembly.data)
	}
	f.sendStatus()
	return nil
}

// sendStatus sends the status of the current session.
func (f *server) sendStatus() {
	f.out = f.status.append(f.out[:0])
	f.send(streamStatus)
}

// send sends f.out. An error counts as a loss; Done reports a closed connection.
func (f *server) send(stream uint8) { _ = f.conn.Send(stream, f.out) }

// startSession starts a session with the encoded setup, or sets the status to refused.
func (f *server) startSession(data []byte) {
	f.assembly = nil
	s, err := parseSetup(data)
	if err == nil {
		err = f.files.check(s.Files)
	}
	if err != nil {
		f.status.state, f.status.reason = stateRefused, fmt.Sprintf("%.900s", err.Error())
		f.stats.Refused = f.status.reason
		return
	}
	f.status.state = stateReady
	f.setup, f.stats.Data, f.stats.Refused = s, config.Printable(s.Schema.Name), ""
	f.stats.Sessions++
	f.receiver = endpoint.NewReceiver(&s.Schema, &s.Initial, f.files.restrictedCodecs(), s.receiverOptions())
	f.receiver.Guard(true) // the sender's loss model may have damaged packets
	f.playout = playout.NewCounter(s.cadence(), f.receiver.History())
	f.playout.SetDelay(s.Playout)
	now := time.Now()
	f.startedAt, f.reportedAt, f.lastProgress, f.resendTimeout = now, now, now, initialResendTimeout
	f.displayTicks, f.pausedFor, f.timeLost, f.pausedSince, f.countedDisplay = 0, 0, 0, time.Time{}, meters.DisplayCounts{}
	f.records, f.firstUnconfirmed, f.sentRecords, f.ending = f.records[:0], 0, 0, false
}

// displayTime converts wall time to the virtual time of the display: the time since the session
// began without pauses and lost time.
func (f *server) displayTime(at time.Time) time.Duration {
	t := at.Sub(f.startedAt) - f.pausedFor - f.timeLost
	if !f.pausedSince.IsZero() {
		t -= at.Sub(f.pausedSince)
	}
	return t
}

// handlePacket passes a packet to the receiver, records its arrival and sends the ack. msg is the
// datagram number (4 bytes) and the packet; the ack carries the same number.
func (f *server) handlePacket(at time.Time, msg []byte) error {
	if len(msg) < 4 {
		return malformed("packet", msg)
	}
	if len(f.records) >= maxUnconfirmed {
		return nil // treated as lost, because its arrival could not be reported
	}
	f.runDisplay(at)
	f.stats.Datagrams++
	received := f.receiver.Receive(msg[4:])
	r := record{number: binary.LittleEndian.Uint32(msg), arrivedAt: max(0, at.Sub(f.startedAt)), outcome: received.Outcome,
		seqLow: uint16(received.Seq)}
	switch {
	case received.Frame != nil:
		r.decoded, r.fingerprint = true, f.fingerprinter.Of(received.Frame)
		f.playout.Arrive(f.displayTime(at), received.Seq)
		f.stats.Frames++
	case received.Outcome != endpoint.Duplicate:
		f.stats.Failed++
	}
	f.records = append(f.records, r)
	f.out = append(append(f.out[:0], f.status.session), msg[:4]...)
	n := len(f.out)
	f.out = f.receiver.Ack(f.out)
	if len(f.out) > n {
		f.send(streamAck)
	}
	return nil
}

// handleConfirmation drops confirmed records and applies the settings of the display.
func (f *server) handleConfirmation(at time.Time, msg []byte) error {
	var c confirmation
	if err := c.parse(msg); err != nil {
		return err
	}
	if n := c.recordsRead - f.firstUnconfirmed; c.recordsRead > f.firstUnconfirmed && n <= uint64(len(f.records)) {
		f.records = f.records[:copy(f.records, f.records[n:])]
		f.firstUnconfirmed, f.sentRecords = c.recordsRead, max(0, f.sentRecords-int(n))
		f.lastProgress, f.resendTimeout = at, initialResendTimeout
	}
	if c.resend && c.recordsRead == f.firstUnconfirmed {
		f.sentRecords, f.reportedAt = 0, time.Time{}
	}
	f.playout.SetDelay(c.playout)
	f.runDisplay(at)
	switch {
	case c.paused && f.pausedSince.IsZero():
		f.pausedSince = at
	case !c.paused && !f.pausedSince.IsZero():
		f.pausedFor += at.Sub(f.pausedSince)
		f.pausedSince = time.Time{}
	}
	f.ending, f.timeLost = c.ending, max(f.timeLost, c.timeLost)
	return nil
}

// maxDisplayLag is how far the display may fall behind and still run every tick. After a longer
// suspension of the process it skips to the current time.
const maxDisplayLag = 2 * time.Second

// runDisplay runs the display ticks up to a wall time. Data with their own timestamps
// (Schema.Timed) have no display here, because only the sender has these timestamps.
func (f *server) runDisplay(at time.Time) {
	now := f.displayTime(at)
	if !f.pausedSince.IsZero() || now <= 0 || f.setup.Schema.Timed {
		return
	}
	if behind := now - maxDisplayLag; f.nextTick() < behind {
		f.displayTicks = max(f.displayTicks, endpoint.TickAt(behind, f.setup.DisplayMilliHz)/1000)
	}
	for t := f.nextTick(); t <= now; t = f.nextTick() {
		f.playout.Tick(t)
		f.displayTicks++
	}
}

// nextTick returns the virtual time of the next display tick.
func (f *server) nextTick() time.Duration {
	return endpoint.TickTime(1000*f.displayTicks, f.setup.DisplayMilliHz)
}

// reportIfDue sends a report if one is due and returns the time until the next call.
func (f *server) reportIfDue(now time.Time) time.Duration {
	if f.setup == nil {
		return time.Second
	}
	f.runDisplay(now)
	if f.sentRecords > 0 && now.Sub(f.lastProgress) >= f.resendTimeout {
		f.sentRecords, f.lastProgress = 0, now // no confirmation in time: send all records again
		f.resendTimeout = min(2*f.resendTimeout, maxResendTimeout)
	}
	every := keepAliveInterval
	if f.sentRecords < len(f.records) {
		every = reportInterval
	}
	if f.ending {
		every = reportInterval / 5
	}
	if wait := every - now.Sub(f.reportedAt); wait > 0 {
		return wait
	}
	f.reportedAt = now
	f.sendReports()
	return reportInterval
}

// maxReportDatagrams limits the datagrams of one report. The remaining records are sent at the
// next interval.
const maxReportDatagrams = 16

// sendReports sends the unsent records and the display counters.
func (f *server) sendReports() {
	for range maxReportDatagrams {
		m := report{firstRecord: f.firstUnconfirmed + uint64(f.sentRecords), display: f.playout.Counts(),
			records: f.records[f.sentRecords:]}
		if f.sentRecords == 0 {
			f.lastProgress = f.reportedAt
		}
		n := 0
		f.out, n = m.append(f.out[:0], f.status.session)
		f.send(streamReport)
		f.sentRecords += n
		if f.sentRecords == len(f.records) {
			return
		}
	}
}

// countDisplay adds the display counters since its last call to the stats.
func (f *server) countDisplay() {
	if f.setup == nil {
		return
	}
	counts := f.playout.Counts()
	f.stats.Shown += counts.Shown - f.countedDisplay.Shown
	f.stats.Starved += counts.Starved - f.countedDisplay.Starved
	f.countedDisplay = counts
}
