package channel

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"hash"
)

// version is the version of the protocol. The label of the handshake MAC contains it.
const version = 3

// Kinds of datagrams: the low 4 bits of the first byte.
const (
	kindHello uint8 = iota + 1
	kindRetry
	kindWelcome
	kindRefusal
	kindData
)

// firstByte returns the first byte of a datagram of a kind.
func firstByte(kind uint8) byte { return version<<4 | kind }

// Sizes of the parts of a handshake.
const (
	macBytes     = 16
	cookieBytes  = 8 + macBytes
	helloBytes   = 256 // larger than every answer, so that forged hellos cannot amplify traffic
	retryBytes   = 1 + nonceBytes + cookieBytes + macBytes
	welcomeBytes = 1 + nonceBytes + replyBytes + macBytes
	refusalBytes = 1 + nonceBytes + 1 + macBytes
)

// cookie proves that a dialer receives at its address: time of issue (8 bytes) and MAC. Zero means
// none.
type cookie [cookieBytes]byte

// mac computes and verifies MACs under one key. It reuses its hash and must not be used
// concurrently.
type mac struct {
	hash hash.Hash
	buf  *[sha256.Size]byte
}

// newMAC returns the MAC under a key.
func newMAC(key [32]byte) mac { return mac{hmac.New(sha256.New, key[:]), new([sha256.Size]byte)} }

// handshakeMAC returns the MAC of handshake datagrams. The MAC covers the kind of a datagram and with it the direction.
func (t *Token) handshakeMAC() mac {
	return newMAC(derive(t.secret[:], fmt.Sprintf("wirelab channel %d handshake", version)))
}

// sum returns the MAC of b, valid until the next call.
func (m *mac) sum(b []byte) []byte {
	m.hash.Reset()
	m.hash.Write(b)
	return m.hash.Sum(m.buf[:0])[:macBytes]
}

// sign returns b with its MAC appended.
func (m *mac) sign(b []byte) []byte { return append(b, m.sum(b)...) }

// verify returns the part of b before the MAC. ok is false if b does not have the given length or
// the MAC is wrong.
func (m *mac) verify(b []byte, length int) (body []byte, ok bool) {
	if len(b) != length {
		return nil, false
	}
	body = b[:length-macBytes]
	return body, hmac.Equal(m.sum(body), b[length-macBytes:])
}

// hello requests a session.
type hello struct {
	purpose uint8
	opening opening
	cookie  cookie // from a retry; zero in the first hello
}

// nonceBytes is the size of a nonce.
const nonceBytes = 16

// nonce identifies a hello: the first bytes of the dialer's ephemeral public key.
type nonce [nonceBytes]byte

func (h *hello) nonce() nonce { return nonce(h.opening[:nonceBytes]) }

// append overwrites dst with the signed hello and returns it. Layout: first byte, purpose (1 byte),
// opening, cookie, zeros up to helloBytes, MAC.
func (h *hello) append(dst []byte, m *mac) []byte {
	dst = append(dst[:0], firstByte(kindHello), h.purpose)
	dst = append(dst, h.opening[:]...)
	dst = append(dst, h.cookie[:]...)
	dst = append(dst, make([]byte, helloBytes-macBytes-len(dst))...)
	return m.sign(dst)
}

// parseHello verifies and parses a hello. ok is false if the length or the MAC is wrong.
func parseHello(b []byte, m *mac) (h hello, ok bool) {
	body, ok := m.verify(b, helloBytes)
	if !ok {
		return h, false
	}
	h.purpose = body[1]
	copy(h.opening[:], body[2:])
	copy(h.cookie[:], body[2+openingBytes:])
	return h, true
}

// answer is a retry, a welcome or a refusal.
type answer struct {
	kind   uint8
	nonce  nonce   // of the hello
	cookie cookie  // of a retry; zero otherwise
	reply  reply   // of a welcome; zero otherwise
	reason refusal // of a refusal; 0 otherwise
}

// append overwrites dst with the signed answer and returns it. Layout: first byte, nonce of the
// hello, then the cookie, the reply or the reason (1 byte), then the MAC.
func (a *answer) append(dst []byte, m *mac) []byte {
	dst = append(dst[:0], firstByte(a.kind))
	dst = append(dst, a.nonce[:]...)
	switch a.kind {
	case kindRetry:
		dst = append(dst, a.cookie[:]...)
	case kindWelcome:
		dst = append(dst, a.reply[:]...)
	default: // kindRefusal
		dst = append(dst, byte(a.reason))
	}
	return m.sign(dst)
}

// parseAnswer verifies and parses an answer. ok is false if the kind, the length or the MAC is wrong.
func parseAnswer(b []byte, m *mac) (a answer, ok bool) {
	if len(b) == 0 {
		return a, false
	}
	a.kind = b[0] & 0xf
	length, known := map[uint8]int{kindRetry: retryBytes, kindWelcome: welcomeBytes, kindRefusal: refusalBytes}[a.kind]
	if !known {
		return a, false
	}
	body, ok := m.verify(b, length)
	if !ok {
		return a, false
	}
	rest := body[1+copy(a.nonce[:], body[1:]):]
	switch a.kind {
	case kindRetry:
		copy(a.cookie[:], rest)
	case kindWelcome:
		copy(a.reply[:], rest)
	default: // kindRefusal
		a.reason = refusal(rest[0])
	}
	return a, true
}
