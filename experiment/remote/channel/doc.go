// Package channel carries datagrams between two ends that share a token: encrypted,
// authenticated, each at most once. It is UDP otherwise: datagrams are lost, overtaken
// and never sent again.
//
//	l, err := channel.Listen(at, channel.Options{Token: token})
//	s, err := l.Accept(ctx)                                   // there
//	s, err := channel.Dial(ctx, to, purpose, channel.Options{Token: token}) // here
//	err = s.Send(stream, payload)
//	d, err := s.Receive(ctx, buf)
//
// One socket of a Listener serves several sessions. A payload may have MaxPayload bytes,
// and the channel adds Overhead to it.
//
// # What travels
//
// The first byte of every datagram is the version (4 bits) and a kind (4 bits). Numbers
// are big endian.
//
//	hello    head, purpose, nonce (16), cookie (24, zero at first), padding to 240, MAC (16)
//	retry    head, nonce of the hello (16), cookie (24), MAC (16)
//	welcome  head, nonce of the hello (16), the listener's own (16), session (4), MAC (16)
//	refusal  head, nonce of the hello (16), reason, MAC (16)
//	data     head, session (4), sequence (4), and encrypted: stream, payload; tag (16)
//
// The MAC is HMAC-SHA256 under a key of the token, cut to 16 bytes. A listener answers a
// hello without a cookie by a cookie that holds for that address and nonce, and keeps
// nothing. It makes a session of a hello that brings the cookie back: whoever does so has
// the token and receives at that address. All that a listener says before is shorter than
// what it answers. Whoever lacks the token hears nothing at all, whatever he sends.
//
// Keys are HKDF-SHA256 of the token with both nonces, purpose, session and direction. No
// two sessions share them, also after a restart, and what is sent back to its sender is a
// forgery there. AES-256-GCM takes the sequence, which begins anew with each key, as its
// nonce; a session that has used up its 2^32 numbers is over. A listener hands a session
// out after its first authentic datagram, so a recorded hello makes none.
//
// # What does not hold
//
// Who learns the token later can read what he has recorded: there is no forward secrecy.
// Whoever records a handshake can try tokens on it at home, which is why a Token must have
// room for 128 bits. A session is bound to the two addresses: a peer whose address
// changes must dial again. Lengths and times of datagrams can be seen by all.
package channel
