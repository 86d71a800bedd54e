package remote

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"math"

	"wirelab/internal/window"
)

// Layout of a datagram, big endian: session (4 bytes), sequence number (4), the payload encrypted with
// AES-256-GCM, tag (16). The tag also authenticates the first 8 bytes.
const (
	sealHeaderBytes = 4 + 4
	tagBytes        = 16

	// Overhead is the number of bytes that sealing adds to a payload.
	Overhead = sealHeaderBytes + tagBytes
	// maxPayload is the largest payload of a datagram: UDP over IPv4 carries at most 65,507 bytes.
	maxPayload = 65_507 - Overhead
)

// Both sides of a connection export keyMaterial bytes: the key of the dialer's datagrams, the key of the
// listener's, and the number of the session.
const (
	keyBytes    = 32 // AES-256
	keyMaterial = 2*keyBytes + 4
)

// newAEAD returns AES-256-GCM with a key of keyBytes.
func newAEAD(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic("remote: " + err.Error())
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic("remote: " + err.Error())
	}
	return aead
}

// nonce returns the nonce of a sequence number. Each direction has its own key and each number is used once,
// so no nonce repeats under a key.
func nonce(seq uint32) []byte {
	b := make([]byte, 12)
	binary.BigEndian.PutUint32(b[8:], seq)
	return b
}

// errExhausted means that all sequence numbers of a session were used.
var errExhausted = errors.New("the session has sent 2^32 datagrams, the most that its keys allow")

// sealer encrypts and numbers the datagrams of one direction.
type sealer struct {
	aead    cipher.AEAD
	session uint32
	next    uint64 // sequence number of the next datagram
	buf     []byte // the last datagram, for reuse
}

// seal returns the datagram for a payload. It is valid until the next call.
func (s *sealer) seal(payload []byte) ([]byte, error) {
	if s.next > math.MaxUint32 {
		return nil, errExhausted
	}
	seq := uint32(s.next)
	s.next++
	header := binary.BigEndian.AppendUint32(s.buf[:0], s.session)
	header = binary.BigEndian.AppendUint32(header, seq)
	s.buf = s.aead.Seal(header, nonce(seq), payload, header)
	return s.buf, nil
}

// opener decrypts the datagrams of one direction and recognises repeated ones.
type opener struct {
	aead cipher.AEAD
	seen window.Seen
}

// seqState classifies a received datagram by its sequence number.
type seqState uint8

const (
	notAuthentic seqState = iota
	unseen
	repeated // received before
	tooOld   // below the window: it is not known whether it was received before
)

// open returns the payload of a datagram, and whether it was received before.
func (o *opener) open(b []byte) ([]byte, seqState) {
	if len(b) < Overhead {
		return nil, notAuthentic
	}
	header := b[:sealHeaderBytes]
	seq := binary.BigEndian.Uint32(header[4:])
	payload, err := o.aead.Open(nil, nonce(seq), b[sealHeaderBytes:], header)
	n := uint64(seq)
	switch {
	case err != nil:
		return nil, notAuthentic
	case o.seen.IsOld(n):
		return payload, tooOld
	case o.seen.Has(n):
		return payload, repeated
	}
	o.seen.Add(n)
	return payload, unseen
}
