package relay

import (
	"net"

	"golang.org/x/sys/unix"
)

// enablePacketInfo makes a socket that listens on all addresses report the destination address of
// each datagram. It returns a buffer for the control messages, or nil if it is not needed or
// fails. Answers must come from the address to which the client sent; a connected client ignores
// others.
func enablePacketInfo(c *net.UDPConn) []byte {
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

// replyControlMessage converts the control messages of a received datagram to one that makes
// answers leave from the datagram's destination address; nil if none.
func replyControlMessage(oob []byte) []byte {
	list, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	for _, m := range list {
		switch {
		case m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_PKTINFO && len(m.Data) >= unix.SizeofInet4Pktinfo:
			return unix.PktInfo4(&unix.Inet4Pktinfo{Spec_dst: [4]byte(m.Data[4:8])}) // ipi_spec_dst: the local address, even of a broadcast
		case m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == unix.IPV6_PKTINFO && len(m.Data) >= unix.SizeofInet6Pktinfo:
			info := unix.Inet6Pktinfo{Addr: [16]byte(m.Data[:16])}
			if ip := net.IP(info.Addr[:]); ip.IsMulticast() {
				return nil // a multicast address is not a valid source address
			}
			return unix.PktInfo6(&info)
		}
	}
	return nil
}
