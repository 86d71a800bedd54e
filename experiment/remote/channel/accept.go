package channel

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// refusal is the reason for which a listener refuses a dialer that has the token.
type refusal uint8

const (
	refusedFull    refusal = iota + 1 // MaxSessions are running
	refusedPurpose                    // the purpose is not one of Options.Purposes
)

// RefusedError means that the listener refused the session.
type RefusedError struct{ Reason refusal }

// Error implements error.
func (e *RefusedError) Error() string {
	switch e.Reason {
	case refusedFull:
		return "the listener has reached its maximum number of sessions"
	case refusedPurpose:
		return "the listener does not offer this service; it may have another version"
	}
	return fmt.Sprintf("the listener refused the session with reason %d", e.Reason)
}

// acceptOrRefuse creates a session for a hello with a valid cookie and answers with a welcome, or
// answers with a refusal. It returns how the hello is counted. l.mu must be held.
func (l *Listener) acceptOrRefuse(h *hello, from netip.AddrPort, at time.Duration) verdict {
	var reason refusal
	switch {
	case l.options.Purposes != nil && !slices.Contains(l.options.Purposes, h.purpose):
		reason = refusedPurpose
	case len(l.sessions) >= l.options.MaxSessions || len(l.handshakes.recentHellos) >= maxRecentHellos:
		reason = refusedFull
	}
	if reason != 0 {
		l.sendAnswer(&answer{kind: kindRefusal, nonce: h.nonce, reason: reason}, from)
		return droppedAs(full)
	}
	s := l.createSession(h, from, at)
	l.handshakes.recentHellos[h.nonce] = acceptedHello{session: s, at: at}
	l.sendWelcome(h, s, from)
	return verdict{class: handshake}
}

// createSession creates a session with an unused number and registers it in l.sessions. The session
// sends to the address from. at is the time since the start of the listener. l.mu must be held.
func (l *Listener) createSession(h *hello, from netip.AddrPort, at time.Duration) *Session {
	c := agreement{dialerNonce: h.nonce, listenerNonce: newNonce(), purpose: h.purpose}
	for taken := true; taken; {
		id := newNonce()
		c.session = binary.BigEndian.Uint32(id[:])
		taken = l.sessions[c.session] != nil || l.ended[c.session] != nil
	}
	s := newSession(c, &l.options, fromListener, fromDialer, at)
	s.start, s.remote = l.start, unmapAddress(from)
	s.write = func(b []byte) error { return l.write(b, from) }
	s.onEnd = l.removeSession
	l.sessions[c.session] = s
	return s
}

// sendWelcome sends the dialer what it needs to derive the keys.
func (l *Listener) sendWelcome(h *hello, s *Session, from netip.AddrPort) {
	l.sendAnswer(&answer{kind: kindWelcome, nonce: h.nonce, listenerNonce: s.agreement.listenerNonce,
		session: s.agreement.session}, from)
}

// sendAnswer sends a handshake datagram to an address. A datagram that the system refuses is only
// counted: the dialer retransmits its hello. l.mu must be held.
func (l *Listener) sendAnswer(a *answer, to netip.AddrPort) {
	d := &l.handshakes
	d.buf = a.append(d.buf, &d.tokenMAC)
	if l.write(d.buf, to) != nil {
		l.books.Unsent++
		return
	}
	l.books.countWritten(len(d.buf))
}
