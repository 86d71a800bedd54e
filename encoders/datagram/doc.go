// Package datagram holds two encoders for the datagrams of any program, with a model that was
// trained on captures of it and that both ends have: datagram codes each datagram by itself,
// datagram-acked with the help of those that were acknowledged.
//
// A datagram is cut into messages: where four bytes appear with which many datagrams begin, and
// where a list continues with its next record. A unit, mostly a byte, is identified by the kind
// of its message and its place in it. For each place, training chooses the contexts that predict
// best: some bits of a few units before, or of the last message about the same thing. It also
// finds the numbers, in any byte order, and how they continue. The predictions are mixed with
// trained weights (after Mahoney's PAQ) and range-coded.
// README.md has the figures.
package datagram
