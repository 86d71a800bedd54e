package remote

import (
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"wirelab/internal/panics"
)

// Limits of a connection. They bound the memory that a peer with the token can occupy.
const (
	maxMessageBytes    = 16 << 20         // of a message of the control connection
	maxQueuedMessages  = 16               // to be sent; a quarter of them received
	maxQueuedDatagrams = 512              // received
	writeTimeout       = 10 * time.Second // for a message, if the peer stops reading
)

// keepAliveInterval is the time after which a side that has no message to send sends an empty one.
const keepAliveInterval = 250 * time.Millisecond

// Conn is one side of an established connection between two machines: a control connection that carries
// messages, and sealed datagrams. Datagrams may be lost or reordered. No method but Close blocks.
type Conn struct {
	purpose  Purpose
	isDialer bool
	remote   netip.AddrPort
	control  net.Conn
	traffic  *meteredConn         // below control; counts its bytes
	write    func(b []byte) error // writes a datagram to the socket
	onEnd    func()               // called once when the connection has ended; nil for nothing
	counts   *counters

	outbox     chan *message // messages to be sent
	inbox      chan *message // received messages
	datagrams  chan datagram // received datagrams
	heard      atomic.Bool   // something has arrived since watch looked last
	goroutines sync.WaitGroup

	open context.Context         // ends with the connection; its cause is why
	fail context.CancelCauseFunc // ends the connection; only the first call has an effect

	out struct { // sending datagrams
		sync.Mutex
		sealer
	}
	in struct { // receiving
		sync.Mutex
		opener
		peer netip.AddrPort // address of the peer's socket; invalid until the first authentic datagram
	}
}

// datagram is the payload of a received datagram.
type datagram struct {
	at   time.Time // of its arrival
	data []byte
}

// errClosed means that this side closed the connection.
var errClosed = errors.New("closed")

// newConn returns a connection over control, which uses traffic, until parent ends. keys are keyMaterial. The
// caller sets remote, write, onEnd and counts, and then calls start.
func newConn(parent context.Context, control net.Conn, traffic *meteredConn, keys []byte, purpose Purpose,
	isDialer bool) *Conn {
	c := &Conn{purpose: purpose, isDialer: isDialer, control: control, traffic: traffic,
		counts: newCounters(), outbox: make(chan *message, maxQueuedMessages), inbox: make(chan *message, maxQueuedMessages/4),
		datagrams: make(chan datagram, maxQueuedDatagrams)}
	c.open, c.fail = context.WithCancelCause(parent)
	sendKey := keys[:keyBytes]
	receiveKey := keys[keyBytes : 2*keyBytes]
	if !isDialer {
		sendKey, receiveKey = receiveKey, sendKey
	}
	c.out.sealer = sealer{aead: newAEAD(sendKey), session: binary.BigEndian.Uint32(keys[2*keyBytes:])}
	c.in.opener.aead = newAEAD(receiveKey)
	return c
}

// start starts the goroutines of the control connection. The connection ends if nothing arrives for the time
// idle.
func (c *Conn) start(idle time.Duration) {
	context.AfterFunc(c.open, func() {
		_ = c.control.Close()
		if c.onEnd != nil {
			c.onEnd()
		}
	})
	watch := func() error { return c.watch(idle) }
	for _, run := range []func() error{c.readMessages, c.writeMessages, watch} {
		c.goroutines.Go(panics.Guard(c.fail, func() { c.fail(run()) }))
	}
}

// Purpose returns what the dialer requested.
func (c *Conn) Purpose() Purpose { return c.purpose }

// Remote returns the address of the peer.
func (c *Conn) Remote() netip.AddrPort { return c.remote }

// Stats returns the counters of datagrams. Those of a listener's connections are counted together.
func (c *Conn) Stats() Stats { return c.counts.copy() }

// Err returns why the connection ended, or nil while it exists. It is io.EOF if the peer closed it.
func (c *Conn) Err() error { return context.Cause(c.open) }

// Close ends the connection and waits for its goroutines. It always returns nil.
func (c *Conn) Close() error {
	c.fail(errClosed)
	c.goroutines.Wait()
	return nil
}

// send queues a message and returns false if the queue is full, because the peer or the network is slow. The
// message must not be changed afterwards.
func (c *Conn) send(m *message) bool {
	select {
	case c.outbox <- m:
		return true
	default:
		return false
	}
}

// writeMessages writes the queued messages, and an empty one after each keepAliveInterval without a message,
// until the connection ends. It returns the reason.
func (c *Conn) writeMessages() error {
	encoder := gob.NewEncoder(c.control)
	for {
		m := &message{}
		select {
		case <-c.open.Done():
			return errClosed
		case m = <-c.outbox:
		case <-time.After(keepAliveInterval):
		}
		_ = c.control.SetWriteDeadline(time.Now().Add(writeTimeout))
		if err := encoder.Encode(m); err != nil {
			// Usually the peer closed the connection. Then readMessages receives what the peer sent before,
			// and ends the connection with io.EOF. The deadline bounds the wait for that.
			_ = c.control.SetReadDeadline(time.Now().Add(writeTimeout / 10))
			<-c.open.Done()
			return err
		}
	}
}

// readMessages queues the received messages until the connection ends, and returns the reason. While the
// queue is full it does not read, so that TCP slows the peer down.
func (c *Conn) readMessages() error {
	limited := &io.LimitedReader{R: c.control}
	decoder := gob.NewDecoder(limited)
	for {
		limited.N = maxMessageBytes
		m := &message{}
		if err := decoder.Decode(m); err != nil {
			return err
		}
		c.heard.Store(true)
		if *m == (message{}) { // a sign of life
			continue
		}
		select {
		case <-c.open.Done():
			return errClosed
		case c.inbox <- m:
		}
	}
}

// idleChecks is how often watch looks for a sign of life within the idle time.
const idleChecks = 5

// watch returns an error if nothing arrives for the time idle, and when the connection ends. A suspension of
// this process, however long, counts as one check, because afterwards all that has arrived meanwhile is read.
func (c *Conn) watch(idle time.Duration) error {
	silent := 0 // checks since the last sign of life
	for silent < idleChecks {
		select {
		case <-c.open.Done():
			return errClosed
		case <-time.After(idle / idleChecks):
		}
		silent++
		if c.heard.Swap(false) {
			silent = 0
		}
	}
	return fmt.Errorf("nothing from the peer for %v", idle)
}

// sendDatagram seals a payload and writes it to the socket. Datagrams that the system or the network
// drops cause no error. Without a payload it only shows the address of this side to the peer.
func (c *Conn) sendDatagram(payload []byte) error {
	if len(payload) > maxPayload {
		return errors.New("the payload of a datagram is too long")
	}
	c.out.Lock()
	defer c.out.Unlock()
	b, err := c.out.seal(payload)
	if err != nil {
		c.fail(err)
		return err
	}
	if err := c.write(b); err == nil {
		c.counts.add("sent", "out_bytes", len(b))
	}
	return nil
}

// handleDatagram opens, counts and queues a datagram of this session, which arrived at the given time. A
// listener answers an empty one.
func (c *Conn) handleDatagram(b []byte, from netip.AddrPort, at time.Time) {
	outcome, payload := c.openDatagram(b, from)
	isDelivered := outcome == delivered
	switch {
	case isDelivered && len(payload) > 0:
		select {
		case c.datagrams <- datagram{at, payload}:
		default:
			outcome = overrun
		}
	case isDelivered && !c.isDialer:
		_ = c.sendDatagram(nil)
	}
	c.counts.add(outcome, "in_bytes", len(b))
}

// openDatagram decrypts a datagram and checks its sender and its number. The first authentic datagram
// sets the address of the peer; later ones must have the same. A measurement counts repeated datagrams.
func (c *Conn) openDatagram(b []byte, from netip.AddrPort) (outcome string, payload []byte) {
	c.in.Lock()
	defer c.in.Unlock()
	if c.in.peer.IsValid() && c.in.peer != from {
		return stranger, nil
	}
	payload, state := c.in.open(b)
	isCounted := c.purpose == MeasurePurpose && len(payload) > 0
	switch {
	case state == notAuthentic:
		return forged, nil
	case state == tooOld || state == repeated && !isCounted:
		return replayed, nil
	}
	c.heard.Store(true)
	c.in.peer = from
	return delivered, payload
}

// peerSocket returns the address of the peer's UDP socket; invalid until its first datagram has arrived.
func (c *Conn) peerSocket() netip.AddrPort {
	c.in.Lock()
	defer c.in.Unlock()
	return c.in.peer
}

// Stats counts what a connection or a listener sent and received, by name. Names without a count are
// absent. A received datagram counts under one of the outcomes below. "in_bytes" and "out_bytes" are
// bytes of UDP payload. "refused" are TCP connections without a proof of the token, or beyond the limit.
type Stats map[string]uint64

// Outcomes of received datagrams.
const (
	delivered = "delivered"
	stranger  = "stranger" // too short, of no session, or from another address than its session
	forged    = "forged"   // its tag is wrong
	replayed  = "replayed" // received before, or below the replay window
	overrun   = "overrun"  // authentic, but the queue of its session is full
)

// counters are Stats that several goroutines change.
type counters struct {
	mu    sync.Mutex
	stats Stats
}

// newCounters returns counters without counts.
func newCounters() *counters { return &counters{stats: Stats{}} }

// add adds 1 to the count of name, and size to that of sizeName unless it is empty.
func (c *counters) add(name, sizeName string, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats[name]++
	if sizeName != "" {
		c.stats[sizeName] += uint64(size)
	}
}

// copy returns the present counts.
func (c *counters) copy() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.stats)
}

// meteredConn counts the bytes of a connection, and can be made silent.
type meteredConn struct {
	net.Conn
	bytes  atomic.Int64
	silent atomic.Bool // Write fails and writes nothing
}

func (c *meteredConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.bytes.Add(int64(n))
	return n, err
}

func (c *meteredConn) Write(b []byte) (int, error) {
	if c.silent.Load() {
		return 0, errClosed
	}
	n, err := c.Conn.Write(b)
	c.bytes.Add(int64(n))
	return n, err
}
