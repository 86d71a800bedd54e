package relay

import (
	"net"

	"golang.org/x/sys/unix"
)

// askSource makes a socket that listens on all addresses say to which of them each datagram
// came; it returns the memory for that. A client that is answered from another address than it
// sent to takes no notice.
func askSource(c *net.UDPConn) []byte {
	local := c.LocalAddr().(*net.UDPAddr)
	raw, err := c.SyscallConn()
	if err != nil || !local.IP.IsUnspecified() {
		return nil
	}
	level, option := unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO
	if local.IP.To4() != nil {
		level, option = unix.IPPROTO_IP, unix.IP_PKTINFO
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = unix.SetsockoptInt(int(fd), level, option, 1) })
	if err != nil || failed != nil {
		return nil
	}
	return make([]byte, unix.CmsgSpace(unix.SizeofInet6Pktinfo)+unix.CmsgSpace(unix.SizeofInet4Pktinfo))
}

// answerFrom turns what the system said beside a datagram into what is said to it beside the
// answers, so that they leave from the address to which that datagram came; nil if it said nothing.
func answerFrom(aside []byte) []byte {
	list, err := unix.ParseSocketControlMessage(aside)
	if err != nil {
		return nil
	}
	for _, m := range list {
		switch {
		case m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_PKTINFO && len(m.Data) >= unix.SizeofInet4Pktinfo:
			return unix.PktInfo4(&unix.Inet4Pktinfo{Spec_dst: [4]byte(m.Data[4:8])}) // the local address, even of a broadcast
		case m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == unix.IPV6_PKTINFO && len(m.Data) >= unix.SizeofInet6Pktinfo:
			info := unix.Inet6Pktinfo{Addr: [16]byte(m.Data[:16])}
			if ip := net.IP(info.Addr[:]); ip.IsMulticast() {
				return nil
			}
			return unix.PktInfo6(&info)
		}
	}
	return nil
}
