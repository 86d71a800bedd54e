package channel

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// version of the protocol. Another one would have other keys as well.
const version = 1

// Kinds of datagrams.
const (
	kindHello uint8 = iota + 1
	kindRetry
	kindWelcome
	kindRefusal
	kindData
)

// head returns the first byte of a datagram.
func head(kind uint8) byte { return version<<4 | kind }

// Sizes of the parts of a handshake.
const (
	macBytes     = 16
	cookieBytes  = 8 + macBytes
	helloBytes   = 256 // whatever answers it is shorter
	retryBytes   = 1 + nonceBytes + cookieBytes + macBytes
	welcomeBytes = 1 + 2*nonceBytes + 4 + macBytes
	refusalBytes = 1 + nonceBytes + 1 + macBytes
)

type cookie [cookieBytes]byte

// mac writes and checks the MACs under one key. It keeps its hash: not for several
// goroutines at once.
type mac struct {
	hash hash.Hash
	sum  *[sha256.Size]byte
}

func newMAC(key [32]byte) mac { return mac{hmac.New(sha256.New, key[:]), new([sha256.Size]byte)} }

// handshakeMAC is under the key that a token gives for the handshake. The kind, and
// with it the direction, is part of what is signed.
func (t *Token) handshakeMAC() mac { return newMAC(derive(t.secret[:], nil, "handshake")) }

func (m *mac) of(b []byte) []byte {
	m.hash.Reset()
	m.hash.Write(b)
	return m.hash.Sum(m.sum[:0])[:macBytes]
}

// sign appends the MAC of b.
func (m *mac) sign(b []byte) []byte { return append(b, m.of(b)...) }

// signed returns what comes before the MAC, if it is right and all has the length.
func (m *mac) signed(b []byte, length int) (body []byte, ok bool) {
	if len(b) != length {
		return nil, false
	}
	body = b[:length-macBytes]
	return body, hmac.Equal(m.of(body), b[length-macBytes:])
}

// hello asks for a session.
type hello struct {
	purpose uint8
	nonce   nonce
	cookie  cookie // zero: has none yet
}

func (h *hello) append(dst []byte, m *mac) []byte {
	dst = append(dst[:0], head(kindHello), h.purpose)
	dst = append(dst, h.nonce[:]...)
	dst = append(dst, h.cookie[:]...)
	dst = append(dst, make([]byte, helloBytes-macBytes-len(dst))...)
	return m.sign(dst)
}

func parseHello(b []byte, m *mac) (h hello, ok bool) {
	body, ok := m.signed(b, helloBytes)
	if !ok {
		return h, false
	}
	h.purpose = body[1]
	copy(h.nonce[:], body[2:])
	copy(h.cookie[:], body[2+nonceBytes:])
	return h, true
}

// answer is a retry, a welcome or a refusal.
type answer struct {
	kind    uint8
	nonce   nonce  // of the hello
	cookie  cookie // of a retry
	own     nonce  // of a welcome
	session uint32 // of a welcome
	reason  refusal
}

func (a *answer) append(dst []byte, m *mac) []byte {
	dst = append(dst[:0], head(a.kind))
	dst = append(dst, a.nonce[:]...)
	switch a.kind {
	case kindRetry:
		dst = append(dst, a.cookie[:]...)
	case kindWelcome:
		dst = append(dst, a.own[:]...)
		dst = binary.BigEndian.AppendUint32(dst, a.session)
	default:
		dst = append(dst, byte(a.reason))
	}
	return m.sign(dst)
}

func parseAnswer(b []byte, m *mac) (a answer, ok bool) {
	if len(b) == 0 {
		return a, false
	}
	a.kind = b[0] & 0xf
	length, known := map[uint8]int{kindRetry: retryBytes, kindWelcome: welcomeBytes, kindRefusal: refusalBytes}[a.kind]
	if !known {
		return a, false
	}
	body, ok := m.signed(b, length)
	if !ok {
		return a, false
	}
	rest := body[1+copy(a.nonce[:], body[1:]):]
	switch a.kind {
	case kindRetry:
		copy(a.cookie[:], rest)
	case kindWelcome:
		a.session = binary.BigEndian.Uint32(rest[copy(a.own[:], rest):])
	default:
		a.reason = refusal(rest[0])
	}
	return a, true
}
