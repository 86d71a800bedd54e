// Package channel carries datagrams between two peers that share a token. Datagrams are
// encrypted, authenticated and delivered at most once. As with UDP, they may be lost or reordered
// and are never retransmitted.
//
//	l, err := channel.Listen(addr, channel.Options{Token: token})
//	s, err := l.Accept(ctx)                                                   // one peer
//	s, err := channel.Dial(ctx, addr, purpose, channel.Options{Token: token}) // the other
//	err = s.Send(stream, payload)
//	d, err := s.Receive(ctx, buf)
//
// The socket of a Listener serves several sessions. A payload has at most MaxPayload bytes; the
// channel adds Overhead bytes to it.
//
// # Wire format
//
// The first byte of every datagram is the version (4 bits) and the kind (4 bits). Integers are
// big endian. Sizes in bytes are in parentheses.
//
//	hello    first byte, purpose (1), nonce (16), cookie (24, zero at first), padding to 240, MAC (16)
//	retry    first byte, nonce of the hello (16), cookie (24), MAC (16)
//	welcome  first byte, nonce of the hello (16), listener's nonce (16), session (4), MAC (16)
//	refusal  first byte, nonce of the hello (16), reason (1), MAC (16)
//	data     first byte, session (4), sequence (4), encrypted stream (1) and payload, tag (16)
//
// The MAC is HMAC-SHA256 under a key derived from the token, truncated to 16 bytes. A listener
// answers a hello without a cookie with a retry, whose cookie is valid for that address and
// nonce, and stores nothing. A hello with a valid cookie creates a session: the dialer has the
// token and receives at its address. Each answer is shorter than the hello, so that a listener
// cannot be used for amplification. A listener does not answer datagrams that were made without
// the token.
//
// Keys are derived by HKDF-SHA256 from the token, both nonces, the purpose, the session and the
// direction. No two sessions share keys, also after a restart, and a datagram reflected to its
// sender fails authentication. The nonce of AES-256-GCM is derived from the sequence number,
// which starts at 0 with each key. A session ends when its 2^32 sequence numbers are used. Accept
// returns a session after its first authentic datagram, so a replayed hello does not create one.
//
// # Limits of the protection
//
// There is no forward secrecy: an attacker who learns the token later can decrypt recorded
// sessions. An attacker who records a handshake can test tokens offline, which is why a Token
// needs at least 128 bits. A session is bound to two addresses; after a change of address the
// peer must dial again. Lengths and times of datagrams are visible.
package channel
