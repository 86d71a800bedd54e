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

// Session is one end of a channel. Send may be called by several goroutines, Receive and
// Poll by one.
type Session struct {
	contract contract
	remote   netip.AddrPort
	begin    time.Time                   // all times count from it
	idle     time.Duration               // how long it lives without hearing anything
	pings    bool                        // asks the far end for a sign of life; one end does
	write    func(b []byte) error        // of the socket
	leave    func(s *Session, why error) // what the socket's owner does when it is over

	ready, done chan struct{}

	out struct { // its lock may be taken under that of in, never the other way round
		sync.Mutex
		gcm  gcm
		next uint32
		buf  []byte
		last time.Duration // when it last sent
		over bool
		Books
	}
	in struct {
		sync.Mutex
		gcm          gcm
		window       window
		queue        queue
		room         int // bytes of the queue, which is made when something authentic comes
		lastReceived time.Duration
		confirmed    bool // something authentic came
		repeats      bool
		err          error // why it is over
		Books
	}
}

// Datagram is one that came.
type Datagram struct {
	Stream uint8 // as given to Send
	Data   []byte
	At     time.Time // when the system got it, or where it does not say so, when it was read
	Seq    uint32    // among all datagrams of the far end, pings included
	Again  bool      // it came before; see Repeats
}

// control is the stream of the channel itself.
const controlStream = 0

// What it says.
const (
	sayPing uint8 = iota
	sayPong
	sayBye
)

// Errors of sessions that are over.
var (
	// errIdle: nothing was heard of the far end for too long.
	errIdle = errors.New("the far end fell silent")
	// errClosed: this end closed it.
	errClosed = errors.New("closed")
)

// newSession makes the end of a session that sends in one direction and receives in the
// other. Nothing is heard until take is called.
func newSession(c contract, o *Options, send, receive string, now time.Duration) *Session {
	s := &Session{contract: c, idle: o.Idle, ready: make(chan struct{}, 1), done: make(chan struct{})}
	s.out.gcm, s.in.gcm = o.Token.cipherOf(&c, send), o.Token.cipherOf(&c, receive)
	s.out.last, s.in.lastReceived, s.in.room = now, now, o.Buffer
	return s
}

// Purpose returns what the dialer wants of the listener.
func (s *Session) Purpose() uint8 { return s.contract.purpose }

// Remote returns the far end's address.
func (s *Session) Remote() netip.AddrPort { return s.remote }

// Ready gets a token when something has arrived, for select. Poll until there is nothing more.
func (s *Session) Ready() <-chan struct{} { return s.ready }

// Done is closed when the session is over.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err returns why the session is over, nil while it is not: io.EOF after the far end's bye,
// ErrIdle, ErrClosed or ErrWorn.
func (s *Session) Err() error {
	s.in.Lock()
	defer s.in.Unlock()
	return s.in.err
}

// Repeats makes datagrams that come again arrive, marked, for those who measure how often
// that happens. Otherwise they are counted as replayed.
func (s *Session) Repeats(on bool) {
	s.in.Lock()
	defer s.in.Unlock()
	s.in.repeats = on
}

// Books returns what was counted.
func (s *Session) Books() Books {
	s.in.Lock()
	b := s.in.Books
	s.in.Unlock()
	s.out.Lock()
	defer s.out.Unlock()
	b.addSent(&s.out.Books)
	return b
}

// addSent adds what another end of the books has sent.
func (b *Books) addSent(o *Books) {
	b.Out += o.Out
	b.OutBytes += o.OutBytes
	b.Sent += o.Sent
	b.SentBytes += o.SentBytes
	b.Unsent += o.Unsent
	b.Gone += o.Gone
}

// Send sends a payload of at most MaxPayload bytes on a stream from 1. It fails if the
// session is over. What the system or the network does not carry is lost, as datagrams
// are; Books count what is known of it.
func (s *Session) Send(stream uint8, payload []byte) error {
	switch {
	case stream == controlStream:
		panic("channel: stream 0 is the channel's own; expected 1 to 255")
	case len(payload) > MaxPayload:
		return fmt.Errorf("a payload of %d bytes; expected at most %d", len(payload), MaxPayload)
	}
	return s.send(stream, payload)
}

func (s *Session) send(stream uint8, payload []byte) error {
	err := s.transmit(stream, payload)
	if err != nil {
		s.finish(err)
		return s.Err() // why it really ended
	}
	return nil
}

func (s *Session) transmit(stream uint8, payload []byte) error {
	s.out.Lock()
	defer s.out.Unlock()
	if s.out.over {
		return errClosed
	}
	if s.out.next == lastSequence {
		return errWorn
	}
	s.out.buf = s.out.gcm.seal(s.out.buf, s.contract.session, s.out.next, stream, payload)
	s.out.next++
	s.out.last = time.Since(s.begin)
	if stream != controlStream {
		s.out.Sent++
		s.out.SentBytes += uint64(len(payload))
	}
	err := s.write(s.out.buf)
	if isUnreachable(err) {
		s.out.Gone++
		err = s.write(s.out.buf) // the error was about one before it, and this one was not sent
	}
	if err != nil {
		s.out.Unsent++
		return nil
	}
	s.out.wrote(len(s.out.buf))
	return nil
}

// isUnreachable reports whether err means that an earlier datagram could not be delivered.
func isUnreachable(err error) bool {
	if err == nil {
		return false // before code, which is kept on the heap
	}
	const windowsReset = syscall.Errno(10054)
	var code syscall.Errno
	return errors.As(err, &code) &&
		slices.Contains([]syscall.Errno{syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH, windowsReset}, code)
}

// Receive waits for a datagram. Its data lie in buf, or in a new buffer if that is too
// short. It fails when ctx ends, or with Err once the session is over and all is read.
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
			if d, ok := s.Poll(buf); ok {
				return d, nil
			}
			return Datagram{}, s.Err()
		}
	}
}

// Poll is Receive without waiting; false if nothing is there.
func (s *Session) Poll(buf []byte) (Datagram, bool) {
	s.in.Lock()
	defer s.in.Unlock()
	d, at, ok := s.in.queue.get(buf)
	if ok {
		d.At = s.begin.Add(at)
	}
	return d, ok
}

// take takes a datagram of this session. first says that it is the first authentic one.
func (s *Session) take(b []byte, at time.Duration) (v verdict, first bool) {
	v, first, said := s.count(b, at)
	if v.class == control {
		switch said {
		case sayPing:
			_ = s.send(controlStream, []byte{sayPong})
		case sayBye:
			s.finish(io.EOF)
		}
	}
	return v, first
}

// count accepts a datagram and counts it under one lock: who has it finds it counted.
func (s *Session) count(b []byte, at time.Duration) (v verdict, first bool, said uint8) {
	s.in.Lock()
	defer s.in.Unlock()
	v, first, said = s.accept(b, at)
	s.in.read(len(b), v)
	return v, first, said
}

// accept does take's work under the lock of s.in.
func (s *Session) accept(b []byte, at time.Duration) (v verdict, first bool, said uint8) {
	if len(b) < Overhead {
		return drop(malformed), false, 0
	}
	seq, stream, payload, err := s.in.gcm.open(b)
	if err != nil {
		return drop(Forged), false, 0
	}
	came := s.in.window.judge(seq)
	if came == tooOld || came == again && (!s.in.repeats || stream == controlStream) {
		return drop(Replayed), false, 0
	}
	if came == fresh {
		s.in.window.note(seq)
		s.in.lastReceived = max(s.in.lastReceived, at)
		first = !s.in.confirmed && s.in.err == nil
		if first {
			s.in.confirmed, s.in.queue = true, queue{ring: make([]byte, s.in.room)}
		}
	}
	if stream == controlStream {
		if len(payload) != 1 {
			return drop(malformed), first, 0
		}
		return verdict{class: control}, first, payload[0]
	}
	if s.in.err != nil {
		return drop(stranger), false, 0
	}
	if !s.in.queue.put(&Datagram{Stream: stream, Data: payload, Seq: seq, Again: came == again}, at) {
		return drop(overrun), first, 0
	}
	select {
	case s.ready <- struct{}{}:
	default:
	}
	return verdict{class: delivered, payload: len(payload)}, first, 0
}

// confirmed reports whether anything authentic came.
func (s *Session) confirmed() bool {
	s.in.Lock()
	defer s.in.Unlock()
	return s.in.confirmed
}

func (s *Session) lastReceived() time.Duration {
	s.in.Lock()
	defer s.in.Unlock()
	return s.in.lastReceived
}

// tend looks after a session now and then.
func (s *Session) tend(now time.Duration) {
	s.in.Lock()
	heard, idle := now-s.in.lastReceived, s.idle
	if !s.in.confirmed {
		idle = min(idle, confirmWithin)
	}
	s.in.Unlock()
	s.out.Lock()
	quiet := now - s.out.last
	s.out.Unlock()
	switch {
	case heard > idle:
		s.finish(errIdle)
	case s.pings && max(heard, quiet) > s.idle/4:
		_ = s.send(controlStream, []byte{sayPing})
	}
}

// finish ends the session.
func (s *Session) finish(why error) {
	s.in.Lock()
	first := s.in.err == nil
	if first {
		s.in.err = why
		close(s.done)
	}
	s.in.Unlock()
	if !first {
		return
	}
	s.out.Lock()
	s.out.over = true
	s.out.Unlock()
	s.leave(s, why)
}

// Fail ends the session because of err, which Err then returns.
func (s *Session) Fail(err error) { s.finish(err) }

// Close ends the session and says so to the far end.
func (s *Session) Close() error {
	for range 3 { // as datagrams get lost; the far end notices in any case, when nothing comes
		if s.send(controlStream, []byte{sayBye}) != nil {
			break
		}
	}
	s.finish(errClosed)
	return nil
}
