// Package transfer delivers a stream of bytes over a link that loses, reorders and
// duplicates datagrams. The stream is cut into numbered blocks, and each block is
// resent until it is acknowledged. The package decides which block is sent when, and
// reassembles the blocks that arrive. It knows no links and no encoders, and takes
// the time as an argument.
//
// # How it goes
//
// A sender may send one datagram every beat. It chooses the first of these that
// applies: the lowest block whose acknowledgement is overdue; the next new block, if
// fewer than a window of blocks are in flight; nothing.
//
// Every datagram has its own sequence number, also one that resends a block. So an
// acknowledgement names one datagram, and every acknowledgement measures the round
// trip (as in QUIC, RFC 9002, section 3.1; TCP must ignore those of resent segments).
// A block is overdue after the timeout of RFC 6298: the smoothed round trip plus four
// times its mean deviation, but at least plus a beat. While no acknowledgements
// arrive, the timeout doubles.
//
// There is no congestion control: the user sets the pace, to see how a link copes
// with it. The window only stops a sender that gets no acknowledgements from sending
// everything.
//
// An acknowledgement names the datagram that it answers. To make up for lost
// acknowledgements, it also names the newest datagram that arrived, which of the 32
// before it arrived, and how many blocks the receiver has without a gap. The round
// trip is measured on the datagram that it answers. Where datagrams overtake each
// other, measuring on the newest would favour the fastest.
package transfer

import "time"

const (
	// Reach is how many blocks from the first missing one on a receiver accepts. A
	// sender does not go beyond it. It bounds the memory of both.
	Reach = 1024

	firstTimeout = time.Second     // before the first round trip is measured (RFC 6298, 2.1)
	maxTimeout   = 4 * time.Second // limit of the backoff
	remembered   = 4096            // newest datagrams that can be acknowledged
)
