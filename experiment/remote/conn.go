package remote

import (
	"encoding/binary"
	"errors"
	"fmt"

	"wirelab/experiment/remote/channel"
)

// conn carries datagrams to and from the peer: each complete or not at all, in any order, none
// twice. No method blocks. *channel.Session implements it.
type conn interface {
	// Send sends a payload on a stream from 1 to 255.
	Send(stream uint8, payload []byte) error
	// Poll returns the next received datagram; false if none is waiting. Its data lie in buf.
	Poll(buf []byte) (datagram, bool)
	// Ready receives a value when datagrams may have arrived since the channel was last empty.
	Ready() <-chan struct{}
	// Done is closed when no further datagram will arrive. Err then returns the reason.
	Done() <-chan struct{}
	Err() error
}

// datagram is a received datagram.
type datagram = channel.Datagram

// Purpose is the channel purpose with which a Link dials a listener.
const Purpose = 1

// Streams of the channel. Every payload begins with the number of the session within this
// connection (1 byte), so that messages of an earlier session can be told apart. Integers are
// little endian.
const (
	streamSetup   = 1 + iota // to the receiver: chunks of the session setup
	streamStatus             // to the sender: answer to a chunk; see status
	streamGame               // to the receiver: datagram number (4 bytes), packet
	streamAck                // to the sender: number of the answered datagram (4 bytes), ack
	streamReport             // to the sender: arrivals and display counters; see report
	streamConfirm            // to the receiver: records read and display settings; see confirmation
)

// gameHeaderBytes is the size of the session number and the datagram number before a packet or an
// ack.
const gameHeaderBytes = 1 + 4

// ipUDPHeaderBytes is the size of the IPv4 header (20) and the UDP header (8).
const ipUDPHeaderBytes = 28

// wireBytes returns the size on the wire of a channel payload.
func wireBytes(payload int) int64 { return int64(payload + channel.Overhead + ipUDPHeaderBytes) }

// gameOverhead is the number of bytes that the lab adds to each packet and each ack.
const gameOverhead = gameHeaderBytes + channel.Overhead

// errProtocol means that a message of the peer could not be parsed, although the peer has the
// token.
var errProtocol = errors.New("malformed message")

// malformed returns an errProtocol for a message; what is the kind of message, such as "report".
func malformed(what string, data []byte) error {
	return fmt.Errorf("%w: %s of %d bytes", errProtocol, what, len(data))
}

// reader reads numbers and bytes from the front of a message. After the first read beyond the end
// or of an invalid number, failed is set and all reads return zero.
type reader struct {
	rest   []byte // not yet read
	failed bool
}

// uvarint reads an unsigned varint (encoding/binary). It returns 0 and sets failed if the varint is
// incomplete or exceeds 64 bits.
func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.failed, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// varint reads a signed varint (encoding/binary). It fails like uvarint.
func (r *reader) varint() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.failed, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// bytes returns the next n bytes, which alias the message. If fewer remain, it returns nil and sets
// failed.
func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.failed, r.rest = true, nil
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// uint16 reads two bytes, little endian; 0 with failed set if fewer remain.
func (r *reader) uint16() uint16 {
	if b := r.bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// octet reads one byte; 0 with failed set if none remains.
func (r *reader) octet() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}
