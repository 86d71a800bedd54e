// Package remote runs a session of the lab over a real network: the sender in this process, the
// receiver in another, and a channel of datagrams between them.
//
// Link is the sending side. It is the network of an engine.Session, whose virtual time Drive (or
// experiment.Runner) advances at the pace of the wall clock. Serve is the receiving side: an
// endpoint.Receiver that has only what the datagrams contain. It answers each packet with the
// game's ack. It also reports to the sender when each datagram arrived, its outcome, a
// fingerprint of the frame, and how often its display starved. Reports are sent again until they
// are confirmed, so every arrival becomes known at the sender, with a delay. Datagrams that were
// lost are never reported.
//
// Received messages are stamped with a virtual time and take effect at that time. Everything
// behind the sockets is therefore as reproducible as over a modelled link. A Link records the
// messages with their times; Replay plays them back offline and yields the same bytes.
package remote
