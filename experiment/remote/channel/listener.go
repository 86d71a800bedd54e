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

// Options say what a channel is like.
type Options struct {
	Token       Token
	Idle        time.Duration // a session that hears nothing for so long is over; 0: DefaultIdle
	MaxSessions int           // of a listener, at a time; 0: DefaultSessions
	Buffer      int           // bytes that each session keeps until they are read; 0: DefaultBuffer
	Purposes    []uint8       // of a listener: what dialers may want; nil: anything
}

// What Options that are 0 stand for.
const (
	DefaultIdle     = 20 * time.Second
	DefaultSessions = 16
	defaultBuffer   = 1 << 20
)

func (o *Options) complete() {
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.MaxSessions <= 0 {
		o.MaxSessions = DefaultSessions
	}
	if o.Buffer <= 0 {
		o.Buffer = defaultBuffer
	}
	o.Buffer = max(o.Buffer, 1<<17) // two datagrams of any size
	if o.Token == (Token{}) {
		panic("channel: no token; expected one of ParseToken")
	}
}

// tick is how often sessions are looked after.
func (o *Options) tick() time.Duration { return max(time.Millisecond, min(o.Idle/8, time.Second)) }

// Listener is a socket that serves those who have the token.
type Listener struct {
	options Options
	conn    *socket
	begin   time.Time
	write   func(b []byte, to netip.AddrPort) error
	done    sync.WaitGroup

	mu       sync.Mutex
	door     door
	sessions map[uint32]*Session
	over     map[uint32]*Session // for a moment, so that the last that was sent to them has a place in the books
	broken   error               // a panic of a goroutine; nil: none
	accepted chan *Session
	books    Books // with what sessions sent that are over
	closed   chan struct{}
}

// Listen binds a socket. Only Accept's sessions and the answers to hellos are sent from it.
func Listen(at netip.AddrPort, o Options) (*Listener, error) {
	o.complete()
	network := "udp"
	if at.Addr().Is4() {
		network = "udp4" // or 0.0.0.0 would be all addresses of IPv6 as well
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
	l.done.Go(panics.Guard(l.fail, l.read))
	l.done.Go(panics.Guard(l.fail, l.tend))
	return l, nil
}

func newListener(o Options, write func([]byte, netip.AddrPort) error) *Listener {
	return &Listener{options: o, begin: time.Now(), write: write, door: newDoor(&o.Token), sessions: map[uint32]*Session{},
		over: map[uint32]*Session{}, accepted: make(chan *Session, o.MaxSessions), closed: make(chan struct{})}
}

// Addr returns where it listens.
func (l *Listener) Addr() netip.AddrPort {
	return plainAddress(l.conn.LocalAddr().(*net.UDPAddr).AddrPort())
}

// Accept waits for a session. It fails when ctx ends, or with ErrClosed.
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

// Books returns what was counted at the socket, for all sessions and for strangers.
func (l *Listener) Books() Books {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.books
	for _, s := range l.sessions {
		s.out.Lock()
		b.addSent(&s.out.Books)
		s.out.Unlock()
	}
	return b
}

// Close ends all sessions, says so to their far ends, and closes the socket. If a goroutine of the
// listener panicked, Close returns that.
func (l *Listener) Close() error {
	for _, s := range l.close() {
		s.Close()
	}
	err := l.conn.Close()
	l.done.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return l.broken
	}
	return err
}

// close makes Accept fail and returns the sessions there are.
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

// fail ends all sessions because of a panic.
func (l *Listener) fail(bug error) {
	l.mu.Lock()
	l.broken = cmp.Or(l.broken, bug)
	l.mu.Unlock()
	for _, s := range l.close() {
		s.Fail(bug)
	}
	_ = l.conn.Close()
}

func (l *Listener) read() {
	l.conn.receive(func() {}, func(b []byte, a arrival) {
		l.take(b, a.from, a.at.Sub(l.begin))
		l.mu.Lock()
		l.books.Missed = a.missed
		l.mu.Unlock()
	})
}

// tend looks after sessions and the door.
func (l *Listener) tend() {
	wallclock.Every(l.options.tick(), l.closed, func() {
		now := time.Since(l.begin)
		l.mu.Lock()
		l.door.forget(now)
		maps.DeleteFunc(l.over, func(_ uint32, s *Session) bool { return now-s.lastReceived() > confirmWithin })
		all := slices.Collect(maps.Values(l.sessions))
		l.mu.Unlock()
		for _, s := range all {
			s.tend(now)
		}
	})
}

// take takes a datagram that came from an address, as the socket names it.
func (l *Listener) take(b []byte, from netip.AddrPort, at time.Duration) {
	v, s := l.sort(b, from, at)
	first := false
	if s != nil {
		v, first = s.take(b, at) // may end it, for which l.mu is needed
	}
	l.mu.Lock()
	l.books.read(len(b), v)
	l.mu.Unlock()
	if first {
		select {
		case l.accepted <- s:
		default:
			s.Close() // nobody has asked for so many
		}
	}
}

// sort finds the session that a datagram is for, or what else becomes of it.
func (l *Listener) sort(b []byte, from netip.AddrPort, at time.Duration) (verdict, *Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case len(b) == 0:
		return drop(malformed), nil
	case b[0]>>4 != version:
		return drop(protocolVersion), nil
	case b[0] == head(kindHello):
		return l.handleHello(b, from, at), nil
	case b[0] != head(kindData) || len(b) < Overhead:
		return drop(malformed), nil
	}
	id := binary.BigEndian.Uint32(b[1:])
	s := cmp.Or(l.sessions[id], l.over[id])
	if s == nil || s.remote != plainAddress(from) {
		return drop(stranger), nil
	}
	return verdict{}, s
}

// plainAddress is an address without the form that IPv4 has on an IPv6 socket.
func plainAddress(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// leave forgets a session that is over.
func (l *Listener) leave(s *Session, _ error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.sessions, s.contract.session)
	if len(l.over) < l.options.MaxSessions {
		l.over[s.contract.session] = s
	}
	s.out.Lock()
	defer s.out.Unlock()
	l.books.addSent(&s.out.Books)
}
