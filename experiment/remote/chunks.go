package remote

import "encoding/binary"

// A setup may be larger than a datagram. The sender splits it into chunks of chunkBytes, the last
// one shorter. The receiver answers every chunk with a status that names the first missing chunk,
// and the sender continues from there (go-back-n).
//
// Layout of a chunk, little endian: session (1 byte), number of chunks (2), index of this chunk
// (2), data.
const (
	chunkBytes  = 1000
	chunkWindow = 32 // chunks that may be sent beyond the first unconfirmed chunk
)

// States of a session at the receiver, as sent in a status.
const (
	stateIncomplete = iota // chunks of the setup are missing
	stateReady
	stateRefused // status.reason explains why
)

// appendChunk appends chunk i of the encoded setup to dst.
func appendChunk(dst []byte, session uint8, setup []byte, i int) []byte {
	dst = append(dst, session)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(chunkCount(len(setup))))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(i))
	return append(dst, setup[i*chunkBytes:min(len(setup), (i+1)*chunkBytes)]...)
}

// chunkCount returns the number of chunks of a setup of the given size.
func chunkCount(bytes int) int { return (bytes + chunkBytes - 1) / chunkBytes }

// chunkAssembly collects the chunks of one setup in order. A chunk that arrives before its
// predecessors is dropped; the sender transmits it again.
type chunkAssembly struct {
	session uint8  // number of the session within the connection
	count   int    // number of chunks; 0 until the first chunk arrived
	next    int    // index of the first missing chunk
	data    []byte // data of the chunks before next
}

// add adds a chunk, given without the session byte, if it is the first missing one; other chunks
// are ignored. complete is true when the last chunk was added. A malformed chunk or one that
// contradicts the first is an errProtocol.
func (a *chunkAssembly) add(chunk []byte) (complete bool, err error) {
	if len(chunk) < 4 {
		return false, malformed("setup chunk", chunk)
	}
	count, index := int(binary.LittleEndian.Uint16(chunk)), int(binary.LittleEndian.Uint16(chunk[2:]))
	body := chunk[4:]
	if a.count == 0 { // the first chunk sets the number of chunks
		a.count = count
	}
	last := index == count-1 // all chunks but the last are full
	if count != a.count || count > chunkCount(maxSetupBytes) || index >= count || len(body) == 0 || len(body) > chunkBytes ||
		!last && len(body) != chunkBytes {
		return false, malformed("setup chunk", chunk)
	}
	if index != a.next {
		return false, nil // repeated, or a chunk before it is missing
	}
	a.data = append(a.data, body...)
	a.next++
	return a.next == a.count, nil
}

// status is the receiver's answer to a setup chunk. Layout, little endian: session (1 byte),
// state (1), first missing chunk (2), reason (text to the end).
type status struct {
	session   uint8  // number of the session within the connection
	state     uint8  // stateIncomplete, stateReady or stateRefused
	nextChunk int    // the first missing chunk
	reason    string // why the session is refused; empty unless it is
}

// append appends the encoded status to dst.
func (s *status) append(dst []byte) []byte {
	dst = append(dst, s.session, s.state)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(s.nextChunk))
	return append(dst, s.reason...)
}

// maxStatusBytes limits a received status. The receiver shortens reasons to fit.
const maxStatusBytes = 1000

// parseStatus parses a status. It accepts arbitrary input, and returns an errProtocol if src is not a
// valid status.
func parseStatus(src []byte) (status, error) {
	if len(src) < 4 || src[1] > stateRefused || len(src) > maxStatusBytes {
		return status{}, malformed("status", src)
	}
	return status{session: src[0], state: src[1], nextChunk: int(binary.LittleEndian.Uint16(src[2:])),
		reason: string(src[4:])}, nil
}
