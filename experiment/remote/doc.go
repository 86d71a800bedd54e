// Package remote runs sessions and measurements between two machines.
//
//	l, err := remote.Listen(addr, identity, remote.Options{})           // one machine
//	c, err := l.Accept(ctx)
//	stats, err := remote.Serve(ctx, c, files)                           // or ServeMeasurement
//	c, err := remote.Dial(ctx, addr, token, remote.SessionPurpose)      // the other
//	link := remote.NewLink(c, name)                                     // or Measure
//
// # Connection
//
// A Conn is a TLS 1.3 connection over TCP for set-up, reports and results, and UDP datagrams to the same
// port for what is measured. A token contains the hash of the listener's certificate, by which the dialer
// recognises the listener, and a secret. The dialer proves the secret with an HMAC over keying material
// that is exported from the TLS connection, so a proof cannot be used in another connection. Until then
// the listener sends nothing beyond the TLS handshake. It closes connections that prove nothing within 5
// seconds, and the oldest of more than 256. Both sides then send signs of life, and a silent connection ends.
//
// Datagrams are encrypted with AES-256-GCM under keys that are exported from the TLS connection, one for
// each direction, and numbered; the number is the nonce. A window of 4096 numbers recognises replayed
// datagrams. A listener answers no datagram that is not authentic, and accepts those of a session only
// from the address of its first datagram. The keys of TLS have forward secrecy: who learns the token
// later cannot decrypt a recorded session. Lengths and times of datagrams are visible.
//
// # Sessions
//
// Link is the sending side. It is the network of an engine.Session, whose virtual time Drive (or
// live.Runner) advances at the pace of the wall clock. Serve is the receiving side: an
// endpoint.Receiver that has only what the datagrams contain. It answers each packet with the game's ack.
// Over the control connection it also reports when each datagram arrived, its outcome, a fingerprint of
// the frame, and how often its display starved. So every arrival becomes known at the sender, with a
// delay. Datagrams that were lost are never reported. What is received takes effect at a virtual time. The
// display is as far behind the wall clock as the sender's virtual time. A session over a network cannot be
// replayed.
//
// # Measurements
//
// Measure and ServeMeasurement send datagrams of the sizes and at the rate of a game, with timestamps.
// The result is a capture for each direction, from which lossmodel/measure fits a link.
//
// The clocks of the two machines are not synchronised, and messages between them cannot measure
// the difference: a longer delay in one direction looks the same as a shorter one in the other.
// Delays are therefore measured relative to the 1st percentile of their direction. The 1st
// percentiles of both directions are assumed to be equal: half of their sum, in which the
// difference of the clocks cancels. The result contains the statistical error of this value. Round
// trips are measured without comparing clocks: from a datagram of this side to the next one of the peer, less
// the time between the two at the peer.
package remote
