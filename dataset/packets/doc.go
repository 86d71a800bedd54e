// Package packets reads captures of networks, pcap and pcapng, and makes a workload of
// the datagrams of a real program: the bytes it sent, at the times at which it sent them.
//
//	c, err := packets.Open(ctx, "match.pcap.zst", packets.Choice{Port: 27960})
//	for _, d := range c.Chosen() { ... }
//
// It understands Ethernet with VLANs, BSD and OpenBSD loopback, raw IP and Linux cooked
// captures; IPv4 and IPv6 with extension headers; fragments are put together. Everything but
// UDP is left out. Nothing is ever sent to an address of a capture.
//
// A capture is hostile until it has been read: whatever it claims, its reader takes
// maxMemory and some megabytes. One that breaks off is read up to there, and a remark
// reports it; one that is damaged is a *source.Error with the number of the packet.
package packets

import "errors"

// Errors of this package, returned wrapped in a *source.Error.
var (
	// ErrFormat: the bytes are no capture.
	ErrFormat = errors.New("not a capture")
	// ErrNothing: it holds no datagrams, or none of those that were chosen.
	ErrNothing = errors.New("no such datagrams")

	errCut = errors.New("the file breaks off") // not returned: what came before is read
)
