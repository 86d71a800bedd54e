// Package relay puts a real network program behind modelled links: it takes datagrams
// from clients, hands them to lossmodel, and sends on what is due, when it is due.
//
//	r, err := relay.Open(relay.Options{Listen: listen, Server: server, Seed: 7, Conditions: conditions})
//	err = r.Run(ctx) // until ctx ends
//	t := r.Totals()
//
// What clients send goes through the link up, what the server answers through the link
// down. Each client has a socket of its own to the server, so that the server tells
// clients apart, and links of its own, unless all share one pair.
//
// The wall clock is read in this package alone. Every datagram is stamped when it was
// read, and the link gets that stamp as its virtual time: the stamps and sizes, which a
// Tap sees, tell the fate of every datagram again, with no socket at all.
//
// A single lock guards the links and the books, so that at every moment
//
//	in + copies = out + lost + unsent + queued
//
// Memory is bounded: by MaxClients, and by MaxQueued bytes under way. A datagram that
// would exceed that is lost by queue. No state is kept for addresses that are refused.
package relay
