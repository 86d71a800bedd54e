package channel

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/binary"
	"maps"
	"net/netip"
	"time"
)

// Timeouts of the handshake.
const (
	cookieLifetime = 10 * time.Second
	confirmTimeout = 3 * time.Second // from the welcome to the first authentic datagram
)

// maxRecentHellos limits the hellos that are stored, each for cookieLifetime. Only a dialer with
// the token can add one.
const maxRecentHellos = 1024

// handshakeState is the state of a listener's handshakes. Its memory does not depend on the
// number of unauthenticated hellos.
type handshakeState struct {
	tokenMAC     mac                     // of handshake datagrams
	cookieMAC    mac                     // of cookies, under a random key of this listener
	recentHellos map[nonce]acceptedHello // hellos that created a session in the last cookieLifetime
	buf          []byte                  // for answers
}

// acceptedHello is a hello that created a session.
type acceptedHello struct {
	session *Session
	reply   reply         // sent again if the welcome is lost
	at      time.Duration // since the start of the listener
}

// newHandshakeState returns a state with a new random key for cookies.
func newHandshakeState(t *Token) handshakeState {
	var key [32]byte
	_, _ = rand.Read(key[:])
	return handshakeState{tokenMAC: t.handshakeMAC(), cookieMAC: newMAC(key), recentHellos: map[nonce]acceptedHello{}}
}

// handleHello answers a hello. A hello without a cookie gets a retry with a cookie, a hello with a
// valid cookie a welcome or a refusal; others get no answer. It returns how the hello is counted. at
// is the time since the start of the listener. l.mu must be held.
func (l *Listener) handleHello(b []byte, from netip.AddrPort, at time.Duration) verdict {
	if len(b) != helloBytes {
		return droppedAs(malformed)
	}
	state := &l.handshakes
	h, ok := parseHello(b, &state.tokenMAC)
	if !ok {
		return droppedAs(Forged)
	}
	if h.cookie == (cookie{}) {
		l.sendAnswer(&answer{kind: kindRetry, nonce: h.nonce(), cookie: state.cookieFor(&h, from, at)}, from)
		return verdict{class: handshake}
	}
	issuedAt := state.cookieTime(&h)
	if expected := state.cookieFor(&h, from, issuedAt); !hmac.Equal(expected[:], h.cookie[:]) {
		return droppedAs(Forged)
	}
	if at-issuedAt > cookieLifetime || issuedAt > at {
		return droppedAs(expired)
	}
	if accepted, known := state.recentHellos[h.nonce()]; known {
		if accepted.session.confirmed() || accepted.session.Err() != nil {
			return droppedAs(Replayed) // the dialer has the welcome, or the session has ended
		}
		l.sendWelcome(&h, &accepted, from) // the first welcome was lost or is in flight
		return verdict{class: handshake}
	}
	return l.acceptOrRefuse(&h, from, at)
}

// cookieFor returns the cookie that answers hello h of a dialer at address from. It consists of the time of its
// issue (8 bytes) and a MAC over this time and the purpose, nonce, address and port of the dialer. Only a dialer
// that receives datagrams at that address can return the cookie.
func (d *handshakeState) cookieFor(h *hello, from netip.AddrPort, issuedAt time.Duration) (c cookie) {
	var b [8 + 1 + nonceBytes + 16 + 2]byte // time, purpose, nonce, IPv6 address, port
	binary.BigEndian.PutUint64(b[:], uint64(issuedAt))
	b[8] = h.purpose
	n := h.nonce()
	copy(b[9:], n[:])
	addr := from.Addr().As16()
	copy(b[9+nonceBytes:], addr[:])
	binary.BigEndian.PutUint16(b[9+nonceBytes+16:], from.Port())
	copy(c[:], b[:8])
	copy(c[8:], d.cookieMAC.sum(b[:]))
	return c
}

// cookieTime returns the time of issue in a hello's cookie. It is trusted only after the cookie's MAC
// was verified.
func (d *handshakeState) cookieTime(h *hello) time.Duration {
	return time.Duration(binary.BigEndian.Uint64(h.cookie[:]))
}

// expire drops hellos whose cookies are no longer valid.
func (d *handshakeState) expire(now time.Duration) {
	maps.DeleteFunc(d.recentHellos, func(_ nonce, h acceptedHello) bool { return now-h.at > cookieLifetime })
}
