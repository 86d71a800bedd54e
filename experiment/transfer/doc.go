// Package transfer delivers a stream of bytes over a link that loses, reorders and
// duplicates datagrams. The stream is cut into numbered blocks, and each block is
// resent until it is acknowledged. The package decides which block is sent when, and
// reassembles the blocks that arrive. It is independent of links and encoders, and
// receives the time as an argument.
//
// # Algorithm
//
// A sender may send one datagram per beat. It sends the lowest block whose
// acknowledgement is overdue; otherwise the next new block, if fewer than a
// window of blocks are in flight; otherwise nothing.
//
// Every datagram has its own sequence number, also one that resends a block. So an
// acknowledgement names one datagram, and every acknowledgement measures the round
// trip (as in QUIC, RFC 9002, section 3.1; TCP must ignore those of resent segments).
// A block is overdue after the timeout of RFC 6298: the smoothed round trip plus four
// times its mean deviation, but at least plus a beat. While no acknowledgements
// arrive, the timeout doubles.
//
// There is no congestion control: the user sets the rate, to test a link with it.
// The window only stops a sender that gets no acknowledgements from sending
// everything.
//
// An acknowledgement contains the sequence of the datagram that caused it. To
// compensate for lost acknowledgements, it also contains the sequence of the newest
// datagram that arrived, which of the 32 before that arrived, and how many blocks the
// receiver has without a gap. The round trip is measured on the datagram that caused
// the acknowledgement. With reordering, measuring on the newest datagram would prefer
// the fastest ones.
package transfer

import "time"

const (
	// MaxAhead is the number of blocks, from the first missing one on, that a receiver
	// accepts and a sender sends. It limits the memory of both.
	MaxAhead = 1024

	firstTimeout  = time.Second     // before the first round trip is measured (RFC 6298, 2.1)
	maxTimeout    = 4 * time.Second // limit of the backoff
	maxRemembered = 4096            // newest datagrams that can be acknowledged
)
