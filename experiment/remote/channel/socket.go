package channel

import (
	"errors"
	"net"
	"net/netip"
	"time"
)

// socketBuffer is the requested size of the kernel's socket buffers. The system may grant less.
const socketBuffer = 4 << 20

// socket reads datagrams with the kernel's receive time where available.
type socket struct {
	*net.UDPConn
	oob []byte // buffer for control messages; nil if unsupported
}

// newSocket sets the buffer sizes of a connection and enables control messages.
func newSocket(c *net.UDPConn) *socket {
	_ = c.SetReadBuffer(socketBuffer)
	_ = c.SetWriteBuffer(socketBuffer)
	return &socket{c, enableControlMessages(c)}
}

// received describes a datagram that was read.
type received struct {
	size    int
	from    netip.AddrPort // invalid for a connected socket
	at      time.Time      // kernel's receive time, or the time of reading
	dropped uint64         // total of datagrams the kernel dropped because the buffer was full; 0 if unknown
}

// maxKernelWait is the longest credible time between a datagram's arrival and its reading. A
// longer time means that the system clock was set in between and is ignored.
const maxKernelWait = time.Second

// readDatagram waits for a datagram and stores it in buf, which must have room for the largest one.
func (s *socket) readDatagram(buf []byte) (a received, err error) {
	n, oobLen, _, from, err := s.ReadMsgUDPAddrPort(buf, s.oob)
	if err != nil {
		return a, err
	}
	a = received{size: n, from: from, at: time.Now()}
	waited, kernelDrops := parseControlMessages(s.oob[:oobLen], a.at)
	if waited > 0 && waited < maxKernelWait { // otherwise the clock was set meanwhile, or the wait is unknown
		a.at = a.at.Add(-waited)
	}
	a.dropped = kernelDrops
	return a, nil
}

// readLoop passes each datagram b, with the data a about its arrival, to onDatagram until the socket is closed.
// b is valid only during the call. For read errors, such as ICMP errors, readLoop calls onError and continues.
func (s *socket) readLoop(onError func(), onDatagram func(b []byte, a received)) {
	buf := make([]byte, 1<<16) // larger than any UDP payload
	for {
		a, err := s.readDatagram(buf)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			onError()
			time.Sleep(time.Millisecond) // so that a lasting error does not keep a core busy
		default:
			onDatagram(buf[:a.size], a)
		}
	}
}
