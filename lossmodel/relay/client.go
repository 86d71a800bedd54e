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

// client is one address that sends, with the socket on which the server knows it.
type client struct {
	Client
	slot   int
	reply  netip.AddrPort // as the listening socket names the address
	from   []byte         // said to it beside each answer; nil: nothing
	server *net.UDPConn   // connected: the system lets nothing in that is not from the server
	lanes  [2]*lane
	joined time.Duration
	seen   time.Duration // when it last sent
	flying int           // datagrams under way, both directions
	missed uint64        // as last asked of its socket
	ways   [2]Tally
}

// fromClients reads what clients send, and admits new ones.
func (r *Relay) fromClients() {
	buf := make([]byte, 1<<16)
	for r.readClient(buf) {
	}
}

// readClient passes one datagram on; false when the relay ends.
func (r *Relay) readClient(buf []byte) bool {
	var n, aside int
	var from netip.AddrPort
	var err error
	if r.aside == nil { // the cheaper call
		n, from, err = r.listen.ReadFromUDPAddrPort(buf)
	} else {
		n, aside, _, from, err = r.listen.ReadMsgUDPAddrPort(buf, r.aside)
	}
	if err != nil {
		return r.survives(err)
	}
	at := r.clock()
	addr := netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	c := r.clients[addr]
	if c == nil {
		c = r.admit(addr, from)
		if c == nil {
			return true
		}
		c.from = answerFrom(r.aside[:aside])
	}
	c.seen = max(r.now, at)
	r.enter(c, Up, buf[:n], at)
	return true
}

// survives reports whether reading may go on after an error: the socket is not closed. It waits a
// little first, unless the error concerns one datagram, so that the caller does not spin.
func (r *Relay) survives(err error) bool {
	if errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	if !gone(err) {
		time.Sleep(time.Millisecond)
	}
	return true
}

// gone reports whether an error concerns a single datagram: no socket receives it, or it is too
// large.
func gone(err error) bool {
	const connReset, netReset, portUnreachable, messageSize syscall.Errno = 10054, 10052, 1234, 10040
	for _, code := range []syscall.Errno{syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
		connReset, netReset, portUnreachable, messageSize} { // the latter as Windows says it
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

// admit makes a client of an address; nil if there is no room, or the system has none, or
// if answers to it would come round for ever.
// The lock is held: a first datagram waits for its socket, as do all others meanwhile.
func (r *Relay) admit(addr, reply netip.AddrPort) *client {
	if addr == r.options.Server || isAt(addr, r.Addr()) ||
		len(r.clients) >= r.options.MaxClients || len(r.clients)+len(r.leaving) >= 2*r.options.MaxClients {
		r.totals.Refused++
		return nil
	}
	c := &client{Client: Client{Turn: r.totals.Joined + 1, Addr: addr}, reply: reply, joined: r.now}
	var err error
	if c.server, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(r.options.Server)); err != nil {
		r.totals.NoSocket++
		return nil
	}
	c.Via = c.server.LocalAddr().(*net.UDPAddr).AddrPort()
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
	c.slot = slices.Index(r.slots, nil)
	if c.slot < 0 {
		c.slot = len(r.slots)
		r.slots = append(r.slots, nil)
	}
	r.slots[c.slot] = c
	r.clients[addr] = c
	r.start(func() { r.fromServer(c) })
	return c
}

// fromServer reads what the server answers one client.
func (r *Relay) fromServer(c *client) {
	buf := make([]byte, 1<<16)
	for r.readServer(c, buf) {
	}
}

// readServer passes one answer on; false when the client is forgotten or the relay ends.
func (r *Relay) readServer(c *client, buf []byte) bool {
	n, err := c.server.Read(buf)
	if err != nil {
		if gone(err) {
			r.mu.Lock()
			r.totals.Flows[Up].Gone++
			r.mu.Unlock()
		}
		return r.survives(err)
	}
	at := r.clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.enter(c, Down, buf[:n], at)
	return true
}

// housekeep forgets who is silent, and asks the sockets what they had no room for.
func (r *Relay) housekeep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock()
	r.totals.Flows[Up].Missed = missed(r.listen)
	for addr, c := range r.clients {
		if n := missed(c.server); n > c.missed {
			r.totals.Flows[Down].Missed += n - c.missed
			c.missed = n
		}
		if now-c.seen >= r.options.Idle {
			delete(r.clients, addr)
			r.totals.Forgotten++
			_ = c.server.SetReadDeadline(time.Unix(1, 0)) // its reader ends; what is under way still leaves
			r.leaving = append(r.leaving, c)
		}
	}
	r.leaving = slices.DeleteFunc(r.leaving, r.release)
}

// release closes what a forgotten client held, once nothing of it is under way.
func (r *Relay) release(c *client) bool {
	if c.flying > 0 {
		return false
	}
	c.server.Close()
	r.slots[c.slot] = nil
	if !r.options.Shared {
		r.lanes = slices.DeleteFunc(r.lanes, func(l *lane) bool { return l == c.lanes[Up] || l == c.lanes[Down] })
	}
	return true
}
