package remote

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"maps"
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
const protocol = "wirelab/3"

// Labels of keying material that both sides export from the TLS connection (RFC 8446, section 7.5).
const (
	proofLabel = "EXPORTER-wirelab-proof"
	keysLabel  = "EXPORTER-wirelab-datagrams"
)

// exportKeys returns the keys of the datagrams of a TLS connection.
func exportKeys(c *tls.Conn) ([]byte, error) {
	state := c.ConnectionState()
	return state.ExportKeyingMaterial(keysLabel, nil, 2*keyBytes)
}

// exportProof returns the proof of a token for a TLS connection.
func exportProof(c *tls.Conn, token *Token, purpose Purpose) ([]byte, error) {
	state := c.ConnectionState()
	exported, err := state.ExportKeyingMaterial(proofLabel, nil, keyBytes)
	return token.proof(exported, purpose), err
}

// The first bytes on a TLS connection. The dialer sends its purpose (1 byte) and its proof (32). The listener
// answers with a byte that accepts or refuses, and the number of the session (4 bytes, big endian).
const (
	requestBytes   = 1 + 32
	answerBytes    = 1 + 4
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
	closed     chan struct{}
	goroutines sync.WaitGroup

	mu       sync.Mutex
	unproven []net.Conn // connections in the handshake, oldest first
	sessions map[uint32]*Conn
	bug      error // a panic of a goroutine; nil if none
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
	l := &Listener{identity: id, options: o, tcp: tcp, udp: newSocket(udp), accepted: make(chan *Conn, o.MaxSessions),
		closed: make(chan struct{}), counts: newCounters(), sessions: map[uint32]*Conn{}}
	l.goroutines.Go(panics.Guard(l.fail, func() { l.udp.readLoop(l.handleDatagram) }))
	l.goroutines.Go(panics.Guard(l.fail, l.acceptAll))
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
func (l *Listener) Addr() netip.AddrPort { return unmapAddress(l.tcp.Addr().(*net.TCPAddr).AddrPort()) }

// Stats returns the counters of all connections.
func (l *Listener) Stats() Stats { return l.counts.copy() }

// Accept waits for the next connection. It fails when ctx ends or the listener is closed.
func (l *Listener) Accept(ctx context.Context) (*Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.closed:
		return nil, errClosed
	}
}

// Close ends all connections and waits for the goroutines of the listener. It returns the panic of one of
// them, if any.
func (l *Listener) Close() error {
	l.stop(errClosed)
	l.goroutines.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bug
}

// fail ends the listener and all connections because of a panic in one of its goroutines.
func (l *Listener) fail(bug error) {
	l.mu.Lock()
	l.bug = cmp.Or(l.bug, bug)
	l.mu.Unlock()
	l.stop(bug)
}

// stop closes the sockets and ends all connections with the error why. It may be called several times.
func (l *Listener) stop(why error) {
	l.mu.Lock()
	if !l.isClosed() {
		close(l.closed)
	}
	conns := slices.Collect(maps.Values(l.sessions)) // a copy: their end changes the map
	unproven := l.unproven
	l.unproven = nil
	l.mu.Unlock()
	_ = l.tcp.Close()
	for _, c := range unproven {
		_ = c.Close()
	}
	for _, c := range conns {
		c.fail(why)
	}
	_ = l.udp.Close()
}

// isClosed reports whether stop was called.
func (l *Listener) isClosed() bool {
	select {
	case <-l.closed:
		return true
	default:
		return false
	}
}

// handleDatagram passes a datagram to its session. Datagrams of no session are counted and not answered.
func (l *Listener) handleDatagram(b []byte, from netip.AddrPort, at time.Time) {
	number, ok := sessionOf(b)
	l.mu.Lock()
	c := l.sessions[number]
	l.mu.Unlock()
	if !ok || c == nil {
		l.counts.add(stranger, "in_bytes", len(b))
		return
	}
	c.handleDatagram(b, from, at)
}

// acceptAll starts the handshake of each TCP connection until the listener is closed.
func (l *Listener) acceptAll() {
	for {
		c, err := l.tcp.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(5 * time.Millisecond) // such as too many open files
			continue
		}
		l.addUnproven(c)
		l.goroutines.Go(panics.Guard(l.fail, func() {
			if err := l.handshake(c); err != nil {
				_ = c.Close()
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
	if l.isClosed() {
		_ = c.Close()
		return
	}
	if len(l.unproven) >= maxHandshakes {
		_ = l.unproven[0].Close()
		l.unproven = slices.Delete(l.unproven, 0, 1)
	}
	l.unproven = append(l.unproven, c)
}

// handshake makes a connection of c, unless the peer does not prove the token within handshakeTimeout.
// Until then nothing is sent beyond the TLS handshake itself, not even an alert.
func (l *Listener) handshake(c net.Conn) error {
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.unproven = slices.DeleteFunc(l.unproven, func(x net.Conn) bool { return x == c })
	}()
	_ = c.SetDeadline(time.Now().Add(handshakeTimeout))
	metered := &meteredConn{Conn: c}
	control := tls.Server(metered, &tls.Config{Certificates: []tls.Certificate{l.identity.certificate}, NextProtos: []string{protocol},
		MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true}) // a ticket would be sent after the handshake
	if err := control.Handshake(); err != nil {
		return err
	}
	if control.ConnectionState().NegotiatedProtocol != protocol {
		return errProtocol
	}
	metered.silent.Store(true)
	var request [requestBytes]byte
	if _, err := io.ReadFull(control, request[:]); err != nil {
		return err
	}
	purpose := Purpose(request[0])
	proof, err := exportProof(control, &l.identity.token, purpose)
	if err != nil {
		return err
	}
	if !hmac.Equal(proof, request[1:]) {
		return errors.New("wrong proof of the token")
	}
	metered.silent.Store(false)
	keys, err := exportKeys(control)
	if err != nil {
		return err
	}
	return l.accept(control, metered, purpose, keys)
}

// accept adds a connection whose peer has proved the token, or refuses it if there are too many.
func (l *Listener) accept(control net.Conn, metered *meteredConn, purpose Purpose, keys []byte) error {
	var number [4]byte
	_, _ = rand.Read(number[:]) // never fails
	session := binary.BigEndian.Uint32(number[:])
	c := newConn(control, session, keys, false)
	c.purpose, c.traffic, c.counts = purpose, metered, l.counts
	c.remote = unmapAddress(control.RemoteAddr().(*net.TCPAddr).AddrPort())
	c.write = func(b []byte) error {
		_, err := l.udp.WriteToUDPAddrPort(b, c.peerSocket())
		return err
	}
	c.onEnd = func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.sessions, session)
	}
	if !l.addSession(session, c) {
		_, err := control.Write(append([]byte{answerFull}, number[:]...))
		return cmp.Or(err, error(&RefusedError{}))
	}
	if _, err := control.Write(append([]byte{answerAccepted}, number[:]...)); err != nil {
		c.fail(err)
		return err
	}
	_ = control.SetDeadline(time.Time{})
	c.start(l.options.Idle)
	select {
	case l.accepted <- c:
	default: // Accept is not called often enough
		c.fail(errClosed)
	}
	return nil
}

// addSession adds a connection to the sessions. It returns false if the listener is closed or there is no
// room.
func (l *Listener) addSession(number uint32, c *Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isClosed() || len(l.sessions) >= l.options.MaxSessions || l.sessions[number] != nil {
		return false
	}
	l.sessions[number] = c
	return true
}
