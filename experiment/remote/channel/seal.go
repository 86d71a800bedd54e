package channel

import (
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"math"
)

// The layout of data: head, session, sequence, encrypted stream and payload, tag.
const (
	dataHeader = 1 + 4 + 4
	tagBytes   = 16
)

// Overhead is by how many bytes the UDP payload of a datagram exceeds what it carries.
const Overhead = dataHeader + 1 + tagBytes

// MaxPayload is the most that a datagram carries: what IPv4 leaves.
const MaxPayload = 65507 - Overhead

const gcmNonce = 12

// gcm seals and opens the datagrams of one direction. The sequence, XORed into iv as TLS
// 1.3 does, is the nonce; its buffer is kept, since it escapes.
type gcm struct {
	aead      cipher.AEAD
	iv, nonce *[gcmNonce]byte
}

func (g *gcm) nonceOf(seq uint32) []byte {
	*g.nonce = *g.iv
	tail := g.nonce[gcmNonce-4:]
	binary.BigEndian.PutUint32(tail, binary.BigEndian.Uint32(tail)^seq)
	return g.nonce[:]
}

// errWorn: all sequence numbers are used up. The keys are good for no more; dial again.
var errWorn = errors.New("the session has sent all datagrams that its keys are good for; expected a new session")

// lastSequence is never used, so that the number of the next one always fits.
const lastSequence = math.MaxUint32

// seal writes a datagram over dst.
func (g *gcm) seal(dst []byte, session, seq uint32, stream uint8, payload []byte) []byte {
	dst = append(dst[:0], head(kindData))
	dst = binary.BigEndian.AppendUint32(dst, session)
	dst = binary.BigEndian.AppendUint32(dst, seq)
	dst = append(dst, stream)
	dst = append(dst, payload...)
	return g.aead.Seal(dst[:dataHeader], g.nonceOf(seq), dst[dataHeader:], dst[:dataHeader])
}

// open takes apart, in place, what seal wrote. b has Overhead bytes at least.
func (g *gcm) open(b []byte) (seq uint32, stream uint8, payload []byte, err error) {
	seq = binary.BigEndian.Uint32(b[5:])
	plain, err := g.aead.Open(b[dataHeader:dataHeader], g.nonceOf(seq), b[dataHeader:], b[:dataHeader])
	if err != nil {
		return 0, 0, nil, err
	}
	return seq, plain[0], plain[1:], nil
}
