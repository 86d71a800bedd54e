package relay

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// ParseAddress reads HOST:PORT. A port alone, with or without its colon, is one of this
// machine that no other machine reaches.
func ParseAddress(ctx context.Context, text string) (netip.AddrPort, error) {
	bad := func() (netip.AddrPort, error) {
		return netip.AddrPort{}, fmt.Errorf("%q is no address; expected HOST:PORT, such as 127.0.0.1:27960", text)
	}
	host, port := "", strings.TrimSpace(text)
	if strings.Contains(port, ":") {
		var err error
		if host, port, err = net.SplitHostPort(port); err != nil {
			return bad()
		}
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return bad()
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return netip.AddrPortFrom(addr.Unmap(), uint16(n)), nil
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' }) || len(host) > 253 {
		return bad()
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(found) == 0 {
		return netip.AddrPort{}, fmt.Errorf("%q: no machine of that name was found; expected HOST:PORT", text)
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

// CheckListen refuses addresses that no socket can listen on, such as multicast groups.
func CheckListen(listen netip.AddrPort) error {
	if notOne(listen.Addr()) {
		return fmt.Errorf("%s is not an address of this machine; expected one, such as 127.0.0.1:27961, or 0.0.0.0 for all", listen)
	}
	return nil
}

// CheckServer refuses addresses that are not of one machine, and that of the proxy itself.
func CheckServer(listen, server netip.AddrPort) error {
	addr := server.Addr()
	switch {
	case server.Port() == 0:
		return fmt.Errorf("%s has no port; expected that of the server", server)
	case addr.IsUnspecified() || notOne(addr):
		return fmt.Errorf("%s is not the address of one machine; expected that of the server", server)
	case isAt(server, listen):
		return fmt.Errorf("%s is where the proxy itself listens; expected another address, that of the server", server)
	}
	return nil
}

// isAt reports whether an address is that of the socket that listens.
func isAt(addr, listen netip.AddrPort) bool {
	return addr.Port() == listen.Port() && (addr.Addr() == listen.Addr() || listen.Addr().IsUnspecified() && addr.Addr().IsLoopback())
}

// notOne reports whether an address is not that of one machine, whatever else it is.
func notOne(addr netip.Addr) bool {
	return addr.IsMulticast() || addr == netip.AddrFrom4([4]byte{255, 255, 255, 255})
}
