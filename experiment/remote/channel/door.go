package channel

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/binary"
	"maps"
	"net/netip"
	"time"
)

// Times of the handshake.
const (
	cookieLife    = 10 * time.Second
	confirmWithin = 3 * time.Second // from the welcome to the first authentic datagram
)

// mostGreeted bounds how many hellos are remembered, for cookieLife each. Only who has
// the token can add to them.
const mostGreeted = 1024

// door is what a listener keeps of the handshake.
type door struct {
	token   mac
	cookies mac // under a key that only this listener knows, until it ends
	greeted map[nonce]greeting
	reply   []byte
}

// greeting is a hello that made a session.
type greeting struct {
	session *Session
	at      time.Duration
}

func newDoor(t *Token) door {
	var key [32]byte
	_, _ = rand.Read(key[:])
	return door{token: t.handshakeMAC(), cookies: newMAC(key), greeted: map[nonce]greeting{}}
}

// handleHello answers a Hello.
func (l *Listener) handleHello(b []byte, from netip.AddrPort, at time.Duration) verdict {
	if len(b) != helloBytes {
		return drop(malformed)
	}
	d := &l.door
	h, ok := parseHello(b, &d.token)
	if !ok {
		return drop(Forged)
	}
	if h.cookie == (cookie{}) {
		l.answer(&answer{kind: kindRetry, nonce: h.nonce, cookie: d.cookieFor(&h, from, at)}, from)
		return verdict{class: handshake}
	}
	if made := d.cookieFor(&h, from, d.timeOf(&h)); !hmac.Equal(made[:], h.cookie[:]) {
		return drop(Forged)
	}
	if was := d.timeOf(&h); at-was > cookieLife || was > at {
		return drop(expired)
	}
	if g, known := d.greeted[h.nonce]; known {
		if g.session.confirmed() || g.session.Err() != nil {
			return drop(Replayed)
		}
		l.welcome(&h, g.session, from) // the first welcome was lost, or is under way
		return verdict{class: handshake}
	}
	return l.decide(&h, from, at)
}

// cookieFor returns what proves that from received it: a time and a MAC.
func (d *door) cookieFor(h *hello, from netip.AddrPort, at time.Duration) (c cookie) {
	var b [8 + 1 + nonceBytes + 16 + 2]byte
	binary.BigEndian.PutUint64(b[:], uint64(at))
	b[8] = h.purpose
	copy(b[9:], h.nonce[:])
	addr := from.Addr().As16()
	copy(b[9+nonceBytes:], addr[:])
	binary.BigEndian.PutUint16(b[9+nonceBytes+16:], from.Port())
	copy(c[:], b[:8])
	copy(c[8:], d.cookies.of(b[:]))
	return c
}

func (d *door) timeOf(h *hello) time.Duration {
	return time.Duration(binary.BigEndian.Uint64(h.cookie[:]))
}

// forget drops what no cookie can bring back.
func (d *door) forget(now time.Duration) {
	maps.DeleteFunc(d.greeted, func(_ nonce, g greeting) bool { return now-g.at > cookieLife })
}
