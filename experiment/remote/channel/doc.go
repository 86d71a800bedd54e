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
//	hello    first byte, purpose (1), opening (48), cookie (24, zero at first), padding to 240, MAC (16)
//	retry    first byte, nonce of the hello (16), cookie (24), MAC (16)
//	welcome  first byte, nonce of the hello (16), reply (52), MAC (16)
//	refusal  first byte, nonce of the hello (16), reason (1), MAC (16)
//	data     first byte, session (4), sequence (4), encrypted stream (1) and payload, tag (16)
//
// The opening and the reply are the messages of a Noise handshake NNpsk0 (noiseprotocol.org) with
// X25519, AES-256-GCM and SHA-256; its preshared key is derived from the token. Each consists of an
// ephemeral public key (32), an encrypted payload and a tag (16). The payload of the reply is the
// number of the session (4). The nonce of a hello is the first part of its ephemeral key.
//
// The MAC is HMAC-SHA256 under a key derived from the token, truncated to 16 bytes. A listener
// answers a hello without a cookie with a retry, whose cookie is valid for that address and
// nonce, and stores nothing. A hello with a valid cookie creates a session: the dialer has the
// token and receives at its address. Each answer is shorter than the hello, so that a listener
// cannot be used for amplification. A listener does not answer datagrams that were made without
// the token.
//
// The session keys result from the token, both ephemeral keys and the purpose. No two sessions or
// directions share a key, so a datagram reflected to its sender fails authentication. The nonce of
// AES-256-GCM is the sequence number, which starts at 0 with each key. A session ends when its 2^32
// sequence numbers are used. Accept returns a session after its first authentic datagram, so a
// replayed hello does not create one.
//
// # Limits of the protection
//
// Sessions have forward secrecy: who learns the token later cannot decrypt a recorded session,
// because the ephemeral private keys exist only in memory, during the handshake. Who has the token
// during the handshake and can change datagrams can pretend to be the peer. An attacker who records
// a handshake can test tokens offline, which is why a Token needs at least 128 bits. A session is
// bound to two addresses; after a change of address the
// peer must dial again. Lengths and times of datagrams are visible.
package channel
