// Package endpoint is the part of the lab that a game could ship: a sender that
// encodes snapshots against frames that the receiver has acknowledged, a receiver
// that decodes them, and the formats of the packet header and of acks. Datagrams are
// byte slices; how they travel is up to the caller.
//
// An endpoint knows nothing of meters, of damage or of link models, and it reads no
// clock: calls that depend on time take it as an argument. Both ends are configured
// with the schema, the initial state and the table of codecs. A receiver learns
// everything else from datagrams. Input may be any bytes: a receiver returns an
// Outcome and a sender an error, and neither allocates memory because of a size that
// a datagram claims.
//
// A change of the encoder or of its params begins an epoch. Until an ack names the
// epoch, each of its packets carries the params, so that the receiver can follow
// whichever packets are lost.
//
// Datagrams may be damaged where no checksum is below. A receiver with a Guard lets no
// single packet move its count far, and with digests (Options.DigestBits) a sender notices
// what went wrong, in content or in count, and starts over.
//
// Snapshots may be lost; files may not. FileSender and FileReceiver deliver a file in
// blocks, each of which is resent until it is acknowledged (package transfer has the
// rules).
//
// Sender and Receiver allocate nothing in steady state. Neither may be used by
// several goroutines at once.
package endpoint
