// Package datagram holds two encoders for the datagrams of any program, which know nothing
// but a model that was trained on captures of it and that both ends have: datagram codes
// each by itself, datagram-acked with the help of those that were acknowledged.
//
// A datagram is cut into messages: where four bytes appear with which many datagrams
// begin, and where a list goes on with its next record. A unit, mostly a byte, is known by
// the kind of its message and its place in it. For each place, training chooses what
// predicts best: some bits of a few units before, or of the last message about the same
// thing; and it finds the numbers among them, however they are written, and how they go on.
// What these say is added up with learnt weights (after Mahoney's PAQ) and range-coded.
// README.md has the figures.
package datagram
