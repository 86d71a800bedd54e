package remote

import (
	"cmp"
	"encoding/gob"
	"errors"
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
	maxQueuedMessages  = 16               // in each direction
	maxQueuedDatagrams = 1 << 20          // bytes of received datagrams
	datagramCost       = 128              // bytes that a queued datagram occupies without its payload
	writeTimeout       = 10 * time.Second // for a message, if the peer stops reading
)

// Conn is one side of an established connection between two machines: a control connection that carries
// messages, and sealed datagrams. Datagrams may be lost or reordered. No method but Close blocks.
type Conn struct {
	purpose Purpose
	remote  netip.AddrPort
	control net.Conn
	traffic *meteredConn         // below control; counts its bytes
	write   func(b []byte) error // writes a datagram to the socket
	onEnd   func()               // called once when the connection has ended; nil for nothing
	counts  *counters
	echoes  bool // this side answers an empty datagram with one

	messages   chan *message // to be sent
	slots      chan struct{} // has a value for each received message that is queued
	ready      chan struct{} // has a value when Poll may return something; capacity 1
	reached    chan struct{} // closed when the first authentic datagram has arrived
	done       chan struct{} // closed when the connection has ended
	goroutines sync.WaitGroup

	out struct { // sending datagrams
		sync.Mutex
		sealer
	}
	in struct { // receiving
		sync.Mutex
		opener
		peer       netip.AddrPort // address of the peer's socket; invalid until the first authentic datagram
		duplicates bool           // deliver them
		queue      []received
		bytes      int // of queued datagrams
		err        error
	}
}

// received is a datagram or a message that was received.
type received struct {
	at        time.Time
	message   *message // nil for a datagram
	data      []byte   // payload of a datagram
	duplicate bool     // the datagram was received before
}

// errClosed means that this side closed the connection.
var errClosed = errors.New("closed")

// newConn returns a connection whose keys are keys: 2*keyBytes, first that for datagrams of the dialer.
// isDialer tells the two sides apart. The caller sets the fields above messages and then calls start.
func newConn(control net.Conn, session uint32, keys []byte, isDialer bool) *Conn {
	c := &Conn{control: control, echoes: !isDialer, counts: newCounters(), messages: make(chan *message, maxQueuedMessages),
		slots: make(chan struct{}, maxQueuedMessages), ready: make(chan struct{}, 1), reached: make(chan struct{}),
		done: make(chan struct{})}
	sendKey, receiveKey := keys[:keyBytes], keys[keyBytes:]
	if !isDialer {
		sendKey, receiveKey = receiveKey, sendKey
	}
	c.out.sealer = sealer{aead: newAEAD(sendKey), session: session}
	c.in.opener.aead = newAEAD(receiveKey)
	return c
}

// start starts the goroutines of the control connection. The connection ends if no message arrives for
// the time idle; 0 means no limit.
func (c *Conn) start(idle time.Duration) {
	c.goroutines.Go(panics.Guard(c.fail, func() { c.fail(c.readMessages(idle)) }))
	c.goroutines.Go(panics.Guard(c.fail, func() { c.fail(c.writeMessages()) }))
}

// Purpose returns what the dialer requested.
func (c *Conn) Purpose() Purpose { return c.purpose }

// Remote returns the address of the peer.
func (c *Conn) Remote() netip.AddrPort { return c.remote }

// Stats returns the counters of datagrams. Those of a listener's connections are counted together.
func (c *Conn) Stats() Stats { return c.counts.copy() }

// controlBytes returns the bytes of the control connection so far in both directions, without the headers of
// TCP and IP; 0 if they are not counted.
func (c *Conn) controlBytes() int64 {
	if c.traffic == nil {
		return 0
	}
	return c.traffic.bytes.Load()
}

// Err returns why the connection ended, or nil while it exists. It is io.EOF if the peer closed it.
func (c *Conn) Err() error {
	c.in.Lock()
	defer c.in.Unlock()
	return c.in.err
}

// fail ends the connection because of err. Only the first call has an effect.
func (c *Conn) fail(err error) {
	c.in.Lock()
	first := c.in.err == nil
	c.in.err = cmp.Or(c.in.err, err)
	c.in.Unlock()
	if !first {
		return
	}
	close(c.done)
	_ = c.control.Close()
	if c.onEnd != nil {
		c.onEnd()
	}
}

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
	case c.messages <- m:
		return true
	default:
		return false
	}
}

// writeMessages writes the queued messages until the connection ends, and returns the reason.
func (c *Conn) writeMessages() error {
	encoder := gob.NewEncoder(c.control)
	for {
		select {
		case <-c.done:
			return errClosed
		case m := <-c.messages:
			_ = c.control.SetWriteDeadline(time.Now().Add(writeTimeout))
			if err := encoder.Encode(m); err != nil {
				return err
			}
		}
	}
}

// readMessages queues the received messages until the connection ends, and returns the reason. While
// maxQueuedMessages wait it does not read, so that TCP slows the peer down.
func (c *Conn) readMessages(idle time.Duration) error {
	limited := &io.LimitedReader{R: c.control}
	decoder := gob.NewDecoder(limited)
	for {
		select {
		case <-c.done:
			return errClosed
		case c.slots <- struct{}{}:
		}
		if idle > 0 {
			_ = c.control.SetReadDeadline(time.Now().Add(idle))
		}
		limited.N = maxMessageBytes
		m := &message{}
		if err := decoder.Decode(m); err != nil {
			return err
		}
		c.push(received{at: time.Now(), message: m})
	}
}

// push queues x. It returns false if x is a datagram for which there is no room.
func (c *Conn) push(x received) bool {
	c.in.Lock()
	defer c.in.Unlock()
	if x.message == nil {
		if c.in.bytes+len(x.data)+datagramCost > maxQueuedDatagrams {
			return false
		}
		c.in.bytes += len(x.data) + datagramCost
	}
	c.in.queue = append(c.in.queue, x)
	select {
	case c.ready <- struct{}{}:
	default: // ready has a value already
	}
	return true
}

// poll returns the next received datagram or message; false if none is queued. When ready has received a
// value, call poll until it returns false.
func (c *Conn) poll() (received, bool) {
	c.in.Lock()
	defer c.in.Unlock()
	if len(c.in.queue) == 0 {
		return received{}, false
	}
	x := c.in.queue[0]
	c.in.queue = c.in.queue[1:]
	if x.message != nil {
		<-c.slots
	} else {
		c.in.bytes -= len(x.data) + datagramCost
	}
	return x, true
}

// deliverDuplicates makes poll return repeated datagrams, to measure how often a path duplicates. By
// default they are dropped.
func (c *Conn) deliverDuplicates() {
	c.in.Lock()
	defer c.in.Unlock()
	c.in.duplicates = true
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

// handleDatagram opens, counts and queues a datagram of this session, which arrived at the given time.
func (c *Conn) handleDatagram(b []byte, from netip.AddrPort, at time.Time) {
	outcome, payload, duplicate := c.openDatagram(b, from)
	switch {
	case outcome != delivered:
	case len(payload) > 0:
		if !c.push(received{at: at, data: payload, duplicate: duplicate}) {
			outcome = overrun
		}
	case c.echoes:
		_ = c.sendDatagram(nil)
	}
	c.counts.add(outcome, "in_bytes", len(b))
}

// openDatagram decrypts a datagram and checks its sender and its number. The first authentic datagram
// sets the address of the peer; later ones must have the same.
func (c *Conn) openDatagram(b []byte, from netip.AddrPort) (outcome string, payload []byte, duplicate bool) {
	c.in.Lock()
	defer c.in.Unlock()
	if c.in.err != nil || c.in.peer.IsValid() && c.in.peer != from {
		return stranger, nil, false
	}
	_, payload, state, ok := c.in.open(b)
	switch {
	case !ok:
		return forged, nil, false
	case state == tooOld || state == repeated && (!c.in.duplicates || len(payload) == 0):
		return replayed, nil, false
	}
	if !c.in.peer.IsValid() {
		c.in.peer = from
		close(c.reached)
	}
	return delivered, payload, state == repeated
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
