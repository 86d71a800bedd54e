// Package walkoff scores encoders of cube snapshots by the rules of Glenn Fiedler's
// delta compression walk-off (2015), so that the results can be compared with the
// published ones.
//
// The rules: frames 0..5 are the initial state repeated. Frame n (n >= 6) is encoded
// relative to frame n-6, as if every packet were acknowledged after a tenth of a
// second. The score is the size of the payloads, each rounded up to bytes; kbps =
// mean bytes x 60 x 8 / 1000. The decoded frames must be bit-exact.
//
// An encoder can violate one rule by accident: the receiver may have lost every packet
// in between, so an encoder must not use frames n-1 .. n-5. The audit checks this. Each
// residue class n mod 6 is decoded by its own process, which gets only the initial
// state and the packets of its class. A seventh process encodes all frames again and
// must produce the same bytes. An encoder fails if it uses frame n-1, or if it keeps
// any state between packets except the memo of n-6.
//
// The audit uses processes and not just new encoders, because package-level state
// would be shared within a process.
//
// With the same means, MeasureMessages scores encoders of messages, and ScaleSearch finds
// the cheapest scales of a table.
package walkoff
