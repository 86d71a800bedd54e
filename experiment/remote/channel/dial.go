package channel

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"wirelab/internal/panics"
	"wirelab/internal/wallclock"
)

// dialWithin bounds a handshake.
const dialWithin = 10 * time.Second

// ErrNoAnswer: nobody who has the token was heard.
var ErrNoAnswer = errors.New("no answer: nobody listens there, or with another token or version")

// Dial begins a session with a listener, for a purpose that the listener knows.
func Dial(ctx context.Context, to netip.AddrPort, purpose uint8, o Options) (*Session, error) {
	o.complete()
	ctx, cancel := context.WithTimeoutCause(ctx, dialWithin, ErrNoAnswer)
	defer cancel()
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		return nil, err
	}
	d := &dialer{options: o, conn: newSocket(conn), begin: time.Now(), hello: hello{purpose: purpose}, token: o.Token.handshakeMAC()}
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

// dialer is the state of a handshake.
type dialer struct {
	options Options
	conn    *socket
	begin   time.Time
	hello   hello
	token   mac
	tries   int // since the hello was last changed
	books   Books
}

// Waits of a handshake: the first, and the longest.
const (
	firstWait = 200 * time.Millisecond
	lastWait  = time.Second
)

// patienceWithCookie is how often a cookie is tried: the listener may be another one by
// now.
const patienceWithCookie = 4

// handshake sends Hello until the listener accepts or ctx ends.
func (d *dialer) handshake(ctx context.Context) (*Session, error) {
	stop := context.AfterFunc(ctx, func() { _ = d.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	d.hello.nonce = newNonce()
	buf, out := make([]byte, 1<<16), []byte(nil)
	for {
		if d.tries >= patienceWithCookie && d.hello.cookie != (cookie{}) {
			d.hello, d.tries = hello{purpose: d.hello.purpose, nonce: newNonce()}, 0
		}
		out = d.hello.append(out, &d.token)
		d.send(out)
		wait := time.Now().Add(min(firstWait<<min(d.tries, 8), lastWait))
		d.tries++
		for again := true; again; {
			_ = d.conn.SetReadDeadline(wait)
			if ctx.Err() != nil {
				return nil, d.gaveUp(ctx)
			}
			n, err := d.conn.Read(buf)
			if err != nil {
				again = d.survives(err)
				continue
			}
			v, s, err := d.take(buf[:n])
			d.books.read(n, v)
			if s != nil || err != nil {
				return s, err
			}
			again = v.class != handshake // a retry wants the next hello at once
		}
	}
}

// survives reports whether to go on reading after an error.
func (d *dialer) survives(err error) bool {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return false
	}
	d.books.Gone++
	time.Sleep(time.Millisecond)
	return true
}

func (d *dialer) gaveUp(ctx context.Context) error {
	err := context.Cause(ctx)
	if errors.Is(err, ErrNoAnswer) && d.books.Gone > 0 {
		return fmt.Errorf("%w (the far machine says that nobody does)", err)
	}
	return err
}

func (d *dialer) send(b []byte) {
	_, err := d.conn.Write(b)
	if isUnreachable(err) {
		d.books.Gone++
		_, err = d.conn.Write(b)
	}
	if err != nil {
		d.books.Unsent++
		return
	}
	d.books.wrote(len(b))
}

// take reads an answer.
func (d *dialer) take(b []byte) (verdict, *Session, error) {
	switch {
	case len(b) == 0:
		return drop(malformed), nil, nil
	case b[0]>>4 != version:
		return drop(protocolVersion), nil, nil
	}
	a, ok := parseAnswer(b, &d.token)
	switch {
	case !ok:
		return drop(Forged), nil, nil
	case a.nonce != d.hello.nonce:
		return drop(Replayed), nil, nil // to a hello of before
	case a.kind == kindRetry && d.hello.cookie != (cookie{}):
		return drop(Replayed), nil, nil
	case a.kind == kindRetry:
		d.hello.cookie, d.tries = a.cookie, 0
		return verdict{class: handshake}, nil, nil
	case a.kind == kindRefusal:
		return verdict{class: handshake}, nil, &RefusedError{a.reason}
	}
	c := contract{dialer: d.hello.nonce, listener: a.own, purpose: d.hello.purpose, session: a.session}
	return verdict{class: handshake}, newSession(c, &d.options, fromDialer, fromListener, time.Since(d.begin)), nil
}

// confirm shows the listener that it is no recording that dials, and waits for it to do
// the same.
func (d *dialer) confirm(ctx context.Context, s *Session) error {
	_ = d.conn.SetReadDeadline(time.Time{})
	s.begin, s.pings = d.begin, true
	s.write = func(b []byte) error { _, err := d.conn.Write(b); return err }
	quit, heard := make(chan struct{}), make(chan struct{})
	s.leave = func(*Session, error) { close(quit); d.conn.Close() }
	s.in.Books = d.books
	go panics.Guard(s.finish, func() { s.readFrom(d.conn, heard) })()
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		_ = s.send(controlStream, []byte{sayPing})
		select {
		case <-heard:
			go panics.Guard(s.finish, func() { wallclock.Every(d.options.tick(), quit, func() { s.tend(time.Since(s.begin)) }) })()
			return nil
		case <-s.done:
			return s.Err()
		case <-ctx.Done():
			s.finish(errClosed)
			return d.gaveUp(ctx)
		case <-time.After(wait):
		}
	}
}

// readFrom reads the dialer's socket until it is closed. confirmed is closed at the first
// authentic datagram.
func (s *Session) readFrom(conn *socket, confirmed chan struct{}) {
	conn.receive(func() {
		s.in.Lock()
		s.in.Gone++
		s.in.Unlock()
	}, func(b []byte, a arrival) {
		if s.sort(b, a.at.Sub(s.begin)) {
			close(confirmed)
		}
		s.in.Lock()
		s.in.Missed = a.missed
		s.in.Unlock()
	})
}

// sort takes a datagram from the dialer's socket; first as take says it.
func (s *Session) sort(b []byte, at time.Duration) (first bool) {
	v := drop(malformed)
	switch {
	case len(b) == 0:
	case b[0]>>4 != version:
		v = drop(protocolVersion)
	case b[0] == head(kindData) && len(b) >= Overhead:
		if binary.BigEndian.Uint32(b[1:]) == s.contract.session {
			_, first = s.take(b, at)
			return first
		}
		v = drop(stranger)
	case b[0] == head(kindRetry) || b[0] == head(kindWelcome) || b[0] == head(kindRefusal):
		v = drop(stranger) // the handshake is over
	}
	s.in.Lock()
	defer s.in.Unlock()
	s.in.read(len(b), v)
	return false
}
