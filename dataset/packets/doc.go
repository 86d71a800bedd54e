// Package packets reads captures of networks, pcap and pcapng, and makes a workload of
// the datagrams of a real program: the bytes it sent, at the times at which it sent them.
//
//	c, err := packets.Open("match.pcap.zst", packets.Choice{Port: 27960})
//	for _, d := range c.Chosen() { ... }
//
// It understands Ethernet with VLANs, BSD and OpenBSD loopback, raw IP and Linux cooked
// captures; IPv4 and IPv6 with extension headers; fragments are put together. All else
// than UDP is left out. Nothing is ever sent to an address of a capture.
//
// A capture is hostile until it has been read: whatever it claims, its reader takes
// MaxMemory and some megabytes. One that is cut off is read up to there, and a remark
// says so; one that is damaged is an *Error with the number of the packet.
package packets

import (
	"errors"
	"fmt"
)

// Errors of this package, returned wrapped in an *Error.
var (
	// ErrFormat: the bytes are no capture.
	ErrFormat = errors.New("not a capture")
	// ErrNothing: it holds no datagrams, or none of those that were asked for.
	ErrNothing = errors.New("no such datagrams")
	// errCut: the file breaks off. Never returned: what came before is read.
	errCut = errors.New("the file breaks off")
)

// Error says where in a capture what is wrong.
type Error struct {
	File     string
	Packet   int // from 1; 0: none in particular
	Problem  string
	Expected string
	Kind     error // ErrFormat, ErrNothing, or what the system says
}

// Error is one sentence.
func (e *Error) Error() string {
	place := e.File
	if e.Packet > 0 {
		place += fmt.Sprintf(": packet %d", e.Packet)
	}
	return fmt.Sprintf("%s: %s; expected %s", place, e.Problem, e.Expected)
}

// Unwrap returns the kind of error.
func (e *Error) Unwrap() error { return e.Kind }
