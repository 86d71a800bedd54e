package channel

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/flynn/noise"

	"wirelab/internal/panics"
	"wirelab/internal/wallclock"
)

// dialTimeout limits the duration of Dial.
const dialTimeout = 10 * time.Second

// ErrNoAnswer means that no listener with the token answered in time.
var ErrNoAnswer = errors.New("no answer: no listener at this address, or a different token or version")

// Dial establishes a session with a listener. The purpose must be one that the listener offers.
// Dial retransmits until ctx ends or 10 s have passed; it then returns an error that wraps
// ErrNoAnswer.
func Dial(ctx context.Context, to netip.AddrPort, purpose uint8, o Options) (*Session, error) {
	o.setDefaults()
	ctx, cancel := context.WithTimeoutCause(ctx, dialTimeout, ErrNoAnswer)
	defer cancel()
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		return nil, err
	}
	d := newDialer(o, purpose)
	d.conn = newSocket(conn)
	s, err := d.handshake(ctx)
	if err == nil {
		s.remote = to
		err = d.confirm(ctx, s)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return s, nil
}

// dialer is the state of a handshake on the dialing side.
type dialer struct {
	options    Options
	conn       *socket
	start      time.Time
	hello      hello
	noise      *noise.HandshakeState // of the opening in the hello
	tokenMAC   mac
	hellosSent int // hellos sent since the hello last changed
	books      Stats
}

// newDialer returns a dialer with its first hello and without a socket.
func newDialer(o Options, purpose uint8) *dialer {
	d := &dialer{options: o, start: time.Now(), tokenMAC: o.Token.handshakeMAC()}
	d.startHello(purpose)
	return d
}

// startHello replaces the hello by one without a cookie and with a new ephemeral key.
func (d *dialer) startHello(purpose uint8) {
	d.hello, d.hellosSent = hello{purpose: purpose}, 0
	d.noise, d.hello.opening = d.options.Token.newOpening(purpose)
}

// Retransmission intervals of a handshake; the interval doubles.
const (
	initialRetransmit = 200 * time.Millisecond
	maxRetransmit     = time.Second
)

// maxCookieHellos is how often a hello with the same cookie is sent. Then the handshake starts again,
// because the listener may have been restarted with a new cookie key.
const maxCookieHellos = 4

// handshake sends a hello at growing intervals until the listener accepts or refuses, or ctx
// ends. A retry of the listener carries a cookie, which the next hello returns. The session still
// needs confirm.
func (d *dialer) handshake(ctx context.Context) (*Session, error) {
	// A read deadline in the past makes Read return when ctx ends.
	stop := context.AfterFunc(ctx, func() { _ = d.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	buf, out := make([]byte, 1<<16), []byte(nil)
	for {
		if d.hellosSent >= maxCookieHellos && d.hello.cookie != (cookie{}) {
			d.startHello(d.hello.purpose) // no answer to the cookie: begin again with a hello without a cookie
		}
		out = d.hello.append(out, &d.tokenMAC)
		d.send(out)
		retransmitAt := time.Now().Add(min(initialRetransmit<<min(d.hellosSent, 8), maxRetransmit))
		d.hellosSent++
		for reading := true; reading; {
			_ = d.conn.SetReadDeadline(retransmitAt)
			if ctx.Err() != nil {
				return nil, d.timeoutError(ctx)
			}
			n, err := d.conn.Read(buf)
			if err != nil {
				reading = d.isTransient(err)
				continue
			}
			v, s, err := d.handleAnswer(buf[:n])
			d.books.countRead(n, v)
			if s != nil || err != nil {
				return s, err
			}
			reading = v.class != handshake // after a retry the next hello is sent at once
		}
	}
}

// isTransient reports whether reading should continue after an error. It is false for a timeout,
// after which the hello is sent again. Other errors are counted as unreachable; isTransient then
// sleeps for 1 ms so that a lasting error does not keep a core busy.
func (d *dialer) isTransient(err error) bool {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return false
	}
	d.books.Unreachable++
	time.Sleep(time.Millisecond)
	return true
}

// timeoutError returns why ctx ended. If the listener did not answer in time but ICMP errors were
// received, the error mentions the closed port.
func (d *dialer) timeoutError(ctx context.Context) error {
	err := context.Cause(ctx)
	if errors.Is(err, ErrNoAnswer) && d.books.Unreachable > 0 {
		return fmt.Errorf("%w (the remote machine reports that the port is closed)", err)
	}
	return err
}

// send writes a datagram. An ICMP error about an earlier datagram is returned by a write that sent
// nothing, so the write is repeated once.
func (d *dialer) send(b []byte) {
	_, err := d.conn.Write(b)
	if isUnreachable(err) {
		d.books.Unreachable++
		_, err = d.conn.Write(b)
	}
	if err != nil {
		d.books.Unsent++
		return
	}
	d.books.countWritten(len(b))
}

// handleAnswer processes a received datagram during the handshake. It returns the verdict for the
// counters, the session after a welcome, and an error after a refusal; otherwise both are nil. After
// a retry it stores the cookie for the next hello.
func (d *dialer) handleAnswer(b []byte) (verdict, *Session, error) {
	switch {
	case len(b) == 0:
		return droppedAs(malformed), nil, nil
	case b[0]>>4 != version:
		return droppedAs(protocolVersion), nil, nil
	}
	a, ok := parseAnswer(b, &d.tokenMAC)
	switch {
	case !ok:
		return droppedAs(Forged), nil, nil
	case a.nonce != d.hello.nonce():
		return droppedAs(Replayed), nil, nil // answers an earlier hello
	case a.kind == kindRetry && d.hello.cookie != (cookie{}):
		return droppedAs(Replayed), nil, nil // a repeated retry: a cookie is already stored
	case a.kind == kindRetry:
		d.hello.cookie, d.hellosSent = a.cookie, 0
		return verdict{class: handshake}, nil, nil
	case a.kind == kindRefusal:
		return verdict{class: handshake}, nil, &RefusedError{a.reason}
	}
	keys, err := readReply(d.noise, a.reply)
	if err != nil {
		return droppedAs(Forged), nil, nil
	}
	d.noise = nil // forgets the ephemeral private key
	s := newSession(keys.session, d.hello.purpose, &d.options, keys.fromDialer, keys.fromListener, time.Since(d.start))
	return verdict{class: handshake}, s, nil
}

// confirm sends pings until the listener answers. The first ping proves to the listener that the
// hello was not replayed; the answer proves that the listener derived the same keys. It starts
// the goroutines of the session. After an error the session has ended.
func (d *dialer) confirm(ctx context.Context, s *Session) error {
	_ = d.conn.SetReadDeadline(time.Time{})
	s.start, s.sendsPings = d.start, true
	s.write = func(b []byte) error { _, err := d.conn.Write(b); return err }
	ended, confirmed := make(chan struct{}), make(chan struct{})
	s.onEnd = func(*Session, error) { close(ended); d.conn.Close() }
	s.in.Stats = d.books
	go panics.Guard(s.end, func() { s.readFrom(d.conn, confirmed) })()
	for wait := initialRetransmit; ; wait = min(2*wait, maxRetransmit) {
		_ = s.send(controlStream, []byte{msgPing})
		select {
		case <-confirmed:
			go panics.Guard(s.end, func() {
				wallclock.Every(d.options.maintenanceInterval(), ended, func() { s.maintain(time.Since(s.start)) })
			})()
			return nil
		case <-s.done:
			return s.Err()
		case <-ctx.Done():
			s.end(errClosed)
			return d.timeoutError(ctx)
		case <-time.After(wait):
		}
	}
}

// readFrom processes the datagrams of the dialer's socket until it is closed. It closes confirmed at
// the first authentic datagram. Read errors are counted as unreachable.
func (s *Session) readFrom(conn *socket, confirmed chan struct{}) {
	conn.readLoop(func() {
		s.in.Lock()
		s.in.Unreachable++
		s.in.Unlock()
	}, func(b []byte, a received) {
		if first := s.route(b, a.at.Sub(s.start)); first {
			close(confirmed)
		}
		s.in.Lock()
		s.in.KernelDrops = a.dropped
		s.in.Unlock()
	})
}

// route passes a datagram from the dialer's socket to the session, or counts it as dropped if it is
// not a data datagram of this session. at is the time of arrival since s.start. first is true for the first
// authentic datagram.
func (s *Session) route(b []byte, at time.Duration) (first bool) {
	v := droppedAs(malformed) // an empty datagram or an unknown kind
	switch {
	case len(b) == 0:
	case b[0]>>4 != version:
		v = droppedAs(protocolVersion)
	case b[0] == firstByte(kindData) && len(b) >= Overhead:
		if binary.BigEndian.Uint32(b[1:]) == s.number {
			_, first = s.handleDatagram(b, at)
			return first
		}
		v = droppedAs(unknownSession)
	case b[0] == firstByte(kindRetry) || b[0] == firstByte(kindWelcome) || b[0] == firstByte(kindRefusal):
		v = droppedAs(unknownSession) // the handshake is over
	}
	s.in.Lock()
	defer s.in.Unlock()
	s.in.countRead(len(b), v)
	return false
}
