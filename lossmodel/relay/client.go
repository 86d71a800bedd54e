package relay

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"syscall"
	"time"
)

// client is an address that sends datagrams, with its socket to the server.
type client struct {
	Client
	slot        int            // index in Relay.slots
	replyTo     netip.AddrPort // the client's address as the listening socket reports it
	oob         []byte         // control message for answers, which sets their source address; nil if none
	server      *net.UDPConn   // connected: the system drops datagrams from other addresses
	lanes       [2]*lane       // the client's links, by direction
	joined      time.Duration  // when its first datagram arrived
	lastSeen    time.Duration  // when its last datagram arrived
	inFlight    int            // datagrams in flight, both directions
	kernelDrops uint64         // KernelDrops of the client's socket when it was last read
	tallies     [2]ClientFlow  // the client's traffic, by direction
}

// readClients reads datagrams of clients until the relay ends.
func (r *Relay) readClients() {
	buf := make([]byte, 1<<16)
	for r.readClient(buf) {
	}
}

// readClient reads one datagram of a client and passes it to the client's uplink. An unknown address
// becomes a client. It returns false when the relay ends; after errors of single datagrams, and for
// datagrams that are refused, it returns true.
func (r *Relay) readClient(buf []byte) bool {
	var n, oobLen int
	var replyTo netip.AddrPort
	var err error
	if r.oob == nil { // control messages are not needed, and ReadFromUDPAddrPort is faster
		n, replyTo, err = r.listen.ReadFromUDPAddrPort(buf)
	} else {
		n, oobLen, _, replyTo, err = r.listen.ReadMsgUDPAddrPort(buf, r.oob)
	}
	if err != nil {
		return r.isTransient(err)
	}
	at := r.now()
	addr := netip.AddrPortFrom(replyTo.Addr().Unmap(), replyTo.Port())
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.virtualNow = max(r.virtualNow, at)
	c := r.clients[addr]
	if c == nil {
		c = r.addClient(addr, replyTo)
		if c == nil {
			return true // the address was refused
		}
		c.oob = replyControlMessage(r.oob[:oobLen])
	}
	c.lastSeen = r.virtualNow
	r.sendToLink(c, Up, buf[:n], at)
	return true
}

// isTransient reports whether reading can continue after an error. It sleeps for 1 ms unless the
// error concerns a single datagram, so that the caller does not spin.
func (r *Relay) isTransient(err error) bool {
	if errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	if !isSingleDatagramError(err) {
		time.Sleep(time.Millisecond)
	}
	return true
}

// isSingleDatagramError reports whether an error concerns a single datagram: the destination is
// unreachable, or the datagram is too large.
func isSingleDatagramError(err error) bool {
	// Windows error codes: WSAECONNRESET, WSAENETRESET, ERROR_PORT_UNREACHABLE, WSAEMSGSIZE.
	const connReset, netReset, portUnreachable, messageSize syscall.Errno = 10054, 10052, 1234, 10040
	for _, code := range []syscall.Errno{syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
		connReset, netReset, portUnreachable, messageSize} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

// addClient creates a client for an address and starts to read the server's answers to it. It
// returns nil if there is no room, the client's links or socket cannot be created, or the address
// is the server's or the relay's own, because answers to it would loop forever. replyTo is the
// address as the socket reports it. The lock must be held.
func (r *Relay) addClient(addr, replyTo netip.AddrPort) *client {
	// Removed clients keep a socket until their datagrams have left; they are limited too.
	if addr == r.options.Server || isSameEndpoint(addr, r.Addr()) ||
		len(r.clients) >= r.options.MaxClients || len(r.clients)+len(r.forgotten) >= 2*r.options.MaxClients {
		r.totals.Refused++
		return nil
	}
	c := &client{Client: Client{Number: r.totals.Joined + 1, Addr: addr}, replyTo: replyTo, joined: r.virtualNow}
	var err error
	if c.server, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(r.options.Server)); err != nil {
		r.totals.NoSocket++
		return nil
	}
	c.ServerSideAddr = c.server.LocalAddr().(*net.UDPAddr).AddrPort()
	c.lanes = r.shared
	if !r.options.Shared {
		if c.lanes, err = r.newLanes(c.Client); err != nil {
			c.server.Close()
			r.totals.Refused++
			return nil
		}
	}
	_ = c.server.SetReadBuffer(socketBuffer)
	_ = c.server.SetWriteBuffer(socketBuffer)
	if !r.options.Shared {
		r.lanes = append(r.lanes, c.lanes[:]...)
	}
	r.totals.Joined++
	if r.totals.Joined == 1 {
		r.first <- c.joined
	}
	c.slot = slices.Index(r.slots, nil) // the index of a free slot
	if c.slot < 0 {
		c.slot = len(r.slots)
		r.slots = append(r.slots, nil)
	}
	r.slots[c.slot] = c
	r.clients[addr] = c
	r.goGuarded(func() { r.readAnswers(c) })
	return c
}

// readAnswers reads the server's answers to one client.
func (r *Relay) readAnswers(c *client) {
	buf := make([]byte, 1<<16)
	for r.readAnswer(c, buf) {
	}
}

// readAnswer reads one answer of the server and passes it to the client's downlink. It returns false
// when the client is removed or the relay ends. ICMP errors are counted and do not end reading.
func (r *Relay) readAnswer(c *client, buf []byte) bool {
	n, err := c.server.Read(buf)
	if err != nil {
		if isSingleDatagramError(err) {
			r.mu.Lock()
			r.totals.Flows[Up].Unreachable++
			r.mu.Unlock()
		}
		return r.isTransient(err)
	}
	at := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sendToLink(c, Down, buf[:n], at)
	return true
}

// expireClients removes clients that sent nothing for Options.Idle, releases removed clients without
// datagrams in flight, and reads the kernel's drop counters.
func (r *Relay) expireClients() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.totals.Flows[Up].KernelDrops = kernelDrops(r.listen)
	for addr, c := range r.clients {
		if n := kernelDrops(c.server); n > c.kernelDrops {
			r.totals.Flows[Down].KernelDrops += n - c.kernelDrops
			c.kernelDrops = n
		}
		if now-c.lastSeen >= r.options.Idle {
			delete(r.clients, addr)
			r.totals.Forgotten++
			// A deadline in the past ends readAnswers. Datagrams in flight are still sent.
			_ = c.server.SetReadDeadline(time.Unix(1, 0))
			r.forgotten = append(r.forgotten, c)
		}
	}
	r.forgotten = slices.DeleteFunc(r.forgotten, r.releaseIfIdle)
}

// releaseIfIdle closes the socket of a removed client and frees its slot, once it has no
// datagrams in flight. It reports whether it did.
func (r *Relay) releaseIfIdle(c *client) bool {
	if c.inFlight > 0 {
		return false
	}
	c.server.Close()
	r.departed = append(r.departed, r.stateOf(c))
	r.departed = r.departed[max(len(r.departed)-maxDeparted, 0):]
	r.slots[c.slot] = nil
	if !r.options.Shared {
		r.lanes = slices.DeleteFunc(r.lanes, func(l *lane) bool { return l == c.lanes[Up] || l == c.lanes[Down] })
	}
	return true
}
