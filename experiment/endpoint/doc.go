// Package endpoint is the part of the lab that a game could ship: a sender that
// encodes snapshots against what the far end acknowledged, a receiver that decodes
// them, and the header and the acks that both speak. Datagrams go out as bytes and
// come in as bytes; how they travel is the caller's business.
//
// An endpoint knows nothing of the truth at the far end, of damage, of meters or of
// models of a link, and it reads no clock: every call that depends on time is given
// it. All that a receiver learns it learns from datagrams, but for the schema, the
// initial state and the table of codecs that both ends are configured with. Any
// bytes may come in: a receiver answers with an Outcome, a sender with an error,
// and neither allocates by what a datagram claims.
//
// A change of encoder or of its params begins an epoch. Until an ack names the
// epoch, each of its packets carries the params, so that the receiver can follow
// whatever was lost.
//
// Snapshots may be lost; files may not. FileSender and FileReceiver bring a file
// across in blocks that are sent until they are acknowledged (package transfer has
// the rules).
//
// Sender and Receiver allocate nothing in steady state. Neither may be used by
// several goroutines at once.
package endpoint
