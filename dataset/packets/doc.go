// Package packets reads network captures (pcap and pcapng) and replays the UDP datagrams of a real
// program as a source of frames: the same bytes at the same times.
//
//	c, err := packets.Open(ctx, "match.pcap.zst", packets.Choice{Port: 27960})
//	for _, d := range c.Chosen() { ... }
//
// It reads Ethernet with VLAN tags, BSD and OpenBSD loopback, raw IP and Linux cooked captures;
// IPv4 and IPv6 with extension headers. It reassembles IP fragments and ignores everything but UDP.
// Nothing is ever sent to an address of a capture.
//
// Captures are not trusted: reading one uses at most maxMemory and a few megabytes, whatever its
// headers claim. A truncated capture is read up to its end, and a remark reports that. Damage is a
// *source.Error with the number of the packet.
package packets

import "errors"

// Errors of this package, returned wrapped in a *source.Error.
var (
	// ErrFormat means that the file is not a capture.
	ErrFormat = errors.New("not a capture")
	// ErrNoDatagrams means that the capture contains no UDP datagrams, or none that match the Choice.
	ErrNoDatagrams = errors.New("no such datagrams")

	// errTruncated means that the file is truncated. It is never returned to callers: the packets
	// before are used, and a remark reports it.
	errTruncated = errors.New("the file is truncated")
)
