package channel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Session is one side of an established channel. Send may be called concurrently; Receive and
// Poll must be called by one goroutine at a time.
type Session struct {
	number      uint32 // identifies the session in data datagrams; chosen by the listener
	purpose     uint8
	remote      netip.AddrPort
	start       time.Time                   // origin of all times of the session
	idleTimeout time.Duration               // a session without a received datagram for this time ends
	sendsPings  bool                        // this side keeps the session alive; only the dialer does
	write       func(b []byte) error        // writes to the socket
	onEnd       func(s *Session, why error) // called once when the session has ended

	ready chan struct{} // has a value when datagrams may be queued; capacity 1
	done  chan struct{} // closed when the session has ended

	// Sending side. Lock order: in before out.
	out struct {
		sync.Mutex
		gcm      gcm
		next     uint32        // sequence number of the next datagram
		buf      []byte        // the last datagram, for reuse
		lastSent time.Duration // time of the last datagram
		closed   bool
		Stats
	}
	// Receiving side.
	in struct {
		sync.Mutex
		gcm               gcm
		window            window
		queue             queue
		queueBytes        int // size of the queue, which is allocated at the first authentic datagram
		lastReceived      time.Duration
		confirmed         bool // an authentic datagram was received
		deliverDuplicates bool
		err               error // why the session ended; nil while it runs
		Stats
	}
}

// Datagram is a received datagram.
type Datagram struct {
	Stream    uint8 // as given to Send
	Data      []byte
	At        time.Time // when the kernel received it, or when it was read if the kernel does not report that
	Seq       uint32    // of all datagrams of the peer, control messages included
	Duplicate bool      // received before; see DeliverDuplicates
}

// controlStream is the stream of the channel's own messages.
const controlStream = 0

// Messages on controlStream, one byte each.
const (
	msgPing uint8 = iota // requests a pong
	msgPong
	msgBye // the peer closed the session
)

// Errors of ended sessions.
var (
	// errIdle means that no datagram was received for Options.Idle.
	errIdle = errors.New("no datagram from the peer within the idle timeout")
	// errClosed means that this side closed the session.
	errClosed = errors.New("closed")
)

// newSession returns a session that encrypts with the key send and decrypts with the key receive. number
// identifies the session in packets; purpose is what the dialer requested. now is the time since the
// session's start. The caller sets the fields start, remote, write and onEnd before it uses the session.
func newSession(number uint32, purpose uint8, o *Options, send, receive [32]byte, now time.Duration) *Session {
	s := &Session{number: number, purpose: purpose, idleTimeout: o.Idle, ready: make(chan struct{}, 1), done: make(chan struct{})}
	s.out.gcm, s.in.gcm = newGCM(send), newGCM(receive)
	s.out.lastSent, s.in.lastReceived, s.in.queueBytes = now, now, o.Buffer
	return s
}

// Purpose returns the purpose that the dialer requested.
func (s *Session) Purpose() uint8 { return s.purpose }

// Remote returns the address of the peer.
func (s *Session) Remote() netip.AddrPort { return s.remote }

// Ready receives a value when a datagram has arrived. After that, call Poll until it returns
// false.
func (s *Session) Ready() <-chan struct{} { return s.ready }

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err returns why the session ended, or nil while it runs. It is io.EOF if the peer closed the
// session.
func (s *Session) Err() error {
	s.in.Lock()
	defer s.in.Unlock()
	return s.in.err
}

// DeliverDuplicates sets whether duplicates are delivered, with Datagram.Duplicate set, to
// measure how often a path duplicates. By default they are dropped and counted as replayed.
func (s *Session) DeliverDuplicates(on bool) {
	s.in.Lock()
	defer s.in.Unlock()
	s.in.deliverDuplicates = on
}

// Stats returns the counters of the session.
func (s *Session) Stats() Stats {
	s.in.Lock()
	b := s.in.Stats
	s.in.Unlock()
	s.out.Lock()
	defer s.out.Unlock()
	b.addSent(&s.out.Stats)
	return b
}

// addSent adds the counters of sent datagrams of o to b. Counters of received datagrams are not
// added.
func (b *Stats) addSent(o *Stats) {
	b.Out += o.Out
	b.OutBytes += o.OutBytes
	b.Sent += o.Sent
	b.SentBytes += o.SentBytes
	b.Unsent += o.Unsent
	b.Unreachable += o.Unreachable
}

// Send sends a payload of at most MaxPayload bytes on a stream from 1 to 255. It returns an error
// if the payload is too long or the session has ended. Datagrams that the system or the network
// drops cause no error.
func (s *Session) Send(stream uint8, payload []byte) error {
	switch {
	case stream == controlStream:
		panic("channel: stream 0 is reserved; expected 1 to 255")
	case len(payload) > MaxPayload:
		return fmt.Errorf("payload has %d bytes, expected at most %d", len(payload), MaxPayload)
	}
	return s.send(stream, payload)
}

// send sends on any stream. A fatal error ends the session.
func (s *Session) send(stream uint8, payload []byte) error {
	err := s.transmit(stream, payload)
	if err != nil {
		s.end(err)
		return s.Err() // the first error that ended the session
	}
	return nil
}

// transmit encrypts a payload and writes it to the socket. It returns an error only if the session
// has ended or has no sequence number left; errors of single datagrams are only counted.
func (s *Session) transmit(stream uint8, payload []byte) error {
	s.out.Lock()
	defer s.out.Unlock()
	if s.out.closed {
		return errClosed
	}
	if s.out.next == seqLimit {
		return errExhausted
	}
	s.out.buf = s.out.gcm.seal(s.out.buf, s.number, s.out.next, stream, payload)
	s.out.next++
	s.out.lastSent = time.Since(s.start)
	if stream != controlStream {
		s.out.Sent++
		s.out.SentBytes += uint64(len(payload))
	}
	err := s.write(s.out.buf)
	if isUnreachable(err) {
		s.out.Unreachable++
		err = s.write(s.out.buf) // the error concerned an earlier datagram, and this one was not sent
	}
	if err != nil {
		s.out.Unsent++
		return nil
	}
	s.out.countWritten(len(s.out.buf))
	return nil
}

// isUnreachable reports whether err is how the system reports an ICMP error about an earlier
// datagram: connection refused, host or network unreachable, or connection reset on Windows.
func isUnreachable(err error) bool {
	if err == nil {
		return false // the usual case; avoids the allocation of code below
	}
	const windowsReset = syscall.Errno(10054) // WSAECONNRESET
	var code syscall.Errno
	return errors.As(err, &code) &&
		slices.Contains([]syscall.Errno{syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH, windowsReset}, code)
}

// Receive waits for a datagram and stores its data in buf, or in a new buffer if buf is too
// small. It fails when ctx ends, or with Err when the session has ended and all datagrams are
// read.
func (s *Session) Receive(ctx context.Context, buf []byte) (Datagram, error) {
	for {
		if d, ok := s.Poll(buf); ok {
			return d, nil
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return Datagram{}, ctx.Err()
		case <-s.done:
			if d, ok := s.Poll(buf); ok { // queued before the session ended
				return d, nil
			}
			return Datagram{}, s.Err()
		}
	}
}

// Poll is Receive without waiting. It returns false if no datagram is queued.
func (s *Session) Poll(buf []byte) (Datagram, bool) {
	s.in.Lock()
	defer s.in.Unlock()
	d, at, ok := s.in.queue.pop(buf)
	if ok {
		d.At = s.start.Add(at)
	}
	return d, ok
}

// handleDatagram processes and counts a datagram of this session. It answers a ping with a pong and
// ends the session after a bye. at is the time of arrival since s.start. v is how the datagram is counted.
// first is true for the first authentic datagram.
func (s *Session) handleDatagram(b []byte, at time.Duration) (v verdict, first bool) {
	v, first, msg := s.acceptAndCount(b, at)
	if v.class == control {
		switch msg {
		case msgPing:
			_ = s.send(controlStream, []byte{msgPong})
		case msgBye:
			s.end(io.EOF)
		}
	}
	return v, first
}

// acceptAndCount accepts and counts a datagram under one lock, so that a datagram returned by
// Poll is always counted already. msg is the control message, if the verdict's class is control.
func (s *Session) acceptAndCount(b []byte, at time.Duration) (v verdict, first bool, msg uint8) {
	s.in.Lock()
	defer s.in.Unlock()
	v, first, msg = s.accept(b, at)
	s.in.countRead(len(b), v)
	return v, first, msg
}

// accept decrypts a datagram, checks it against the replay window and queues its payload. An unseen
// datagram restarts the idle timeout, and the first one allocates the queue. The lock of s.in must be
// held. v is how the datagram is counted; first is true for the first authentic datagram; msg is the
// control message if the class of v is control, 0 otherwise.
func (s *Session) accept(b []byte, at time.Duration) (v verdict, first bool, msg uint8) {
	if len(b) < Overhead {
		return droppedAs(malformed), false, 0
	}
	seq, stream, payload, err := s.in.gcm.open(b)
	if err != nil {
		return droppedAs(Forged), false, 0
	}
	seen := s.in.window.classify(seq)
	if seen == tooOld || seen == duplicate && (!s.in.deliverDuplicates || stream == controlStream) {
		return droppedAs(Replayed), false, 0
	}
	if seen == unseen {
		s.in.window.markSeen(seq)
		s.in.lastReceived = max(s.in.lastReceived, at)
		first = !s.in.confirmed && s.in.err == nil
		if first {
			s.in.confirmed, s.in.queue = true, queue{ring: make([]byte, s.in.queueBytes)}
		}
	}
	if stream == controlStream {
		if len(payload) != 1 {
			return droppedAs(malformed), first, 0
		}
		return verdict{class: control}, first, payload[0]
	}
	if s.in.err != nil {
		return droppedAs(unknownSession), false, 0 // the session has ended
	}
	if !s.in.queue.push(&Datagram{Stream: stream, Data: payload, Seq: seq, Duplicate: seen == duplicate}, at) {
		return droppedAs(overrun), first, 0
	}
	select {
	case s.ready <- struct{}{}:
	default: // ready has a value already
	}
	return verdict{class: delivered, payload: len(payload)}, first, 0
}

// confirmed reports whether an authentic datagram was received.
func (s *Session) confirmed() bool {
	s.in.Lock()
	defer s.in.Unlock()
	return s.in.confirmed
}

// lastReceived returns the time of the last authentic datagram.
func (s *Session) lastReceived() time.Duration {
	s.in.Lock()
	defer s.in.Unlock()
	return s.in.lastReceived
}

// maintain ends the session after the idle timeout, or after confirmTimeout if it is not confirmed.
// On the dialing side it sends a ping if one direction was silent for a quarter of the idle timeout.
// It is called at every maintenanceInterval; now is the time since s.start.
func (s *Session) maintain(now time.Duration) {
	s.in.Lock()
	sinceReceived, limit := now-s.in.lastReceived, s.idleTimeout
	if !s.in.confirmed {
		limit = min(limit, confirmTimeout)
	}
	s.in.Unlock()
	s.out.Lock()
	sinceSent := now - s.out.lastSent
	s.out.Unlock()
	switch {
	case sinceReceived > limit:
		s.end(errIdle)
	case s.sendsPings && max(sinceReceived, sinceSent) > s.idleTimeout/4:
		_ = s.send(controlStream, []byte{msgPing})
	}
}

// end ends the session with an error, which Err then returns, and calls onEnd. Only the first call
// has an effect. No lock of the session may be held.
func (s *Session) end(reason error) {
	s.in.Lock()
	first := s.in.err == nil
	if first {
		s.in.err = reason
		close(s.done)
	}
	s.in.Unlock()
	if !first {
		return
	}
	s.out.Lock()
	s.out.closed = true
	s.out.Unlock()
	s.onEnd(s, reason)
}

// Fail ends the session with an error, which Err then returns.
func (s *Session) Fail(err error) { s.end(err) }

// Close ends the session and notifies the peer. It always returns nil.
func (s *Session) Close() error {
	const byes = 3 // datagrams may be lost; if all are, the peer's idle timeout ends its session
	for range byes {
		if s.send(controlStream, []byte{msgBye}) != nil {
			break
		}
	}
	s.end(errClosed)
	return nil
}
