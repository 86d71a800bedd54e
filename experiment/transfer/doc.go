// Package transfer brings a stream of bytes across a link that loses, disorders and
// repeats datagrams: the stream is cut in numbered blocks, and each is sent until an
// acknowledgement names it. The package decides what is sent when, and puts together
// what came; it knows no links, no encoders and no clock but the times it is told.
//
// # How it goes
//
// A sender has a chance to send a datagram at every beat of a given pace. It takes
// the first of these: the lowest block that was sent and should have been
// acknowledged by now; the next new block, if fewer than a window of blocks are
// under way; nothing.
//
// Every datagram has a sequence number of its own, a block that is sent again as
// well. So an acknowledgement says which of several datagrams it is about, and every
// one is a measurement of the round trip (as in QUIC, RFC 9002, section 3.1; TCP has
// to leave out those of resends). A block should have been acknowledged after the
// timeout of RFC 6298: the smoothed round trip and four times its mean deviation, at
// least a beat. While nothing at all is heard, the timeout doubles.
//
// There is no congestion control: the pace is the user's, who came to see what a
// link does to it. The window only keeps a sender that hears nothing from sending
// everything.
//
// An acknowledgement names the datagram that it answers, and besides, for those that
// were lost, the newest that came, the 32 before it, and how many blocks the receiver
// has without a gap. The round trip is that of the datagram it answers: where datagrams
// overtake each other, that of the newest is the one of the fastest.
package transfer

import "time"

const (
	// Reach is how many blocks beyond the first missing one a receiver keeps, and so
	// how far a sender goes. It bounds the memory of both.
	Reach = 1024

	firstTimeout = time.Second     // before any round trip was measured (RFC 6298, 2.1)
	maxTimeout   = 4 * time.Second // however long nothing is heard
	remembered   = 4096            // datagrams whose acknowledgements still mean something
)
