package channel

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// refusal is why a listener will not have a session with somebody who has the token.
type refusal uint8

// The reasons.
const (
	noRoom    refusal = iota + 1 // there are as many sessions as there may be
	noPurpose                    // nobody there serves that purpose
)

// RefusedError says that the listener refused.
type RefusedError struct{ Reason refusal }

// Error implements error.
func (e *RefusedError) Error() string {
	switch e.Reason {
	case noRoom:
		return "the listener has as many sessions as it takes"
	case noPurpose:
		return "the listener does not serve that; it may be of another version"
	}
	return fmt.Sprintf("the listener refused, for reason %d", e.Reason)
}

// decide makes a session of a hello that has proved all, or refuses.
func (l *Listener) decide(h *hello, from netip.AddrPort, at time.Duration) verdict {
	var reason refusal
	switch {
	case l.options.Purposes != nil && !slices.Contains(l.options.Purposes, h.purpose):
		reason = noPurpose
	case len(l.sessions) >= l.options.MaxSessions || len(l.door.greeted) >= mostGreeted:
		reason = noRoom
	}
	if reason != 0 {
		l.answer(&answer{kind: kindRefusal, nonce: h.nonce, reason: reason}, from)
		return drop(full)
	}
	s := l.admit(h, from, at)
	l.door.greeted[h.nonce] = greeting{s, at}
	l.welcome(h, s, from)
	return verdict{class: handshake}
}

// admit makes a session.
func (l *Listener) admit(h *hello, from netip.AddrPort, at time.Duration) *Session {
	c := contract{dialer: h.nonce, listener: newNonce(), purpose: h.purpose}
	for taken := true; taken; {
		id := newNonce()
		c.session = binary.BigEndian.Uint32(id[:])
		taken = l.sessions[c.session] != nil || l.over[c.session] != nil
	}
	s := newSession(c, &l.options, fromListener, fromDialer, at)
	s.begin, s.remote = l.begin, plainAddress(from)
	s.write = func(b []byte) error { return l.write(b, from) }
	s.leave = l.leave
	l.sessions[c.session] = s
	return s
}

// welcome tells the dialer what the keys follow from.
func (l *Listener) welcome(h *hello, s *Session, from netip.AddrPort) {
	l.answer(&answer{kind: kindWelcome, nonce: h.nonce, own: s.contract.listener, session: s.contract.session}, from)
}

// answer sends a datagram of the handshake. It is shorter than the hello.
func (l *Listener) answer(a *answer, to netip.AddrPort) {
	d := &l.door
	d.reply = a.append(d.reply, &d.token)
	if l.write(d.reply, to) != nil {
		l.books.Unsent++
		return
	}
	l.books.wrote(len(d.reply))
}
