package channel

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"wirelab/internal/panics"
	"wirelab/internal/wallclock"
)

// Options configure a Listener or a dialed Session.
type Options struct {
	Token       Token         // required
	Idle        time.Duration // a session without a received datagram for this time ends; 0 means DefaultIdle
	MaxSessions int           // of a listener, at a time; 0 means DefaultSessions
	Buffer      int           // receive buffer of a session in bytes; 0 means 1 MiB, the minimum is 128 KiB
	Purposes    []uint8       // that a listener offers; nil means any
}

// Defaults of Options.
const (
	DefaultIdle     = 20 * time.Second
	DefaultSessions = 16
	defaultBuffer   = 1 << 20
)

// setDefaults replaces zero options by their defaults. It panics if there is no token.
func (o *Options) setDefaults() {
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.MaxSessions <= 0 {
		o.MaxSessions = DefaultSessions
	}
	if o.Buffer <= 0 {
		o.Buffer = defaultBuffer
	}
	o.Buffer = max(o.Buffer, 1<<17) // room for two datagrams of the largest size
	if o.Token == (Token{}) {
		panic("channel: no token; expected the result of ParseToken")
	}
}

// maintenanceInterval is the time between two checks of the timeouts.
func (o *Options) maintenanceInterval() time.Duration {
	return max(time.Millisecond, min(o.Idle/8, time.Second))
}

// Listener accepts sessions from dialers that have the token, on one socket.
type Listener struct {
	options    Options
	conn       *socket
	start      time.Time // origin of all times of the listener
	write      func(b []byte, to netip.AddrPort) error
	goroutines sync.WaitGroup

	mu         sync.Mutex
	handshakes handshakeState
	sessions   map[uint32]*Session
	ended      map[uint32]*Session // ended sessions, for confirmTimeout, so that their last datagrams are counted
	panicErr   error               // a panic of one of the goroutines; nil if none
	accepted   chan *Session
	books      Stats // of the socket; sent datagrams of running sessions are added by Stats
	closed     chan struct{}
}

// Listen opens a UDP socket on an address and serves it until Close.
func Listen(at netip.AddrPort, o Options) (*Listener, error) {
	o.setDefaults()
	network := "udp"
	if at.Addr().Is4() {
		network = "udp4" // with "udp", 0.0.0.0 would include all IPv6 addresses
	}
	conn, err := net.ListenUDP(network, net.UDPAddrFromAddrPort(at))
	if err != nil {
		return nil, err
	}
	l := newListener(o, func(b []byte, to netip.AddrPort) error {
		_, err := conn.WriteToUDPAddrPort(b, to)
		return err
	})
	l.conn = newSocket(conn)
	l.goroutines.Go(panics.Guard(l.fail, l.read))
	l.goroutines.Go(panics.Guard(l.fail, l.maintain))
	return l, nil
}

// newListener returns a listener that sends with write and has no socket or goroutines yet.
func newListener(o Options, write func([]byte, netip.AddrPort) error) *Listener {
	return &Listener{options: o, start: time.Now(), write: write, handshakes: newHandshakeState(&o.Token),
		sessions: map[uint32]*Session{},
		ended:    map[uint32]*Session{}, accepted: make(chan *Session, o.MaxSessions), closed: make(chan struct{})}
}

// Addr returns the address of the socket.
func (l *Listener) Addr() netip.AddrPort {
	return unmapAddress(l.conn.LocalAddr().(*net.UDPAddr).AddrPort())
}

// Accept waits for the next confirmed session. It fails when ctx ends or the listener is closed.
func (l *Listener) Accept(ctx context.Context) (*Session, error) {
	select {
	case s := <-l.accepted:
		return s, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.closed:
		return nil, errClosed
	}
}

// Stats returns the counters of the socket, for all sessions and for datagrams without one.
func (l *Listener) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.books
	for _, s := range l.sessions {
		s.out.Lock()
		b.addSent(&s.out.Stats)
		s.out.Unlock()
	}
	return b
}

// Close ends all sessions, notifies their peers and closes the socket. If a goroutine of the
// listener panicked, Close returns that error.
func (l *Listener) Close() error {
	for _, s := range l.close() {
		s.Close()
	}
	err := l.conn.Close()
	l.goroutines.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.panicErr != nil {
		return l.panicErr
	}
	return err
}

// close makes Accept fail and returns the running sessions, which the caller must end. It may be
// called several times.
func (l *Listener) close() []*Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
	return slices.Collect(maps.Values(l.sessions))
}

// fail ends the listener and all sessions because of a panic in one of its goroutines.
func (l *Listener) fail(bug error) {
	l.mu.Lock()
	l.panicErr = cmp.Or(l.panicErr, bug)
	l.mu.Unlock()
	for _, s := range l.close() {
		s.Fail(bug)
	}
	_ = l.conn.Close()
}

// read processes datagrams until the socket is closed.
func (l *Listener) read() {
	ignoreError := func() {} // ICMP errors concern single peers, whose sessions end by the idle timeout
	l.conn.readLoop(ignoreError, func(b []byte, a received) {
		l.handleDatagram(b, a.from, a.at.Sub(l.start))
		l.mu.Lock()
		l.books.KernelDrops = a.dropped
		l.mu.Unlock()
	})
}

// maintain checks the timeouts of sessions and handshakes at every maintenanceInterval until the
// listener is closed.
func (l *Listener) maintain() {
	wallclock.Every(l.options.maintenanceInterval(), l.closed, func() {
		now := time.Since(l.start)
		l.mu.Lock()
		l.handshakes.expire(now)
		maps.DeleteFunc(l.ended, func(_ uint32, s *Session) bool { return now-s.lastReceived() > confirmTimeout })
		sessions := slices.Collect(maps.Values(l.sessions)) // a copy, because s.maintain must be called without l.mu
		l.mu.Unlock()
		for _, s := range sessions {
			s.maintain(now)
		}
	})
}

// handleDatagram processes and counts a datagram. The first authentic datagram of a session makes the
// session available to Accept. from is the address as the socket reports it. at is the time since the
// start of the listener.
func (l *Listener) handleDatagram(b []byte, from netip.AddrPort, at time.Duration) {
	v, s := l.route(b, from, at)
	first := false
	if s != nil {
		v, first = s.handleDatagram(b, at) // not under l.mu, because it may call removeSession
	}
	l.mu.Lock()
	l.books.countRead(len(b), v)
	l.mu.Unlock()
	if first { // the session is confirmed
		select {
		case l.accepted <- s:
		default:
			s.Close() // l.accepted is full: Accept is not called often enough
		}
	}
}

// route returns the session of a data datagram, with a zero verdict. For other datagrams it returns
// nil and how the datagram is counted; hellos are answered.
func (l *Listener) route(b []byte, from netip.AddrPort, at time.Duration) (verdict, *Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case len(b) == 0:
		return droppedAs(malformed), nil
	case b[0]>>4 != version:
		return droppedAs(protocolVersion), nil
	case b[0] == firstByte(kindHello):
		return l.handleHello(b, from, at), nil
	case b[0] != firstByte(kindData) || len(b) < Overhead:
		return droppedAs(malformed), nil
	}
	id := binary.BigEndian.Uint32(b[1:])
	s := cmp.Or(l.sessions[id], l.ended[id])
	if s == nil || s.remote != unmapAddress(from) { // a session belongs to one address
		return droppedAs(unknownSession), nil
	}
	return verdict{}, s
}

// unmapAddress converts an IPv4-mapped IPv6 address, as an IPv6 socket reports it, to IPv4.
func unmapAddress(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// removeSession moves an ended session to l.ended, unless that is full, and adds its sent datagrams
// to l.books.
func (l *Listener) removeSession(s *Session, _ error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.sessions, s.number)
	if len(l.ended) < l.options.MaxSessions {
		l.ended[s.number] = s
	}
	s.out.Lock()
	defer s.out.Unlock()
	l.books.addSent(&s.out.Stats)
}
