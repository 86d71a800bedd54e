// Package remote runs a session of the lab over a real network: the sender here, the
// receiver in another process, and between them a channel of datagrams.
//
// Link is the near end. It is the network of an engine.Session, whose virtual time Drive
// (or experiment.Runner) lets pass at the pace of the wall clock. Serve is the far end: an
// endpoint.Receiver that knows nothing but what datagrams tell it. It answers each with
// the ack of a game, and reports to the lab when each datagram arrived, what became of it,
// a fingerprint of the frame, and how often its display starved. Reports are resent until
// they are confirmed, so the near end knows, late, of everything that arrived; of what did
// not arrive it never hears.
//
// What comes in is stamped with virtual time and then happens there, so that all behind
// the sockets is as reproducible as it is over a modelled link. Recording holds the stamps
// and what came in; Replay is a network that plays it back, offline, to the same bytes.
package remote
