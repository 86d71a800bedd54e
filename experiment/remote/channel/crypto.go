package channel

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"math"
)

// Sizes of a data datagram: dataHeader is first byte, session and sequence; the encrypted stream and
// payload and the tag follow.
const (
	dataHeader = 1 + 4 + 4
	tagBytes   = 16
)

// Overhead is the number of bytes that the channel adds to a payload.
const Overhead = dataHeader + 1 + tagBytes

// MaxPayload is the largest payload: the largest UDP payload over IPv4 minus Overhead.
const MaxPayload = 65507 - Overhead

// gcmNonceBytes is the size of a nonce of AES-GCM.
const gcmNonceBytes = 12

// gcm encrypts and authenticates the datagrams of one direction with AES-256-GCM, as a transport
// message of Noise (section 12.4 of its specification) whose nonce is the sequence number. It must
// not be used concurrently.
type gcm struct {
	aead  cipher.AEAD
	nonce *[gcmNonceBytes]byte // zeros and the last sequence number; a pointer, to avoid an allocation for each datagram
}

// newGCM returns the cipher of one direction under a key of a handshake.
func newGCM(key [32]byte) gcm {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("channel: AES refuses a key of 32 bytes: " + err.Error())
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic("channel: GCM refuses AES: " + err.Error())
	}
	return gcm{aead: aead, nonce: new([gcmNonceBytes]byte)}
}

// nonceFor returns the nonce of a sequence number. It is valid until the next call.
func (g *gcm) nonceFor(seq uint32) []byte {
	binary.BigEndian.PutUint32(g.nonce[gcmNonceBytes-4:], seq)
	return g.nonce[:]
}

// errExhausted means that all sequence numbers of a key are used.
var errExhausted = errors.New("all sequence numbers of the session are used; dial a new session")

// seqLimit is the first sequence number that is not used, so that the next number always fits.
const seqLimit = math.MaxUint32

// seal overwrites dst with a data datagram and returns it: the header is authenticated, stream and
// payload are encrypted in place. It reuses the memory of dst if that is large enough.
func (g *gcm) seal(dst []byte, session, seq uint32, stream uint8, payload []byte) []byte {
	dst = append(dst[:0], firstByte(kindData))
	dst = binary.BigEndian.AppendUint32(dst, session)
	dst = binary.BigEndian.AppendUint32(dst, seq)
	dst = append(dst, stream)
	dst = append(dst, payload...)
	return g.aead.Seal(dst[:dataHeader], g.nonceFor(seq), dst[dataHeader:], dst[:dataHeader])
}

// open authenticates and decrypts a data datagram in place. b must have at least Overhead bytes; the
// payload aliases b. It fails if b was not sealed with the same key.
func (g *gcm) open(b []byte) (seq uint32, stream uint8, payload []byte, err error) {
	seq = binary.BigEndian.Uint32(b[1+4:]) // after the first byte and the session
	plain, err := g.aead.Open(b[dataHeader:dataHeader], g.nonceFor(seq), b[dataHeader:], b[:dataHeader])
	if err != nil {
		return 0, 0, nil, err
	}
	return seq, plain[0], plain[1:], nil
}
