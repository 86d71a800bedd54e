// Package engine runs an experiment in virtual time: a source, lanes that each have a
// sender, a receiver and a path between them, the meter that counts what happens at
// both ends, the receiver's display, and the inspector that remembers why a packet
// failed.
//
// A Session is an event loop over an injected time. It is single-threaded, seeded and
// free of wall clocks: the same configuration and the same changes give the same
// bytes, live or headless. The endpoints know nothing of the truth; the lane compares,
// bit for bit, what a receiver decoded with what its sender stored.
//
// Snapshots and messages may be lost; files may not. Where the data's schema says that
// every byte must arrive, each lane brings the packed file across in blocks that are
// sent until they are acknowledged, and the session ends when all lanes are done.
package engine
