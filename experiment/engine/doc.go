// Package engine runs an experiment in virtual time: a source of frames, and lanes that each
// consist of a sender, a network path in each direction and a receiver. A lane composes what
// measures it: packetlog records its packets, meters count, playout is the receiver's display,
// inspector explains failures, and delivery sends files.
//
// A Session is an event loop over an injected time. It is single-threaded, seeded and reads no
// wall clock: the same configuration and the same changes give the same bytes, live or headless.
// The endpoints do not have the true frames. The lane compares each decoded frame, bit for bit,
// with the frame that the sender stored.
//
// Snapshots and messages may be lost; files may not. Where the schema's delivery is frame.Every,
// each lane sends the packed file in blocks, and resends each block until it is acknowledged. The
// session ends when all lanes are done.
package engine
