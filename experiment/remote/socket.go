package remote

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
	return &socket{c, enableTimestamps(c)}
}

// maxKernelWait is the longest credible time between a datagram's arrival and its reading. A
// longer time means that the system clock was set in between and is ignored.
const maxKernelWait = time.Second

// readLoop passes each datagram b with its sender and its time of arrival to handle, until the socket is
// closed. The time is the kernel's, or the time of reading if the kernel does not report one. b is valid only
// during the call. Read errors, such as ICMP errors about single datagrams, are ignored.
func (s *socket) readLoop(handle func(b []byte, from netip.AddrPort, at time.Time)) {
	buf := make([]byte, 1<<16) // larger than any UDP payload
	for {
		n, oobLen, _, from, err := s.ReadMsgUDPAddrPort(buf, s.oob)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(time.Millisecond) // so that a lasting error does not keep a core busy
			continue
		}
		at := time.Now()
		waited := kernelWait(s.oob[:oobLen], at)
		if waited > 0 && waited < maxKernelWait {
			at = at.Add(-waited)
		}
		handle(buf[:n], unmapAddress(from), at)
	}
}

// unmapAddress converts an IPv4-mapped IPv6 address, as an IPv6 socket reports it, to IPv4.
func unmapAddress(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}
