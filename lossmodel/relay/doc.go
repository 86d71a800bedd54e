// Package relay is a UDP proxy that sends real datagrams through modelled links. It reads
// datagrams from clients, passes them to lossmodel, and forwards them when they are due.
//
//	r, err := relay.Open(relay.Options{Listen: listen, Server: server, Seed: 7, Conditions: conditions})
//	err = r.Run(ctx) // until ctx ends
//	t := r.Totals()
//
// Datagrams from clients pass through the uplink, answers of the server through the downlink.
// Each client has its own socket to the server, so that the server can distinguish clients, and
// its own links, unless Options.Shared is set.
//
// Every datagram is stamped when it is read, and the stamp is the link's virtual time. A Tap sees
// stamps and sizes; with the seed, the fate of every datagram can be computed again from them
// without a socket.
//
// One lock guards links and counters, so that at any time, for each direction,
//
//	In + Copies = Out + Lost + Unsent + Queued
//
// Memory is bounded by MaxClients and by MaxQueued bytes in flight. A datagram beyond MaxQueued
// counts as lost at the queue. Refused addresses leave no state.
package relay
