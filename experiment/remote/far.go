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

// The beat of the far end.
const (
	reportEvery = 50 * time.Millisecond  // while there is something to report
	aliveEvery  = 250 * time.Millisecond // if there is nothing
	resendAfter = 300 * time.Millisecond // what was not confirmed; twice as long each time
	resendMost  = 3 * time.Second
)

// maxRecords is how many records a far end keeps until they are confirmed. It takes no
// datagram that it could not report.
const maxRecords = 8192

// servedStats is what a far end did.
type servedStats struct {
	Sessions  int    `json:"sessions"` // that began; one after the other
	Data      string `json:"data"`     // of the last
	Datagrams int64  `json:"datagrams"`
	Frames    int64  `json:"frames"` // decoded of them
	Failed    int64  `json:"failed"` // that gave no frame, duplicates apart
	Shown     int64  `json:"shown"`  // ticks of the display
	Starved   int64  `json:"starved"`
	Odd       int64  `json:"odd"`               // messages that make no sense
	Refused   string `json:"refused,omitempty"` // why the last session was
}

// String says it in a line.
func (s *servedStats) String() string {
	if s.Sessions == 0 && s.Refused != "" {
		return s.Refused
	}
	return fmt.Sprintf("%s: %d datagrams, %d frames decoded, %d failed, display starved at %d of %d ticks", s.Data, s.Datagrams,
		s.Frames, s.Failed, s.Starved, s.Shown)
}

// Serve is the far end of sessions over a connection, one after the other, until that ends
// or ctx does. Encoders open the files that find lets them. The error is nil if the near
// end took its leave.
func Serve(ctx context.Context, conn conn, find Files) (out *servedStats, err error) {
	f := &far{conn: conn, find: find, buf: make([]byte, channel.MaxPayload), out: &servedStats{}}
	defer func() {
		f.count()
		if bug := panics.Recovered(recover()); bug != nil {
			err = fmt.Errorf("the receiver broke: %w", bug)
		}
	}()
	wake := time.NewTimer(0)
	defer wake.Stop()
	for {
		f.receive()
		wake.Reset(f.beat(time.Now()))
		if f.rcv != nil {
			f.rcv.Finish()
		}
		select {
		case <-ctx.Done():
			return f.out, ctx.Err()
		case <-conn.Done():
			f.receive()
			if err := conn.Err(); !errors.Is(err, io.EOF) {
				return f.out, err
			}
			return f.out, nil
		case <-conn.Ready():
		case <-wake.C:
		}
	}
}

// far is the far end of one connection.
type far struct {
	conn      conn
	find      Files
	buf       []byte // of what comes
	msg       []byte // of what goes
	out       *servedStats
	setup     *assembly // in the making
	contacted bool      // a session was requested
	state     status    // of the present session

	// of the present session, if its state is ready
	s       *setup
	rcv     *endpoint.Receiver
	show    *playout.Counter
	prints  engine.Fingerprinter
	began   time.Time
	shown   uint64        // ticks of the display
	stood   time.Duration // how long the near end paused
	lost    time.Duration // and by how much its time fell behind
	pausing time.Time     // since when it does; zero: it does not
	showed  meters.DisplayCounts

	records    []record // not confirmed, oldest first
	first      uint64   // number of the oldest
	sent       int      // of the records, how many were sent
	reportedAt time.Time
	moved      time.Time // when records were confirmed last, or sent again
	patient    time.Duration
	ending     bool
}

// receive handles all datagrams that have arrived.
func (f *far) receive() {
	for range 4096 { // then it is time to look at the clock
		d, ok := f.conn.Poll(f.buf)
		if !ok {
			return
		}
		if len(d.Data) == 0 {
			f.out.Odd++
			continue
		}
		if err := f.handle(&d, d.Data[0], d.Data[1:]); err != nil {
			f.out.Odd++
		}
	}
}

func (f *far) handle(d *datagram, session uint8, msg []byte) error {
	if d.Stream == streamSetup {
		return f.piece(session, msg)
	}
	if f.state.state != stateReady || !f.contacted || session != f.state.session {
		return nil // of a session that is over, or not yet begun
	}
	switch d.Stream {
	case streamGame:
		return f.game(d.At, msg)
	case streamConfirm:
		return f.confirmed(d.At, msg)
	}
	return malformed(fmt.Sprintf("stream %d", d.Stream), msg)
}

// piece takes a piece of a setup.
func (f *far) piece(session uint8, msg []byte) error {
	if f.contacted && f.state.session == session && f.state.state != stateMissing {
		f.answer() // it was lost
		return nil
	}
	if f.setup == nil || f.setup.session != session {
		if f.contacted && int8(session-f.state.session) <= 0 {
			return nil // late, of a session before
		}
		f.setup = &assembly{session: session}
	}
	whole, err := f.setup.add(msg)
	if err != nil {
		return err
	}
	f.count()
	f.contacted, f.state = true, status{session: session, state: stateMissing, next: f.setup.next}
	f.s = nil
	if whole {
		f.begin(f.setup.data)
	}
	f.answer()
	return nil
}

func (f *far) answer() {
	f.msg = f.state.append(f.msg[:0])
	f.send(streamStatus)
}

// send sends the message. What the connection does not take was lost.
func (f *far) send(stream uint8) { _ = f.conn.Send(stream, f.msg) }

// begin begins a session, or says why not.
func (f *far) begin(data []byte) {
	f.setup = nil
	s, err := parseSetup(data)
	if err == nil {
		err = f.find.missing(s.Files)
	}
	if err != nil {
		f.state.state, f.state.text = stateRefused, fmt.Sprintf("%.900s", err.Error())
		f.out.Refused = f.state.text
		return
	}
	f.state.state = stateReady
	f.s, f.out.Data, f.out.Refused = s, config.Printable(s.Schema.Name), ""
	f.out.Sessions++
	f.rcv = endpoint.NewReceiver(&s.Schema, &s.Initial, f.find.codecs(), s.options())
	f.rcv.Guard(true) // a modelled link at the near end may have damaged what comes
	f.show = playout.NewCounter(s.cadence(), f.rcv.History())
	f.show.SetDelay(s.Playout)
	now := time.Now()
	f.began, f.reportedAt, f.moved, f.patient = now, now, now, resendAfter
	f.shown, f.stood, f.lost, f.pausing, f.showed = 0, 0, 0, time.Time{}, meters.DisplayCounts{}
	f.records, f.first, f.sent, f.ending = f.records[:0], 0, 0, false
}

// clock returns the time of the display: that of the session, without pauses.
func (f *far) clock(at time.Time) time.Duration {
	t := at.Sub(f.began) - f.stood - f.lost
	if !f.pausing.IsZero() {
		t -= at.Sub(f.pausing)
	}
	return t
}

// game passes a packet to the receiver, and sends its ack.
func (f *far) game(at time.Time, msg []byte) error {
	if len(msg) < 4 {
		return malformed("a packet", msg)
	}
	if len(f.records) >= maxRecords {
		return nil // it could not be reported: it never arrived
	}
	f.display(at)
	f.out.Datagrams++
	rx := f.rcv.Receive(msg[4:])
	r := record{number: binary.LittleEndian.Uint32(msg), at: max(0, at.Sub(f.began)), outcome: rx.Outcome, taken: uint16(rx.Seq)}
	switch {
	case rx.Frame != nil:
		r.decoded, r.frame = true, f.prints.Of(rx.Frame)
		f.show.Arrive(f.clock(at), rx.Seq)
		f.out.Frames++
	case rx.Outcome != endpoint.Duplicate:
		f.out.Failed++
	}
	f.records = append(f.records, r)
	f.msg = append(append(f.msg[:0], f.state.session), msg[:4]...)
	n := len(f.msg)
	f.msg = f.rcv.Ack(f.msg)
	if len(f.msg) > n {
		f.send(streamAck)
	}
	return nil
}

// confirmed takes what the near end says of reports and of the display.
func (f *far) confirmed(at time.Time, msg []byte) error {
	var c confirm
	if err := c.parse(msg); err != nil {
		return err
	}
	if n := c.read - f.first; c.read > f.first && n <= uint64(len(f.records)) {
		f.records = f.records[:copy(f.records, f.records[n:])]
		f.first, f.sent = c.read, max(0, f.sent-int(n))
		f.moved, f.patient = at, resendAfter
	}
	if c.missing && c.read == f.first {
		f.sent, f.reportedAt = 0, time.Time{}
	}
	f.show.SetDelay(c.playout)
	f.display(at)
	switch {
	case c.paused && f.pausing.IsZero():
		f.pausing = at
	case !c.paused && !f.pausing.IsZero():
		f.stood += at.Sub(f.pausing)
		f.pausing = time.Time{}
	}
	f.ending, f.lost = c.ending, max(f.lost, c.lost)
	return nil
}

// maxCatchUp is how far behind the display may be and still show every tick: a process
// that was stopped for an hour goes on from now.
const maxCatchUp = 2 * time.Second

// display runs the ticks of the display up to a time. Frames that come at times of their own
// have none: it would not know them.
func (f *far) display(at time.Time) {
	now := f.clock(at)
	if !f.pausing.IsZero() || now <= 0 || f.s.Schema.Timed {
		return
	}
	if behind := now - maxCatchUp; f.tick() < behind {
		f.shown = max(f.shown, endpoint.TickAt(behind, f.s.DisplayMilliHz)/1000)
	}
	for t := f.tick(); t <= now; t = f.tick() {
		f.show.Tick(t)
		f.shown++
	}
}

// tick returns the time of the next tick of the display.
func (f *far) tick() time.Duration { return endpoint.TickTime(1000*f.shown, f.s.DisplayMilliHz) }

// beat reports what is to be reported, and returns when it will be time again.
func (f *far) beat(now time.Time) time.Duration {
	if f.s == nil {
		return time.Second
	}
	f.display(now)
	if f.sent > 0 && now.Sub(f.moved) >= f.patient {
		f.sent, f.moved = 0, now // nothing was confirmed: begin anew
		f.patient = min(2*f.patient, resendMost)
	}
	every := aliveEvery
	if f.sent < len(f.records) {
		every = reportEvery
	}
	if f.ending {
		every = reportEvery / 5
	}
	if wait := every - now.Sub(f.reportedAt); wait > 0 {
		return wait
	}
	f.reportedAt = now
	f.report()
	return reportEvery
}

// maxReports is how many datagrams a report takes at most; the rest is for the next.
const maxReports = 16

// report sends the records that were not sent.
func (f *far) report() {
	for range maxReports {
		m := report{first: f.first + uint64(f.sent), display: f.show.Counts(), records: f.records[f.sent:]}
		if f.sent == 0 {
			f.moved = f.reportedAt
		}
		n := 0
		f.msg, n = m.append(f.msg[:0], f.state.session)
		f.send(streamReport)
		f.sent += n
		if f.sent == len(f.records) {
			return
		}
	}
}

// count takes down what the display of the present session did.
func (f *far) count() {
	if f.s == nil {
		return
	}
	is := f.show.Counts()
	f.out.Shown += is.Shown - f.showed.Shown
	f.out.Starved += is.Starved - f.showed.Starved
	f.showed = is
}
