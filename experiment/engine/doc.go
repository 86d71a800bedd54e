// Package engine runs an experiment in virtual time. It has a source of frames, lanes
// that each consist of a sender, a receiver and a network path between them, a meter
// that counts what happens at both ends, the receiver's display, and an inspector
// that records why a packet failed.
//
// A Session is an event loop over an injected time. It is single-threaded, seeded and
// reads no wall clock: the same configuration and the same changes give the same
// bytes, live or headless. The endpoints do not know the true frames. The lane
// compares each decoded frame, bit for bit, with the one that the sender stored.
//
// Snapshots and messages may be lost; files may not. Where the schema's delivery is
// frame.Every, each lane sends the packed file in blocks, and resends each block
// until it is acknowledged. The session ends when all lanes are done.
package engine
