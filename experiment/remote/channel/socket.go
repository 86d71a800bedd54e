package channel

import (
	"errors"
	"net"
	"net/netip"
	"time"
)

// socketBuffer is what sockets are asked to buffer; the system grants what it will.
const socketBuffer = 4 << 20

// socket reads datagrams with the time at which the system got them, where it says so.
type socket struct {
	*net.UDPConn
	aside []byte // what the system says beside a datagram
}

func newSocket(c *net.UDPConn) *socket {
	_ = c.SetReadBuffer(socketBuffer)
	_ = c.SetWriteBuffer(socketBuffer)
	return &socket{c, askAside(c)}
}

// arrival is a datagram that was read.
type arrival struct {
	size   int
	from   netip.AddrPort // not of a connected socket
	at     time.Time
	missed uint64 // how many the system has dropped so far for want of room; 0 also if it does not say
}

// latest bounds for how long a datagram may have waited in the system: a clock that was
// set meanwhile says anything.
const latest = time.Second

// next waits for a datagram.
func (s *socket) next(buf []byte) (a arrival, err error) {
	n, aside, _, from, err := s.ReadMsgUDPAddrPort(buf, s.aside)
	if err != nil {
		return a, err
	}
	a = arrival{size: n, from: from, at: time.Now()}
	waited, missed := readAside(s.aside[:aside], a.at)
	if waited > 0 && waited < latest {
		a.at = a.at.Add(-waited)
	}
	a.missed = missed
	return a, nil
}

// receive passes datagrams to take until the socket is closed, and errors about single datagrams
// to failed.
func (s *socket) receive(failed func(), take func(b []byte, a arrival)) {
	buf := make([]byte, 1<<16)
	for {
		a, err := s.next(buf)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			failed()
			time.Sleep(time.Millisecond) // so that a lasting error does not keep a core busy
		default:
			take(buf[:a.size], a)
		}
	}
}
