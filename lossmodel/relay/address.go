package relay

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// ParseAddress parses HOST:PORT and resolves the host; IPv4 addresses are preferred. PORT or
// :PORT stands for 127.0.0.1:PORT.
func ParseAddress(ctx context.Context, text string) (netip.AddrPort, error) {
	invalid := func() (netip.AddrPort, error) {
		return netip.AddrPort{}, fmt.Errorf("%q is not an address; expected a port up to 65535 or HOST:PORT, such as 127.0.0.1:27960", text)
	}
	const maxHostBytes = 253 // the longest host name of DNS
	host, port := "", strings.TrimSpace(text)
	if strings.Contains(port, ":") {
		var err error
		if host, port, err = net.SplitHostPort(port); err != nil {
			return invalid()
		}
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return invalid()
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return netip.AddrPortFrom(addr.Unmap(), uint16(n)), nil
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' }) || len(host) > maxHostBytes {
		return invalid()
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(found) == 0 {
		return netip.AddrPort{}, fmt.Errorf("%q: host not found; expected HOST:PORT", text)
	}
	best := found[0].Unmap()
	for _, addr := range found {
		if addr.Unmap().Is4() {
			best = addr.Unmap()
			break
		}
	}
	return netip.AddrPortFrom(best, uint16(n)), nil
}

// CheckListen returns an error if no socket can listen on an address, such as a multicast group.
func CheckListen(listen netip.AddrPort) error {
	if isMulticastOrBroadcast(listen.Addr()) {
		return fmt.Errorf("%s is not an address of this machine; expected for example 127.0.0.1:27961, or 0.0.0.0 for all addresses", listen)
	}
	return nil
}

// CheckServer returns an error if server is not the address of a single machine or is the proxy's
// own address.
func CheckServer(listen, server netip.AddrPort) error {
	addr := server.Addr()
	switch {
	case server.Port() == 0:
		return fmt.Errorf("%s has no port; expected the server's port", server)
	case addr.IsUnspecified() || isMulticastOrBroadcast(addr):
		return fmt.Errorf("%s is not the address of a single machine; expected the server's address", server)
	case isSameEndpoint(server, listen):
		return fmt.Errorf("%s is the address on which the proxy listens; expected the server's address", server)
	}
	return nil
}

// isSameEndpoint reports whether datagrams sent to addr reach the socket that listens on listen: the
// addresses are equal, or listen is all addresses and addr is a loopback address.
func isSameEndpoint(addr, listen netip.AddrPort) bool {
	return addr.Port() == listen.Port() && (addr.Addr() == listen.Addr() || listen.Addr().IsUnspecified() && addr.Addr().IsLoopback())
}

// isMulticastOrBroadcast reports whether an address stands for several machines.
func isMulticastOrBroadcast(addr netip.Addr) bool {
	return addr.IsMulticast() || addr == netip.AddrFrom4([4]byte{255, 255, 255, 255})
}
