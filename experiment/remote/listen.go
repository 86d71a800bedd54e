package remote

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"wirelab/internal/panics"
)

// Purpose is what a dialer requests of a listener.
type Purpose byte

const (
	SessionPurpose Purpose = iota + 1 // sessions; see Link and Serve
	MeasurePurpose                    // a measurement; see Measure and ServeMeasurement
)

// Defaults and limits of a listener.
const (
	DefaultIdle      = 20 * time.Second
	DefaultSessions  = 16
	handshakeTimeout = 5 * time.Second
	maxHandshakes    = 256 // at a time; beyond it the oldest unproven connection is closed
)

// protocol is negotiated in the TLS handshake (ALPN), so peers of another version fail there.
const protocol = "wirelab/4"

// Labels of keying material that both sides export from the TLS connection (RFC 8446, section 7.5).
const (
	proofLabel = "EXPORTER-wirelab-proof"
	keysLabel  = "EXPORTER-wirelab-datagrams"
)

// export returns n bytes of keying material of a TLS connection after its handshake.
func export(c *tls.Conn, label string, n int) []byte {
	state := c.ConnectionState()
	b, err := state.ExportKeyingMaterial(label, nil, n)
	if err != nil { // not with TLS 1.3
		panic("remote: " + err.Error())
	}
	return b
}

// The first bytes on a TLS connection. The dialer sends its purpose (1 byte) and its proof (32). The listener
// answers with a byte that accepts or refuses.
const (
	requestBytes   = 1 + 32
	answerAccepted = 1
	answerFull     = 2 // the listener has as many sessions as it allows
)

// Options configure a listener. Zero values mean the defaults.
type Options struct {
	Idle        time.Duration // a connection on which no message arrives for this time ends
	MaxSessions int           // at a time
}

// Listener accepts connections of dialers that have the token. It uses a TCP and a UDP socket with the
// same port.
type Listener struct {
	identity   *Identity
	options    Options
	tcp        net.Listener
	udp        *socket
	counts     *counters
	accepted   chan *Conn
	open       context.Context         // ends when the listener is closed, with the cause
	end        context.CancelCauseFunc // ends open, the sockets, and all connections
	goroutines sync.WaitGroup

	mu       sync.Mutex
	unproven []net.Conn // connections in the handshake, oldest first
	sessions map[uint32]*Conn
}

// Listen opens the sockets on an address and accepts connections until Close. Port 0 means any free port.
func Listen(at netip.AddrPort, id *Identity, o Options) (*Listener, error) {
	o.Idle = cmp.Or(o.Idle, DefaultIdle)
	o.MaxSessions = cmp.Or(o.MaxSessions, DefaultSessions)
	tcp, udp, err := listenBoth(at)
	for attempt := 0; err != nil && at.Port() == 0 && attempt < 10; attempt++ {
		tcp, udp, err = listenBoth(at) // another program uses the UDP port of the number that TCP chose
	}
	if err != nil {
		return nil, err
	}
	l := &Listener{identity: id, options: o, tcp: tcp, udp: newSocket(udp), counts: newCounters(),
		accepted: make(chan *Conn, o.MaxSessions), sessions: map[uint32]*Conn{}}
	l.open, l.end = context.WithCancelCause(context.Background())
	context.AfterFunc(l.open, func() { _, _ = tcp.Close(), udp.Close() })
	l.goroutines.Go(panics.Guard(l.end, func() { l.udp.readLoop(l.handleDatagram) }))
	l.goroutines.Go(panics.Guard(l.end, l.acceptAll))
	return l, nil
}

// listenBoth opens a TCP and a UDP socket with the same port.
func listenBoth(at netip.AddrPort) (*net.TCPListener, *net.UDPConn, error) {
	family := ""
	if at.Addr().Is4() {
		family = "4" // otherwise 0.0.0.0 would include all IPv6 addresses
	}
	tcp, err := net.ListenTCP("tcp"+family, net.TCPAddrFromAddrPort(at))
	if err != nil {
		return nil, nil, err
	}
	udp, err := net.ListenUDP("udp"+family, net.UDPAddrFromAddrPort(tcp.Addr().(*net.TCPAddr).AddrPort()))
	if err != nil {
		return nil, nil, errors.Join(err, tcp.Close())
	}
	return tcp, udp, nil
}

// Addr returns the address of the sockets.
func (l *Listener) Addr() netip.AddrPort { return tcpAddress(l.tcp.Addr()) }

// tcpAddress returns the address and port of a TCP address.
func tcpAddress(a net.Addr) netip.AddrPort { return unmapAddress(a.(*net.TCPAddr).AddrPort()) }

// Stats returns the counters of all connections.
func (l *Listener) Stats() Stats { return l.counts.copy() }

// Accept waits for the next connection. It fails when ctx ends or the listener is closed.
func (l *Listener) Accept(ctx context.Context) (*Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.open.Done():
		return nil, context.Cause(l.open)
	}
}

// Close ends all connections and waits for the goroutines of the listener. It returns the panic of one of
// them, if any.
func (l *Listener) Close() error {
	l.end(errClosed)
	l.goroutines.Wait()
	if cause := context.Cause(l.open); !errors.Is(cause, errClosed) {
		return cause
	}
	return nil
}

// handleDatagram passes a datagram to its session. Datagrams of no session are counted and not answered.
func (l *Listener) handleDatagram(b []byte, from netip.AddrPort, at time.Time) {
	var c *Conn
	if len(b) >= Overhead {
		l.mu.Lock()
		c = l.sessions[binary.BigEndian.Uint32(b)]
		l.mu.Unlock()
	}
	if c == nil {
		l.counts.add(stranger, "in_bytes", len(b))
		return
	}
	c.handleDatagram(b, from, at)
}

// acceptAll starts the handshake of each TCP connection until the listener is closed.
func (l *Listener) acceptAll() {
	for {
		tcp, err := l.tcp.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(5 * time.Millisecond) // such as too many open files
			continue
		}
		l.addUnproven(tcp)
		l.goroutines.Go(panics.Guard(l.end, func() {
			// The handshake ends when the listener is closed.
			stop := context.AfterFunc(l.open, func() { _ = tcp.Close() })
			defer stop()
			c, err := l.handshake(tcp)
			l.removeUnproven(tcp)
			if err == nil {
				err = l.accept(c)
			}
			if err != nil {
				_ = tcp.Close()
				l.counts.add("refused", "", 0)
			}
		}))
	}
}

// addUnproven adds a connection to l.unproven. If there are maxHandshakes, it closes the oldest, so that
// a flood of connections that prove nothing occupies bounded memory and does not lock dialers out for
// handshakeTimeout.
func (l *Listener) addUnproven(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.unproven) >= maxHandshakes {
		_ = l.unproven[0].Close()
		l.unproven = slices.Delete(l.unproven, 0, 1)
	}
	l.unproven = append(l.unproven, c)
}

// removeUnproven removes a connection from l.unproven.
func (l *Listener) removeUnproven(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unproven = slices.DeleteFunc(l.unproven, func(x net.Conn) bool { return x == c })
}

// handshake makes a connection of tcp, unless the peer does not prove the token within handshakeTimeout.
// Until then nothing is sent beyond the TLS handshake itself, not even an alert.
func (l *Listener) handshake(tcp net.Conn) (*Conn, error) {
	_ = tcp.SetDeadline(time.Now().Add(handshakeTimeout))
	traffic := &meteredConn{Conn: tcp}
	control := tls.Server(traffic, &tls.Config{Certificates: []tls.Certificate{l.identity.certificate},
		NextProtos: []string{protocol}, MinVersion: tls.VersionTLS13,
		SessionTicketsDisabled: true}) // a ticket would be sent after the handshake
	if err := control.Handshake(); err != nil {
		return nil, err
	}
	if control.ConnectionState().NegotiatedProtocol != protocol {
		return nil, errProtocol
	}
	traffic.silent.Store(true)
	var request [requestBytes]byte
	if _, err := io.ReadFull(control, request[:]); err != nil {
		return nil, err
	}
	purpose := Purpose(request[0])
	if !hmac.Equal(request[1:], l.identity.token.proof(control, purpose)) {
		return nil, errors.New("wrong proof of the token")
	}
	traffic.silent.Store(false)
	const isDialer = false
	return newConn(l.open, control, traffic, export(control, keysLabel, keyMaterial), purpose, isDialer), nil
}

// accept starts a connection whose peer has proved the token, or refuses it if there are too many.
func (l *Listener) accept(c *Conn) error {
	c.counts = l.counts
	c.remote = tcpAddress(c.control.RemoteAddr())
	c.write = func(b []byte) error {
		_, err := l.udp.WriteToUDPAddrPort(b, c.peerSocket())
		return err
	}
	c.onEnd = func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.sessions, c.out.session)
	}
	if !l.addSession(c) {
		c.fail(ErrRefused)
		_, _ = c.control.Write([]byte{answerFull})
		return ErrRefused
	}
	// After an error of Write, reading fails too, which ends the connection.
	_, _ = c.control.Write([]byte{answerAccepted})
	_ = c.control.SetDeadline(time.Time{})
	c.start(l.options.Idle)
	select {
	case l.accepted <- c:
	default: // Accept is not called often enough
		c.fail(errClosed)
	}
	return nil
}

// addSession adds a connection to the sessions. It returns false if there is no room.
func (l *Listener) addSession(c *Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.sessions) >= l.options.MaxSessions || l.sessions[c.out.session] != nil {
		return false
	}
	l.sessions[c.out.session] = c
	return true
}
