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
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/remote/channel"
	"wirelab/internal/panics"
	"wirelab/lossmodel"
)

// The patience of the near end.
const (
	setupPatience = 10 * time.Second       // until the far end is ready
	pieceAgain    = 100 * time.Millisecond // if the far end says nothing of a setup
	confirmEvery  = 100 * time.Millisecond
	silence       = 5 * time.Second // after which the far end counts as gone
)

// Link is the near end of a session: the network of an engine.Session. It belongs to the
// goroutine that drives the session.
type Link struct {
	conn conn   // nil in a replay
	to   string // what the far end is called in errors and reports
	buf  []byte // for what is read
	msg  []byte // for what is sent

	session uint8
	down    *lossmodel.Link // modelled, in front of the socket
	up      *lossmodel.Link // behind it
	flying  flying
	traffic meters.LabTraffic
	records recording
	played  played // in a replay: all events
	err     error

	incoming
	reports
	contact
	zero time.Time // the wall time of virtual time zero; not set while time stands still
}

// incoming is what came from the far end and takes effect at a virtual time.
type incoming struct {
	arrivals queue // at the receiver of this end
	acks     queue
	latest   engine.Delivery // of the newest arrival
	reported bool            // latest came from the far end
	rtts     []time.Duration
	display  meters.DisplayCounts
}

// reports is what was read of the reports of the far end.
type reports struct {
	rep       report
	read      uint64        // records
	epoch     time.Time     // any moment: departures are measured from it
	fastest   fastest       // of the latest arrivals, by the two clocks
	lag       time.Duration // of the receiver of this end behind the far end's
	stamped   time.Duration // virtual time of the newest message
	malformed int64         // messages
}

// contact is when the ends last exchanged messages, by the wall clock.
type contact struct {
	receivedAt time.Time     // when the newest message came, or when this end began to read again
	looked     time.Time     // when this end last read
	confirmed  time.Time     // when this end last sent a confirmation
	requested  time.Time     // when this end last requested missing records
	sent       confirm       // the newest confirmation
	trip       time.Duration // round trip, smoothed
}

// leastLag is how far the receiver here is behind: as long as reports usually take.
const (
	leastLag = reportEvery + 30*time.Millisecond
	mostLag  = time.Second
)

// NewLink returns the near end of sessions over a connection. to names the far end in errors and
// reports.
func NewLink(conn conn, to string) *Link {
	return &Link{conn: conn, to: to, buf: make([]byte, channel.MaxPayload)}
}

// To returns the name of the far end.
func (l *Link) To() string { return l.to }

// Live reports whether there is a far end: neither in a replay nor without a link.
func (l *Link) Live() bool { return l != nil && l.conn != nil }

// Begin implements engine.Network. A session that was begun before is over.
func (l *Link) Begin(ctx context.Context, s *frame.Schema, initial *frame.Frame, c *config.Config) error {
	l.reset()
	setup := setup{Version: protocolVersion, Schema: *s, RateHz: c.Sender.RateHz, History: c.Receiver.History, DigestBits: c.Receiver.DigestBits,
		DisplayMilliHz: c.DisplayMilliHz(s.TickHz), Playout: c.Receiver.Playout, Encoder: c.Encoder.Name, Initial: *initial}
	l.sent.playout = c.Receiver.Playout
	if l.conn == nil {
		l.acks.events, l.arrivals.events = l.played.acks, l.played.arrivals
		return nil
	}
	var err error
	if setup.Files, err = filesOf(c); err != nil {
		return err
	}
	data, err := setup.encode()
	if err != nil {
		return err
	}
	return l.introduce(ctx, data)
}

// broken is what is wrong with the network or the far end.
func (l *Link) broken(format string, args ...any) error {
	return &engine.NetworkError{To: l.to, Problem: fmt.Sprintf(format, args...)}
}

// reset forgets the session before.
func (l *Link) reset() {
	*l = Link{conn: l.conn, to: l.to, buf: l.buf, msg: l.msg, session: l.session + 1, played: l.played,
		reports: reports{lag: leastLag, epoch: time.Now()}}
}

// introduce sends a setup and waits until the far end is ready.
func (l *Link) introduce(ctx context.Context, data []byte) error {
	wait, cancel := context.WithTimeout(ctx, setupPatience)
	defer cancel()
	next, sent := 0, 0
	again := time.NewTimer(0)
	defer again.Stop()
	for {
		for ; sent < min(next+pieceAhead, pieces(len(data))); sent++ {
			l.msg = appendPiece(l.msg[:0], l.session, data, sent)
			if err := l.conn.Send(streamSetup, l.msg); err != nil {
				return err
			}
			l.traffic.Reports += wire(len(l.msg))
		}
		again.Reset(pieceAgain)
		select {
		case <-wait.Done():
			if err := ctx.Err(); err != nil {
				return err
			}
			return l.broken("the far end does not answer to what the session is about within %v", setupPatience)
		case <-l.conn.Done():
			return l.gone()
		case <-again.C:
			sent = next
		case <-l.conn.Ready():
		}
		for d, ok := l.conn.Poll(l.buf); ok; d, ok = l.conn.Poll(l.buf) {
			st, err := parseStatus(d.Data)
			if d.Stream != streamStatus || err != nil || st.session != l.session {
				continue
			}
			l.traffic.Reports += wire(len(d.Data))
			switch st.state {
			case stateReady:
				l.receivedAt = time.Now()
				return nil
			case stateRefused:
				return l.broken("the far end says: %s", config.Printable(st.text))
			}
			if st.next > next && st.next <= pieces(len(data)) {
				next, sent = st.next, max(sent, st.next)
			}
		}
	}
}

// gone says that the connection has ended.
func (l *Link) gone() error {
	err := l.conn.Err()
	switch {
	case errors.As(err, new(*panics.Error)): // of this process
		return fmt.Errorf("the lab broke: %w", err)
	case !errors.Is(err, io.EOF):
		return l.broken("the far end is gone: %v", err)
	}
	return l.broken("the far end has left")
}

// Connect implements engine.Network.
func (l *Link) Connect(down, up *lossmodel.Link) (engine.Path, engine.Path) {
	l.down, l.up = down, up
	return (*downPath)(l), (*upPath)(l)
}

// Err says why the session cannot go on; nil if it can.
func (l *Link) Err() error {
	if l.err == nil && l.conn != nil {
		select {
		case <-l.conn.Done():
			l.err = l.gone()
		default:
			if time.Since(l.receivedAt) > silence && time.Since(l.looked) < absent {
				l.err = l.broken("the far end is gone: nothing came from there for %v", silence)
			}
		}
	}
	return l.err
}

// Paused tells the far end that time stands still, or goes on.
func (l *Link) Paused(now bool) {
	if l.sent.paused != now {
		l.sent.paused = now
		l.confirm()
	}
}

// Poll takes what has come in, and lets it happen at the virtual times after from and up to
// to. zero is the wall time at which virtual time would have been zero.
func (l *Link) Poll(c *config.Config, from, to time.Duration, zero time.Time) {
	if l.conn == nil || to <= from {
		return
	}
	l.awake(time.Now())
	l.pace(zero)
	for d, ok := l.conn.Poll(l.buf); ok; d, ok = l.conn.Poll(l.buf) {
		if d.At.After(l.receivedAt) {
			l.receivedAt = d.At
		}
		l.stamped = max(l.stamped, min(max(d.At.Sub(zero), from+1), to))
		if len(d.Data) == 0 || d.Data[0] != l.session {
			continue // of a session before
		}
		if err := l.handle(&d, d.Data[1:]); err != nil {
			l.malformed++
		}
	}
	due := time.Since(l.confirmed) >= confirmEvery
	if l.sent.read != l.read && due || c.Receiver.Playout != l.sent.playout || time.Since(l.confirmed) >= aliveEvery {
		l.sent.playout = c.Receiver.Playout
		l.confirm()
	}
}

// absent is longer than this end ever goes without looking, but if its process was stopped.
// It heard nothing then, which says nothing of the far end.
const absent = time.Second

// awake notes that this end looks for what came: after an absence the silence begins anew.
func (l *Link) awake(now time.Time) {
	if now.Sub(l.looked) > absent && now.After(l.receivedAt) {
		l.receivedAt = now
	}
	l.looked = now
}

// leastLost is more than the beat of a runner moves virtual time about.
const leastLost = 50 * time.Millisecond

// pace notes by how much virtual time fell behind the wall clock, so that the display at
// the far end does the same: else all that it shows would be late from then on.
func (l *Link) pace(zero time.Time) {
	switch behind := zero.Sub(l.zero); {
	case l.sent.paused:
		l.zero = time.Time{}
	case l.zero.IsZero() || behind < 0:
		l.zero = zero
	case behind >= leastLost:
		l.zero, l.sent.lost = zero, l.sent.lost+behind
		l.confirm()
	}
}

// confirm tells the far end what was read, and the settings of its display.
func (l *Link) confirm() {
	if l.conn == nil {
		return
	}
	l.sent.read, l.confirmed = l.read, time.Now()
	l.msg = l.sent.append(l.msg[:0], l.session)
	l.traffic.Reports += wire(len(l.msg))
	_ = l.conn.Send(streamConfirm, l.msg) // Err tells of a connection that has ended
}

func (l *Link) handle(d *datagram, msg []byte) error {
	switch d.Stream {
	case streamAck:
		return l.ack(d.At, msg)
	case streamReport:
		l.traffic.Reports += wire(len(d.Data))
		return l.report(msg)
	case streamStatus:
		l.traffic.Reports += wire(len(d.Data))
		return nil // again, of a setup that took effect
	}
	return malformed(fmt.Sprintf("stream %d", d.Stream), msg)
}

// ack takes an ack of the receiver.
func (l *Link) ack(at time.Time, msg []byte) error {
	if len(msg) < 4 || len(msg) > lossmodel.MaxDatagram {
		return malformed("an ack", msg)
	}
	e := event{at: l.stamped, number: binary.LittleEndian.Uint32(msg), data: append(l.acks.spare(), msg[4:]...)}
	if x := l.flying.get(e.number); x != nil {
		e.took, e.timed = at.Sub(x.wall), true
		l.trip += (e.took - l.trip) / 8
	}
	l.traffic.Cover += cover
	l.acks.push(e)
	return nil
}

// report takes a report of the far end: what was not read of it yet.
func (l *Link) report(msg []byte) error {
	if err := l.rep.parse(msg); err != nil {
		return err
	}
	if l.rep.first > l.read {
		l.miss()
		return nil
	}
	old := l.read - l.rep.first
	if old > uint64(len(l.rep.records)) {
		return nil
	}
	for i := range l.rep.records[old:] {
		if r := &l.rep.records[old:][i]; !l.flying.sent(r.number) {
			return malformed("a report of what was never sent", msg)
		}
	}
	for i := range l.rep.records[old:] {
		l.read++
		l.arrive(&l.rep.records[old:][i])
	}
	l.arrivals.push(event{at: max(l.stamped, l.arrivals.last), display: l.rep.display, isCounts: true})
	return nil
}

// miss tells the far end that records are missing, at most once in the time that it takes
// to send them again.
func (l *Link) miss() {
	if time.Since(l.requested) < l.trip+reportEvery/2 {
		return
	}
	l.requested, l.sent.missing = time.Now(), true
	l.confirm()
	l.sent.missing = false
}

// arrive lets a datagram that is told of arrive at the receiver here: a fixed time after it
// did at the far end, if it is told of in time.
func (l *Link) arrive(r *record) {
	x := l.flying.get(r.number)
	if x == nil || x.arrived {
		return // too long ago: nobody waits for it
	}
	left := x.wall.Sub(l.epoch)
	apart := r.at - left
	e := event{number: r.number, took: apart - l.fastest.note(left, apart), record: *r, reportedAt: l.stamped}
	arrived := x.left + e.took
	l.lag = min(max(leastLag, l.stamped-arrived, l.lag-l.lag/512), mostLag) // it falls by half within some seconds
	e.at = max(l.stamped, arrived+l.lag, l.arrivals.last)
	l.arrivals.push(e)
}
