package remote

import (
	"encoding/binary"
	"errors"
	"fmt"

	"wirelab/experiment/remote/channel"
)

// conn brings datagrams to the other end and back, each whole or not at all, in any order,
// none twice. No method blocks. A session of package channel is one.
type conn interface {
	// Send sends a payload on one of the streams 1 to 255.
	Send(stream uint8, payload []byte) error
	// Poll returns the next datagram that has come, whose data lie in buf.
	Poll(buf []byte) (datagram, bool)
	// Ready has a token if anything may have come since it was last empty.
	Ready() <-chan struct{}
	// Done is closed when nothing more comes; Err says why.
	Done() <-chan struct{}
	Err() error
}

// datagram is one that came in.
type datagram = channel.Datagram

// Purpose is what the near end tells a listener that it dials for.
const Purpose = 1

// The streams. Every payload begins with the number of the session in this connection, an
// octet: a session that begins anew shares no datagram with the one before.
const (
	streamSetup   = 1 + iota // to the far end: what both ends are configured with, in pieces
	streamStatus             // back: what is missing of that
	streamGame               // to the far end: the number of the datagram (32 bits), and a packet of the sender
	streamAck                // back: the number of the datagram that it answers, and an ack of the receiver
	streamReport             // back: what arrived, and what the display did
	streamConfirm            // to the far end: how many records were read, and the settings of the display
)

// coverBytes is what a packet or an ack carries beside itself, apart from the channel's part.
const coverBytes = 1 + 4

// headerBytes are those of IPv4 and UDP.
const headerBytes = 28

// wire returns what a payload takes on the wire, and cover what that is beside a packet or
// an ack that it carries.
func wire(payload int) int64 { return int64(payload + channel.Overhead + headerBytes) }

const cover = coverBytes + channel.Overhead

// errProtocol says that the other end, although it holds the token, does not speak as this
// package does.
var errProtocol = errors.New("the other end does not speak as this one does")

func malformed(what string, data []byte) error {
	return fmt.Errorf("%w: %s of %d bytes", errProtocol, what, len(data))
}

// reader takes numbers off the front of a message. Once it has failed it stays so.
type reader struct {
	data []byte
	bad  bool
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.bad, r.data = true, nil
		return 0
	}
	r.data = r.data[n:]
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.data)
	if n <= 0 {
		r.bad, r.data = true, nil
		return 0
	}
	r.data = r.data[n:]
	return v
}

// bytes returns the next n, which alias the message.
func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.data)) {
		r.bad, r.data = true, nil
		return nil
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *reader) octet() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}
